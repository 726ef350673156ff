/**
 * npm run count -- --logn 16
 *
 * The work of an MSM, counted on the GPU by instrumented kernels (dev/count): products, squares, inversions, points and words moved,
 * by stage, and as multiples of 6·n·T, the products of n·T affine additions. Deterministic for a kind of adapter (the engine cuts otherwise for
 * a GPU); no times.
 */
import { writeFileSync } from 'node:fs';
import { openBench } from './builds.mjs';
import {
  adapterOption,
  anyText,
  integer,
  listOf,
  outputFile,
  parseCommand,
  refusalsAsUsage,
  runCommand,
  valued,
} from './command-line.mjs';
import { onDevice } from './device.mjs';

const command = {
  usage: 'usage: npm run count -- [options]',
  options: {
    logn: valued('10,12', 'sizes as powers of two', listOf(integer(0, 20)), [10, 12]),
    points: valued('distinct', 'distribution of the points', anyText, 'distinct'),
    scalars: valued('random', 'distribution of the scalars', anyText, 'random'),
    c: valued('13', 'window bits; the engine’s choice unless given', integer(0, 16)),
    json: valued('FILE', 'also writes the counts to a file', outputFile),
    adapter: adapterOption,
  },
};

/** @param {import('./command-line.mjs').Values<typeof command.options>} options */
async function count({ logn, points, scalars, c, json, adapter }) {
  const { makeCounter, countTable, parsePointDistribution, parseScalarDistribution } = await openBench();
  const inputs = refusalsAsUsage(() => ({
    points: parsePointDistribution(points),
    scalars: parseScalarDistribution(scalars),
  }));
  await onDevice(adapter, `points ${points}, scalars ${scalars}`, async (device) => {
    const counter = makeCounter(device);
    const all = [];
    for (const log of logn) {
      const counts = await counter({ n: 2 ** log, ...inputs, tuning: c === undefined ? {} : { windowBits: c } });
      all.push(counts);
      console.log(`\n${countTable(counts)}`);
    }
    if (json !== undefined) writeFileSync(json, `${JSON.stringify(all, null, 2)}\n`);
  });
}

await runCommand(command, () => count(parseCommand(command)));
