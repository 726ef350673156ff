/** A key that proves: what the keys of all proof systems have in common. */
import type { TurnOptions } from '../api/calls.js';
import { progressRow, signalRow, turnRows } from '../engine/call-options.js';
import { assertNotAborted, badArgument, fromCaller, MsmError, onAbort } from '../errors.js';
import type { FileSource } from '../formats/source.js';
import { inspect, printed } from '../handle.js';
import { type OptionTable, readOptions } from '../option-table.js';
import type { CircuitFacts, CircuitKey, ProofProgress, ProveOptions, VerifyOptions } from './api.js';
import { copyWitness } from './witness.js';

/** A proof that is being computed. */
export interface ProofRun {
  readonly turn: TurnOptions;
  /** Ends all parts. */
  readonly ending: AbortController;
  /** Takes secrets, which are overwritten when nothing uses them. */
  readonly secrets: Uint8Array[];
  /** Reports that one more part is complete. @param part as `ProofProgress` has it */
  readonly onPart: (part: string) => void;
}

const destroyedError = (): MsmError =>
  new MsmError('destroyed', 'the proving key was destroyed; open it again with openProvingKey');

/** A proof, and the public values that it is verified with. */
interface Proven {
  readonly proof: unknown;
  readonly publicSignals: readonly string[];
}

/** `ProvingKey.prove`. */
export const proveOptions = {
  of: 'prove',
  rows: { ...turnRows, signal: signalRow, onProgress: progressRow, verifyProof: { kind: 'flag', default: false } },
} as const satisfies OptionTable<ProveOptions>;

/** `ProvingKey.verify`. */
export const verifyOptions = {
  of: 'verify',
  rows: { signal: signalRow },
} as const satisfies OptionTable<VerifyOptions>;

export abstract class CircuitProver<Result extends Proven> implements CircuitKey {
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

  /** Returns whether a proof verifies. @throws MsmError `bad-argument` if it is no proof */
  protected abstract check(result: Proven, signal: AbortSignal | undefined): Promise<boolean>;

  /** Frees the key. */
  protected abstract free(): void;

  /** @throws MsmError `bad-argument` if a proof of this key does not verify */
  async #assertVerifies(result: Result, { ending, onPart }: ProofRun): Promise<void> {
    if (!(await this.check(result, ending.signal))) {
      throw badArgument(
        'witness: its proof does not verify, so the witness does not satisfy the circuit, the key is damaged, or a computation was wrong',
      );
    }
    onPart('verification');
  }

  /** Rejects after `destroy`, during the work too. */
  async #whileOpen<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#isDestroyed) throw destroyedError();
    try {
      const value = await work();
      if (!this.#isDestroyed) return value;
    } catch (error) {
      if (!(this.#isDestroyed && error instanceof MsmError)) throw error;
    }
    throw destroyedError();
  }

  #fromCaller<Value>(work: () => Promise<Value>): Promise<Value> {
    return fromCaller(() => this.#whileOpen(work));
  }

  verify(proof: Result['proof'], publicSignals: readonly string[], options: VerifyOptions = {}): Promise<boolean> {
    return this.#fromCaller(async () => {
      const { signal } = readOptions(verifyOptions, options);
      assertNotAborted(signal, 'verification');
      return this.check({ proof, publicSignals }, signal);
    });
  }

  prove(witness: FileSource, options: ProveOptions = {}): Promise<Result> {
    return this.#fromCaller(() => this.#prove(witness, options));
  }

  async #prove(witness: FileSource, options: ProveOptions): Promise<Result> {
    const { signal, priority, deadline, onProgress, verifyProof } = readOptions(proveOptions, options);
    const total = this.#parts + Number(verifyProof);
    assertNotAborted(signal, 'proof');
    const done = new Set<string>();
    const run: ProofRun = {
      turn: { priority, deadline },
      ending: new AbortController(),
      secrets: [],
      onPart: (part) => {
        // the CPU repeats parts of a GPU that failed
        if (done.has(part)) return;
        done.add(part);
        const progress: ProofProgress = { phase: 'prove', part, done: done.size, total };
        onProgress?.(progress);
      },
    };
    const unsubscribe = onAbort(signal, () => run.ending.abort(signal?.reason));
    try {
      const result = await this.compute(copyWitness(witness, run.secrets), run);
      if (verifyProof) await this.#assertVerifies(result, run);
      assertNotAborted(run.ending.signal, 'proof');
      return result;
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

  get [Symbol.toStringTag](): string {
    return 'ProvingKey';
  }

  [inspect](): object {
    const { curve, variables, publicSignals, domainSize } = this;
    return printed('ProvingKey', { curve, variables, publicSignals, domainSize, isDestroyed: this.#isDestroyed });
  }
}
