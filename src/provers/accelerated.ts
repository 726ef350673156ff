/** The provers of snarkjs that `accelerate` replaces by whole proofs of this library. */
import { assertNotAborted, badArgument, untilAborted } from '../errors.js';
import type { FflonkProof } from '../fflonk.js';
import type { Groth16Proof } from '../groth16.js';
import type { PlonkProof } from '../plonk.js';
import type { Snarkjs } from './ffjavascript.js';
import { readWitnessProgram, type SnarkjsFile } from './proof-files.js';
import {
  type OriginalProve,
  type OriginalVerify,
  type ProveArguments,
  type SnarkjsProof,
  type WholeProofs,
  type WholeSystem,
  wholeSystems,
} from './whole-proofs.js';
import { hasItsMemory } from './witness-program.js';

/** Options of snarkjs's provers. */
export interface SnarkjsProveOptions {
  /** Computes without threads. Left to snarkjs unless `accelerate` has the option, too. */
  readonly singleThread?: boolean | undefined;
  /**
   * Ends this proof: it rejects with code `aborted`, at once. Its key stays loaded, or goes on
   * loading for later proofs. What snarkjs is computing itself goes on, and its result is dropped.
   * snarkjs has no such option.
   */
  readonly signal?: AbortSignal | undefined;
}

/** A proof, and the public values that it is verified with. */
export interface AcceleratedResult<Proof> {
  /** The proof, as snarkjs writes it. */
  readonly proof: Proof;
  /** Values of the public variables without the constant 1, in decimal. */
  readonly publicSignals: string[];
}

/** A prover with the functions and arguments of snarkjs's own. */
export interface AcceleratedProver<Proof> {
  /**
   * Proves with a witness, as `prove` of snarkjs. The library computes the whole proof; where it
   * cannot, snarkjs does, with its MSMs accelerated, and you get one warning.
   *
   * @param zkey the `.zkey`. The library loads it with its first proof, and recognises a file by
   *   its size and times, bytes by their SHA-256.
   * @param witness the `.wtns`. Bytes are copied before the call returns.
   * @param logger as snarkjs has it, and passed on where snarkjs proves
   * @param options as snarkjs has them, and `signal`
   * @throws MsmError `aborted`; `bad-argument` if `accelerate` was given a snarkjs without the
   *   function; and errors of snarkjs
   */
  prove(
    zkey: SnarkjsFile,
    witness: SnarkjsFile,
    logger?: unknown,
    options?: SnarkjsProveOptions | null,
  ): Promise<AcceleratedResult<Proof>>;
  /**
   * Calculates a witness by `wtns.calculate` of snarkjs, and proves with it, as `fullProve` of
   * snarkjs.
   *
   * @param input the inputs of the circuit
   * @param wasm the witness calculator of circom
   * @param zkey as of `prove`
   * @param logger as of `prove`
   * @param witnessOptions options of the witness calculator, as snarkjs has them. `memorySize` is 1
   *   unless you pass another, where the program does not import its memory: snarkjs reserves 2 GiB.
   * @param options as of `prove`
   * @throws as `prove`
   */
  fullProve(
    input: object,
    wasm: SnarkjsFile,
    zkey: SnarkjsFile,
    logger?: unknown,
    witnessOptions?: unknown,
    options?: SnarkjsProveOptions | null,
  ): Promise<AcceleratedResult<Proof>>;
}

/** The accelerated provers. They stay usable after `restore`, and are snarkjs's own then. */
export interface AcceleratedProvers {
  /** Proofs of Groth16. */
  readonly groth16: AcceleratedProver<Groth16Proof>;
  /** Proofs of PLONK. */
  readonly plonk: AcceleratedProver<PlonkProof>;
  /** Proofs of FFLONK. */
  readonly fflonk: AcceleratedProver<FflonkProof>;
}

/** Members of a proof system of snarkjs that are used. */
interface SystemMembers {
  readonly prove?: OriginalProve;
  verify?(key: unknown, publicSignals: readonly string[], proof: object): Promise<boolean>;
}

