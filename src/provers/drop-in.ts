/**
 * The interface of snarkjs without snarkjs: proofs, witnesses and verification by this library. What
 * it does not have is there by name, and throws an error that says so.
 */
import { assertNotAborted, badArgument, notLoaded, untilAborted } from '../errors.js';
import { type FflonkProof, exportSolidityCallData as ofFflonk } from '../fflonk.js';
import { Fields, ORDER_BYTES, openSnarkjsFile, readSections, sectionOf } from '../formats/binfile.js';
import { readRange } from '../formats/source.js';
import { openZkey } from '../formats.js';
import { type Groth16Proof, exportSolidityCallData as ofGroth16 } from '../groth16.js';
import { type OptionTable, pickRows, readOptions, setOptions } from '../option-table.js';
import { exportSolidityCallData as ofPlonk, type PlonkProof } from '../plonk.js';
import type { NamedProof, ProofInput, ProofNumber } from '../proofs/api.js';
import { numbersIn } from '../proofs/witness.js';
import { exportVerificationKey } from '../verifiers/exported-key.js';
import { verifyByJsonKey } from '../verifiers/json-key.js';
import type { AcceleratedResult, SnarkjsProveOptions } from './accelerate.js';
import {
  type AccelerateOptions,
  accelerateOptions,
  noCounts,
  type ReadAccelerateOptions,
  readAccelerateOptions,
  tightWarning,
} from './accelerate-options.js';
import { copyWitnessFile, openNamed, readWitnessProgram, type SnarkjsFile, writeFileTo } from './proof-files.js';
import { ProverEngines } from './prover-engines.js';
import { ProvingKeys, proveOptions, type WholeSystem } from './proving-keys.js';
import { Witnesses } from './witnesses.js';
import { WorkerCircuits } from './worker-circuits.js';

/** A function of snarkjs that is not here. It rejects with `bad-argument`, naming itself. */
export type MissingFunction = (...given: readonly unknown[]) => Promise<never>;

/** Functions of snarkjs for proofs of one proof system. */
export interface SnarkjsProver<Proof extends NamedProof> {
  /**
   * Proves with a witness. The key stays loaded for later proofs. A file is recognised by its size and
   * times, bytes by their SHA-256.
   *
   * @param zkey the `.zkey`: bytes, a path or a URL, or an object of the type `mem` or `file`
   * @param witness the `.wtns`, likewise. Bytes are copied before the call returns.
   * @param logger ignored
   * @param options `singleThread` is ignored; `signal` ends this proof
   * @throws MsmError as `openProvingKey` and its `prove`
   */
  prove(
    zkey: SnarkjsFile,
    witness: SnarkjsFile,
    logger?: unknown,
    options?: SnarkjsProveOptions | null,
  ): Promise<AcceleratedResult<Proof>>;
  /**
   * Computes a witness by the program of circom, which stays compiled, and proves with it.
   *
   * @param input the values of the input signals by name
   * @param wasm the program of circom 1 or 2, as `zkey` of `prove`
   * @param zkey as of `prove`
   * @param logger ignored
   * @param witnessOptions ignored
   * @param options as of `prove`
   * @throws MsmError as `prove`; `unsatisfied` with the text of circom; `bad-argument` naming the signal
   */
  fullProve(
    input: object,
    wasm: SnarkjsFile,
    zkey: SnarkjsFile,
    logger?: unknown,
    witnessOptions?: unknown,
    options?: SnarkjsProveOptions | null,
  ): Promise<AcceleratedResult<Proof>>;
  /**
   * Verifies a proof.
   *
   * @param verificationKey the JSON that `zKey.exportVerificationKey` returns
   * @param publicSignals as many as the key says
   * @param proof a proof of this proof system
   * @param logger ignored
   * @returns false for a proof that does not verify, and for another number of public values
   * @throws MsmError `bad-argument` naming the member of the key or of the proof that is none
   */
  verify(
    verificationKey: object,
    publicSignals: readonly ProofNumber[],
    proof: ProofInput<Proof>,
    logger?: unknown,
  ): Promise<boolean>;
}

