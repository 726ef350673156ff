/** Whole proofs for snarkjs, computed by the provers of this library. */
import type { MsmEngine } from '../api/engine.js';
import type { Coordinate } from '../api/values.js';
import { signalRow } from '../engine/options.js';
import { assertNotAborted, badArgument, notLoaded, onAbort, untilAborted } from '../errors.js';
import type { FileSource } from '../formats/source.js';
import { fileOf, type Zkey } from '../formats/zkey.js';
import { openZkey } from '../formats.js';
import { type OptionTable, readOptions } from '../option-table.js';
import type { CircuitKey, ProveOptions, ProvingKeyOptions } from '../proofs/api.js';
import type { Counts, ReadAccelerateOptions } from './accelerate-options.js';
import { isLeftToSnarkjs, KeyCache, type KeyRequest, leftToSnarkjs } from './caches.js';
import type { FfCurveName } from './ffjavascript.js';
import { copyWitnessFile, type KeySource, openKeySource } from './proof-files.js';
import { Witnesses } from './witnesses.js';

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
export type OpenKey = (
  zkey: FileSource,
  options: ProvingKeyOptions & { readonly memoryLimit?: number },
) => Promise<WholeKey>;

/** Functions that open keys, loaded with the first proof. */
const openers: Readonly<Record<WholeSystem, OpenKey>> = {
  groth16: async (...given) => (await import('../groth16.js').catch(notLoaded('groth16'))).openProvingKey(...given),
  plonk: async (...given) => (await import('../plonk.js').catch(notLoaded('plonk'))).openProvingKey(...given),
  fflonk: async (...given) => (await import('../fflonk.js').catch(notLoaded('fflonk'))).openProvingKey(...given),
};

/** Arguments of snarkjs's `prove`. */
export type ProveArguments = readonly [
  zkey: unknown,
  witness: unknown,
  logger?: unknown,
  options?: { readonly singleThread?: unknown; readonly signal?: AbortSignal | undefined } | null,
];

/** The option of snarkjs's `prove`, and the one that this library adds. */
const proveOptions = {
  of: 'prove',
  rows: { signal: signalRow, singleThread: { kind: 'any' } },
} as const satisfies OptionTable<{ readonly signal?: AbortSignal | undefined; readonly singleThread?: unknown }>;

/** snarkjs's own `prove`. */
export type OriginalProve = (...given: ProveArguments) => Promise<SnarkjsProof>;

/** A proof system of snarkjs. */
export interface SnarkjsSystem {
  readonly system: WholeSystem;
  readonly prove: OriginalProve;
  /** Returns whether a proof that snarkjs made verifies, by snarkjs's verifier and the key's file. */
  verify(zkey: unknown, result: SnarkjsProof): Promise<boolean>;
}

