/**
 * `npm run crossover`: up to which n the CPU is faster than the GPU, on this device. Both compute the same MSMs in turn, each result
 * is checked against noble, and the ratio of the medians is printed. What comes out is what `tuning.cpuBelow` wants to be here.
 * Noble's own MSM runs along, as the measure of the library's CPU path, and the device's rate of products, in which the GPU's cost is told.
 */
import { existsSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { pippenger } from '@noble/curves/abstract/curve.js';
import {
  bn254G1,
  encodeScalars,
  expectedMsm,
  makeKnownBases,
  makeRandomScalars,
  samePoint,
} from '../dev/oracle/known-bases.mjs';
import { adapterLine, closeGpu, openGpu } from './adapter/open-gpu.mjs';
import { openBenchBuild } from './bench-library.mjs';
import { parseInteger, parseStrictly, runOnAdapter, UsageError } from './command-line.mjs';
import { median } from './start/measure.mjs';

const usage = `usage: npm run crossover -- [options]

  --largest 4096   the largest n to try
  --reps 5         of each n on each of the two; the medians are compared
  --adapter auto   auto, software or hardware
  --help           this text`;

const library = new URL('../dist/index.js', import.meta.url);

function parseOptions() {
  const values = parseStrictly({
    largest: { type: 'string', default: '4096' },
    reps: { type: 'string', default: '5' },
    adapter: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  });
  if (!values.help && !existsSync(library))
    throw new UsageError('dist/index.js is not there: `npm run build` makes it');
  return {
    ...values,
    largest: parseInteger('largest', values.largest, 1, 2 ** 16),
    reps: parseInteger('reps', values.reps, 1, 1000),
  };
}

/** @param {{ largest: number, reps: number }} options */
async function crossover({ largest, reps }) {
  const { createMsmEngine } = /** @type {typeof import('../src/index.js')} */ (await import(library.href));
  const known = makeKnownBases(bn254G1, largest, 1);
  const sides = [];
  const { ProductMeter } = await openBenchBuild('field-bench');
  /** @type {import('../dev/field-bench/product-meter.js').ProductMeter | undefined} */
  let meter;
  try {
    meter = await ProductMeter.open(openGpu());
    for (const cpuBelow of [0, 2 ** 16]) {
      const engine = await createMsmEngine({ curve: 'bn254', gpu: openGpu(), tuning: { cpuBelow } });
      sides.push({ engine, bases: await engine.loadBases(known.bytes) });
    }
    const [gpu, cpu] = /** @type {[(typeof sides)[0], (typeof sides)[0]]} */ (sides);
    console.log(`adapter: ${adapterLine(gpu.engine.adapter)}; node ${process.version}; medians of ${reps}\n`);
    console.log(
      ['n', 'GPU, ms', 'GPU, M prod', 'CPU, ms', 'noble, ms', 'CPU / GPU', 'CPU / noble']
        .map((title) => title.padStart(12))
        .join(''),
    );
    let bound = 0;
    let ahead = true;
    for (let n = 1; n <= largest; n *= 2) {
      /** @type {number[][]} */
      const walls = [[], [], []];
      const equivalents = [];
      const points = known.points.slice(0, n).map(({ x, y }) => bn254G1.Point.fromAffine({ x, y }));
      for (let rep = 0; rep <= reps; rep++) {
        const scalars = makeRandomScalars(bn254G1, n, 1000 * n + rep);
        const expected = expectedMsm(bn254G1, known.logs, scalars);
        for (const [side, { engine, bases }] of [gpu, cpu].entries()) {
          const begun = performance.now();
          const sum = await engine.msm(bases, encodeScalars(bn254G1, scalars));
          const wall = performance.now() - begun;
          if (!samePoint(sum, expected)) throw new Error(`WRONG on the ${engine.lastRun?.on} at n = ${n}`);
          // the first one compiles
          if (rep > 0) walls[side]?.push(wall);
          if (rep > 0 && side === 0) equivalents.push((wall / 1000) * (await meter.measure()));
        }
        const begun = performance.now();
        const sum = pippenger(bn254G1.Point, points, scalars).toAffine();
        if (rep > 0) walls[2]?.push(performance.now() - begun);
        if (sum.x !== expected.x) throw new Error(`noble disagrees with itself at n = ${n}`);
      }
      const [onGpu, onCpu, byNoble] = /** @type {[number, number, number]} */ (walls.map(median));
      const times = [
        onGpu.toFixed(1),
        (median(equivalents) / 1e6).toPrecision(3),
        onCpu.toFixed(1),
        byNoble.toFixed(1),
      ];
      const cells = [String(n), ...times, (onCpu / onGpu).toFixed(2), (onCpu / byNoble).toFixed(2)];
      console.log(cells.map((cell) => cell.padStart(12)).join(''));
      ahead &&= onCpu < onGpu;
      if (ahead) bound = n;
    }
    console.log(
      '\nM prod: millions of product equivalents, the wall × the rate of the plain 13-bit product measured beside it',
    );
    console.log(`The CPU is ahead up to n = ${bound}: tuning: { cpuBelow: ${bound} }`);
  } finally {
    for (const { engine } of sides) engine.destroy();
    meter?.destroy();
    closeGpu();
  }
}

await runOnAdapter(usage, parseOptions, crossover);
