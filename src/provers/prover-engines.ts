/** The engines of a prover, whether snarkjs is faster than they are, and the memory of its points. */

import type { MsmEngine } from '../api/engine.js';
import type { Coordinate } from '../api/values.js';
import type { Group } from '../curves/more-curves.js';
import { defaultBasesBudget } from '../engine/main-memory.js';
import { createMsmEngine } from '../index.js';
import type { Counts, EnginesOptions, ReadAccelerateOptions } from './accelerate-options.js';
import type { FfCurveName, FfGroup, MultiExpAffine } from './ffjavascript.js';

/**
 * The engines of a prover, one for each group, created when first needed. All of them share one
 * device.
 */
export class ProverEngines {
  readonly #options: EnginesOptions;
  readonly #measures: boolean;
  readonly #counts: Counts;
  readonly #engines = new Map<string, Promise<MsmEngine<Coordinate>>>();
  /** Curves whose comparison with snarkjs has begun. */
  readonly #compared = new Map<FfCurveName, Promise<boolean>>();

  /** @param counts takes the adapter's bases budget and the compile times */
  constructor({ engines, basesBudget, measure }: ReadAccelerateOptions, counts: Counts) {
    this.#options = engines;
    this.#measures = measure;
    this.#counts = counts;
    counts.basesBudget = basesBudget ?? defaultBasesBudget();
  }

  /**
   * Returns the engine of a group, which may still be opening. Does not retry an engine that failed
   * to open.
   */
  get(curve: FfCurveName, group: Group): Promise<MsmEngine<Coordinate>> {
    const key = `${curve} ${group}`;
    const known = this.#engines.get(key);
    if (known !== undefined) return known;
    const [other] = this.#engines.values();
    const opening = this.#open(curve, group, other);
    // callers see the failure when they await the engine, which may be later
    opening.catch(() => undefined);
    this.#engines.set(key, opening);
    return opening;
  }

  /**
   * @param other an engine whose device is used, so that groups share loaded scalars and one queue
   * of calls
   */
  async #open(
    curve: FfCurveName,
    group: Group,
    other: Promise<MsmEngine<Coordinate>> | undefined,
  ): Promise<MsmEngine<Coordinate>> {
    const deviceOf = await other?.catch(() => undefined);
    const settings = { ...this.#options, curve, ...(deviceOf && { deviceOf }) };
    const engine = await (group === 'g1' ? createMsmEngine(settings) : createMsmEngine({ ...settings, group }));
    return engine;
  }

  /**
   * Returns whether snarkjs computes a curve faster than the library. Only an engine whose CPU has
   * neither multiply-adds of floats nor wide arithmetic is measured, once in a process.
   *
   * @param original G1 of the curve; null without threads of snarkjs, which are not started for this
   */
  async isSlower(curve: FfCurveName, original: OriginalGroup | null): Promise<boolean> {
    if (!this.#measures || original === null) return false;
    const compared = this.#compared.get(curve) ?? this.#compare(curve, original);
    this.#compared.set(curve, compared);
    return compared;
  }

  async #compare(curve: FfCurveName, original: OriginalGroup): Promise<boolean> {
    try {
      const isSlower = await isSnarkjsFaster(curve, await this.get(curve, 'g1'), original);
      if (isSlower) this.#counts.leftToSnarkjs = [...this.#counts.leftToSnarkjs, curve];
      return isSlower;
    } catch {
      // a side that fails is not compared; the engine's error is that of the call
      return false;
    }
  }

  /**
   * Updates the compile time from an engine. Every engine lists the pipelines of the one device.
   */
  countCompiling({ pipelines }: MsmEngine<Coordinate>): void {
    this.#counts.compileMs = Math.max(
      this.#counts.compileMs,
      pipelines.reduce((sum, { ms }) => sum + ms, 0),
    );
  }

  /** Destroys every engine, those that are still opening as soon as they are open. */
  destroy(): void {
    for (const engine of this.#engines.values()) {
      engine.then(
        (each) => each.destroy(),
        () => undefined,
      );
    }
    this.#engines.clear();
  }
}

/** G1 of a curve that snarkjs has made, and its own MSM. */
export interface OriginalGroup {
  readonly group: FfGroup;
  readonly multiExpAffine: MultiExpAffine;
}

/** Arithmetics with which the library takes a third of snarkjs's time, so that nothing is measured. */
const certain: readonly unknown[] = ['wasm-fma', 'wasm-wide'];

/** Points of the MSM that both sides compute, which takes each some 10 ms. */
const POINTS = 2 ** 10;

/** Turns of both sides. snarkjs is faster if it wins them all, so the first that it loses decides. */
const TURNS = 5;

/** snarkjs wins a turn in less than this part of the library's time; a busy machine moves times by less. */
const CLEARLY = 0.75;

const SCALAR_BYTES = 32;

/** Results of the process by curve, arithmetic and workers. */
const measured = new Map<string, boolean>();

/** Returns the multiples G to n·G of a group's generator. */
const multiplesOf = async (group: FfGroup, n: number): Promise<Uint8Array> => {
  const bytes = 3 * group.F.n8;
  const all = new Uint8Array(n * bytes);
  let point = group.g;
  for (let i = 0; i < n; i++) {
    all.set(point, i * bytes);
    point = group.add(point, group.g);
  }
  return group.batchToAffine(all);
};

/** Returns random scalars below the order of every curve of snarkjs. */
const randomScalars = (n: number): Uint8Array => {
  const scalars = crypto.getRandomValues(new Uint8Array(n * SCALAR_BYTES));
  for (let i = 1; i <= n; i++) scalars[i * SCALAR_BYTES - 1] = 0;
  return scalars;
};

const msOf = async (compute: () => Promise<unknown>): Promise<number> => {
  const begun = performance.now();
  await compute();
  return performance.now() - begun;
};

const isSnarkjsFaster = async (
  curve: FfCurveName,
  engine: MsmEngine<Coordinate>,
  { group, multiExpAffine }: OriginalGroup,
): Promise<boolean> => {
  if (!engine.adapter.software) return false;
  const [points, scalars] = [await multiplesOf(group, POINTS), randomScalars(POINTS)];
  const bases = await engine.loadBases(points.slice(), { encoding: 'le-montgomery' });
  try {
    // the first MSM compiles, and tells what computes
    await engine.msm(bases, scalars);
    const run = engine.lastRun;
    if (run?.on !== 'cpu' || certain.includes(run.arithmetic)) return false;
    const kind = `${curve} ${run.arithmetic} ${run.workers}`;
    const remembered = measured.get(kind);
    if (remembered !== undefined) return remembered;
    await multiExpAffine(points, scalars);
    let isFaster = true;
    for (let turn = 0; turn < TURNS && isFaster; turn++) {
      const libraryMs = await msOf(() => engine.msm(bases, scalars));
      isFaster = (await msOf(() => multiExpAffine(points, scalars))) < CLEARLY * libraryMs;
    }
    measured.set(kind, isFaster);
    return isFaster;
  } finally {
    bases.destroy();
  }
};
