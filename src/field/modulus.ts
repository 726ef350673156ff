/**
 * Everything that the field layer needs to know about a prime, derived from the prime alone: no constant below is
 * typed in by hand, so a new field is a new modulus and nothing else.
 *
 * Two representations of an element a of F_p, both in Montgomery form (Montgomery 1985), a·R mod p with R = 2^(14·limbs):
 *
 * - *limbs*, for arithmetic: `limbs` × 14 bits, least significant first, signed. How far limbs and values may go from the canonical
 *   ones is written at the structs of wgsl/field.wgsl, and proved by src/field/straight-line.ts when it makes the code.
 * - *words*, for storage: `words` × 32 bits, little-endian, canonical (< p). `words` is a multiple of 4, so that an element
 *   is a whole number of vec4<u32>.
 */
export interface Modulus {
  readonly p: bigint;
  /** Bits of p. */
  readonly bits: number;
  readonly limbBits: 14;
  readonly limbs: number;
  readonly words: number;
  /** Bytes of an element in storage and in the public formats. */
  readonly bytes: number;
  /** R mod p, that is 1 in Montgomery form. */
  readonly r: bigint;
  /** R² mod p: the factor that a Montgomery product needs to bring a plain number into Montgomery form. */
  readonly r2: bigint;
  /** R⁻¹ mod p. */
  readonly rInverse: bigint;
  /** −p⁻¹ mod 2^14, balanced: between −2^13 and 2^13. */
  readonly n0: number;
}

export const LIMB_BITS = 14;

/** R is at least so many bits longer than p: products of sums of a few elements come out below p again, with no subtraction. */
const SPARE_BITS = 8;

/** Least non-negative residue. */
export const mod = (a: bigint, m: bigint): bigint => {
  const r = a % m;
  return r < 0n ? r + m : r;
};

/** a⁻¹ mod m by the extended Euclidean algorithm; 0 for a ≡ 0, as the GPU's inversion has it. */
export const invert = (a: bigint, m: bigint): bigint => {
  let [r0, r1] = [m, mod(a, m)];
  let [t0, t1] = [0n, 1n];
  while (r1 !== 0n) {
    const q = r0 / r1;
    [r0, r1] = [r1, r0 - q * r1];
    [t0, t1] = [t1, t0 - q * t1];
  }
  return r0 === 1n ? mod(t0, m) : 0n;
};

/** Derives the constants of a field. @throws RangeError if `p` is even, or has fewer than 46 bits or more than 414. */
export const modulus = (p: bigint): Modulus => {
  if (p < 5n || p % 2n === 0n) throw new RangeError(`modulus must be an odd prime above 3, got ${p}`);
  const bits = p.toString(2).length;
  if (bits < 46)
    throw new RangeError(`a ${bits}-bit modulus is too small: the bound on divsteps holds from 46 bits on`);
  if (bits > 414) throw new RangeError(`a ${bits}-bit modulus is too large: 414 bits are the most`);
  const limbs = Math.ceil((bits + SPARE_BITS) / LIMB_BITS);
  const words = Math.ceil(bits / 128) * 4;
  const R = 1n << BigInt(LIMB_BITS * limbs);
  const limb = 1n << BigInt(LIMB_BITS);
  return {
    p,
    bits,
    limbBits: LIMB_BITS,
    limbs,
    words,
    bytes: words * 4,
    r: R % p,
    r2: (R * R) % p,
    rInverse: invert(R, p),
    n0: balancedDigits(mod(-invert(p, limb), limb), LIMB_BITS, 2)[0] as number,
  };
};

/** `count` signed digits of `width` bits, least significant first, in [−2^(width−1), 2^(width−1)); the last one takes what is left. */
export const balancedDigits = (value: bigint, width: number, count: number): number[] => {
  const base = 1n << BigInt(width);
  let rest = value;
  return Array.from({ length: count }, (_, i) => {
    if (i === count - 1) return Number(rest);
    const low = mod(rest, base);
    const digit = low >= base / 2n ? low - base : low;
    rest = (rest - digit) / base;
    return Number(digit);
  });
};

/** `count` digits of `width` bits each, least significant first; what is above them is dropped. */
export const digitsOf = (value: bigint, width: number, count: number): number[] => {
  const mask = (1n << BigInt(width)) - 1n;
  return Array.from({ length: count }, (_, i) => Number((value >> BigInt(i * width)) & mask));
};

/** The number that limbs of `width` bits are, balanced or not. */
export const joinLimbs = (limbs: readonly number[], width: number): bigint =>
  limbs.reduceRight((sum, limb) => (sum << BigInt(width)) + BigInt(limb), 0n);

/** Reads one stored element, `words` little-endian words from `at`. */
export const readWords = (source: Uint32Array, at: number, words: number): bigint => {
  let value = 0n;
  for (let i = words - 1; i >= 0; i--) value = (value << 32n) | BigInt(source[at + i] as number);
  return value;
};

/** Writes one stored element, `words` little-endian words from `at`. */
export const writeWords = (target: Uint32Array, at: number, words: number, value: bigint): void => {
  let rest = value;
  for (let i = 0; i < words; i++) {
    target[at + i] = Number(rest & 0xffffffffn);
    rest >>= 32n;
  }
};

export const toMontgomery = (m: Modulus, a: bigint): bigint => mod(a * m.r, m.p);
export const fromMontgomery = (m: Modulus, a: bigint): bigint => mod(a * m.rInverse, m.p);
