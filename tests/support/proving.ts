/** snarkjs with keys for circuits that are made in the test. */
import * as module from 'snarkjs';
import { type Circuit, makeCircuit } from '../../dev/trial-keys/circuit.js';
import { type KeyCurve, type KeyGroup, makeKeys } from '../../dev/trial-keys/keys.js';
import type { FfGroup } from '../../src/provers/ffjavascript.js';
import type { Snarkjs } from '../../src/snarkjs.js';
import { bytesMadeOnce } from './made-once.js';
import { makePowersOfTau, secretsOfTau } from './powers-of-tau.js';

/** A file in memory. */
export const memoryFile = (data?: Uint8Array) => ({ type: 'mem', ...(data && { data }) });

interface Proof {
  readonly proof: unknown;
  readonly publicSignals: readonly string[];
}

/** Options that snarkjs takes. */
export interface ProveOptions {
  /** Whether it makes a curve without threads for it. */
  readonly singleThread?: boolean;
}

interface System {
  prove(zkey: unknown, witness: unknown, logger?: undefined, options?: ProveOptions): Promise<Proof>;
  verify(key: unknown, publicSignals: readonly string[], proof: unknown): Promise<boolean>;
  setup(r1cs: unknown, ptau: unknown, zkey: unknown): Promise<unknown>;
}

/** A curve of ffjavascript's, as far as tests look at it. */
export interface FfCurve extends KeyCurve {
  readonly Fr: KeyCurve['Fr'] & { e(value: bigint): Uint8Array };
  readonly G1: FfGroup & KeyGroup;
  readonly G2: FfGroup & KeyGroup;
  terminate(): Promise<void>;
}

export const systems = ['groth16', 'plonk', 'fflonk'] as const;
export type SystemName = (typeof systems)[number];

/** Functions of snarkjs that the tests use; it has no types of its own. */
export const snarkjs = module as unknown as Snarkjs &
  Readonly<Record<SystemName, System>> & {
    readonly curves: { getCurveFromName(name: string, options?: ProveOptions): Promise<FfCurve> };
    readonly zKey: {
      newZKey(r1cs: unknown, ptau: unknown, zkey: unknown): Promise<unknown>;
      exportVerificationKey(zkey: unknown): Promise<unknown>;
    };
  };

const ffNames = { bn254: 'bn128', 'bls12-381': 'bls12381' } as const;
export type ProverCurve = keyof typeof ffNames;

export const ffCurveOf = (curve: ProverCurve, options?: ProveOptions): Promise<FfCurve> =>
  snarkjs.curves.getCurveFromName(ffNames[curve], options) as Promise<FfCurve>;

/** What files of powers and keys are made by. */
export const KEY_SOURCES = [
  'dev/oracle',
  'dev/trial-keys',
  'tests/support/powers-of-tau.ts',
  'tests/support/proving.ts',
];

/** Powers of tau for circuits of up to 2^power constraints. */
export const powersOf = async (
  curve: ProverCurve,
  power: number,
  powers: number,
  isForGroth16: boolean,
): Promise<Uint8Array> =>
  bytesMadeOnce('ptau', KEY_SOURCES, { curve, power, powers, isForGroth16 }, async () => {
    const { Fr } = await ffCurveOf(curve);
    const root = Fr.toObject(Fr.w[power + 1] as Uint8Array);
    return makePowersOfTau({ curve, power, powers, root, seed: power, isForGroth16 });
  });

/** tau, alpha and beta of these. */
export const secretsOf = (curve: ProverCurve, power: number): readonly bigint[] => secretsOfTau(curve, power);

/** A circuit with its keys. */
export interface Statement {
  readonly circuit: Circuit;
  /** The `.zkey`. */
  readonly zkey: { readonly data: Uint8Array };
  prove(options?: ProveOptions): Promise<Proof>;
  verify(proof: Proof): Promise<boolean>;
}

/**
 * @param power the circuit has nearly 2^power constraints, or half as many if the system makes
 *   two of each
 * @param keys of Groth16: as the example makes them, or as snarkjs does of powers of tau
 */
export const makeStatement = async (
  name: SystemName,
  curve: ProverCurve,
  power: number,
  kind: Parameters<typeof makeCircuit>[2],
  keys: 'example' | 'snarkjs' = 'example',
): Promise<Statement> => {
  const ff = await ffCurveOf(curve);
  const isGroth16 = name === 'groth16';
  const circuit = makeCircuit(BigInt(ff.r), 2 ** (isGroth16 ? power : power - 1) - 3, kind);
  const ptau = (powers: number) => powersOf(curve, power, powers, isGroth16).then(memoryFile);
  const made = await bytesMadeOnce('zkey', KEY_SOURCES, { name, curve, power, kind, keys }, async () => {
    if (isGroth16 && keys === 'example') return makeKeys(ff, circuit);
    const zkey = memoryFile() as { data?: Uint8Array };
    const r1cs = memoryFile(circuit.r1cs);
    if (isGroth16) await snarkjs.zKey.newZKey(r1cs, await ptau(2 * 2 ** power), zkey);
    else await snarkjs[name].setup(r1cs, await ptau(9 * 2 ** power + 18), zkey);
    return zkey.data as Uint8Array;
  });
  const zkey = memoryFile(made);
  const key = await snarkjs.zKey.exportVerificationKey(zkey);
  return {
    circuit,
    zkey: zkey as unknown as Statement['zkey'],
    prove: (options) => snarkjs[name].prove(zkey, memoryFile(circuit.witness), undefined, options),
    verify: ({ proof, publicSignals }) => snarkjs[name].verify(key, publicSignals, proof),
  };
};

/** Has a curve draw the same numbers in every call of `work`. */
export const withSameRandomness = async <Result>(curve: ProverCurve, work: () => Promise<Result>): Promise<Result> => {
  const { Fr } = await ffCurveOf(curve);
  const { random } = Fr;
  let drawn = 0n;
  Fr.random = () => Fr.e(++drawn * 0x1234567890abcdefn);
  try {
    return await work();
  } finally {
    Fr.random = random;
  }
};

/** Returns a function that draws the numbers of `withSameRandomness`, for the library. */
export const sameDraws = (): ((order: bigint) => Uint8Array<ArrayBuffer>) => {
  let drawn = 0n;
  return () => {
    const value = ++drawn * 0x1234567890abcdefn;
    return Uint8Array.from({ length: 32 }, (_, i) => Number((value >> BigInt(8 * i)) & 255n));
  };
};
