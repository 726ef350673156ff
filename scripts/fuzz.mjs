/**
 * npm run fuzz -- --minutes 10 --seed 1
 *
 * Runs random programs (engines with random knobs, sequences of calls on mixtures of awkward points and scalars) and compares
 * every result with the known-discrete-logarithm oracle. Stops at the first mismatch, shrinks it, and prints the command
 * that reproduces it.
 */
import { NoAdapterError } from './adapter/choose-adapter.mjs';
import { adapterLine, closeGpu, describeAdapter, openGpu } from './adapter/open-gpu.mjs';
import { parseStrictly, runOnAdapter, UsageError } from './command-line.mjs';
import { openSources } from './open-sources.mjs';

const usage = `npm run fuzz -- [options]

  --minutes 10     how long
  --seed 1         which programs; the same seed draws the same ones
  --first 0        number of the first program of the seed
  --max-points 4096
  --program JSON   run this one program instead (a mismatch prints it)
  --adapter auto   auto, software or hardware
  --help

Exit code: 0 no mismatch · 1 a mismatch · 2 bad usage`;

function parseOptions() {
  const values = parseStrictly({
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    first: { type: 'string', default: '0' },
    'max-points': { type: 'string', default: '4096' },
    program: { type: 'string' },
    adapter: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  });
  const number = (/** @type {'minutes' | 'seed' | 'first' | 'max-points'} */ name) => {
    const value = Number(values[name]);
    if (!Number.isFinite(value) || value < 0) throw new UsageError(`--${name} must be a number of at least 0`);
    return value;
  };
  let program = null;
  if (values.program !== undefined) {
    try {
      program = /** @type {import('../dev/fuzz/program.js').FuzzProgram} */ (JSON.parse(values.program));
    } catch (error) {
      throw new UsageError(`--program is not JSON: ${/** @type {Error} */ (error).message}`);
    }
  }
  return {
    minutes: number('minutes'),
    seed: number('seed'),
    first: number('first'),
    mostPoints: number('max-points'),
    program,
    adapter: values.adapter,
    help: values.help,
  };
}

/** @param {ReturnType<typeof parseOptions>} options */
async function fuzz({ minutes, seed, first, mostPoints, program }) {
  const vite = await openSources();
  /** @type {GPUDevice | undefined} */
  let device;
  try {
    const { drawProgram } = /** @type {typeof import('../dev/fuzz/program.js')} */ (
      await vite.ssrLoadModule('/dev/fuzz/program.ts')
    );
    const { execute, size } = /** @type {typeof import('../dev/fuzz/execute.js')} */ (
      await vite.ssrLoadModule('/dev/fuzz/execute.ts')
    );
    const { shrink } = /** @type {typeof import('../dev/fuzz/shrink.js')} */ (
      await vite.ssrLoadModule('/dev/fuzz/shrink.ts')
    );
    const adapter = await openGpu().requestAdapter({ powerPreference: 'high-performance' });
    if (!adapter) throw new NoAdapterError('Dawn found no adapter');
    const gpu = await adapter.requestDevice();
    device = gpu;
    console.log(`adapter: ${adapterLine(describeAdapter(adapter.info))}; seed ${seed}, from program ${first}`);

    const started = performance.now();
    const seconds = () => (performance.now() - started) / 1000;
    const tried = { programs: 0, calls: 0, points: 0, scalars: 0 };
    let said = 0;
    const say = () => {
      said = seconds();
      const { programs, calls, points, scalars } = tried;
      console.log(
        `${Math.round(said)} s: ${programs} programs, ${calls} calls, ${points} points, ${scalars} scalars, 0 mismatches`,
      );
    };
    for (let index = first; program !== null ? index === first : seconds() < 60 * minutes; index++) {
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
      if (seconds() - said > 30) say();
    }
    say();
  } finally {
    device?.destroy();
    closeGpu();
    await vite.close();
  }
}

/** @param {import('../src/api.js').AffinePoint | null} point */
function spell(point) {
  if (point === null) return 'nothing';
  return point.infinity ? 'infinity' : `(0x${point.x.toString(16)}, 0x${point.y.toString(16)})`;
}

await runOnAdapter(usage, parseOptions, fuzz);
