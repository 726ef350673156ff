/** A key that proves: what the keys of all proof systems have in common. */
import type { TurnOptions } from '../api/calls.js';
import { readCallOptions } from '../engine/arguments.js';
import { assertNotAborted, MsmError, onAbort } from '../errors.js';
import type { FileSource } from '../formats/source.js';
import type { CircuitFacts, CircuitKey, ProveOptions } from './api.js';
import { copyWitness } from './witness.js';

/** A proof that is being computed. */
export interface ProofRun {
  readonly turn: TurnOptions;
  /** Ends all parts. */
  readonly ending: AbortController;
  /** Takes secrets, which are overwritten when nothing uses them. */
  readonly secrets: Uint8Array[];
  /** Reports that one more part is complete. */
  readonly onPart: () => void;
}

const destroyedError = (): MsmError =>
  new MsmError('destroyed', 'the proving key was destroyed; open it again with openProvingKey');

export abstract class CircuitProver<Result> implements CircuitKey {
  readonly curve: CircuitFacts['curve'];
  readonly variables: number;
  readonly publicSignals: number;
  readonly domainSize: number;
  /** Parts of a proof, for progress. */
  readonly #parts: number;
  #isDestroyed = false;

  constructor({ curve, variables, publicSignals, domainSize }: CircuitFacts, parts: number) {
    this.curve = curve;
    this.variables = variables;
    this.publicSignals = publicSignals;
    this.domainSize = domainSize;
    this.#parts = parts;
  }

  /** Computes a proof. @param witness a copy, if it is in memory */
  protected abstract compute(witness: FileSource, run: ProofRun): Promise<Result>;

  /** Frees the key. */
  protected abstract free(): void;

  async prove(witness: FileSource, options: ProveOptions = {}): Promise<Result> {
    if (this.#isDestroyed) throw destroyedError();
    const { signal, priority, deadline, onProgress } = readCallOptions(options);
    assertNotAborted(signal, 'proof');
    let done = 0;
    const run: ProofRun = {
      turn: { priority, ...(deadline !== null && { deadline }) },
      ending: new AbortController(),
      secrets: [],
      onPart: () => onProgress?.({ phase: 'prove', done: ++done, total: this.#parts }),
    };
    const unsubscribe = onAbort(signal, () => run.ending.abort(signal?.reason));
    try {
      const result = await this.compute(copyWitness(witness, run.secrets), run);
      assertNotAborted(run.ending.signal, 'proof');
      return result;
    } catch (error) {
      throw this.#isDestroyed && error instanceof MsmError ? destroyedError() : error;
    } finally {
      unsubscribe();
      for (const secret of run.secrets) secret.fill(0);
    }
  }

  destroy(): void {
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    this.free();
  }

  [Symbol.dispose](): void {
    this.destroy();
  }
}
