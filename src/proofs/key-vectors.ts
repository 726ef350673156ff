/** Vectors of a proving key, on the CPU and on the GPU that computes the key's sums. */
import type { Bases, MsmEngine } from '../api/engine.js';
import type { FieldEngine } from '../api/fields.js';
import { MsmError, type MsmErrorCode, openUntilAborted } from '../errors.js';
// From the entry, so that the build leaves in fields.js what both share.
import { createFieldEngine } from '../fields.js';
import type { CircuitFacts, EngineOptions } from './api.js';

/** Most bytes of vectors in WebAssembly's memory, whose addresses have 32 bits. */
export const VECTOR_BYTES = 2 ** 32;

/** Failures of a GPU; the CPU computes instead. `destroyed`: after that of another proof. */
const failures: ReadonlySet<MsmErrorCode> = new Set(['internal', 'device-lost', 'out-of-memory', 'destroyed']);

/** Vectors of a key, and the engine that has them. */
export interface InEngine {
  readonly fr: FieldEngine;
}

/** Sums whose scalars a proof computes: their bases and lengths. */
export interface ComputedSums {
  readonly bases: Bases;
  readonly lengths: number | readonly number[];
}

/** Loads vectors into an engine. */
export type Load<Loaded> = (fr: FieldEngine, signal: AbortSignal | undefined) => Promise<Loaded>;

/** Memory and threads of vectors on the CPU. */
interface VectorMemoryOptions {
  readonly isAlone?: boolean;
  readonly isHomeOnly?: boolean;
  readonly memoryBudget?: number;
}

/** Returns whether vectors are loaded twice: on the CPU, and later on the GPU. */
export const wantsBoth = (g1: MsmEngine, backend: EngineOptions['backend']): boolean =>
  backend !== 'gpu' && backend !== 'cpu' && !g1.adapter.software;

export class KeyVectors<Loaded extends InEngine> {
  /** The vectors that are always there. */
  readonly home: Loaded;
  readonly #isHomeGpu: boolean;
  readonly #g1: MsmEngine;
  #onGpu: Loaded | null = null;
  /** Resolves when the GPU has the vectors, or will not have them. */
  #loading: Promise<void> = Promise.resolve();
  /** The engine that the vectors are loaded into. */
  #opened: FieldEngine | null = null;
  #isDestroyed = false;

  private constructor(home: Loaded, isHomeGpu: boolean, g1: MsmEngine) {
    this.home = home;
    this.#isHomeGpu = isHomeGpu;
    this.#g1 = g1;
  }

  /**
   * Loads a key's vectors: with `backend: 'gpu'` on the GPU, otherwise on the CPU. Unless the GPU
   * is a software adapter or not wanted, it loads them there as well, while the caller goes on.
   *
   * @param load loads the vectors into an engine, at most twice
   * @param signal aborts the first load
   * @param memory `isAlone`: one thread computes the vectors of the CPU, as workers have sums to compute
   *   meanwhile; `isHomeOnly`: no second copy is loaded to a GPU; `memoryBudget`: most bytes of vectors
   * @throws what `load` and `createFieldEngine` throw
   */
  static async open<Loaded extends InEngine>(
    curve: CircuitFacts['curve'],
    g1: MsmEngine,
    { backend, verify }: EngineOptions,
    load: Load<Loaded>,
    signal: AbortSignal | undefined,
    { isAlone = false, isHomeOnly = false, memoryBudget = VECTOR_BYTES }: VectorMemoryOptions = {},
  ): Promise<KeyVectors<Loaded>> {
    const lender = isAlone ? {} : { deviceOf: g1 };
    const openEngine = (isOnGpu: boolean): Promise<FieldEngine> =>
      createFieldEngine({
        ...{ field: `${curve}-fr`, memoryBudget: isOnGpu ? VECTOR_BYTES : memoryBudget },
        ...(verify === undefined ? {} : { verify }),
        // beside the CPU, which has the vectors and takes over, the GPU needs no copy of them
        ...(isOnGpu
          ? { backend: 'gpu', deviceOf: g1, retainVectors: backend === 'gpu' }
          : { backend: 'cpu', ...lender }),
      });
    const fr = await openUntilAborted(openEngine(backend === 'gpu'), signal);
    const home = await load(fr, signal).catch((error: unknown) => {
      fr.destroy();
      throw error;
    });
    const vectors = new KeyVectors(home, backend === 'gpu', g1);
    if (!isHomeOnly && wantsBoth(g1, backend)) vectors.#loading = vectors.#loadOnGpu(() => openEngine(true), load);
    return vectors;
  }

  async #loadOnGpu(openEngine: () => Promise<FieldEngine>, load: Load<Loaded>): Promise<void> {
    try {
      this.#opened = await openEngine();
      if (this.#isDestroyed) this.#opened.destroy();
      this.#onGpu = await load(this.#opened, undefined);
    } catch {
      // the CPU has the vectors, too
      this.#opened?.destroy();
    }
  }

  /** Resolves when no more vectors are being loaded. */
  get loading(): Promise<void> {
    return this.#loading;
  }

  /**
   * Computes with the vectors on the device on which `sums` are expected to be faster. If the GPU
   * fails, the CPU computes, now and for later proofs.
   *
   * @param sums null: the vectors that are always there are used
   * @param signal of the work: no second attempt follows once it is aborted
   * @param work called with the vectors, and whether they are on the GPU
   */
  async compute<Result>(
    sums: ComputedSums | null,
    signal: AbortSignal,
    work: (loaded: Loaded, isOnGpu: boolean) => Promise<Result>,
  ): Promise<Result> {
    const atHome = (): Promise<Result> => work(this.home, this.#isHomeGpu);
    const onGpu = this.#onGpu;
    if (onGpu === null || sums === null) return atHome();
    const { predicted } = await this.#g1.plan(sums.bases, sums.lengths);
    if (predicted !== null && predicted.cpuMs < predicted.gpuMs) return atHome();
    try {
      return await work(onGpu, true);
    } catch (error) {
      const isFailure = error instanceof MsmError && failures.has(error.code);
      if (!isFailure || signal.aborted || this.#isDestroyed) throw error;
      this.#onGpu = null;
      onGpu.fr.destroy();
    }
    return atHome();
  }

  /** Bytes of the vectors, of those of running proofs, and of tables, on CPU and GPU. */
  get memoryUsed(): number {
    return this.home.fr.memory.used + (this.#opened?.memory.used ?? 0);
  }

  /** Frees tables and scratch that are kept for later proofs. */
  trim(): void {
    this.home.fr.trim();
    this.#opened?.trim();
  }

  destroy(): void {
    this.#isDestroyed = true;
    this.home.fr.destroy();
    this.#opened?.destroy();
  }
}
