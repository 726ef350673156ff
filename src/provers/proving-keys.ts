/** Keys of any proof system in the forms that snarkjs takes, which stay loaded from one proof to the next. */
import type { MsmEngine } from '../api/engine.js';
import type { Coordinate } from '../api/values.js';
import { signalRow } from '../engine/options.js';
import { badArgument, notLoaded, onAbort, untilAborted } from '../errors.js';
import type { FileSource } from '../formats/source.js';
import { loadedBytes, type Zkey } from '../formats/zkey.js';
import { openZkey } from '../formats.js';
import type { OptionTable } from '../option-table.js';
import type { CircuitKey, ProveOptions, ProvingKeyOptions } from '../proofs/api.js';
import type { Counts, ReadAccelerateOptions } from './accelerate-options.js';
import { isLeftToSnarkjs, KeyCache, type KeyRequest, leftToSnarkjs } from './caches.js';
import type { FfCurveName } from './ffjavascript.js';
import { type KeySource, openKeySource } from './proof-files.js';

/** Proof systems that the library proves whole. */
export const wholeSystems = ['groth16', 'plonk', 'fflonk'] as const;
export type WholeSystem = (typeof wholeSystems)[number];

/** A proof, and the public values that it is verified with. */
export interface SnarkjsProof {
  readonly proof: object;
  readonly publicSignals: string[];
}

/** A key of any proof system. */
interface WholeKey extends CircuitKey {
  prove(witness: FileSource, options?: ProveOptions): Promise<SnarkjsProof>;
}

/** Opens a key. */
export type OpenKey = (zkey: FileSource, options: ProvingKeyOptions) => Promise<WholeKey>;

/** Functions that open keys, loaded with the first proof. */
const openers: Readonly<Record<WholeSystem, OpenKey>> = {
  groth16: async (...given) => (await import('../groth16.js').catch(notLoaded('groth16'))).openProvingKey(...given),
  plonk: async (...given) => (await import('../plonk.js').catch(notLoaded('plonk'))).openProvingKey(...given),
  fflonk: async (...given) => (await import('../fflonk.js').catch(notLoaded('fflonk'))).openProvingKey(...given),
};

/** The option of snarkjs's `prove`, and the one that this library adds. */
export const proveOptions = {
  of: 'prove',
  rows: { signal: signalRow, singleThread: { kind: 'any' } },
} as const satisfies OptionTable<{ readonly signal?: AbortSignal | undefined; readonly singleThread?: unknown }>;

/** Engines of a prover, and what a key may take of its memory. */
export interface KeysHost {
  readonly options: Pick<
    ReadAccelerateOptions,
    'engines' | 'leastPoints' | 'memoryLimit' | 'cache' | 'readsInParts' | 'signal' | 'verifyProof'
  >;
  readonly counts: Counts;
  /** Returns the engine of a curve's G1, whose device keys use. */
  engine(curve: FfCurveName): Promise<MsmEngine<Coordinate>>;
  /** Returns whether snarkjs computes a curve faster. */
  isSlower(curve: FfCurveName): Promise<boolean>;
  warnTight(bytes: number): void;
}

/** Proves with keys that stay loaded, until it is ended. */
export class ProvingKeys {
  readonly #host: KeysHost;
  readonly #open: Readonly<Record<WholeSystem, OpenKey>>;
  readonly #keys: KeyCache<WholeKey>;
  /** Ends loads and proofs. */
  readonly #ending = new AbortController();
  readonly #unsubscribe: () => void;

  /** @param open opens keys; tests choose the blinding */
  constructor(host: KeysHost, open = openers) {
    const { options, counts } = host;
    this.#host = host;
    this.#open = open;
    const budget = { bytes: () => counts.basesBudget, onTight: (bytes: number) => host.warnTight(bytes) };
    this.#keys = new KeyCache(budget, counts);
    this.#unsubscribe = onAbort(options.signal, () => this.#ending.abort(options.signal?.reason));
  }

