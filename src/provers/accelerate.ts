/** `accelerate`: has snarkjs compute its proofs and MSMs with this library. */
import { assertNotAborted, badArgument, untilAborted } from '../errors.js';
import type { FflonkProof } from '../fflonk.js';
import type { Groth16Zkey, PlonkZkey } from '../formats/zkey.js';
import type { Groth16Proof } from '../groth16.js';
import type { PlonkProof } from '../plonk.js';
import { type AccelerateOptions, type AccelerateStats, noCounts, readAccelerateOptions } from './accelerate-options.js';
import { Accelerator } from './accelerator.js';
import { curvesOf, groupClassOf, isReplaced, notSnarkjs, replaceMultiExp, type Snarkjs } from './ffjavascript.js';
import { hasItsMemory, readWitnessProgram, type SnarkjsFile } from './proof-files.js';
import { type SnarkjsProof, type WholeSystem, wholeSystems } from './proving-keys.js';
import { type AcceleratedSetups, setupsOf } from './setups.js';
import type { OriginalProve, ProveArguments, SnarkjsSystem, WholeProofs } from './whole-proofs.js';

/**
 * Undoes the acceleration: restores the methods of snarkjs and frees what was loaded. Calling it
 * twice is harmless.
 */
export type Restore = () => void;

/** The result of `accelerate`: a function that undoes it, with the accelerated provers and setups. */
export interface Accelerated extends Restore, AcceleratedProvers, AcceleratedSetups {}

/** The accelerator at work, if any. A second one would replace the methods of the first. */
let current: Accelerator | null = null;

/** The accelerator at work, or else the last one. */
let last: Accelerator | null = null;

/** The function `accelerate`, with its counts and `prepare`. */
export interface Accelerate {
  /**
   * Makes `groth16`, `plonk` and `fflonk` with `prove` and `fullProve` that compute whole proofs
   * with this library. They also take the place of those members of snarkjs where these can be
   * replaced: in the CommonJS module, in the script for pages, and in a copy `{ ...snarkjs }`. The
   * namespace of the ES module is constant, so there prove with the result of `accelerate`:
   * `const { groth16 } = await accelerate(snarkjs)`. snarkjs before 0.7.5 does not export its
   * curves; whole proofs of Groth16 need none.
   *
   * Makes `zKey` and `powersOfTau` likewise: new keys of Groth16, contributions, beacons and their
   * verification, verification keys, and powers of tau, with the results of snarkjs.
   *
   * Has snarkjs compute all other MSMs with this library: `multiExpAffine`, and
   * `multiExpAffineChunked` where snarkjs has it, in G1 and G2 of bn128 and bls12381, on curves
   * that snarkjs has made and on those that it makes later. Curves without threads are included
   * with `singleThread` alone. Proofs stay the same.
   *
   * If this library cannot compute a proof or an MSM, snarkjs computes it, and you get one warning.
   * An engine that failed to open is not opened again before the next `accelerate`. Points and
   * scalars are compared or copied before the call of an MSM returns, except points that are read
   * in chunks; if snarkjs computes the MSM after all, it reads the points later.
   *
   * @param snarkjs the module, as imported
   * @returns a function that undoes the acceleration, with the accelerated provers as members
   * @throws MsmError `bad-argument` if the argument is not snarkjs, an option is invalid, or
   * snarkjs is accelerated already, also by another copy of this library
   */
  (snarkjs: Snarkjs, options?: AccelerateOptions): Promise<Accelerated>;
  /** Counts since `accelerate` was last called. */
  readonly stats: AccelerateStats;
  /**
   * Loads a key in the background and compiles, so that the first proof finds both done. You need
   * not await it: failures of this library are reported by the one warning. It resolves early once
   * the acceleration is undone.
   *
   * @param zkey the key as you pass it to `prove`. A result of `openZkey` of `webgpu-msm/formats`
   *   has its points loaded alone, for MSMs of snarkjs's own provers.
   * @throws MsmError `bad-argument` if `accelerate` is not at work or `zkey` is no key; and errors
   * of reading the file
   * @example
   * ```ts
   * import * as snarkjs from 'snarkjs';
   * import { accelerate } from 'webgpu-msm/snarkjs';
   *
   * const restore = await accelerate(snarkjs);
   * await accelerate.prepare('circuit.zkey');
   * console.log(accelerate.stats.keyLoads); // 1
   * restore();
   * ```
   */
  prepare(zkey: Groth16Zkey | PlonkZkey | SnarkjsFile): Promise<void>;
}

const begin = async (snarkjs: Snarkjs, options: AccelerateOptions = {}): Promise<Accelerated> => {
  const curves = curvesOf(snarkjs);
  const hasProvers = hasProverOf(snarkjs);
  if (curves === null && !hasProvers) throw notSnarkjs(snarkjs);
  const read = await readAccelerateOptions(options);
  if (read.singleThread && curves === null)
    throw badArgument('options.singleThread needs snarkjs.curves, which snarkjs 0.7.5 or later has');
  const accelerator = new Accelerator(read, { hasProvers, hasCurves: curves !== null });
  const type = read.singleThread && curves !== null ? await groupClassOf(curves) : null;
  // two accelerators would restore each other's methods
  if (isReplaced())
    throw badArgument('snarkjs is accelerated already, maybe by another copy of this library; restore it first');
  const takeBack = replaceMultiExp(accelerator.replacement, type, accelerator.watch);
  const provers = proversOf(snarkjs, accelerator.proofs);
  const setups = setupsOf(snarkjs, accelerator.forSetups);
  const putBack = replaceMembers(snarkjs, { ...provers, ...setups });
  current = accelerator;
  last = accelerator;
  const restore = (): void => {
    if (current !== accelerator) return;
    current = null;
    putBack();
    takeBack();
    accelerator.end();
  };
  return Object.assign(restore, provers, setups);
};

