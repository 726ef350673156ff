/**
 * npm run fuzz -- --minutes 10 --seed 1
 *
 * Runs random programs (engines with random knobs, sequences of calls on mixtures of awkward points and scalars) and compares
 * every result with the known-discrete-logarithm oracle. Stops at the first mismatch, shrinks it, and prints the command
 * that reproduces it.
 */
import { adapterLine, closeGpu, describeAdapter } from './adapter/open-gpu.mjs';
import { openBench } from './builds.mjs';
import { adapterOption, onAdapter, parseCommand, runCommand, UsageError, valued } from './command-line.mjs';
import { requestDevice } from './request-device.mjs';

/** @param {string} text @param {string} name */
const number = (text, name) => {
  const value = Number(text);
  if (!Number.isFinite(value) || value < 0) throw new UsageError(`--${name} must be a number of at least 0`);
  return value;
};

/** @param {string} text @returns {import('../dev/fuzz/program.js').FuzzProgram} */
const json = (text) => {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`--program is not JSON: ${/** @type {Error} */ (error).message}`);
  }
};

const command = {
  usage: 'usage: npm run fuzz -- [options]',
  options: {
    minutes: valued('10', 'how long', number, 10),
    seed: valued('1', 'which programs; the same seed draws the same ones', number, 1),
    first: valued('0', 'number of the first program of the seed', number, 0),
    'max-points': valued('4096', 'of a call', number, 4096),
    program: valued('JSON', 'run this one program instead (a mismatch prints it)', json),
    adapter: adapterOption,
  },
  notes: 'Exit code: 0 no mismatch · 1 a mismatch · 2 bad usage',
};

/** @param {import('./command-line.mjs').Values<typeof command.options>} options */
async function fuzz({ minutes, seed, first, 'max-points': mostPoints, program }) {
  const { drawProgram, execute, size, shrink } = await openBench();
  /** @type {GPUDevice | undefined} */
  let device;
  try {
    const gpu = await requestDevice();
    device = gpu;
    console.log(`adapter: ${adapterLine(describeAdapter(gpu.adapterInfo))}; seed ${seed}, from program ${first}`);
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
    for (let index = first; program !== undefined ? index === first : seconds() < 60 * minutes; index++) {
      const candidate = program ?? drawProgram(seed, index, mostPoints);
      const failure = await execute(gpu, candidate);
      if (failure !== null) {
        console.log(`MISMATCH in program ${index} of seed ${seed}, call ${failure.call}`);
        console.log(failure.error ?? `  expected ${spell(failure.expected)}\n  got      ${spell(failure.got)}`);
        console.log('shrinking …');
        const small = await shrink(candidate, async (smaller) => (await execute(gpu, smaller)) !== null);
        console.log(`reproduce it with:\n  npm run fuzz -- --program '${JSON.stringify(small)}'`);
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
  } finally {
    device?.destroy();
    closeGpu();
  }
}

/** @param {import('../src/api.js').AffinePoint | null} point */
function spell(point) {
  if (point === null) return 'nothing';
  return point.infinity ? 'infinity' : `(0x${point.x.toString(16)}, 0x${point.y.toString(16)})`;
}

await runCommand(command, async () => {
  const options = parseCommand(command);
  await onAdapter(options.adapter, () => fuzz(options));
});
