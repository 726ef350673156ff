/**
 * npm run count -- --logn 16
 *
 * The work of an MSM, counted on the GPU by instrumented kernels (dev/count): products, squares, inversions, points and words moved,
 * by stage, and as multiples of 6·n·T, the products of n·T affine additions. Deterministic for a kind of adapter; no times.
 */
import { writeFileSync } from 'node:fs';
import { adapterLine, closeGpu, describeAdapter } from './adapter/open-gpu.mjs';
import { openBench } from './builds.mjs';
import {
  adapterOption,
  anyText,
  integer,
  listOf,
  onAdapter,
  outputFile,
  parseCommand,
  runCommand,
  UsageError,
  valued,
} from './command-line.mjs';
import { requestDevice } from './request-device.mjs';

const command = {
  usage: 'usage: npm run count -- [options]',
  options: {
    logn: valued('10,12', 'sizes as powers of two', listOf(integer(0, 20)), [10, 12]),
    points: valued('distinct', 'distribution of the points', anyText, 'distinct'),
    scalars: valued('random', 'distribution of the scalars', anyText, 'random'),
    c: valued('13', 'window bits; the engine’s choice unless given', integer(0, 16)),
    json: valued('FILE', 'also writes the counts to a file', outputFile),
    adapter: {
      ...adapterOption,
      about: 'auto, software, hardware or system; the engine cuts otherwise for a GPU, so that counts differ',
    },
  },
};

/** @param {import('./command-line.mjs').Values<typeof command.options>} options */
async function count({ logn, points, scalars, c, json }) {
  const { makeCounter, countTable, parsePointDistribution, parseScalarDistribution } = await openBench();
  /** @type {GPUDevice | undefined} */
  let device;
  try {
    const inputs = { points: parsePointDistribution(points), scalars: parseScalarDistribution(scalars) };
    device = await requestDevice();
    console.log(`adapter: ${adapterLine(describeAdapter(device.adapterInfo))}; points ${points}, scalars ${scalars}`);
    const counter = makeCounter(device);
    const all = [];
    for (const log of logn) {
      const counts = await counter({ n: 2 ** log, ...inputs, tuning: c === undefined ? {} : { windowBits: c } });
      all.push(counts);
      console.log(`\n${countTable(counts)}`);
    }
    if (json !== undefined) writeFileSync(json, `${JSON.stringify(all, null, 2)}\n`);
  } catch (error) {
    throw error instanceof RangeError ? new UsageError(error.message) : error;
  } finally {
    device?.destroy();
    closeGpu();
  }
}

await runCommand(command, async () => {
  const options = parseCommand(command);
  await onAdapter(options.adapter, () => count(options));
});