const prepare = async (zkey: Groth16Zkey | PlonkZkey | SnarkjsFile): Promise<void> => {
  if (current === null) throw badArgument('snarkjs is not accelerated; call accelerate first');
  await current.prepare(zkey);
};

/**
 * Has snarkjs compute its proofs and MSMs with this library.
 *
 * @example
 * ```ts
 * import * as snarkjs from 'snarkjs';
 * import { accelerate } from 'webgpu-msm/snarkjs';
 *
 * const restore = await accelerate(snarkjs);
 * const { groth16 } = restore;
 * const { proof } = await groth16.prove('circuit.zkey', 'witness.wtns');
 * console.log(proof.protocol, accelerate.stats.snarkjsProofs); // groth16 0
 * restore();
 * ```
 */
export const accelerate: Accelerate = /* @__PURE__ */ Object.defineProperties(begin, {
  prepare: { value: prepare },
  stats: { get: (): AccelerateStats => structuredClone(last?.counts ?? noCounts()) },
}) as Accelerate;

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
   * Calculates a witness by the program of circom, which stays compiled, and proves with it, as
   * `fullProve` of snarkjs. `wtns.calculate` of snarkjs calculates those of circom 1 and with
   * other options, and says what is wrong with inputs.
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

/** snarkjs's function that calculates a witness. */
type Calculate = (input: unknown, wasm: unknown, witness: object, options: unknown) => Promise<void>;

/** Members of snarkjs that are used. */
interface Members extends Partial<Record<WholeSystem, SystemMembers>> {
  readonly zKey?: { exportVerificationKey?(zkey: unknown): Promise<unknown> };
  readonly wtns?: {
    readonly calculate?: Calculate;
  };
}

const missing = (name: string): Error =>
  badArgument(`snarkjs has no ${name}; pass accelerate the whole module, or an object with this member`);

/** A witness that snarkjs writes, or that is in the place of its file. */
interface WitnessFile {
  readonly type: 'mem';
  data?: Uint8Array;
}

/**
 * Calculates a witness by the program that stays compiled, or else by snarkjs, which then says what
 * is wrong. circom_runtime allocates 2 GiB for programs of circom 1, which import their memory, and
 * is asked for a page for those that have one.
 */
const calculateWitness = async (
  proofs: WholeProofs,
  calculate: Calculate,
  [input, wasm, options]: readonly [input: unknown, wasm: unknown, options: unknown],
): Promise<WitnessFile> => {
  const file: WitnessFile = { type: 'mem' };
  // snarkjs says itself what is wrong with a program
  const program = await readWitnessProgram(wasm).catch(() => null);
  const hasMemory = program !== null && (await hasItsMemory(program).catch(() => false));
  const data = hasMemory ? await proofs.witness(program, input, options) : null;
  if (data !== null) return { type: 'mem', data };
  await calculate(input, program ?? wasm, file, hasMemory ? { memorySize: 1, ...(options as object) } : options);
  return file;
};

const proverOf = (system: WholeSystem, snarkjs: Members, proofs: WholeProofs) => {
  // read now: the members may be replaced by what is made here
  const original = snarkjs[system]?.prove;
  const calculate = snarkjs.wtns?.calculate;
  const verifyProof = snarkjs[system]?.verify;
  const exportKey = snarkjs.zKey?.exportVerificationKey;
  const verify: SnarkjsSystem['verify'] = async (zkey, { proof, publicSignals }) => {
    if (verifyProof === undefined) throw missing(`${system}.verify`);
    if (exportKey === undefined) throw missing('zKey.exportVerificationKey');
    return verifyProof(await exportKey(zkey), publicSignals, proof);
  };
  const prove = async (...given: ProveArguments): Promise<SnarkjsProof> => {
    if (original === undefined) throw missing(`${system}.prove`);
    return proofs.prove({ system, prove: original, verify }, given);
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
      const { signal } = options ?? {};
      assertNotAborted(signal, 'proof');
      const calculating = calculateWitness(proofs, calculate, [input, wasm, witnessOptions]);
      const witness = await untilAborted(calculating, signal, 'proof');
      try {
        return await prove(zkey, witness, logger, options);
      } finally {
        witness.data?.fill(0);
      }
    },
  };
};

/** Returns whether a value has a prover of snarkjs. */
const hasProverOf = (snarkjs: unknown): boolean =>
  wholeSystems.some((system) => typeof ((snarkjs ?? {}) as Members)[system]?.prove === 'function');

/** Makes the accelerated provers of a snarkjs. */
const proversOf = (snarkjs: Snarkjs, proofs: WholeProofs): AcceleratedProvers => {
  const made = wholeSystems.map((system) => [system, proverOf(system, snarkjs as Members, proofs)]);
  return Object.fromEntries(made) as unknown as AcceleratedProvers;
};

/**
 * Puts provers and setups in the place of snarkjs's own, where its members can be replaced: in the
 * CommonJS module, the script for pages, and copies. Namespaces of ES modules are constant.
 *
 * @returns a function that puts the originals back, unless other code has replaced them since
 */
const replaceMembers = (snarkjs: Snarkjs, members: AcceleratedProvers & AcceleratedSetups): (() => void) => {
  const ends = Object.entries(members).map(([name, made]) => {
    const original = (snarkjs as Record<string, object | undefined>)[name];
    if (original === undefined) return () => undefined;
    const ours = { ...original, ...made };
    if (!Reflect.set(snarkjs, name, ours)) return () => undefined;
    return () => {
      if (Reflect.get(snarkjs, name) === ours) Reflect.set(snarkjs, name, original);
    };
  });
  return () => {
    for (const end of ends) end();
  };
};
