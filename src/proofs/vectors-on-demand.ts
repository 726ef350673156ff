/** Vectors of a key that are in memory while a proof computes with them, and loaded again for the next. */
import type { FieldEngine } from '../api/fields.js';
import { MsmError, openUntilAborted } from '../errors.js';
// From the entry, so that the build leaves in fields.js what both share.
import { createFieldEngine } from '../fields.js';
import type { CircuitFacts } from './api.js';
import { type ComputedSums, type InEngine, type KeyVectors, type Load, VECTOR_BYTES } from './key-vectors.js';

/** Vectors of a key, whether they stay loaded or not. */
export type ProofVectors<Loaded extends InEngine> = Pick<
  KeyVectors<Loaded>,
  'compute' | 'memoryUsed' | 'trim' | 'destroy'
>;

/**
 * Memory of WebAssembly grows and never shrinks, so the memory of a proof's vectors comes back only
 * with an engine of its own for each proof.
 */
export class VectorsOnDemand<Loaded extends InEngine> implements ProofVectors<Loaded> {
  readonly #curve: CircuitFacts['curve'];
  readonly #load: Load<Loaded>;
  readonly #open = new Set<FieldEngine>();
  #isDestroyed = false;

  /** @param load loads the vectors into an engine, for every proof */
  constructor(curve: CircuitFacts['curve'], load: Load<Loaded>) {
    this.#curve = curve;
    this.#load = load;
  }

  async compute<Result>(
    _: ComputedSums | null,
    signal: AbortSignal,
    work: (loaded: Loaded, isOnGpu: boolean) => Promise<Result>,
  ): Promise<Result> {
    const opening = createFieldEngine({
      ...{ field: `${this.#curve}-fr`, memoryBudget: VECTOR_BYTES, backend: 'cpu' },
    });
    const fr = await openUntilAborted(opening, signal);
    this.#open.add(fr);
    try {
      if (this.#isDestroyed) throw new MsmError('destroyed', 'the proving key was destroyed');
      return await work(await this.#load(fr, signal), false);
    } finally {
      this.#open.delete(fr);
      fr.destroy();
    }
  }

  get memoryUsed(): number {
    return [...this.#open].reduce((sum, { memory }) => sum + memory.used, 0);
  }

  trim(): void {}

  destroy(): void {
    this.#isDestroyed = true;
    for (const fr of this.#open) fr.destroy();
  }
}
