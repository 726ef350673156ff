/** A circuit that is open: from inputs to a witness, and from a witness to a proof. */
import { progressRow, signalRow, turnRows } from '../engine/options.js';
import { assertNotAborted, badArgument, Ending, fromCaller, MsmError, onAbort } from '../errors.js';
import type { FileSource } from '../formats/source.js';
import { inspect, printed } from '../handle.js';
import { type OptionTable, type ReadOptions, readOptions } from '../option-table.js';
import type { VerifyOptions } from '../proofs/api.js';
import type {
  CheckOptions,
  Circuit,
  CircuitInput,
  CircuitProgress,
  CircuitProof,
  CircuitProveOptions,
  CircuitResult,
  OpenCircuitFacts,
  UnsatisfiedConstraint,
  WitnessOptions,
} from './api.js';
import { destroyedCircuit, type Prover, type WitnessMaker } from './circuit-parts.js';
import type { Constraints } from './constraints.js';
import { eraseSignals, readSignals, type SignalValues } from './input-signals.js';

const logRow = { kind: 'function' } as const;

/** `Circuit.prove`. */
export const circuitProveOptions = {
  of: 'prove',
  rows: {
    ...turnRows,
    signal: signalRow,
    onLog: logRow,
    onProgress: progressRow,
    verifyProof: { kind: 'flag', default: false },
  },
} as const satisfies OptionTable<CircuitProveOptions>;

/** `Circuit.witness`. */
const witnessOptions = {
  of: 'witness',
  rows: { signal: signalRow, onLog: logRow },
} as const satisfies OptionTable<WitnessOptions>;

/** `Circuit.check`. */
export const checkOptions = {
  of: 'check',
  rows: { signal: signalRow, withValues: { kind: 'flag', default: false } },
} as const satisfies OptionTable<CheckOptions>;

/** `Circuit.verify`. */
const verifyOptions = { of: 'verify', rows: { signal: signalRow } } as const satisfies OptionTable<VerifyOptions>;

/** Parts of a circuit that compute. */
interface CircuitParts {
  readonly program: WitnessMaker;
  /** null without a key. */
  readonly prover: Prover | null;
  /** null without an `r1cs`. */
  readonly constraints: Constraints | null;
  readonly worker: boolean;
}

const asyncDispose: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? Symbol('Symbol.asyncDispose');

export class LoadedCircuit implements Circuit {
  readonly prime: bigint;
  readonly values: number;
  readonly key: OpenCircuitFacts['key'];
  readonly worker: boolean;
  readonly #program: WitnessMaker;
  readonly #prover: Prover | null;
  #constraints: Constraints | null;
  /** Ends the calls that are under way. */
  readonly #ending = new Ending();
  /** Duration of the last proof, in ms. */
  #lastMs: number | null = null;
  #isDestroyed = false;

  constructor({ program, prover, constraints, worker }: CircuitParts) {
    this.#program = program;
    this.#prover = prover;
    this.#constraints = constraints;
    this.worker = worker;
    this.prime = program.facts.prime;
    this.values = program.facts.values;
    this.key = prover?.facts ?? null;
  }

  witness(input: CircuitInput, options: WitnessOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    return fromCaller(async () => {
      const { signal, onLog } = readOptions(witnessOptions, options);
      this.#assertOpen(signal);
      const signals = readSignals(input, this.prime);
      return this.#untilComputed(this.#compute(signals, signal, onLog), signal);
    });
  }

  prove(input: CircuitInput, options: CircuitProveOptions = {}): Promise<CircuitResult> {
    return fromCaller(async () => {
      const settings = readOptions(circuitProveOptions, options);
      this.#assertOpen(settings.signal);
      const prover = this.#needProver('proves');
      const signals = readSignals(input, this.prime);
      return this.#prove(prover, signals, settings);
    });
  }

  check(witness: FileSource, options: CheckOptions = {}): Promise<UnsatisfiedConstraint | null> {
    return fromCaller(async () => {
      const { signal, withValues } = readOptions(checkOptions, options);
      this.#assertOpen(signal);
      if (this.#constraints === null) {
        throw badArgument(
          'the circuit was opened without an r1cs, with which it checks witnesses; pass openCircuit an r1cs',
        );
      }
      return this.#firstUnsatisfied(this.#constraints, witness, { signal, withValues });
    });
  }

  verify(proof: unknown, publicSignals: unknown, options: VerifyOptions = {}): Promise<boolean> {
    return fromCaller(async () => {
      const { signal } = readOptions(verifyOptions, options);
      this.#assertOpen(signal);
      const verifying = this.#needProver('verifies').verify(proof, publicSignals, signal);
      return this.#untilEnded(verifying, signal);
    });
  }

