/** The two parts of a circuit that compute, here or in workers: a program and a key. */
import type { Progress, TurnOptions } from '../api/calls.js';
import { MsmError } from '../errors.js';
import { isArriving, receive } from '../formats/file-origin.js';
import type { KeyCacheAt } from '../formats/key-cache.js';
import type { ArrivingFile, FileSource } from '../formats/source.js';
import type { Zkey } from '../formats/zkey.js';
import type { CircuitFacts, ProofProgress } from '../proofs/api.js';
import { type AnyKeyOptions, type AnyProof, openAnyKey } from './any-key.js';
import type { SignalValues } from './input-signals.js';
import { type CompiledProgram, type ProgramFacts, WitnessProgram } from './program.js';

/** Computes witnesses. */
export interface WitnessMaker {
  readonly facts: ProgramFacts;
  /** @returns a `.wtns` file @throws MsmError as `WitnessProgram.compute`; `aborted` */
  compute(signals: readonly SignalValues[], run: WitnessRun): Promise<Uint8Array<ArrayBuffer>>;
  destroy(): void;
}

/** A witness that is computed. */
export interface WitnessRun {
  readonly signal: AbortSignal | undefined;
  readonly onLog: (line: string) => void;
}

/** Facts about a key. */
export interface KeyFacts extends CircuitFacts {
  readonly protocol: Zkey['protocol'];
}

/** Proves and verifies with a key. */
export interface Prover {
  readonly facts: KeyFacts;
  /** @param witness a `.wtns` file, which this method copies or takes over before it returns */
  prove(witness: Uint8Array<ArrayBuffer>, run: ProverRun): Promise<AnyProof>;
  verify(proof: unknown, publicSignals: unknown, signal: AbortSignal | undefined): Promise<boolean>;
  destroy(): void;
}

/** A proof that is computed. */
export interface ProverRun extends TurnOptions {
  readonly signal: AbortSignal | undefined;
  readonly verifyProof: boolean;
  /** Called when a part is complete. */
  readonly onPart: (part: string, done: number, total: number) => void;
}

/** Opens a program on this thread. @throws MsmError as `WitnessProgram.open` */
export const openProgramHere = async (compiled: CompiledProgram): Promise<WitnessMaker> => {
  let program: WitnessProgram | null = await WitnessProgram.open(compiled);
  const { facts } = program;
  return {
    facts,
    compute: async (signals, { onLog }) => {
      if (program === null) throw destroyedCircuit();
      return program.compute(signals, onLog);
    },
    destroy: () => {
      program = null;
    },
  };
};

/** Options of a key but those of its load. */
export type KeyOptions = Omit<AnyKeyOptions, 'signal' | 'onProgress'>;

/** Options of a key's load. */
export interface KeyLoad {
  readonly engines: KeyOptions;
  readonly signal: AbortSignal | undefined;
  /** Called when a section is loaded, where the proof system says so. */
  readonly onPart: (part: string, done: number, total: number) => void;
}

/** A file of a key, which may be one that arrives. */
export type KeyFile = FileSource | ArrivingFile;

/** A prover of this thread. */
export interface ProverHere extends Prover {
  /** Id of the key in its cache, if it came as it arrived and is kept. */
  readonly cachedAs: string | null;
}

/** Opens a key on this thread. @throws MsmError as `openProvingKey` */
export const openKeyHere = async (
  zkey: KeyFile,
  { engines, signal, onPart: onLoaded }: KeyLoad,
): Promise<ProverHere> => {
  const onProgress = ({ done, total }: Progress): void => onLoaded('section', done, total);
  const cache = engines.cache as KeyCacheAt | undefined;
  const file = isArriving(zkey) ? await receive(zkey, cache) : zkey;
  const { key, protocol } = await openAnyKey(file, { ...engines, signal }, onProgress).catch(async (error: unknown) => {
    // what the key has taken into its cache is left there
    await cache?.leave(file);
    throw error;
  });
  const { curve, variables, publicSignals, domainSize } = key;
  return {
    facts: { protocol, curve, variables, publicSignals, domainSize },
    cachedAs: (await cache?.idOf(file)) ?? null,
    prove: (witness, { onPart, ...options }) => {
      const onProgress = ({ part, done, total }: ProofProgress): void => onPart(part, done, total);
      return key.prove(witness, { ...options, onProgress });
    },
    verify: (proof, signals, ending) => key.verify(proof, signals, { signal: ending }),
    destroy: () => key.destroy(),
  };
};

export const destroyedCircuit = (): MsmError =>
  new MsmError('destroyed', 'the circuit was destroyed; open it again with openCircuit');
