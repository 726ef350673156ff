/**
 * npm run stress -- fuzz --minutes 10 --seed 1
 *
 * Runs random programs: engines with random knobs, and sequences of calls on mixtures of awkward
 * points and scalars. Compares every result with an oracle that knows the points' discrete
 * logarithms. At the first mismatch fast-check shrinks the program, and the command that repeats it
 * is printed. `--op fields` has programs of vectors of field elements, on the CPU and on the GPU,
 * whose results must be those of BigInts.
 */
import { execute, fuzz } from '../dev/fuzz/execute.js';
import { executeFields, fuzzFields } from '../dev/fuzz/fields/execute.js';
import type { FieldProgram } from '../dev/fuzz/fields/program.js';
import { type FuzzProgram, movedTo } from '../dev/fuzz/program.js';
import { adapterOption, command, integer, json, oneOf, type Parse, type Values, valued } from './command-line.js';
import { onDevice } from './device.js';

const options = {
  op: valued('msm', 'msm (the default), or fields for vectors of field elements', oneOf('msm', 'fields'), 'msm'),
  minutes: valued('10', 'duration', integer(1, 10_000), 10),
  seed: valued('1', 'seed of the programs; the same seed draws the same programs', integer(0, 2 ** 31), 1),
  program: valued('JSON', 'run only this program (a mismatch prints it)', json as Parse<FuzzProgram & FieldProgram>),
  backend: valued(
    'NAME',
    'run all programs on this backend: cpu, both or auto; default: each program draws its own',
    oneOf('cpu', 'both', 'auto'),
  ),
  adapter: adapterOption,
};

type Told = (counts: Readonly<Record<string, number>>) => void;

function subjectOf({ op, seed, minutes, backend }: Values<typeof options>, device: GPUDevice) {
  const drawn = { seed, seconds: 60 * minutes };
  if (op === 'fields') {
    const on = backend === 'cpu' ? null : device;
    return {
      one: (program: FuzzProgram & FieldProgram) => executeFields(on, program),
      many: (tell: Told) => fuzzFields(on, drawn, tell),
    };
  }
  return {
    one: async (program: FuzzProgram & FieldProgram) => {
      const failure = await execute(device, movedTo(backend, program));
      return failure === null ? null : `call ${failure.call}: ${failure.error}`;
    },
    many: (tell: Told) => fuzz(device, { ...drawn, backend }, tell),
  };
}

export const fuzzCommand = command({
  about: 'random programs: engines, points, scalars and calls, against an oracle',
  usage: 'usage: npm run stress -- fuzz [options]',
  options,
  notes: 'Exit code: 0 no mismatch · 1 a mismatch · 2 bad usage',
  async run(given) {
    const { op, minutes, seed, program, adapter } = given;
    await onDevice(adapter, `seed ${seed}`, async (device) => {
      const { one, many } = subjectOf(given, device);
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
      console.log(
        `reproduce it with:\n  npm run stress -- fuzz ${which}--program '${JSON.stringify(failure.program)}'`,
      );
      process.exitCode = 1;
    });
  },
});
