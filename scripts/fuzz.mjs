/**
 * npm run stress -- fuzz --minutes 10 --seed 1
 *
 * Runs random programs: engines with random knobs, and sequences of calls on mixtures of awkward
 * points and scalars. Compares every result with an oracle that knows the points' discrete
 * logarithms. At the first mismatch it shrinks the program and prints the command that repeats it.
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
  const { drawProgram, execute, keepPipelines, movedTo, size, shrink } = await openBench();
  await onDevice(adapter, `seed ${seed}`, async (bare) => {
    const device = keepPipelines(bare);
    if (program === undefined) console.log(`${minutes} minutes; a line every half minute`);
    const started = performance.now();
    const seconds = () => (performance.now() - started) / 1000;
    const tried = { programs: 0, calls: 0, points: 0, scalars: 0 };
    let said = 0;
    const tell = () => {
      said = seconds();
      const { programs, calls, points, scalars } = tried;
      console.log(
        `${Math.round(said)} s: ${programs} programs, ${calls} calls, ${points} points, ${scalars} scalars, 0 mismatches`,
      );
    };
    for (let index = 0; program !== undefined ? index === 0 : seconds() < 60 * minutes; index++) {
      const candidate = movedTo(backend, program ?? drawProgram(seed, index));
      const failure = await execute(device, candidate);
      if (failure !== null) {
        console.log(`MISMATCH in program ${index} of seed ${seed}, call ${failure.call}: ${failure.error}`);
        console.log('shrinking …');
        const small = await shrink(candidate, async (smaller) => (await execute(device, smaller)) !== null);
        console.log(`reproduce it with:\n  npm run stress -- fuzz --program '${JSON.stringify(small)}'`);
        process.exitCode = 1;
        return;
      }
      const { points, scalars } = size(candidate);
      tried.programs++;
      tried.calls += candidate.calls.length;
      tried.points += points;
      tried.scalars += scalars;
      if (seconds() - said > 30) tell();
    }
    tell();
  });
}
