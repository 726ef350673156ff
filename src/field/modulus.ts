/**
 * Everything that the field layer needs to know about a prime, derived from the prime alone: no constant below is
 * typed in by hand, so a new field is a new modulus and nothing else.
 *
 * Two representations of an element a of F_p, both in Montgomery form (Montgomery 1985), a·R mod p with R = 2^(13·limbs):
 *
 * - *limbs*, for arithmetic: `limbs` × 13 bits, least significant first. A column of a schoolbook product with interleaved
 *   reduction sums 2·limbs products of 26 bits, which fit a u32 without carries as long as limbs ≤ 32.
 * - *words*, for storage: `words` × 32 bits, little-endian, canonical (< p). `words` is a multiple of 4, so that an element
 *   is a whole number of vec4<u32>.
 */
export interface Modulus {
  readonly p: bigint;
  /** Bits of p. */
  readonly bits: number;
  readonly limbBits: 13;
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
  /** −p⁻¹ mod 2^13. */
  readonly n0: number;
}

export const LIMB_BITS = 13;
export const LIMB_MASK = (1 << LIMB_BITS) - 1;

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

/** Derives the constants of a field. @throws RangeError if `p` is even, below 46 bits, or needs more than 32 limbs. */
export const modulus = (p: bigint): Modulus => {
  if (p < 5n || p % 2n === 0n) throw new RangeError(`modulus must be an odd prime above 3, got ${p}`);
  const bits = p.toString(2).length;
  if (bits < 46)
    throw new RangeError(`a ${bits}-bit modulus is too small: the bound on divsteps holds from 46 bits on`);
  // Two spare bits: sums of a few elements stay below R, and a sign fits above the top limb of the inversion.
  const limbs = Math.ceil((bits + 2) / LIMB_BITS);
  if (limbs > 32) {
    throw new RangeError(`a ${bits}-bit modulus needs ${limbs} limbs; columns of more than 32 overflow a u32`);
  }
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
    n0: Number(mod(-invert(p, limb), limb)),
  };
};

/** `count` digits of `width` bits each, least significant first; what is above them is dropped. */
export const digitsOf = (value: bigint, width: number, count: number): number[] => {
  const mask = (1n << BigInt(width)) - 1n;
  return Array.from({ length: count }, (_, i) => Number((value >> BigInt(i * width)) & mask));
};

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
