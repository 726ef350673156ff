/**
 * Powers of tau for circuits of one size, as snarkjs reads them: of a tau that is known, so that
 * nobody waits for a ceremony. For tests alone.
 */
import { oracleOf } from '../../dev/oracle/curves.js';
import { pointsIn } from '../../dev/oracle/encodings.js';
import { type Coordinate, knownBases, type OracleCurve, Random } from '../../dev/oracle/known-bases.js';
import type { Group } from '../../src/curves/more-curves.js';

export interface TauSetup {
  readonly curve: 'bn254' | 'bls12-381';
  /** Logarithm of the size of Groth16's domain, and the largest power of other provers. */
  readonly power: number;
  /** Powers of tau in G1: FFLONK takes nine for each element of the domain. */
  readonly powers: number;
  /** An element of order 2^(power + 1) in the field of scalars, as snarkjs has it. */
  readonly root: bigint;
  readonly seed: number;
  /** False leaves out the Lagrange points that Groth16 alone reads, which are most of the work. */
  readonly isForGroth16?: boolean;
}

const powModulo = (base: bigint, exponent: bigint, modulus: bigint): bigint => {
  let [result, power] = [1n, base % modulus];
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * power) % modulus;
    power = (power * power) % modulus;
  }
  return result;
};

/** L_i(tau) of the domain of powers of a root. */
const lagrangeAt = (tau: bigint, root: bigint, size: number, r: bigint): bigint[] => {
  const inverse = (value: bigint): bigint => powModulo(value, r - 2n, r);
  const common = ((powModulo(tau, BigInt(size), r) - 1n + r) * inverse(BigInt(size))) % r;
  let element = 1n;
  return Array.from({ length: size }, () => {
    const value = (element * ((common * inverse((tau - element + r) % r)) % r)) % r;
    element = (element * root) % r;
    return value;
  });
};

const concatenated = (parts: readonly Uint8Array[]): Uint8Array => {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
};

const number = (value: number | bigint, bytes: number): Uint8Array =>
  Uint8Array.from({ length: bytes }, (_, i) => Number((BigInt(value) >> BigInt(8 * i)) & 0xffn));

const drawSecrets = (random: Random, r: bigint): [tau: bigint, alpha: bigint, beta: bigint] => {
  const draw = (): bigint => random.belowBig(r - 2n) + 2n;
  return [draw(), draw(), draw()];
};

/** The secrets of powers of tau with a seed. */
export const secretsOfTau = (curve: TauSetup['curve'], seed: number): readonly bigint[] =>
  drawSecrets(new Random(seed), oracleOf({ curve, group: 'g1' }).Point.Fn.ORDER);

/**
 * A prepared `.ptau`: of the Lagrange points that Groth16 alone reads it has those of this domain;
 * the others are zeros.
 */
export const makePowersOfTau = ({ curve, power, powers, root, seed, isForGroth16 = true }: TauSetup): Uint8Array => {
  const g1 = oracleOf({ curve, group: 'g1' }) as OracleCurve<Coordinate>;
  const r = g1.Point.Fn.ORDER;
  const random = new Random(seed);
  const [tau, alpha, beta] = drawSecrets(random, r);
  const points = (group: Group, logs: readonly bigint[]): Uint8Array => {
    const oracle = oracleOf({ curve, group }) as OracleCurve<Coordinate>;
    const multiples = logs.map((log) => oracle.Point.BASE.multiplyUnsafe(log));
    return pointsIn(oracle, knownBases(oracle, logs, multiples).points, 'le-montgomery');
  };
  const size = 2 ** power;
  const small = lagrangeAt(tau, (root * root) % r, size, r);
  // in G1 of every domain up to one of twice the size: PLONK's is another than Groth16's
  const every = Array.from({ length: power + (isForGroth16 ? 2 : 1) }, (_, log) =>
    lagrangeAt(tau, powModulo(root, 2n ** BigInt(power + 1 - log), r), 2 ** log, r),
  ).flat();
  const times = (factor: bigint) => small.map((value) => (value * factor) % r);
  const pointBytes = (group: Group): number => points(group, [1n]).length;
  // all smaller domains come before
  const before = (group: Group): Uint8Array => new Uint8Array((size - 1) * pointBytes(group));
  // what nobody reads, and has to be there
  const rest = (group: Group, from: number): Uint8Array => new Uint8Array((size - from) * pointBytes(group));
  let last = 1n;
  const tauPowers = Array.from({ length: powers }, () => {
    const value = last;
    last = (last * tau) % r;
    return value;
  });
  const p = g1.Point.Fp.ORDER;
  const fieldBytes = pointBytes('g1') / 2;
  const sections: readonly (readonly [number, readonly Uint8Array[]])[] = [
    [1, [number(fieldBytes, 4), number(p, fieldBytes), number(power, 4), number(power, 4)]],
    [2, [points('g1', tauPowers)]],
    [3, [points('g2', tauPowers.slice(0, 2)), rest('g2', 2)]],
    [4, [points('g1', [alpha]), rest('g1', 1)]],
    [5, [points('g1', [beta]), rest('g1', 1)]],
    [6, [points('g2', [beta])]],
    [7, [number(0, 4)]],
    [12, [points('g1', every)]],
    [13, isForGroth16 ? [before('g2'), points('g2', small)] : []],
    [14, isForGroth16 ? [before('g1'), points('g1', times(alpha))] : []],
    [15, isForGroth16 ? [before('g1'), points('g1', times(beta))] : []],
  ];
  const written = sections.flatMap(([type, parts]) => {
    const content = concatenated(parts);
    return [number(type, 4), number(content.length, 8), content];
  });
  const magic = Uint8Array.from('ptau', (letter) => letter.charCodeAt(0));
  return concatenated([magic, number(1, 4), number(sections.length, 4), ...written]);
};
