/**
 * npm run stress -- fuzz --minutes 10 --seed 1
 *
 * Runs random programs: engines with random knobs, and sequences of calls on mixtures of awkward
 * points and scalars. Compares every result with an oracle that knows the points' discrete
 * logarithms. At the first mismatch fast-check shrinks the program, and the command that repeats it
 * is printed. `--op fields` has programs of vectors of field elements, on the CPU and on the GPU,
 * whose results must be those of BigInts.
 */
import { openBench } from './builds.mjs';
import { adapterOption, integer, json, oneOf, valued } from './command-line.mjs';
import { onDevice } from './device.mjs';

/** @typedef {import('../dev/fuzz/program.js').FuzzProgram} FuzzProgram */
/** @typedef {import('../dev/fuzz/fields/program.js').FieldProgram} FieldProgram */

/** @type {import('./command-line.mjs').Parse<FuzzProgram & FieldProgram>} */
const fuzzProgram = json;

export const command = {
  usage: 'usage: npm run stress -- fuzz [options]',
  options: {
    op: valued('msm', 'msm (the default), or fields for vectors of field elements', oneOf('msm', 'fields'), 'msm'),
    minutes: valued('10', 'duration', integer(1, 10_000), 10),
    seed: valued('1', 'seed of the programs; the same seed draws the same programs', integer(0, 2 ** 31), 1),
    program: valued('JSON', 'run only this program (a mismatch prints it)', fuzzProgram),
    backend: valued(
      'NAME',
      'run all programs on this backend: cpu, both or auto; default: each program draws its own',
      oneOf('cpu', 'both', 'auto'),
    ),
    adapter: adapterOption,
  },
  notes: 'Exit code: 0 no mismatch · 1 a mismatch · 2 bad usage',
};

/** @typedef {import('./command-line.mjs').Values<typeof command.options>} Options */

/**
 * Returns how programs are run.
 *
 * @param {Options} options
 * @param {typeof import('../dev/bench/index.js')} library
 * @param {GPUDevice} device
 */
function subjectOf({ op, seed, minutes, backend }, library, device) {
  const { execute, executeFields, fuzz, fuzzFields, movedTo } = library;
  const drawn = { seed, seconds: 60 * minutes };
  /** @typedef {(counts: Readonly<Record<string, number>>) => void} Tell */
  if (op === 'fields') {
    const on = backend === 'cpu' ? null : device;
    return {
      /** @param {NonNullable<Options['program']>} program */
      one: (program) => executeFields(on, program),
      /** @param {Tell} tell */
      many: (tell) => fuzzFields(on, drawn, tell),
    };
  }
  return {
    /** @param {NonNullable<Options['program']>} program */
    one: async (program) => {
      const failure = await execute(device, movedTo(backend, program));
      return failure === null ? null : `call ${failure.call}: ${failure.error}`;
    },
    /** @param {Tell} tell */
    many: (tell) => fuzz(device, { ...drawn, backend }, tell),
  };
}

/** Runs programs until the time is over or a result is wrong. @param {Options} options */
export async function run(options) {
  const { op, minutes, seed, program, adapter } = options;
  const library = await openBench();
  await onDevice(adapter, `seed ${seed}`, async (device) => {
    const { one, many } = subjectOf(options, library, device);
    if (program !== undefined) {
      const failure = await one(program);
      console.log(failure === null ? 'no mismatch' : `MISMATCH in ${failure}`);
      if (failure !== null) process.exitCode = 1;
      return;
    }
    console.log(`${minutes} minutes; a line every half minute`);
    const started = performance.now();
    let [said, last] = [0, ''];
    const failure = await many((counts) => {
      const seconds = (performance.now() - started) / 1000;
      const texts = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
      last = `${Math.round(seconds)} s: ${texts.join(', ')}, 0 mismatches`;
      if (seconds - said < 30) return;
      said = seconds;
      console.log(last);
    });
    console.log(last);
    if (failure === null) return;
    console.log(`MISMATCH in ${failure.error}`);
    const which = op === 'msm' ? '' : `--op ${op} `;
    console.log(`reproduce it with:\n  npm run stress -- fuzz ${which}--program '${JSON.stringify(failure.program)}'`);
    process.exitCode = 1;
  });
}
