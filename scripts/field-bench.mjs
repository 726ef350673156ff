/**
 * npm run field-bench
 *
 * What a product, a squaring, an inversion, an addition and a packing of the BN254 base field cost on this device, in dependent chains,
 * several of them side by side in a thread; beside them, in the same run and taking turns, what the device can do at all, and what
 * numbers cost that are inverted in batches. Every kernel is checked against BigInts first.
 */
import { writeFileSync } from 'node:fs';
import { NoAdapterError } from './adapter/choose-adapter.mjs';
import { adapterLine, closeGpu, describeAdapter, openGpu } from './adapter/open-gpu.mjs';
import { openBenchBuild } from './bench-library.mjs';
import { parseInteger, parseStrictly, progress, runOnAdapter } from './command-line.mjs';

const usage = `npm run field-bench -- [options]

  --threads N       of a dispatch (default 256 on a software adapter, 65536 on a GPU)
  --chains 1,2,4,8  independent chains a thread
  --reps 7          the median counts; all kernels take turns in each
  --ms 50           how long a dispatch takes at least
  --json FILE       also writes the rates to a file
  --adapter auto    auto, software or hardware
  --help`;

function parseOptions() {
  const values = parseStrictly({
    threads: { type: 'string' },
    chains: { type: 'string', default: '1,2,4,8' },
    reps: { type: 'string', default: '7' },
    ms: { type: 'string', default: '50' },
    json: { type: 'string' },
    adapter: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  });
  return {
    help: values.help,
    adapter: values.adapter,
    json: values.json,
    threads: values.threads === undefined ? undefined : parseInteger('threads', values.threads, 1, 2 ** 20),
    chains: values.chains.split(',').map((text) => parseInteger('chains', text.trim(), 1, 16)),
    reps: parseInteger('reps', values.reps, 1, 1000),
    leastMs: parseInteger('ms', values.ms, 1, 10_000),
  };
}

/** Lanes that compute in lockstep on most GPUs. */
const USUAL_LANES = 32;

/** @param {number} perSecond */
const millions = (perSecond) => (perSecond / 1e6).toPrecision(4);

/** @param {ReturnType<typeof parseOptions>} options */
async function bench({ threads, chains, reps, leastMs, json }) {
  const { batchInversions, bn254, fieldBench, hasSlowShifts, modulus, threadsFor } =
    await openBenchBuild('field-bench');
  /** @type {GPUDevice | undefined} */
  let device;
  try {
    const gpu = openGpu();
    const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
    if (!adapter) throw new NoAdapterError('Dawn found no adapter');
    const subgroups = adapter.features.has('subgroups');
    device = await adapter.requestDevice({ requiredFeatures: subgroups ? ['subgroups'] : [] });
    const described = describeAdapter(adapter.info);
    const used = threads ?? threadsFor(described.software);
    console.log(`adapter: ${adapterLine(described)}; ${used} threads, medians of ${reps}, millions a second`);
    const result = await fieldBench(device, modulus(bn254.p), {
      threads: used,
      chains,
      reps,
      leastMs,
      batches: batchInversions(
        hasSlowShifts(described) ? 'float' : 'shift',
        // what an adapter says that has no subgroups is the least that WebGPU allows, and no guess
        subgroups ? (adapter.info.subgroupMinSize ?? USUAL_LANES) : USUAL_LANES,
      ),
      features: /** @type {ReadonlySet<string>} */ (gpu.wgslLanguageFeatures),
      onProgress: progress,
    });
    progress('');
    print(result, chains);
    if (json !== undefined) {
      const record = { at: new Date().toISOString(), adapter: described, threads: used, reps, leastMs, ...result };
      writeFileSync(json, `${JSON.stringify(record, null, 2)}\n`);
    }
  } finally {
    device?.destroy();
    closeGpu();
  }
}

/**
 * @param {import('../dev/field-bench/run.js').FieldBenchResult} result
 * @param {readonly number[]} chains
 */
function print({ peaks, rows, batches, skipped, copyBytesPerSecond }, chains) {
  const line = (/** @type {string} */ name, /** @type {string[]} */ cells) =>
    console.log(name.padEnd(34) + cells.map((cell) => cell.padStart(11)).join(''));
  line('\npeak', ['']);
  for (const { operation, perSecond } of peaks) line(operation, [millions(perSecond)]);
  line('copy, GB a second', [(copyBytesPerSecond / 1e9).toPrecision(3)]);
  line('\nchains a thread', [...chains.map(String), '× plain', '÷ product', 'of the peak', 'compile, ms']);
  const best = (/** @type {string} */ variant, /** @type {string} */ name) =>
    Math.max(...rows.filter((row) => row.variant === variant && row.operation === name).map((row) => row.perSecond));
  const plain = rows[0]?.variant ?? '';
  for (const id of new Set(rows.map(({ variant, operation }) => JSON.stringify([variant, operation])))) {
    const [variant, operation] = /** @type {[string, string]} */ (JSON.parse(id));
    const own = rows.filter((row) => row.variant === variant && row.operation === operation);
    const ofPeak = own.reduce((most, row) => Math.max(most, row.ofPeak ?? 0), 0);
    line(`${operation}, ${variant}`, [
      ...chains.map((count) => {
        const row = own.find((each) => each.chains === count);
        return row === undefined ? '' : millions(row.perSecond);
      }),
      operation === 'product' ? (best(variant, operation) / best(plain, operation)).toFixed(2) : '',
      operation === 'product' ? '' : (best(variant, 'product') / best(variant, operation)).toFixed(2),
      ofPeak === 0 ? '' : `${(100 * ofPeak).toFixed(0)} %`,
      Math.max(...own.map(({ compileMs }) => compileMs)).toFixed(0),
    ]);
  }
  const sizes = [...new Set(batches.map(({ batch }) => batch.size))].toSorted((a, b) => a - b);
  line('\nbatch inversion, products an element', [...sizes.map((size) => `S = ${size}`), 'compile, ms']);
  for (const name of new Set(batches.map(({ name }) => name))) {
    const own = batches.filter((row) => row.name === name);
    line(name, [
      ...sizes.map((size) => {
        const row = own.find(({ batch }) => batch.size === size);
        return row === undefined ? '' : (best(row.variant, 'product') / row.perSecond).toFixed(2);
      }),
      Math.max(...own.map(({ compileMs }) => compileMs)).toFixed(0),
    ]);
  }
  for (const { operation, variant, why } of skipped) line(`${operation}, ${variant}`, [` ${why}`]);
  console.log(
    '\n× plain: the rate of a product beside that of the plain one, each at its best. ÷ product: what one costs in products of its own\n' +
      'kind. Batch inversion, of S elements a thread: what one of them costs in products of the same kind. Every kernel was right.',
  );
}

await runOnAdapter(usage, parseOptions, bench);
