/**
 * npm run stress -- fuzz --minutes 10 --seed 1
 *
 * Runs random programs: engines with random knobs, and sequences of calls on mixtures of awkward
 * points and scalars. Compares every result with an oracle that knows the points' discrete
 * logarithms. At the first mismatch fast-check shrinks the program, and the command that repeats it
 * is printed.
 */
import { openBench } from './builds.mjs';
import { adapterOption, integer, json, oneOf, valued } from './command-line.mjs';
import { onDevice } from './device.mjs';

/** @type {import('./command-line.mjs').Parse<import('../dev/fuzz/program.js').FuzzProgram>} */
const fuzzProgram = json;

export const command = {
  usage: 'usage: npm run stress -- fuzz [options]',
  options: {
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

/**
 * Runs programs until the time is over or a result is wrong.
 *
 * @param {import('./command-line.mjs').Values<typeof command.options>} options
 */
export async function run({ minutes, seed, program, backend, adapter }) {
  const { execute, fuzz, movedTo } = await openBench();
  await onDevice(adapter, `seed ${seed}`, async (device) => {
    if (program !== undefined) {
      const failure = await execute(device, movedTo(backend, program));
      console.log(failure === null ? 'no mismatch' : `MISMATCH in call ${failure.call}: ${failure.error}`);
      if (failure !== null) process.exitCode = 1;
      return;
    }
    console.log(`${minutes} minutes; a line every half minute`);
    const started = performance.now();
    let [said, last] = [0, ''];
    const failure = await fuzz(device, { seed, seconds: 60 * minutes, backend }, (counts) => {
      const seconds = (performance.now() - started) / 1000;
      const { programs, calls, points, scalars } = counts;
      last = `${Math.round(seconds)} s: ${programs} programs, ${calls} calls, ${points} points, ${scalars} scalars, 0 mismatches`;
      if (seconds - said < 30) return;
      said = seconds;
      console.log(last);
    });
    console.log(last);
    if (failure === null) return;
    console.log(`MISMATCH in ${failure.error}`);
    console.log(`reproduce it with:\n  npm run stress -- fuzz --program '${JSON.stringify(failure.program)}'`);
    process.exitCode = 1;
  });
}