/** Calls `work` with a signal that is aborted as soon as one of some signals is. */
const withEither = async <Result>(
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

/** Parts of an accelerator that whole proofs use. */
export interface WholeProofsHost {
  readonly options: ReadAccelerateOptions;
  readonly counts: Counts;
  /** Returns the engine of a curve's G1, whose device keys use. */
  engine(curve: FfCurveName): Promise<MsmEngine<Coordinate>>;
  /** Returns whether snarkjs computes a curve faster. */
  isSlower(curve: FfCurveName): Promise<boolean>;
  /** Whether snarkjs exports its curves, as 0.7.5 and later versions do. */
  readonly hasCurves: boolean;
  warnOf(error: unknown): void;
  warnTight(bytes: number): void;
}

/** Bytes of an entry of a matrix in memory. */
const ENTRY_BYTES = 12;

/** Bytes of an entry of a matrix in the file. */
const ENTRY_BYTES_OF_FILE = 44;

/** Returns the bytes that a key takes when it is loaded, as its headers tell. */
const loadedBytes = async ({ source, byteLength }: KeySource, signal: AbortSignal): Promise<number> => {
  try {
    const zkey = await openZkey(source, { onWarning: () => undefined, signal });
    if (zkey.protocol !== 'groth16') return byteLength;
    const { a, b1, b2, c, h } = zkey.sections;
    const points = [a, b1, b2, c, h].reduce((sum, section) => sum + section.byteLength, 0);
    const coefficients = fileOf(zkey).sections.get(4)?.byteLength ?? 0;
    return points + Math.ceil((coefficients * ENTRY_BYTES) / ENTRY_BYTES_OF_FILE);
  } catch {
    // opening the key says what is wrong
    return byteLength;
  }
};

/** Proves for one snarkjs until it is ended. */
export class WholeProofs {
  readonly #host: WholeProofsHost;
  readonly #open: Readonly<Record<WholeSystem, OpenKey>>;
  readonly #keys: KeyCache<WholeKey>;
  readonly #witnesses = new Witnesses();
  /** Ends loads and proofs. */
  readonly #ending = new AbortController();
  readonly #unsubscribe: () => void;
  /** Proofs that snarkjs computes for `prove`. */
  #originals = 0;
  #isOver = false;

  /** @param open opens keys; tests choose the blinding */
  constructor(host: WholeProofsHost, open = openers) {
    const { options, counts } = host;
    this.#host = host;
    this.#open = open;
    const budget = { bytes: () => counts.basesBudget, onTight: (bytes: number) => host.warnTight(bytes) };
    this.#keys = new KeyCache(budget, counts);
    this.#unsubscribe = onAbort(options.signal, () => this.#ending.abort(options.signal?.reason));
  }

  /** True while snarkjs computes a proof that was asked of this library. */
  get isSnarkjsProving(): boolean {
    return this.#originals > 0;
  }

  /**
   * Proves, or has snarkjs prove where the library cannot. A signal of the proof ends it at once, and
   * not the load of a key that other proofs may wait for.
   *
   * @param original verifies what snarkjs proves, with `verifyProof`
   * @throws MsmError `bad-argument` with `verifyProof`, if that does not verify
   */
  async prove(original: SnarkjsSystem, given: ProveArguments): Promise<SnarkjsProof> {
    // snarkjs takes null, too
    const { signal, singleThread } = readOptions(proveOptions, given[3] ?? {});
    assertNotAborted(signal, 'proof');
    return untilAborted(this.#proveOrLeave(original, given, Boolean(singleThread), signal), signal, 'proof');
  }

  async #proveOrLeave(
    original: SnarkjsSystem,
    given: ProveArguments,
    singleThread: boolean,
    signal: AbortSignal | undefined,
  ): Promise<SnarkjsProof> {
    const { system } = original;
    const { options, counts } = this.#host;
    if (this.#isOver) return original.prove(...given);
    assertNotAborted(options.signal, 'proof');
    try {
      // snarkjs 0.7.0 changed the proofs of PLONK, and no member tells 0.6 and 0.7.4 apart
      if (!this.#host.hasCurves && system !== 'groth16')
        throw badArgument(`whole proofs of ${system} need snarkjs.curves, which snarkjs 0.7.5 or later has`);
      if (singleThread && !options.singleThread) throw leftToSnarkjs('it is to have no threads');
      const result = await this.#prove(system, given[0], copyWitnessFile(given[1]), signal);
      counts.wholeProofs++;
      return result;
    } catch (error) {
      assertNotAborted(signal, 'proof');
      // the acceleration was undone meanwhile, which is no failure
      if (this.#isOver) return original.prove(...given);
      assertNotAborted(options.signal, 'proof');
      if (!isLeftToSnarkjs(error)) this.#host.warnOf(error);
      // snarkjs says itself how a key or a witness is wrong
      counts.snarkjsProofs++;
    }
    const result = await this.#proveThere(original, given);
    if (!options.verifyProof || (await original.verify(given[0], result))) return result;
    throw badArgument(
      'witness: the proof that snarkjs made of it does not verify, so the witness does not satisfy the circuit, or the key is damaged',
    );
  }

  async #proveThere({ prove }: SnarkjsSystem, given: ProveArguments): Promise<SnarkjsProof> {
    this.#originals++;
    try {
      return await prove(...given);
    } finally {
      this.#originals--;
    }
  }

  /** Computes a witness. @returns null where snarkjs is to do it @param given as `Witnesses.compute` */
  async witness(...given: Parameters<Witnesses['compute']>): Promise<Uint8Array | null> {
    return this.#isOver ? null : this.#witnesses.compute(...given);
  }

  /** @param signalOfProof ends this proof, and no load */
  async #prove(
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
      bytes: async () => Math.min(memoryLimit, await loadedBytes(file, this.#ending.signal)),
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
      ...{ ...options.engines, deviceOf, cache, signal: this.#ending.signal },
      ...(system === 'groth16' && memoryLimit !== undefined && { memoryLimit }),
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

  /** Destroys all keys. Proofs that are running, and later ones, are snarkjs's own. */
  end(): void {
    this.#isOver = true;
    this.#unsubscribe();
    this.#ending.abort();
    this.#witnesses.clear();
    this.#keys.clear();
  }
}