  async #prove(
    prover: Prover,
    signals: readonly SignalValues[],
    settings: ReadOptions<CircuitProveOptions, typeof circuitProveOptions.rows>,
  ): Promise<CircuitResult> {
    const { signal, onLog, onProgress, verifyProof, priority, deadline } = settings;
    const begun = performance.now();
    const report = (progress: Omit<CircuitProgress, 'remainingMs'>): void => {
      const remainingMs = this.#lastMs === null ? null : Math.max(0, this.#lastMs - (performance.now() - begun));
      onProgress?.({ ...progress, remainingMs });
    };
    report({ stage: 'witness', part: 'values', done: 0, total: this.values });
    const witness = await this.#untilComputed(this.#compute(signals, signal, onLog), signal);
    await this.#assertSatisfies(witness, signal);
    const witnessMs = performance.now() - begun;
    let provedMs: number | null = null;
    const onPart = (part: string, done: number, total: number): void => {
      // the verification is the last of the parts that the key counts
      const isVerification = part === 'verification';
      if (!isVerification) provedMs = performance.now() - begun;
      const parts = total - Number(verifyProof);
      report(
        isVerification
          ? { stage: 'verification', part, done: 1, total: 1 }
          : { stage: 'proof', part, done, total: parts },
      );
      if (verifyProof && done === parts) report({ stage: 'verification', part: 'verification', done: 0, total: 1 });
    };
    // ends the proof in the key as well, whose turn others wait for
    const ending = new AbortController();
    const unsubscribe = onAbort(signal, () => ending.abort(signal?.reason));
    try {
      report({ stage: 'witness', part: 'values', done: this.values, total: this.values });
      assertNotAborted(signal, 'proof');
      const turn = { priority, deadline: deadline === undefined ? undefined : Math.max(0, deadline - witnessMs) };
      const proving = prover.prove(witness, { ...turn, signal: ending.signal, verifyProof, onPart });
      const { proof, publicSignals } = await this.#untilEnded(proving, signal);
      const totalMs = performance.now() - begun;
      this.#lastMs = totalMs;
      const proofEnd = verifyProof ? (provedMs ?? totalMs) : totalMs;
      const timings = {
        witnessMs,
        proofMs: proofEnd - witnessMs,
        verificationMs: verifyProof ? totalMs - proofEnd : null,
        totalMs,
      };
      return { proof: proof as CircuitProof, publicSignals, timings };
    } catch (error) {
      ending.abort();
      throw error;
    } finally {
      unsubscribe();
      // one that a worker took has no bytes
      if (witness.length > 0) witness.fill(0);
    }
  }

  /** Overwrites a witness that does not satisfy the constraints. @throws MsmError `unsatisfied`, `aborted` */
  async #assertSatisfies(witness: Uint8Array<ArrayBuffer>, signal: AbortSignal | undefined): Promise<void> {
    if (this.#constraints === null) return;
    const { count } = this.#constraints;
    try {
      const found = await this.#firstUnsatisfied(this.#constraints, witness, { signal, withValues: false });
      if (found === null) return;
      throw new MsmError(
        'unsatisfied',
        `input: the witness that the program computes does not satisfy constraint ${found.constraint} of the ${count} in r1cs, counted from 0: r1cs may be of another version of the circuit; circuit.check(await circuit.witness(input)) returns the sums of the constraint`,
      );
    } catch (error) {
      witness.fill(0);
      throw error;
    }
  }

  /** Checks a witness, until the signal aborts or the circuit is destroyed. */
  async #firstUnsatisfied(
    constraints: Constraints,
    witness: FileSource,
    { signal, withValues }: { readonly signal: AbortSignal | undefined; readonly withValues: boolean },
  ): Promise<UnsatisfiedConstraint | null> {
    const ending = new AbortController();
    const unsubscribe = onAbort(signal, () => ending.abort(signal?.reason));
    try {
      const checking = constraints.firstUnsatisfied(witness, { signal: ending.signal, withValues });
      return await this.#untilEnded(checking, signal);
    } catch (error) {
      ending.abort();
      throw error;
    } finally {
      unsubscribe();
    }
  }

  /** Computes a witness, and overwrites the inputs. */
  async #compute(
    signals: readonly SignalValues[],
    signal: AbortSignal | undefined,
    onLog: WitnessOptions['onLog'],
  ): Promise<Uint8Array<ArrayBuffer>> {
    try {
      return await this.#program.compute(signals, { signal, onLog: (line) => onLog?.(line) });
    } finally {
      eraseSignals(signals);
    }
  }

  /** As `#untilEnded`. Overwrites a witness that comes too late. */
  async #untilComputed(
    computing: Promise<Uint8Array<ArrayBuffer>>,
    signal: AbortSignal | undefined,
  ): Promise<Uint8Array<ArrayBuffer>> {
    try {
      return await this.#untilEnded(computing, signal);
    } catch (error) {
      computing.then(
        (late) => late.fill(0),
        () => undefined,
      );
      throw error;
    }
  }

  /** Settles as work does, unless the signal aborts or the circuit is destroyed. */
  #untilEnded<Value>(work: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
    return this.#ending.race(work, signal, 'call');
  }

  #assertOpen(signal: AbortSignal | undefined): void {
    if (this.#isDestroyed) throw destroyedCircuit();
    assertNotAborted(signal, 'call');
  }

  #needProver(does: string): Prover {
    if (this.#prover !== null) return this.#prover;
    throw badArgument(`the circuit was opened without a zkey, with which it ${does}; pass openCircuit a zkey`);
  }

  destroy(): void {
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    this.#ending.end(destroyedCircuit());
    this.#program.destroy();
    this.#prover?.destroy();
    this.#constraints = null;
  }

  async [asyncDispose](): Promise<void> {
    this.destroy();
  }

  get [Symbol.toStringTag](): string {
    return 'Circuit';
  }

  [inspect](): object {
    const { prime, values, key, worker } = this;
    return printed('Circuit', { prime, values, key, worker, isDestroyed: this.#isDestroyed });
  }
}