/** `groth16` of snarkjs. */
export interface SnarkjsGroth16 extends SnarkjsProver<Groth16Proof> {
  /** Returns the arguments of a verifier contract. @throws MsmError `bad-argument` naming the number */
  exportSolidityCallData(proof: ProofInput<Groth16Proof>, publicSignals: readonly ProofNumber[]): Promise<string>;
}

/** `plonk` of snarkjs. */
export interface SnarkjsPlonk extends SnarkjsProver<PlonkProof> {
  /** Returns the arguments of a verifier contract. @throws MsmError `bad-argument` naming the number */
  exportSolidityCallData(proof: ProofInput<PlonkProof>, publicSignals: readonly ProofNumber[]): Promise<string>;
  /** Not here. */
  readonly setup: MissingFunction;
}

/** `fflonk` of snarkjs. */
export interface SnarkjsFflonk extends SnarkjsProver<FflonkProof> {
  /** Returns the arguments of a verifier contract. The public values come first, as in snarkjs. */
  exportSolidityCallData(publicSignals: readonly ProofNumber[], proof: ProofInput<FflonkProof>): Promise<string>;
  /** Not here. */
  readonly setup: MissingFunction;
  /** Not here. */
  readonly exportSolidityVerifier: MissingFunction;
}

/** `wtns` of snarkjs. */
export interface SnarkjsWtns {
  /**
   * Computes a witness and writes the `.wtns`.
   *
   * @param input the values of the input signals by name
   * @param wasm the program of circom
   * @param wtns where to: an object of the type `mem`, whose `data` is set, or in Node a path
   * @param options ignored
   * @throws MsmError `unsatisfied`, `bad-argument`
   */
  calculate(input: object, wasm: SnarkjsFile, wtns: SnarkjsFile, options?: unknown): Promise<void>;
  /**
   * Returns whether a witness satisfies the constraints of a circuit.
   *
   * @throws MsmError `bad-argument` for files of different circuits
   */
  check(r1cs: SnarkjsFile, wtns: SnarkjsFile, logger?: unknown): Promise<boolean>;
  /** Returns the values of a witness. @throws MsmError `bad-argument` for another file */
  exportJson(wtns: SnarkjsFile): Promise<bigint[]>;
  /** Not here. */
  readonly debug: MissingFunction;
}

/** `zKey` of snarkjs. */
export interface SnarkjsZKey {
  /**
   * Returns the verification key in a proving key, of which it reads a few points.
   *
   * @returns the JSON of snarkjs, with its members in the same order
   * @throws MsmError `bad-argument` for another file
   */
  exportVerificationKey(zkey: SnarkjsFile, logger?: unknown): Promise<Readonly<Record<string, unknown>>>;
  /** Not here. */
  readonly newZKey: MissingFunction;
  /** Not here. */
  readonly contribute: MissingFunction;
  /** Not here. */
  readonly beacon: MissingFunction;
  /** Not here. */
  readonly verifyFromR1cs: MissingFunction;
  /** Not here. */
  readonly verifyFromInit: MissingFunction;
  /** Not here. */
  readonly bellmanContribute: MissingFunction;
  /** Not here. */
  readonly exportBellman: MissingFunction;
  /** Not here. */
  readonly importBellman: MissingFunction;
  /** Not here. */
  readonly exportJson: MissingFunction;
  /** Not here. */
  readonly exportSolidityVerifier: MissingFunction;
}

/** `powersOfTau` of snarkjs, none of which is here. */
export type SnarkjsPowersOfTau = Readonly<
  Record<
    | ('newAccumulator' | 'contribute' | 'beacon' | 'preparePhase2' | 'verify' | 'truncate' | 'convert' | 'exportJson')
    | ('exportChallenge' | 'importResponse' | 'challengeContribute'),
    MissingFunction
  >
>;