/** Members of snarkjs that are used. */
interface Members extends Partial<Record<WholeSystem, SystemMembers>> {
  readonly zKey?: { exportVerificationKey?(zkey: unknown): Promise<unknown> };
  readonly wtns?: {
    calculate?(input: unknown, wasm: unknown, witness: object, options: unknown): Promise<void>;
  };
}

const missing = (name: string): Error =>
  badArgument(`snarkjs has no ${name}; pass accelerate the whole module, or an object with this member`);

/**
 * Has circom_runtime allocate a page where a program has a memory: it allocates 2 GiB otherwise, for
 * programs of circom 1, which import one.
 *
 * @returns the program and the options for `wtns.calculate`
 */
const withLittleMemory = async (wasm: unknown, options: unknown): Promise<readonly [unknown, unknown]> => {
  try {
    const program = await readWitnessProgram(wasm);
    return [program, (await hasItsMemory(program)) ? { memorySize: 1, ...(options as object) } : options];
  } catch {
    // snarkjs says itself what is wrong with a program
    return [wasm, options];
  }
};

const proverOf = (system: WholeSystem, snarkjs: Members, proofs: WholeProofs) => {
  // read now: the members may be replaced by what is made here
  const original = snarkjs[system]?.prove;
  const calculate = snarkjs.wtns?.calculate;
  const verifyProof = snarkjs[system]?.verify;
  const exportKey = snarkjs.zKey?.exportVerificationKey;
  const verify: OriginalVerify = async (zkey, { proof, publicSignals }) => {
    if (verifyProof === undefined) throw missing(`${system}.verify`);
    if (exportKey === undefined) throw missing('zKey.exportVerificationKey');
    return verifyProof(await exportKey(zkey), publicSignals, proof);
  };
  const prove = async (...given: ProveArguments): Promise<SnarkjsProof> => {
    if (original === undefined) throw missing(`${system}.prove`);
    return proofs.prove(system, original, given, verify);
  };
  return {
    prove,
    fullProve: async (
      input: unknown,
      wasm: unknown,
      zkey: unknown,
      logger?: unknown,
      witnessOptions?: unknown,
      options?: SnarkjsProveOptions | null,
    ): Promise<SnarkjsProof> => {
      if (calculate === undefined) throw missing('wtns.calculate');
      const witness: { readonly type: 'mem'; readonly data?: Uint8Array } = { type: 'mem' };
      const { signal } = options ?? {};
      const [program, calculatorOptions] = await withLittleMemory(wasm, witnessOptions);
      assertNotAborted(signal, 'proof');
      await untilAborted(calculate(input, program, witness, calculatorOptions), signal, 'proof');
      try {
        return await prove(zkey, witness, logger, options);
      } finally {
        witness.data?.fill(0);
      }
    },
  };
};

/** Returns whether a value has a prover of snarkjs. */
export const hasProverOf = (snarkjs: unknown): boolean =>
  wholeSystems.some((system) => typeof ((snarkjs ?? {}) as Members)[system]?.prove === 'function');

/** Makes the accelerated provers of a snarkjs. */
export const proversOf = (snarkjs: Snarkjs, proofs: WholeProofs): AcceleratedProvers => {
  const made = wholeSystems.map((system) => [system, proverOf(system, snarkjs as Members, proofs)]);
  return Object.fromEntries(made) as unknown as AcceleratedProvers;
};

/**
 * Puts provers in the place of snarkjs's own, where its members can be replaced: in the CommonJS
 * module, the script for pages, and copies. Namespaces of ES modules are constant.
 *
 * @returns a function that puts the originals back, unless other code has replaced them since
 */
export const replaceProvers = (snarkjs: Snarkjs, provers: AcceleratedProvers): (() => void) => {
  const ends = wholeSystems.map((system) => {
    const original = (snarkjs as Record<string, object | undefined>)[system];
    if (original === undefined) return () => undefined;
    const ours = { ...original, ...provers[system] };
    if (!Reflect.set(snarkjs, system, ours)) return () => undefined;
    return () => {
      if (Reflect.get(snarkjs, system) === ours) Reflect.set(snarkjs, system, original);
    };
  });
  return () => {
    for (const end of ends) end();
  };
};
