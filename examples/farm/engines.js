/** What computes: engines of webgpu-msm, one for each group, on Dawn's WebGPU or on the CPU; and bases that stay loaded. */
import { createMsmEngine } from 'webgpu-msm';
import { readReference } from './reference.js';

/**
 * @typedef {object} EngineOptions
 * @property {'auto' | 'gpu' | 'cpu' | 'both'} [backend]
 * @property {number} [maxWorkers] threads beside the process's own, where the CPU computes
 * @property {boolean | number} [verify] what the GPU computed is computed once more in another way: always, or with this probability
 * @property {number} [basesBudget] bytes of points that stay loaded; the longest unused go first
 */

export class Engines {
  /** @type {Omit<import('webgpu-msm').MsmEngineOptions, 'curve' | 'group'>} */
  #options;
  #basesBudget;
  /** Dawn has to stay reachable as long as anything runs on it. @type {GPU | undefined} */
  #gpu;
  /** @type {Map<string, Promise<import('webgpu-msm').MsmEngine>>} */
  #engines = new Map();
  /** In the order of their last use. @type {Map<string, { bases: import('webgpu-msm').Bases, bytes: number }>} */
  #shelf = new Map();

  /** @param {EngineOptions} [options] */
  constructor({ basesBudget = 2 ** 28, ...options } = {}) {
    this.#options = options;
    this.#basesBudget = basesBudget;
  }

  /** WebGPU, unless only the CPU is to compute; for `auto` it may be missing. */
  async #webgpu() {
    if (this.#options.backend === 'cpu') return undefined;
    try {
      const { create } = await import('webgpu');
      this.#gpu ??= create([]);
    } catch (error) {
      if (this.#options.backend !== undefined && this.#options.backend !== 'auto') throw error;
    }
    return this.#gpu;
  }

  /**
   * @param {Pick<import('./statement.js').Task, 'curve' | 'group'>} of
   * @returns {Promise<import('webgpu-msm').MsmEngine>}
   */
  of({ curve, group }) {
    const name = `${curve}/${group}`;
    const known = this.#engines.get(name);
    if (known !== undefined) return known;
    const engine = this.#open(curve, group);
    this.#engines.set(name, engine);
    // the next one tries again
    engine.catch(() => this.#engines.delete(name));
    return engine;
  }

  /**
   * @param {import('webgpu-msm').NamedCurve} curve
   * @param {'g1' | 'g2'} group
   */
  async #open(curve, group) {
    const gpu = await this.#webgpu();
    const options = { ...this.#options, curve, group, ...(gpu === undefined ? {} : { gpu }) };
    // bytes go in and out, so that the coordinates are nobody's concern here
    return createMsmEngine(/** @type {import('webgpu-msm').MsmEngineOptions} */ (options));
  }

  /** @param {import('./statement.js').Task} task */
  async #basesOf(task) {
    const { curve, group, bases } = task;
    const name = `${curve}/${group}/${bases.encoding}/${bases.sha256}`;
    const loaded = this.#shelf.get(name);
    if (loaded !== undefined) {
      this.#shelf.delete(name);
      this.#shelf.set(name, loaded);
      return loaded.bases;
    }
    const engine = await this.of(task);
    const points = await readReference(bases);
    // in the group and not only on the curve, as what comes of them is checked to be
    const fresh = await engine.loadBases(points, { encoding: bases.encoding, checkSubgroup: true });
    this.#shelf.set(name, { bases: fresh, bytes: fresh.byteLength });
    let bytes = [...this.#shelf.values()].reduce((sum, each) => sum + each.bytes, 0);
    for (const [other, { bases: longest, bytes: its }] of this.#shelf) {
      if (bytes <= this.#basesBudget || other === name) break;
      longest.destroy();
      this.#shelf.delete(other);
      bytes -= its;
    }
    return fresh;
  }

  /**
   * The sum of a range.
   *
   * @param {import('./statement.js').Task} task
   * @returns {Promise<{ sum: Uint8Array, on: 'gpu' | 'cpu' | 'both' | null }>} in the encoding `be`, and who computed it
   */
  async sumOf(task) {
    const scalars = await readReference(task.scalars);
    const bases = await this.#basesOf(task);
    const engine = await this.of(task);
    const sum = await engine.msm(bases, scalars, { scalarEncoding: task.scalars.encoding, result: 'be' });
    return { sum, on: engine.lastRun?.on ?? null };
  }

  async close() {
    for (const engine of await Promise.allSettled(this.#engines.values()))
      if (engine.status === 'fulfilled') engine.value.destroy();
    this.#engines.clear();
    this.#shelf.clear();
    // and has to be let go, or Node does not exit
    this.#gpu = undefined;
  }
}
