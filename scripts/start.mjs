/**
 * `npm start`: BN254 MSMs by the built library on Dawn in Node, on the GPU or on the software adapter, each checked
 * against noble. Exits non-zero when any result is wrong.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { bn254G1, makeKnownBases } from '../dev/oracle/known-bases.mjs';
import { adapterLine, closeGpu, openGpu } from './adapter/open-gpu.mjs';
import { openBenchBuild } from './bench-library.mjs';
import { progress, runOnAdapter, UsageError } from './command-line.mjs';
import { measure } from './start/measure.mjs';
import { parseOptions, usage } from './start/options.mjs';
import { rows } from './start/rows.mjs';
import { table } from './start/table.mjs';

const library = new URL('../dist/index.js', import.meta.url);

/** @param {ReturnType<typeof parseOptions>} options */
async function computeAndPrint({ sizes, reps, seed, precompute, json, memoryBudget }) {
  const { createMsmEngine } = /** @type {typeof import('../src/index.js')} */ (await import(library.href));
  const { ProductMeter, ratesAround } = await openBenchBuild('field-bench');
  /** @type {import('../dev/field-bench/product-meter.js').ProductMeter | undefined} */
  let meter;
  try {
    progress('compiling the shaders');
    const engine = await createMsmEngine({
      curve: 'bn254',
      gpu: openGpu(),
      powerPreference: 'high-performance',
      // this is about the GPU, however small n is
      tuning: { cpuBelow: 0 },
      ...(memoryBudget === undefined ? {} : { memoryBudget }),
    });
    progress('');
    console.log(`adapter: ${adapterLine(engine.adapter)}\n`);

    progress('making bases with known logarithms');
    const known = makeKnownBases(bn254G1, Math.max(...sizes), seed);
    progress('calibrating the product');
    const meterOfCosts = await ProductMeter.open(openGpu());
    meter = meterOfCosts;
    const measurements = [];
    for (const n of sizes) {
      const said = (/** @type {string} */ text) => progress(`n = ${n}: ${text}`);
      measurements.push(
        await measure(engine, known, {
          n,
          reps,
          seed,
          precompute,
          ratesAround: () => ratesAround(meterOfCosts),
          progress: said,
        }),
      );
    }
    progress('');
    console.log(table(measurements, reps));
    console.log(
      '\ncost: the wall × the rate of a plain 13-bit field product, measured before and after: it stays when a shared machine slows down',
    );
    console.log(`compiled once, several at a time: ${compiled(engine.pipelines)}`);
    if (measurements.some(({ phases }) => phases === null)) {
      console.log('\n(this device has no timestamp-query, so there are no times of the phases)');
    }
    if (json !== undefined)
      writeFileSync(json, `${JSON.stringify(rows(measurements, { reps, seed, precompute }), null, 2)}\n`);
    engine.destroy();

    for (const { n, wrong } of measurements) {
      for (const { run, expected, got } of wrong) {
        console.error(
          `\nWRONG at n = ${n}, ${run}, --seed ${seed}\n  noble: ${spell(expected)}\n  GPU:   ${spell(got)}`,
        );
        process.exitCode = 1;
      }
    }
  } finally {
    progress('');
    meter?.destroy();
    closeGpu();
  }
}

/**
 * The slowest first.
 *
 * @param {readonly import('../src/index.js').CompileTime[]} pipelines
 */
function compiled(pipelines) {
  const slowest = pipelines.toSorted((a, b) => b.ms - a.ms);
  return slowest.map(({ name, ms }) => `${name} ${ms.toFixed(0)} ms`).join(', ');
}

/** @param {import('../dev/oracle/known-bases.mjs').AffinePoint} point */
function spell({ x, y, infinity }) {
  return infinity ? 'infinity' : `(0x${x.toString(16)}, 0x${y.toString(16)})`;
}

function parse() {
  const options = parseOptions(process.argv.slice(2));
  if (!options.help && !existsSync(library))
    throw new UsageError('dist/index.js is not there: `npm run build` makes it');
  return options;
}

await runOnAdapter(usage, parse, computeAndPrint, 1);
