/**
 * Engines of webgpu-msm, one for each group, on Dawn's WebGPU or the CPU, with a cache of loaded
 * bases; and the key of the last proof.
 */
import { createMsmEngine } from 'webgpu-msm';
import * as fflonk from 'webgpu-msm/fflonk';
import { openZkey } from 'webgpu-msm/formats';
import * as groth16 from 'webgpu-msm/groth16';
import * as plonk from 'webgpu-msm/plonk';
import { readReference } from './jobs.js';

/**
 * @typedef {object} EngineOptions
 * @property {'auto' | 'gpu' | 'cpu' | 'both'} [backend]
 * @property {number} [maxWorkers] threads besides the process's own, if the CPU computes
 * @property {boolean | number} [verify] computes results of the GPU a second time in another way:
 *   always, or with this probability
 * @property {number} [basesBudget] bytes of cached bases; the least recently used are dropped first
 */

const systems = { groth16, plonk, fflonk };

/** @typedef {Awaited<ReturnType<(typeof systems)[keyof typeof systems]['openProvingKey']>>} Key */

export class Engines {
  /** @type {Omit<import('webgpu-msm').MsmEngineOptions, 'curve' | 'group'>} */
  #options;
  #basesBudget;
  /** Dawn must stay reachable while anything runs on it. @type {GPU | undefined} */
  #gpu;
  /** @type {Map<string, Promise<import('webgpu-msm').MsmEngine>>} */
  #engines = new Map();
  /**
   * Bases cache in order of last use. @type {Map<string, { bases: import('webgpu-msm').Bases,
   * bytes: number }>}
   */
  #cache = new Map();
  /** The key of the last proof, by its digest. @type {{ sha256: string, key: Key } | null} */
  #key = null;

  /** @param {EngineOptions} [options] */
  constructor({ basesBudget = 2 ** 28, ...options } = {}) {
    this.#options = options;
    this.#basesBudget = basesBudget;
  }

  /** Opens WebGPU unless only the CPU computes. With `auto` it may be missing. */
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
   * @param {Pick<import('./jobs.js').RangeTask, 'curve' | 'group'>} of
   * @returns {Promise<import('webgpu-msm').MsmEngine>}
   */
  of({ curve, group }) {
    const name = `${curve}/${group}`;
    const known = this.#engines.get(name);
    if (known !== undefined) return known;
    const engine = this.#open(curve, group);
    this.#engines.set(name, engine);
    // a failed engine is forgotten, so that the next call tries again
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
    // the farm passes bytes only, so the type of coordinates does not matter
    return createMsmEngine(/** @type {import('webgpu-msm').MsmEngineOptions} */ (options));
  }

  /** @param {import('./jobs.js').RangeTask} task */
  async #basesOf(task) {
    const { curve, group, bases } = task;
    const name = `${curve}/${group}/${bases.encoding}/${bases.sha256}`;
    const loaded = this.#cache.get(name);
    if (loaded !== undefined) {
      this.#cache.delete(name);
      this.#cache.set(name, loaded);
      return loaded.bases;
    }
    const engine = await this.of(task);
    const points = await readReference(bases);
    // checked for the group and not only the curve, because sums are checked for the group as well
    const fresh = await engine.loadBases(points, { encoding: bases.encoding, checkSubgroup: true });
    this.#cache.set(name, { bases: fresh, bytes: fresh.byteLength });
    let bytes = [...this.#cache.values()].reduce((sum, each) => sum + each.bytes, 0);
    for (const [other, { bases: longest, bytes: its }] of this.#cache) {
      if (bytes <= this.#basesBudget || other === name) break;
      longest.destroy();
      this.#cache.delete(other);
      bytes -= its;
    }
    return fresh;
  }

  /**
   * Computes the sum of a range.
   *
   * @param {import('./jobs.js').RangeTask} task
   * @returns {Promise<{ sum: Uint8Array, on: 'gpu' | 'cpu' | 'both' | null }>} the sum in the
   *   encoding `be`, and its backend
   */
  async sumOf(task) {
    const scalars = await readReference(task.scalars);
    const bases = await this.#basesOf(task);
    const engine = await this.of(task);
    const sum = await engine.msm(bases, scalars, { scalarEncoding: task.scalars.encoding, result: 'be' });
    return { sum, on: engine.lastRun?.on ?? null };
  }

  /**
   * Loads a key, in place of the last one. A worker computes one proof at a time.
   *
   * @param {import('./jobs.js').Reference} zkey
   */
  async #keyOf(zkey) {
    if (this.#key?.sha256 === zkey.sha256) return this.#key.key;
    this.#key?.key.destroy();
    this.#key = null;
    const bytes = await readReference(zkey);
    const { protocol } = await openZkey(bytes);
    const gpu = await this.#webgpu();
    const key = await systems[protocol].openProvingKey(bytes, { ...this.#options, ...(gpu && { gpu }) });
    this.#key = { sha256: zkey.sha256, key };
    return key;
  }

  /**
   * Computes a whole proof, and verifies it.
   *
   * @param {import('./jobs.js').ProofTask} task
   * @returns {Promise<{ proof: object, publicSignals: string[] }>}
   */
  async prove(task) {
    const witness = await readReference(task.witness);
    const key = await this.#keyOf(task.zkey);
    return key.prove(witness, { verifyProof: true });
  }

  async close() {
    this.#key?.key.destroy();
    this.#key = null;
    for (const engine of await Promise.allSettled(this.#engines.values()))
      if (engine.status === 'fulfilled') engine.value.destroy();
    this.#engines.clear();
    this.#cache.clear();
    // released, or Node would not exit
    this.#gpu = undefined;
  }
}
