/**
 * How products are computed, and with it how elements are held between them (docs/chips.md says which chip wants which):
 *
 * - `signed`: limbs of 14 bits around 0, carried through floats (src/field/product.ts, wgsl/field/field-limbs.wgsl), for devices that have registers to
 *   spare and are slow at shifts;
 * - `unsigned`: words, cut into limbs of 13 bits where they are multiplied, whose products all are of 24 bits (src/field/product-unsigned.ts,
 *   wgsl/field/field-words.wgsl);
 * - `dot4`: words, of which four bytes are multiplied at a time (src/field/product-dot4.ts, wgsl/field/field-words.wgsl).
 */
export const fieldProducts = ['signed', 'unsigned', 'dot4'] as const;

/** A way to compute products; `fieldProducts` describes each. */
export type FieldProduct = (typeof fieldProducts)[number];

/**
 * Everything that the field layer needs to know about a prime, derived from the prime and the kind of its products alone: no constant below is
 * typed in by hand, so a new field is a new modulus and nothing else.
 *
 * An element a of F_p is in Montgomery form (Montgomery 1985), a·R mod p, R being what a product divides by. In storage it has `words` × 32 bits,
 * little-endian, canonical (< p); `words` is a multiple of 4, so that an element is a whole number of vec4<u32>. How it is held for arithmetic,
 * and how far limbs and values may go from the canonical ones then, is written at the structs of wgsl/field/field-limbs.wgsl and
 * wgsl/field/field-words.wgsl, and proved by src/field/straight-line.ts and src/field/word-line.ts when they make the code.
 */
export interface Modulus {
  readonly p: bigint;
  readonly product: FieldProduct;
  /** R = 2^…: what a product divides by. */
  readonly montgomeryBits: number;
  /** Bits of p. */
  readonly bits: number;
  readonly limbBits: 14;
  /** Of 14 bits, of signed products. */
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

/**
 * R is at least so many bits longer than p: products of sums of a few elements come out below p again, with no subtraction. Where elements are pairs,
 * whose products are sums of several, two more.
 */
const spareBits = (degree: Degree): number => (degree === 1 ? 8 : 10);

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

/** Bits of a limb of unsigned products. */
export const UNSIGNED_LIMB_BITS = 13;

/** Of elements between products that are not signed: below 2p, and sums of two below 4p. */
const LAZY_BITS = 2;

/** Limbs of `width` bits that numbers below 4p have. */
export const lazyLimbs = ({ bits }: Pick<Modulus, 'bits'>, width: number): number =>
  Math.ceil((bits + LAZY_BITS) / width);

const montgomeryBitsOf = (product: FieldProduct, bits: number, limbs: number): number => {
  if (product === 'signed') return LIMB_BITS * limbs;
  const width = product === 'dot4' ? 32 : UNSIGNED_LIMB_BITS;
  return width * lazyLimbs({ bits }, width);
};

/** −p⁻¹ mod 2^width: what a digit of that width is multiplied with to find the multiple of p that clears it. */
export const montgomeryFactor = (p: bigint, width: number): bigint => {
  const one = 1n << BigInt(width);
  return mod(-invert(p, one), one);
};

/** Of the field that it is for: of p elements, or of p². */
export type Degree = 1 | 2;

/**
 * Derives the constants of a prime.
 *
 * @throws RangeError if `p` is even, or has fewer than 46 bits or more than 414
 */
export const modulus = (p: bigint, product: FieldProduct = 'signed', degree: Degree = 1): Modulus => {
  if (p < 5n || p % 2n === 0n) throw new RangeError(`modulus must be an odd prime above 3, got ${p}`);
  const bits = p.toString(2).length;
  if (bits < 46)
    throw new RangeError(`a ${bits}-bit modulus is too small: the bound on divsteps holds from 46 bits on`);
  if (bits > 414) throw new RangeError(`a ${bits}-bit modulus is too large: 414 bits are the most`);
  const limbs = Math.ceil((bits + spareBits(degree)) / LIMB_BITS);
  const words = Math.ceil(bits / 128) * 4;
  const montgomeryBits = montgomeryBitsOf(product, bits, limbs);
  const R = 1n << BigInt(montgomeryBits);
  return {
    p,
    product,
    montgomeryBits,
    bits,
    limbBits: LIMB_BITS,
    limbs,
    words,
    bytes: words * 4,
    r: R % p,
    r2: (R * R) % p,
    rInverse: invert(R, p),
    n0: balancedDigits(montgomeryFactor(p, LIMB_BITS), LIMB_BITS, 2)[0] as number,
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
