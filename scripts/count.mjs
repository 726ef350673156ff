/**
 * npm run count -- --logn 16
 *
 * The work of an MSM, counted on the GPU by instrumented kernels (dev/count): products, squares, inversions, points and words moved,
 * by stage, and as multiples of 6·n·T, the products of n·T affine additions. Deterministic for a kind of adapter; no times.
 */
import { writeFileSync } from 'node:fs';
import { NoAdapterError } from './adapter/choose-adapter.mjs';
import { adapterLine, closeGpu, describeAdapter, openGpu } from './adapter/open-gpu.mjs';
import { parseInteger, parseStrictly, runOnAdapter, UsageError } from './command-line.mjs';
import { openSources } from './open-sources.mjs';

const usage = `npm run count -- [options]

  --logn 10,12         sizes as powers of two
  --points distinct    distribution of the points
  --scalars random     distribution of the scalars
  --c 13               window bits; the engine's choice unless given
  --json FILE          also writes the counts to a file
  --adapter auto       auto, software or hardware; the engine cuts otherwise for a GPU, so that counts differ
  --help`;

function parseOptions() {
  const values = parseStrictly({
    logn: { type: 'string', default: '10,12' },
    points: { type: 'string', default: 'distinct' },
    scalars: { type: 'string', default: 'random' },
    c: { type: 'string' },
    json: { type: 'string' },
    adapter: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  });
  return {
    ...values,
    sizes: values.logn.split(',').map((text) => 2 ** parseInteger('logn', text.trim(), 0, 20)),
    tuning: values.c === undefined ? {} : { windowBits: parseInteger('c', values.c, 0, 16) },
  };
}

/** @param {ReturnType<typeof parseOptions>} options */
async function count({ sizes, points, scalars, tuning, json }) {
  const vite = await openSources();
  /** @type {GPUDevice | undefined} */
  let device;
  try {
    const { makeCounter } = /** @type {typeof import('../dev/count/count-msm.js')} */ (
      await vite.ssrLoadModule('/dev/count/count-msm.ts')
    );
    const { countTable } = /** @type {typeof import('../dev/count/table.js')} */ (
      await vite.ssrLoadModule('/dev/count/table.ts')
    );
    const { parsePointDistribution, parseScalarDistribution } =
      /** @type {typeof import('../dev/cases/address.js')} */ (await vite.ssrLoadModule('/dev/cases/address.ts'));
    const inputs = { points: parsePointDistribution(points), scalars: parseScalarDistribution(scalars) };
    const adapter = await openGpu().requestAdapter({ powerPreference: 'high-performance' });
    if (!adapter) throw new NoAdapterError('Dawn found no adapter');
    device = await adapter.requestDevice();
    console.log(`adapter: ${adapterLine(describeAdapter(adapter.info))}; points ${points}, scalars ${scalars}`);
    const counter = makeCounter(device);
    const all = [];
    for (const n of sizes) {
      const counts = await counter({ n, ...inputs, tuning });
      all.push(counts);
      console.log(`\n${countTable(counts)}`);
    }
    if (json !== undefined) writeFileSync(json, `${JSON.stringify(all, null, 2)}\n`);
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(error.message);
    throw error;
  } finally {
    device?.destroy();
    closeGpu();
    await vite.close();
  }
}

await runOnAdapter(usage, parseOptions, count);
