/** Whole proofs for snarkjs, computed by the provers of this library. */
import { assertNotAborted, badArgument, untilAborted } from '../errors.js';
import type { Zkey } from '../formats/zkey.js';
import { readOptions } from '../option-table.js';
import type { ReadAccelerateOptions } from './accelerate-options.js';
import { isLeftToSnarkjs, leftToSnarkjs } from './caches.js';
import { copyWitnessFile, type KeySource } from './proof-files.js';
import { type KeysHost, ProvingKeys, proveOptions, type SnarkjsProof, type WholeSystem } from './proving-keys.js';
import { Witnesses } from './witnesses.js';

/** Arguments of snarkjs's `prove`. */
export type ProveArguments = readonly [
  zkey: unknown,
  witness: unknown,
  logger?: unknown,
  options?: { readonly singleThread?: unknown; readonly signal?: AbortSignal | undefined } | null,
];

/** snarkjs's own `prove`. */
export type OriginalProve = (...given: ProveArguments) => Promise<SnarkjsProof>;

/** A proof system of snarkjs. */
export interface SnarkjsSystem {
  readonly system: WholeSystem;
  readonly prove: OriginalProve;
  /** Returns whether a proof that snarkjs made verifies, by snarkjs's verifier and the key's file. */
  verify(zkey: unknown, result: SnarkjsProof): Promise<boolean>;
}

/** Parts of an accelerator that whole proofs use. */
export interface WholeProofsHost extends KeysHost {
  readonly options: ReadAccelerateOptions;
  /** Whether snarkjs exports its curves, as 0.7.5 and later versions do. */
  readonly hasCurves: boolean;
  warnOf(error: unknown): void;
}

/** Proves for one snarkjs until it is ended. */
export class WholeProofs {
  readonly #host: WholeProofsHost;
  readonly #keys: ProvingKeys;
  readonly #witnesses = new Witnesses();
  /** Proofs that snarkjs computes for `prove`. */
  #originals = 0;
  #isOver = false;

  /** @param keys tests choose the blinding */
  constructor(host: WholeProofsHost, keys = new ProvingKeys(host)) {
    this.#host = host;
    this.#keys = keys;
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
      const result = await this.#keys.prove(system, given[0], copyWitnessFile(given[1]), signal);
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

  /**
   * Computes a witness.
   *
   * @param options of snarkjs's witness calculator
   * @returns null where snarkjs is to compute it: it has another option, or says itself what is wrong
   */
  async witness(program: Uint8Array, input: unknown, options: unknown): Promise<Uint8Array | null> {
    if (this.#isOver || Object.keys(options ?? {}).some((name) => name !== 'memorySize')) return null;
    return this.#witnesses.compute(program, input).catch(() => null);
  }

  /** Loads a key, unless it finds no room. @returns as `ProvingKeys.prepare` @throws as that */
  prepare(protocol: Zkey['protocol'], file: KeySource): Promise<boolean> {
    return this.#keys.prepare(protocol, file);
  }

  /** Destroys all keys. Proofs that are running, and later ones, are snarkjs's own. */
  end(): void {
    this.#isOver = true;
    this.#witnesses.clear();
    this.#keys.end();
  }
}