/** `r1cs` of snarkjs, none of which is here. */
export type SnarkjsR1cs = Readonly<Record<'print' | 'info' | 'exportJson', MissingFunction>>;

/** `curves` of snarkjs, none of which is here. */
export type SnarkjsCurves = Readonly<Record<'getCurveFromName' | 'getCurveFromQ' | 'getCurveFromR', MissingFunction>>;

const AT = 'webgpu-msm/snarkjs-drop-in';

const missing = (namespace: string, name: string, remedy: string): MissingFunction => {
  return async () => {
    throw badArgument(
      `${namespace}.${name} of snarkjs is not in ${AT}, which has proofs, witnesses and verification: ${remedy}, or install snarkjs under a name of its own (npm install snarkjs-setup@npm:snarkjs) and import it by that name`,
    );
  };
};

/** Makes a namespace of functions that are not here. */
const missingAll = <Name extends string>(
  namespace: string,
  names: readonly Name[],
  remedy: string,
): Readonly<Record<Name, MissingFunction>> =>
  Object.fromEntries(names.map((name) => [name, missing(namespace, name, remedy)])) as Record<Name, MissingFunction>;

/** Options of `accelerate` that are about keys and engines, and not about snarkjs. */
const configured = [
  ...(['backend', 'device', 'gpu', 'maxWorkers', 'createWorker', 'memoryBudget', 'tuning', 'verify'] as const),
  ...(['basesBudget', 'memoryLimit', 'cache', 'verifyProof', 'onWarning'] as const),
] as const satisfies readonly (keyof AccelerateOptions)[];

/** Options of `configure`; all but `worker` are as `accelerate` of `webgpu-msm/snarkjs` has them. */
export interface DropInOptions extends Pick<AccelerateOptions, (typeof configured)[number]> {
  /**
   * Computes `fullProve` in workers, as `openCircuit` of `webgpu-msm/circom` does, so that the caller's
   * thread stays free and a signal ends witnesses, too. `prove` and `wtns.calculate` stay in the caller's thread.
   *
   * @defaultValue `true` in pages, unless `device`, `gpu` or `createWorker` is set, which no worker can be
   * sent; `false` elsewhere
   */
  readonly worker?: boolean | undefined;
}

/** `configure`. */
export const configureOptions = {
  of: 'configure',
  rows: { .../* @__PURE__ */ pickRows(accelerateOptions.rows, configured), worker: { kind: 'flag' } },
} as const satisfies OptionTable<DropInOptions>;

/** Returns whether workers are to compute. @throws MsmError `bad-argument` for an option that none can be sent */
const wantsWorker = ({ worker, ...others }: DropInOptions): boolean => {
  const name = (['device', 'gpu', 'createWorker'] as const).find((each) => others[each] !== undefined);
  if (worker === true && name !== undefined) {
    throw badArgument(`options.${name} cannot be sent to a worker; leave it out, or set worker to false`);
  }
  return worker ?? (name === undefined && 'document' in globalThis);
};

/** Keys, engines and programs that stay loaded from one call to the next. */
class Provers {
  readonly keys: ProvingKeys;
  readonly witnesses = new Witnesses();
  /** null where the calling thread proves. */
  readonly circuits: WorkerCircuits | null;
  readonly #engines: ProverEngines;

