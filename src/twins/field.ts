import type { CarryMode } from '../field/carry.js';
import { applyBatch, BATCH, divstepConstants, finish, fromWide, modulusLimbs, toShort } from '../field/divsteps.js';
import { balancedDigits, digitsOf, joinLimbs, LIMB_BITS, type Modulus } from '../field/modulus.js';
import { montgomeryProduct } from '../field/product.js';
import { type Limbs, runStraightLine } from '../field/straight-line.js';

/**
 * The CPU twin of wgsl/field.wgsl and wgsl/inverse.wgsl: runs the same programs, and refuses to go on where the shader's 32-bit
 * integers would overflow, which a shader cannot say.
 */

/** How a carry may round: as shifts do, as floats do, or as badly as either is allowed to. */
export const roundings = {
  shift: (x: number, bits: number): number => Math.floor((x + 2 ** (bits - 1)) / 2 ** bits),
  float: (x: number, bits: number): number => {
    const rounder = 1.5 * 2 ** (23 + bits);
    return (Math.fround(Math.fround(x) + rounder) - rounder) / 2 ** bits;
  },
  worst: (x: number, bits: number): number => {
    const exact = Math.round(x / 2 ** bits);
    // further from 0 wherever that leaves no more than it may
    const further = exact + Math.sign(x);
    return x % 2 ** bits !== 0 && Math.abs(x - further * 2 ** bits) <= 2 ** (bits - 1) + 2 ** 7 ? further : exact;
  },
} as const;
export type Rounding = keyof typeof roundings;

const limbsOf = (name: string, limbs: readonly number[]): Record<string, number> =>
  Object.fromEntries(limbs.map((limb, i) => [`${name}.l${i}`, limb]));

const run = ({ program, result }: Limbs, inputs: Record<string, number>, rounding: Rounding): number[] => {
  const values = runStraightLine(program, inputs, roundings[rounding]);
  return result.map((name) => values.get(name) as number);
};

/** a·b·R⁻¹ − c on limbs: loose a, tight b, canonical c; without b the square of a tight a. */
export const productLimbs = (
  m: Modulus,
  a: readonly number[],
  b: readonly number[] | null,
  minus: readonly (readonly number[])[],
  rounding: Rounding,
): number[] => {
  const names = minus.map((_, i) => `c${i}`);
  const inputs = { ...limbsOf('a', a), ...(b === null ? {} : limbsOf('b', b)) };
  minus.forEach((limbs, i) => {
    Object.assign(inputs, limbsOf(names[i] as string, limbs));
  });
  return run(montgomeryProduct(m, b === null, names), inputs, rounding);
};

/** (a·R)⁻¹·R² mod p: the inverse in Montgomery form, as a number within p of 0. Zero for zero. */
export const fieldInverse = (m: Modulus, a: bigint, mode: CarryMode, rounding: Rounding): bigint => {
  const k = divstepConstants(m);
  const batches = applyBatch(m, mode);
  let f: readonly number[] = modulusLimbs(m, mode);
  let g: readonly number[] = run(toShort(m, mode), limbsOf('a', digitsOf(a, LIMB_BITS, m.limbs)), rounding);
  let d: readonly number[] = new Array<number>(k.limbs).fill(0);
  let e: readonly number[] = k.start;
  let zeta = -1; // −(delta + 1/2), as an integer
  for (let batch = 0; batch < k.batches; batch++) {
    // BATCH divsteps look at BATCH bits of f and g
    let [f0, g0] = [f[0] as number, g[0] as number];
    let [u, v, q, r] = [1, 0, 0, 1];
    for (let i = 0; i < BATCH; i++) {
      const odd = (g0 & 1) === 1;
      if (odd && zeta < 0) {
        [f0, g0] = [g0, g0 - f0];
        [u, v, q, r] = [q, r, q - u, r - v];
        zeta = -zeta - 2;
      } else {
        if (odd) [g0, q, r] = [g0 + f0, q + u, r + v];
        zeta -= 1;
      }
      g0 >>= 1;
      [u, v] = [u * 2, v * 2];
    }
    for (const [s, t] of [
      [u, v],
      [q, r],
    ] as const) {
      if (Math.abs(s) + Math.abs(t) > 1 << BATCH || s === -(1 << BATCH) || t === -(1 << BATCH)) {
        throw new RangeError(`matrix row (${s}, ${t}) out of range`);
      }
    }
    const inputs = { u, v, q, r, ...limbsOf('f', f), ...limbsOf('g', g), ...limbsOf('d', d), ...limbsOf('e', e) };
    const values = runStraightLine(batches.program, inputs, roundings[rounding]);
    const limbs = (names: readonly string[]): number[] => names.map((name) => values.get(name) as number);
    [f, g, d, e] = [limbs(batches.f), limbs(batches.g), limbs(batches.d), limbs(batches.e)];
    for (const [x, most] of [
      [f, m.p],
      [g, m.p],
      [d, (m.p * BigInt(batch + 3)) / 2n],
      [e, (m.p * BigInt(batch + 3)) / 2n],
    ] as const) {
      const value = joinLimbs(x, BATCH);
      if (value > most || value < -most)
        throw new RangeError('f, g stay within p of 0, d and e within (1 + batches/2)·p');
    }
  }
  if (joinLimbs(g, BATCH) !== 0n) throw new RangeError('division steps did not finish');
  const sign = f[0] === 1 ? 1 : -1;
  const multiples = Number((joinLimbs(d, BATCH) * BigInt(sign) * 1024n) / m.p) / 1024;
  const last = finish(m, mode);
  const wide = run(last, { sign, k: Math.round(multiples), ...limbsOf('d', d) }, rounding);
  const named = Object.fromEntries(last.result.map((name, i) => [name, wide[i] as number]));
  return joinLimbs(run(fromWide(m, mode), named, rounding), LIMB_BITS);
};

/** Balanced limbs of a number, within half of 2^14 each. */
export const tightLimbs = (m: Modulus, value: bigint): number[] => balancedDigits(value, LIMB_BITS, m.limbs);
