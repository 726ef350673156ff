/** snarkjs with keys for circuits that are made in the test. */
import * as module from 'snarkjs';
import type { FfGroup } from '../../src/provers/ffjavascript.js';
import type { Snarkjs } from '../../src/snarkjs.js';
import { type Circuit, makeCircuit } from './circuits.js';
import { makePowersOfTau } from './powers-of-tau.js';

/** A file in memory. */
const file = (data?: Uint8Array) => ({ type: 'mem', ...(data && { data }) });

interface Proof {
  readonly proof: unknown;
  readonly publicSignals: readonly string[];
}

interface System {
  prove(zkey: unknown, witness: unknown): Promise<Proof>;
  verify(key: unknown, publicSignals: readonly string[], proof: unknown): Promise<boolean>;
  setup(r1cs: unknown, ptau: unknown, zkey: unknown): Promise<unknown>;
}

/** A curve of ffjavascript's, as far as tests look at it. */
export interface FfCurve {
  readonly Fr: {
    readonly w: readonly Uint8Array[];
    random(): Uint8Array;
    toObject(element: Uint8Array): bigint;
    e(value: bigint): Uint8Array;
  };
  readonly r: bigint;
  readonly G1: FfGroup;
  readonly G2: FfGroup;
  terminate(): Promise<void>;
}

export const systems = ['groth16', 'plonk', 'fflonk'] as const;
export type SystemName = (typeof systems)[number];

/** What is used of snarkjs, which has no types of its own. */
export const snarkjs = module as unknown as Snarkjs &
  Readonly<Record<SystemName, System>> & {
    readonly curves: { getCurveFromName(name: string): Promise<FfCurve> };
    readonly zKey: {
      newZKey(r1cs: unknown, ptau: unknown, zkey: unknown): Promise<unknown>;
      exportVerificationKey(zkey: unknown): Promise<unknown>;
    };
  };

const ffNames = { bn254: 'bn128', 'bls12-381': 'bls12381' } as const;
export type ProverCurve = keyof typeof ffNames;

export const ffCurveOf = (curve: ProverCurve): Promise<FfCurve> =>
  snarkjs.curves.getCurveFromName(ffNames[curve]) as Promise<FfCurve>;

const setups = new Map<string, Uint8Array>();

/** Powers of tau for circuits of up to 2^power constraints, once for all tests of a file. */
const powersOf = async (curve: ProverCurve, power: number, powers: number): Promise<Uint8Array> => {
  const key = `${curve} ${power} ${powers}`;
  const { Fr } = await ffCurveOf(curve);
  const root = Fr.toObject(Fr.w[power + 1] as Uint8Array);
  const made = setups.get(key) ?? makePowersOfTau({ curve, power, powers, root, seed: power });
  setups.set(key, made);
  return made;
};

/** A circuit with its keys. */
export interface Statement {
  readonly circuit: Circuit;
  /** The `.zkey`. */
  readonly zkey: { readonly data: Uint8Array };
  prove(): Promise<Proof>;
  verify(proof: Proof): Promise<boolean>;
}

/** @param power the circuit has nearly so many constraints, or half as many where the system makes two of one */
export const makeStatement = async (
  name: SystemName,
  curve: ProverCurve,
  power: number,
  kind: Parameters<typeof makeCircuit>[2],
): Promise<Statement> => {
  const { r } = await ffCurveOf(curve);
  const isGroth16 = name === 'groth16';
  const circuit = makeCircuit(BigInt(r), 2 ** (isGroth16 ? power : power - 1) - 3, kind);
  const ptau = await powersOf(curve, power, isGroth16 ? 2 * 2 ** power : 9 * 2 ** power + 18);
  const zkey = file();
  const r1cs = file(circuit.r1cs);
  if (isGroth16) await snarkjs.zKey.newZKey(r1cs, file(ptau), zkey);
  else await snarkjs[name].setup(r1cs, file(ptau), zkey);
  const key = await snarkjs.zKey.exportVerificationKey(zkey);
  return {
    circuit,
    zkey: zkey as unknown as Statement['zkey'],
    prove: () => snarkjs[name].prove(zkey, file(circuit.witness)),
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
