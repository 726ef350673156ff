/**
 * Prepared powers of tau of secrets that are drawn here, for timing setups: whoever draws them can
 * prove false statements. All points are multiples of the generators by known scalars.
 */

import type { CurveContext } from '../../src/curves/curve.js';
import { openCurve } from '../../src/curves/open-curve.js';
import { writePoint } from '../../src/curves/point-source.js';
import { scalarFieldOf } from '../../src/curves/scalar-field.js';
import { invert, mod } from '../../src/field/modulus.js';
import { power } from '../../src/field/powers.js';
import { SumThreads } from '../../src/msm/cpu/sum-threads.js';
import { Bytes, fileOf } from '../trial-keys/bytes.js';

/** Sections of a `.ptau`. */
const section = {
  ...{ header: 1, tauG1: 2, tauG2: 3, alphaTauG1: 4, betaTauG1: 5, betaG2: 6, contributions: 7 },
  ...{ lagrangeG1: 12, lagrangeG2: 13, lagrangeAlpha: 14, lagrangeBeta: 15 },
} as const;

const POINTS_AT_ONCE = 2 ** 11;

/**
 * Returns multiples of the generator as files of snarkjs have them: x and y, little-endian in Montgomery
 * form, and zeros for infinity.
 *
 * @param onSome called, and awaited, after each batch of them with their number
 */
export const multiples = async (
  curve: CurveContext,
  scalars: readonly bigint[],
  onSome: (count: number) => void | Promise<void> = () => undefined,
): Promise<Uint8Array> => {
  const { coordinates: f, generator, pointWords } = curve;
  const scale = 1n << BigInt(8 * curve.field.bytes);
  const one = new Uint32Array(pointWords);
  const [x, y] = [generator.x, generator.y].map((value) => f.reduced(f.multiple(value, scale)));
  writePoint(curve, one, 0, { x: x as bigint, y: y as bigint });
  const threads = new SumThreads({ maxWorkers: 0 }, () => undefined);
  const all = new Uint32Array(scalars.length * pointWords);
  for (let from = 0; from < scalars.length; from += POINTS_AT_ONCE) {
    const multipliers = scalars.slice(from, from + POINTS_AT_ONCE);
    const count = multipliers.length;
    const points = new Uint32Array(count * pointWords);
    for (let i = 0; i < count; i++) points.set(one, i * pointWords);
    const starts = Uint32Array.from({ length: count + 1 }, (_, i) => i);
    const sums = { points, scale, starts, which: starts.slice(0, count), multipliers, scales: [scale] };
    const [words] = await threads.compute(curve, sums);
    all.set(words as Uint32Array, from * pointWords);
    await onSome(count);
  }
  return new Uint8Array(all.buffer);
};

/** L_i(τ) of the domain of a size. */
const lagrangeAt = (tau: bigint, size: number, order: bigint): bigint[] => {
  const { rootOfUnity, twoAdicity } = scalarFieldOf({ order });
  const root = power(rootOfUnity as bigint, 2n ** BigInt(twoAdicity) / BigInt(size), order);
  const common = mod((power(tau, BigInt(size), order) - 1n) * invert(BigInt(size), order), order);
  let element = 1n;
  return Array.from({ length: size }, () => {
    const value = mod(element * common * invert(mod(tau - element, order), order), order);
    element = (element * root) % order;
    return value;
  });
};

/**
 * Returns a `.ptau` for domains of 2^logn: Lagrange points of smaller ones are zeros.
 *
 * @param count powers in G1 for a PLONKish system, which reads nothing else but Lagrange points of G1 and
 *   two powers in G2; by default those of Groth16, with all that it reads
 */
export const knownPowers = async (name: 'bn254' | 'bls12-381', logn: number, count?: number): Promise<Uint8Array> => {
  const [g1, g2] = [await openCurve(name, 'g1'), await openCurve(name, 'g2')];
  const { order } = g1;
  const [tau, alpha, beta] = [7n, 11n, 13n].map((base) => power(base, 1001n, order)) as [bigint, bigint, bigint];
  const size = 2 ** logn;
  let last = 1n;
  const powers = Array.from({ length: count ?? 2 * size - 1 }, () => {
    const value = last;
    last = (last * tau) % order;
    return value;
  });
  const lagrange = lagrangeAt(tau, size, order);
  const behind = async (curve: CurveContext, ...domains: readonly (readonly bigint[])[]): Promise<Uint8Array> => {
    const bytes = new Bytes().raw(new Uint8Array((size - 1) * curve.pointBytes));
    for (const domain of domains) bytes.raw(await multiples(curve, domain));
    return bytes.done();
  };
  const { bytes } = g1.field;
  const header = new Bytes().u32(bytes).number(g1.p, bytes).u32(logn).u32(logn).done();
  const common = [[section.header, header] as const, [section.tauG1, await multiples(g1, powers)] as const];
  if (count !== undefined) {
    return fileOf('ptau', 1, [
      ...common,
      [section.tauG2, await multiples(g2, powers.slice(0, 2))],
      [section.lagrangeG1, await behind(g1, lagrange)],
    ]);
  }
  const first = powers.slice(0, size);
  const times = (factor: bigint, values: readonly bigint[]) => values.map((value) => (value * factor) % order);
  return fileOf('ptau', 1, [
    ...common,
    [section.tauG2, await multiples(g2, first)],
    [section.alphaTauG1, await multiples(g1, times(alpha, first))],
    [section.betaTauG1, await multiples(g1, times(beta, first))],
    [section.betaG2, await multiples(g2, [beta])],
    [section.contributions, new Bytes().u32(0).done()],
    [section.lagrangeG1, await behind(g1, lagrange, lagrangeAt(tau, 2 * size, order))],
    [section.lagrangeG2, await behind(g2, lagrange)],
    [section.lagrangeAlpha, await behind(g1, times(alpha, lagrange))],
    [section.lagrangeBeta, await behind(g1, times(beta, lagrange))],
  ]);
};
