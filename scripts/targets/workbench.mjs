/** What the rows share: a device, engines that are warm on it, their inputs, and what was measured once for several of them. */
import { bn254G1, makeKnownBases } from '../../dev/oracle/known-bases.mjs';
import { WARM_UPS } from '../ab/warm-ups.mjs';
import { NoAdapterError } from '../adapter/choose-adapter.mjs';
import { describeAdapter, openGpu } from '../adapter/open-gpu.mjs';
import { timeBaseline } from './baseline.mjs';
import { measureField } from './field.mjs';

/**
 * @typedef {import('../../src/api.js').MsmEngine} MsmEngine
 * @typedef {import('../../src/engine/engine.js').MsmEngineOptions} MsmEngineOptions
 * @typedef {import('../../dev/ab/contestant.js').Contestant} Contestant
 * @typedef {import('../../dev/ab/contestant.js').Round} Round
 *
 * @typedef {object} Stage an engine that is warm for one n, with its bases on the GPU
 * @property {number} n
 * @property {MsmEngine} engine
 * @property {readonly bigint[]} logs of the bases
 * @property {Uint8Array<ArrayBuffer>} points
 * @property {Contestant} contestant times it, and checks every result
 * @property {readonly Round[]} rounds random scalars; others in each, so that no result can be that of the run before
 * @property {number} peakBytes scratch of an MSM
 */

export const SEED = 1;

/** Dawn rounds times to 100 µs, of which whole phases of a fast GPU take less. */
const EXACT_TIMES = ['disable-dawn-features=timestamp_quantization'];

export class Workbench {
  /** @type {Map<string, Promise<unknown>>} */
  #once = new Map();
  /** @type {(() => void)[]} */
  #cleanUp = [];

  /**
   * @param {Awaited<ReturnType<typeof import('./builds.mjs').openBuilds>>} builds
   * @param {{ adapter: import('../adapter/open-gpu.mjs').Adapter, reps: number, logn: number, progress: (text: string) => void }} settings
   */
  constructor(builds, { adapter, reps, logn, progress }) {
    this.library = builds.library;
    this.tools = builds.tools;
    this.adapter = adapter;
    this.software = adapter.software;
    this.reps = reps;
    this.logn = logn;
    this.progress = progress;
  }

  /** Dawn, as all of this command uses it. */
  static gpu() {
    return openGpu(EXACT_TIMES);
  }

  /** What everything will be measured on. */
  static async adapter() {
    return describeAdapter((await requestAdapter()).info);
  }

  /**
   * An engine for all that is not about a device of its own: it shares what is compiled. On the GPU, however small n is.
   *
   * @param {Partial<MsmEngineOptions>} [more]
   */
  async engine(more) {
    const device = await this.device();
    const engine = await this.library.createMsmEngine({ curve: 'bn254', device, tuning: { cpuBelow: 0 }, ...more });
    this.#cleanUp.push(() => engine.destroy());
    return engine;
  }

  device() {
    return this.#memoise('device', () => this.freshDevice());
  }

  /** A device on which nothing was compiled yet, with the features and limits that an engine gives its own. */
  async freshDevice() {
    const adapter = await requestAdapter();
    const { maxStorageBufferBindingSize, maxBufferSize } = adapter.limits;
    const device = await adapter.requestDevice({
      requiredFeatures: adapter.features.has('timestamp-query') ? ['timestamp-query'] : [],
      requiredLimits: { maxStorageBufferBindingSize, maxBufferSize },
    });
    this.#cleanUp.push(() => device.destroy());
    return device;
  }

  meter() {
    return this.#memoise('meter', async () => {
      this.progress('calibrating the product');
      const meter = await this.tools.ProductMeter.open(Workbench.gpu());
      this.#cleanUp.push(() => meter.destroy());
      return meter;
    });
  }

  /**
   * @param {number} n
   * @returns {Promise<Stage>}
   */
  stage(n) {
    return this.#memoise(`stage ${n}`, async () => {
      this.progress(`n = ${n}: making and loading the bases`);
      const { logs, bytes: points } = makeKnownBases(bn254G1, n, SEED);
      const engine = await this.engine();
      const contestant = await this.tools.Contestant.load(`n = ${n}`, engine, points);
      const makeRound = this.tools.roundMaker(logs, 'random', SEED);
      const rounds = [0, 1].map((i) => makeRound(`random scalars ${i + 1}`, i));
      this.progress(`n = ${n}: compiling, warming up`);
      await contestant.warmUp(Array.from({ length: WARM_UPS }, (_, i) => /** @type {Round} */ (rounds[i % 2])));
      return { n, engine, logs, points, contestant, rounds, peakBytes: engine.memory.peak };
    });
  }

  /**
   * Warm MSMs of n random scalars.
   *
   * @param {number} n
   */
  baseline(n) {
    return this.#memoise(`baseline ${n}`, async () => timeBaseline(this, await this.stage(n), await this.meter()));
  }

  /**
   * The work of the MSM that `baseline` times, in the same plan.
   *
   * @param {number} n
   */
  counts(n) {
    return this.#memoise(`counts ${n}`, async () => {
      const { tuning } = await this.baseline(n);
      this.progress(`n = ${n}: counting`);
      return (await this.#counter())({ n, tuning });
    });
  }

  /** What the operations of the field cost here, with the carries that MSMs compute with. */
  field() {
    return this.#memoise('field', async () => {
      const { tuning } = await this.baseline(2 ** 10);
      return measureField(this, await this.device(), tuning.fieldCarry);
    });
  }

  destroy() {
    // engines before their devices
    for (const cleanUp of this.#cleanUp.reverse()) cleanUp();
    this.#cleanUp = [];
  }

  #counter() {
    // a device of its own: counting changes the kernels that are compiled on it
    return this.#memoise('counter', async () => this.tools.makeCounter(await this.freshDevice()));
  }

  /**
   * @template T
   * @param {string} key
   * @param {() => Promise<T>} make
   * @returns {Promise<T>}
   */
  #memoise(key, make) {
    const made = this.#once.get(key) ?? make();
    this.#once.set(key, made);
    return /** @type {Promise<T>} */ (made);
  }
}

async function requestAdapter() {
  const adapter = await Workbench.gpu().requestAdapter({ powerPreference: 'high-performance' });
  if (!adapter) throw new NoAdapterError('Dawn found no adapter');
  return adapter;
}