  /**
   * Proves with a key, and overwrites the witness.
   *
   * @param reading reads the witness
   * @param signalOfProof ends this proof, and no load
   * @throws errors of `openProvingKey` and of its `prove`; of `leftToSnarkjs` for a small circuit or a
   *   slow engine
   */
  async prove(
    system: WholeSystem,
    zkey: unknown,
    reading: Promise<Uint8Array>,
    signalOfProof: AbortSignal | undefined,
  ): Promise<SnarkjsProof> {
    const { isSlower, options } = this.#host;
    const { verifyProof } = options;
    const files = Promise.allSettled([openKeySource(zkey, options.readsInParts), reading]);
    const [opened, read] = await withEither([this.#ending.signal, signalOfProof], (signal) =>
      untilAborted(files, signal, 'proof'),
    ).catch((error: unknown) => {
      reading.then(
        (late) => late.fill(0),
        () => undefined,
      );
      throw error;
    });
    if (read.status === 'rejected') throw read.reason;
    try {
      if (opened.status === 'rejected') throw opened.reason;
      return await this.#with(system, opened.value, async (key) => {
        if (await isSlower(key.curve)) throw leftToSnarkjs('snarkjs is faster');
        return withEither([this.#ending.signal, signalOfProof], (signal) =>
          key.prove(read.value, { signal, verifyProof }),
        );
      });
    } finally {
      read.value.fill(0);
    }
  }

  #with<Result>(system: WholeSystem, file: KeySource, use: (key: WholeKey) => Promise<Result>): Promise<Result> {
    return this.#keys.with(this.#requestOf(system, file), use);
  }

  #requestOf(system: WholeSystem, file: KeySource): KeyRequest<WholeKey> {
    const { memoryLimit = Number.POSITIVE_INFINITY } = this.#host.options;
    return {
      ...{ kind: system, file, open: () => this.#load(system, file) },
      bytes: async () => Math.min(memoryLimit, await bytesOf(file, this.#ending.signal)),
    };
  }

  /** @throws an error of `leftToSnarkjs` for a small circuit or a slow engine; and errors of `openProvingKey` */
  async #load(system: WholeSystem, file: KeySource): Promise<WholeKey> {
    const { options, counts, engine, isSlower } = this.#host;
    const { source } = file;
    const { curve, domainSize, protocol } = await openZkey(source, {
      onWarning: options.engines.onWarning,
      signal: this.#ending.signal,
    });
    if (protocol !== system) throw badArgument(`zkey is a key of ${protocol}, not of ${system}`);
    if (domainSize < options.leastPoints) throw leftToSnarkjs('the circuit is small');
    const deviceOf = await engine(curve);
    if (await isSlower(curve)) throw leftToSnarkjs('snarkjs is faster');
    counts.adapter = deviceOf.adapter;
    const { memoryLimit, cache } = options;
    return this.#open[system](source, {
      ...{ ...options.engines, deviceOf, cache, memoryLimit, signal: this.#ending.signal },
    });
  }

  /**
   * Loads a key, unless it finds no room.
   *
   * @returns false if snarkjs is to prove with it
   * @throws errors of `openProvingKey`
   */
  async prepare(protocol: Zkey['protocol'], file: KeySource): Promise<boolean> {
    try {
      await this.#keys.prepare(this.#requestOf(protocol, file));
      return true;
    } catch (error) {
      if (isLeftToSnarkjs(error)) return false;
      throw error;
    }
  }

  /** Destroys all keys, and ends the proofs that are running. */
  end(): void {
    this.#unsubscribe();
    this.#ending.abort();
    this.#keys.clear();
  }
}

/** Returns the bytes that a key takes when it is loaded, as its headers tell. */
export const bytesOf = async ({ source, byteLength }: KeySource, signal: AbortSignal): Promise<number> => {
  try {
    return loadedBytes(await openZkey(source, { onWarning: () => undefined, signal }));
  } catch {
    // opening the key says what is wrong
    return byteLength;
  }
};

/** Calls `work` with a signal that is aborted as soon as one of some signals is. */
export const withEither = async <Result>(
  signals: readonly (AbortSignal | undefined)[],
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> => {
  const ending = new AbortController();
  const end = (signal: AbortSignal | undefined) => () => ending.abort(signal?.reason);
  const unsubscribe = signals.map((signal) => onAbort(signal, end(signal)));
  signals.filter((signal) => signal?.aborted).forEach((signal) => void end(signal)());
  try {
    return await work(ending.signal);
  } finally {
    for (const each of unsubscribe) each();
  }
};
