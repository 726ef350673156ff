import { BATCH, BATCH_MASK, divstepConstants } from '../field/divsteps.js';
import { digitsOf, LIMB_BITS, LIMB_MASK, type Modulus } from '../field/modulus.js';

/**
 * The CPU twin of wgsl/field.wgsl and wgsl/inverse.wgsl: the same limbs, rows and carries, and besides it refuses to go on
 * where the shader's 32-bit integers would overflow, which a shader cannot say.
 */
const u32 = (value: number): number => {
  if (value < 0 || value > 0xffffffff) throw new RangeError(`u32 overflow: ${value}`);
  return value;
};
const i32 = (value: number): number => {
  if (value < -0x80000000 || value > 0x7fffffff) throw new RangeError(`i32 overflow: ${value}`);
  return value;
};

const join = (limbs: readonly number[], width: number): bigint =>
  limbs.reduceRight((sum, limb) => (sum << BigInt(width)) + BigInt(limb), 0n);

/** a·b·R⁻¹ mod p by rows of 13-bit limbs: operand scanning with interleaved reduction (Koç, Acar, Kaliski 1996: CIOS). */
export const fieldMul = (m: Modulus, a: bigint, b: bigint): bigint => {
  const [x, y, p] = [a, b, m.p].map((value) => digitsOf(value, LIMB_BITS, m.limbs)) as [number[], number[], number[]];
  let t = new Array<number>(m.limbs).fill(0);
  for (const xi of x) {
    const low = u32((t[0] as number) + xi * (y[0] as number));
    const q = Math.imul(low, m.n0) & LIMB_MASK;
    const carry = u32(low + q * (p[0] as number)) >>> LIMB_BITS;
    const next = new Array<number>(m.limbs).fill(0);
    for (let j = 1; j < m.limbs; j++) {
      next[j - 1] = u32((t[j] as number) + xi * (y[j] as number) + q * (p[j] as number) + (j === 1 ? carry : 0));
    }
    t = next;
  }
  const value = join(t, LIMB_BITS);
  return value >= m.p ? value - m.p : value;
};

/** (a·R)⁻¹·R² mod p: the inverse in Montgomery form. Zero for zero. */
export const fieldInverse = (m: Modulus, a: bigint): bigint => {
  const k = divstepConstants(m);
  let f = [...k.p];
  let g = digitsOf(a, BATCH, k.limbs);
  let d = new Array<number>(k.limbs).fill(0);
  let e = [...k.start];
  let zeta = -1; // −(delta + 1/2), as an integer

  const shift = (t: number[]): number[] => {
    if (((t[0] as number) & BATCH_MASK) !== 0) throw new RangeError('the low limb must vanish');
    let carry = (t[0] as number) >> BATCH;
    const out = t.slice(1).map((limb) => {
      const sum = i32(limb + carry);
      carry = sum >> BATCH;
      return sum & BATCH_MASK;
    });
    return [...out, carry]; // the top limb keeps the sign
  };
  const top = (x: readonly number[]): number => Number(join(x, BATCH) >> BigInt(k.topBit));
  const combine = (u: number, v: number, x: readonly number[], y: readonly number[]): number[] =>
    x.map((limb, i) => i32(u * limb + v * (y[i] as number)));

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
    const modular = (s: number, t: number): number[] => {
      const sum = combine(s, t, d, e);
      const positive = i32(s * top(d) + t * top(e)) >= 0;
      // −low·p⁻¹ mod 2^15, in [0, 2^15) where t is negative and in (−2^15, 0] where it is not
      const low = Math.imul(sum[0] as number, k.pInverse) & BATCH_MASK;
      const times = positive ? -low : -low & BATCH_MASK;
      return shift(sum.map((limb, i) => i32(limb + times * (k.p[i] as number))));
    };
    [f, g] = [shift(combine(u, v, f, g)), shift(combine(q, r, f, g))];
    [d, e] = [modular(u, v), modular(q, r)];
    for (const x of [f, g, d, e]) {
      const value = join(x, BATCH);
      if (value > m.p || value < -m.p) throw new RangeError('f, g, d, e stay in [−p, p]');
    }
  }
  if (join(g, BATCH) !== 0n) throw new RangeError('division steps did not finish');
  // f = ±1 (or p where a = 0): d is ±a⁻¹
  const value = (f[k.limbs - 1] as number) < 0 ? -join(d, BATCH) : join(d, BATCH);
  return value < 0n ? value + m.p : value;
};