  private constructor(options: ReadAccelerateOptions, inWorkers: boolean) {
    const counts = noCounts();
    this.#engines = new ProverEngines(options, counts);
    let hasWarned = false;
    const warnTight = (bytes: number): void => {
      if (!hasWarned) options.warn(tightWarning(counts.basesBudget, bytes));
      hasWarned = true;
    };
    this.keys = new ProvingKeys({
      ...{ options, counts, engine: (curve) => this.#engines.get(curve, 'g1') },
      ...{ isSlower: async () => false, warnTight },
    });
    const budget = { bytes: () => counts.basesBudget, onTight: warnTight };
    this.circuits = inWorkers ? new WorkerCircuits(options, budget) : null;
  }

  /** @throws MsmError `bad-argument` naming the option */
  static async open(options: DropInOptions): Promise<Provers> {
    const { worker, ...read } = readOptions(configureOptions, options);
    const inWorkers = wantsWorker({ ...read, worker });
    return new Provers(await readAccelerateOptions({ ...setOptions(read), leastPoints: 0 }), inWorkers);
  }

  /** Frees all of them. Proofs that a key computes reject. */
  end(): void {
    this.keys.end();
    this.circuits?.end();
    this.witnesses.clear();
    this.#engines.destroy();
  }
}

let opening: Promise<Provers> | null = null;

/** Returns the provers of this module, opened with the first call. */
const provers = (): Promise<Provers> => {
  opening ??= Provers.open({});
  return opening;
};

/**
 * Chooses what computes and how much memory keys may keep, for all later calls of this module. snarkjs
 * has no such function: call it once, before the package that imports snarkjs proves. Frees the keys and
 * programs that are loaded; proofs that a key computes reject with `aborted`.
 *
 * @param options those that are left out have their defaults again
 * @throws MsmError `bad-argument` naming the option; nothing changes then
 * @example
 * ```ts
 * import { configure } from 'webgpu-msm/snarkjs-drop-in';
 *
 * await configure({ backend: 'cpu', memoryLimit: 512 * 2 ** 20 });
 * ```
 */
export const configure = async (options: DropInOptions = {}): Promise<void> => {
  const next = await Provers.open(options);
  const before = opening;
  opening = Promise.resolve(next);
  await before?.then(
    (provers) => provers.end(),
    () => undefined,
  );
};

const calculate = async (input: object, wasm: unknown): Promise<Uint8Array<ArrayBuffer>> => {
  const program = await readWitnessProgram(wasm);
  return (await provers()).witnesses.compute(program, input);
};

/** Makes the functions of a proof system. */
const proverOf = <Proof extends NamedProof>(system: WholeSystem): SnarkjsProver<Proof> => {
  const prove: SnarkjsProver<Proof>['prove'] = async (zkey, witness, _logger, options) => {
    const { signal } = readOptions(proveOptions, options ?? {});
    assertNotAborted(signal, 'proof');
    const reading = copyWitnessFile(witness);
    // a failure to open the provers leaves it without a reader
    reading.catch(() => undefined);
    const { keys } = await provers();
    const result = await untilAborted(keys.prove(system, zkey, reading, signal), signal, 'proof');
    return result as AcceleratedResult<Proof>;
  };
  return {
    prove,
    fullProve: async (input, wasm, zkey, logger, _witnessOptions, options) => {
      const { signal } = readOptions(proveOptions, options ?? {});
      assertNotAborted(signal, 'proof');
      const { circuits } = await provers();
      if (circuits !== null) {
        const proving = circuits.fullProve(system, { input, wasm, zkey }, signal);
        return (await untilAborted(proving, signal, 'proof')) as AcceleratedResult<Proof>;
      }
      const witness = await untilAborted(calculate(input, wasm), signal, 'proof');
      try {
        return await prove(zkey, witness, logger, options);
      } finally {
        witness.fill(0);
      }
    },
    verify: (verificationKey, publicSignals, proof) => verifyByJsonKey(verificationKey, proof, publicSignals, system),
  };
};

const ofSetups = 'make keys with webgpu-msm/setup or the commands of snarkjs';

/** `groth16` of snarkjs. */
export const groth16: SnarkjsGroth16 = {
  .../* @__PURE__ */ proverOf<Groth16Proof>('groth16'),
  exportSolidityCallData: async (proof, publicSignals) => ofGroth16(proof, publicSignals),
};

/** `plonk` of snarkjs. */
export const plonk: SnarkjsPlonk = {
  .../* @__PURE__ */ proverOf<PlonkProof>('plonk'),
  exportSolidityCallData: async (proof, publicSignals) => ofPlonk(proof, publicSignals),
  setup: /* @__PURE__ */ missing('plonk', 'setup', ofSetups),
};

/** `fflonk` of snarkjs. */
export const fflonk: SnarkjsFflonk = {
  .../* @__PURE__ */ proverOf<FflonkProof>('fflonk'),
  exportSolidityCallData: async (publicSignals, proof) => ofFflonk(proof, publicSignals),
  setup: /* @__PURE__ */ missing('fflonk', 'setup', ofSetups),
  exportSolidityVerifier: /* @__PURE__ */ missing('fflonk', 'exportSolidityVerifier', 'use the commands of snarkjs'),
};

/** Reads the prime, the number of values and the place of the values of a witness. */
const openWitness = async (given: unknown) => {
  const { file, warn } = openSnarkjsFile('witness', await openNamed('witness', given), {});
  const sections = await readSections(file, 'wtns', 2, warn);
  const header = await Fields.read(file, sectionOf(file, sections, 1, 'header'), 'section 1 (header)');
  const bytes = header.u32();
  header.skip(bytes);
  const [values, { at, byteLength }] = [header.u32(), sectionOf(file, sections, 2, 'values')];
  if (bytes === ORDER_BYTES && byteLength === values * ORDER_BYTES) return { file, at, byteLength };
  throw badArgument(`witness: section 2 has ${byteLength} bytes, and the header says ${values} values of ${bytes}`);
};

/** `wtns` of snarkjs. */
export const wtns: SnarkjsWtns = {
  calculate: async (input, wasm, target) => writeFileTo('wtns', target, await calculate(input, wasm)),
  check: async (r1cs, witness) => {
    const { Constraints } = await import('../circom/constraints.js').catch(notLoaded('constraints'));
    const constraints = await Constraints.open(await openNamed('r1cs', r1cs), null, {
      signal: undefined,
      onWarning: undefined,
    });
    const found = await constraints.firstUnsatisfied(await openNamed('witness', witness), {
      signal: undefined,
      withValues: false,
    });
    return found === null;
  },
  exportJson: async (witness) => {
    const { file, at, byteLength } = await openWitness(witness);
    return numbersIn(await readRange(file, at, at + byteLength));
  },
  debug: /* @__PURE__ */ missing('wtns', 'debug', 'open the circuit with webgpu-msm/circom and use its check'),
};

/** Steps of a setup, and other functions of keys. */
const setupSteps = [
  ...['newZKey', 'contribute', 'beacon', 'verifyFromR1cs', 'verifyFromInit', 'bellmanContribute'],
  ...['exportBellman', 'importBellman', 'exportJson', 'exportSolidityVerifier'],
] as const;

/** `zKey` of snarkjs. */
export const zKey: SnarkjsZKey = {
  .../* @__PURE__ */ missingAll('zKey', setupSteps, ofSetups),
  exportVerificationKey: async (zkey) => exportVerificationKey(await openZkey(await openNamed('zkey', zkey))),
};

/** `powersOfTau` of snarkjs, none of which is here. */
export const powersOfTau: SnarkjsPowersOfTau = /* @__PURE__ */ missingAll(
  'powersOfTau',
  [
    ...(['newAccumulator', 'contribute', 'beacon', 'preparePhase2', 'verify', 'truncate', 'convert'] as const),
    ...(['exportJson', 'exportChallenge', 'importResponse', 'challengeContribute'] as const),
  ],
  'use webgpu-msm/setup, or the commands of snarkjs',
);

/** `r1cs` of snarkjs, none of which is here. */
export const r1cs: SnarkjsR1cs = /* @__PURE__ */ missingAll(
  'r1cs',
  ['print', 'info', 'exportJson'],
  'run npx webgpu-msm info for what a file is',
);

/** `curves` of snarkjs, none of which is here. */
export const curves: SnarkjsCurves = /* @__PURE__ */ missingAll(
  'curves',
  ['getCurveFromName', 'getCurveFromQ', 'getCurveFromR'],
  'make curves with ffjavascript',
);
