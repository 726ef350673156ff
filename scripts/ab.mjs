/**
 * npm run ab -- --a walkerSlots=8 --b walkerSlots=16 --n 2^12
 *
 * Two configurations, or two builds: strictly in turn in one process, on the same inputs, every result checked before its time counts.
 * The ratio of the medians and its 95 % interval say which is faster; the cost in product equivalents is comparable with other runs.
 */
import { writeFileSync } from 'node:fs';
import { parseOptions, usage } from './ab/options.mjs';
import { report } from './ab/report.mjs';
import { createEngine, withUsageErrors } from './ab/sides.mjs';
import { WARM_UPS } from './ab/warm-ups.mjs';
import { adapterLine, closeGpu, openGpu } from './adapter/open-gpu.mjs';
import { progress, runOnAdapter, UsageError } from './command-line.mjs';
import { openSources } from './open-sources.mjs';
import { commit } from './start/rows.mjs';

/** @param {ReturnType<typeof parseOptions>} options */
async function ab({ n, reps, points, scalars, seed, json, sides }) {
  const vite = await openSources();
  /** @type {{ destroy(): void }[]} */
  const opened = [];
  try {
    const { Contestant } = /** @type {typeof import('../dev/ab/contestant.js')} */ (
      await vite.ssrLoadModule('/dev/ab/contestant.ts')
    );
    const { roundMaker, runPairs, summarise } = /** @type {typeof import('../dev/ab/compare.js')} */ (
      await vite.ssrLoadModule('/dev/ab/compare.ts')
    );
    const made = await makeInputs(vite, { n, points, scalars, seed });
    const makeRound = roundMaker(made.points.logs, made.scalars, seed);
    const warmUps = Array.from({ length: WARM_UPS }, (_, i) => makeRound(`warm-up ${i + 1}`, i));

    // both before either compiles: a mistake in B is told at once
    const engines = [];
    for (const side of sides) {
      const engine = await withUsageErrors(side, () => createEngine(side));
      opened.push(engine);
      engines.push({ side, engine });
    }
    const contestants = [];
    for (const { side, engine } of engines) {
      progress(`${side.name}: compiling, warming up`);
      const load = () => Contestant.load(side.name, engine, made.points.bytes, side.load);
      const contestant = await withUsageErrors(side, load);
      // some knobs are refused only when the device and n are known
      await withUsageErrors(side, () => contestant.warmUp(warmUps));
      contestants.push(contestant);
    }
    const [a, b] = /** @type {[(typeof contestants)[0], (typeof contestants)[0]]} */ (contestants);
    progress('calibrating the product');
    const { ProductMeter } = /** @type {typeof import('../dev/field-bench/product-meter.js')} */ (
      await vite.ssrLoadModule('/dev/field-bench/product-meter.ts')
    );
    const meter = await ProductMeter.open(openGpu());
    opened.push(meter);
    progress('');
    console.log(`adapter: ${adapterLine(meter.adapter)}; node ${process.version}`);
    console.log(`n = ${n.toLocaleString('en')}, points ${points}, scalars ${scalars}, seed ${seed}`);
    console.log(`${reps} pairs after ${WARM_UPS} warm-ups of each; every result is checked before its time counts\n`);

    const pairs = await runPairs(a, b, meter, reps, (pair) => {
      progress(`pair ${pair + 1} of ${reps}`);
      return makeRound(`pair ${pair + 1}`, WARM_UPS + pair);
    });
    progress('');
    const comparison = summarise(pairs, seed);
    const ran = contestants.map(({ lastRun, plans }) => ({
      on: lastRun?.on ?? '?',
      plans,
      tuning: lastRun?.tuning ?? null,
    }));
    console.log(report(comparison, sides, ran));
    if (json !== undefined) {
      const record = {
        at: new Date().toISOString(),
        node: process.version,
        adapter: meter.adapter,
        ...{ n, points, scalars, seed, reps, warmUps: WARM_UPS },
        sides: sides.map(({ name, settings, build }, i) => ({
          name,
          settings,
          build,
          commit: commit(build),
          ...ran[i],
        })),
        ...comparison,
        pairs,
      };
      writeFileSync(json, `${JSON.stringify(record, null, 2)}\n`);
    }
  } finally {
    progress('');
    for (const each of opened) each.destroy();
    closeGpu();
    await vite.close();
  }
}

/**
 * @param {import('vite').ViteDevServer} vite
 * @param {{ n: number, points: string, scalars: string, seed: number }} wanted
 */
async function makeInputs(vite, { n, points, scalars, seed }) {
  const { parsePointDistribution, parseScalarDistribution } = /** @type {typeof import('../dev/cases/address.js')} */ (
    await vite.ssrLoadModule('/dev/cases/address.ts')
  );
  const { makePoints } = /** @type {typeof import('../dev/cases/msm-case.js')} */ (
    await vite.ssrLoadModule('/dev/cases/msm-case.ts')
  );
  try {
    const names = { points: parsePointDistribution(points), scalars: parseScalarDistribution(scalars) };
    progress('making the points');
    return { points: makePoints({ ...names, n, seed }), scalars: names.scalars };
  } catch (error) {
    throw error instanceof RangeError ? new UsageError(error.message) : error;
  }
}

await runOnAdapter(usage, parseOptions, ab);
