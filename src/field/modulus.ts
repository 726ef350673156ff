/** A prime, the constants of its Montgomery form, and its numbers as digits and words. */

/**
 * The kinds of field products. Between products each kind holds elements in words.
 * docs/reference/chips.md lists the fastest kind for each chip.
 *
 * - `unsigned`: words, split into limbs of 13 bits, so that 24-bit multiplications suffice.
 * - `dot4`: words, multiplied four bytes at a time.
 * - `fma`: words, split into limbs of 24 bits, with floats for the high halves of their products.
 */
export const fieldProducts = ['unsigned', 'dot4', 'fma'] as const;

/** A way to compute products; `fieldProducts` describes each. */
export type FieldProduct = (typeof fieldProducts)[number];

/**
 * The constants of a prime, all derived from the prime and the kind of its products. A new field
 * needs a new modulus and nothing else.
 *
 * An element a of F_p is held in Montgomery form (Montgomery 1985): a·R mod p, where R is the
 * divisor of a product. A stored element has `words` words of 32 bits, little-endian, and is
 * canonical (< p). `words` is a multiple of 4, so that an element is a whole number of vec4<u32>.
 * wgsl/field/field.wgsl documents the form for arithmetic and its bounds; src/field/word-line.ts
 * and src/field/straight-line.ts prove the bounds when they generate code.
 */
export interface Modulus {
  readonly p: bigint;
  readonly product: FieldProduct;
  /** log2 of R, the divisor of a product. */
  readonly montgomeryBits: number;
  /** Bits of p. */
  readonly bits: number;
  /** Words of a stored element. */
  readonly words: number;
  /** Bytes of an element in storage and in the public formats. */
  readonly bytes: number;
  /** R mod p, which is 1 in Montgomery form. */
  readonly r: bigint;
  /** R² mod p. A Montgomery product with it converts a plain number to Montgomery form. */
  readonly r2: bigint;
  /** R⁻¹ mod p. */
  readonly rInverse: bigint;
}

/** Returns the least non-negative residue. */
export const mod = (a: bigint, m: bigint): bigint => {
  const r = a % m;
  return r < 0n ? r + m : r;
};

/**
 * Returns a⁻¹ mod m by the extended Euclidean algorithm; 0 for a ≡ 0, as the inversion on the GPU
 * does.
 */
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

/** Bits of a limb of products by floats: as many as a float has. */
export const FLOAT_LIMB_BITS = 24;

/**
 * Spare bits of elements between unsigned products: elements are below 2p, and sums of two below
 * 4p.
 */
const LAZY_BITS = 2;

/** Returns the number of limbs of `width` bits for numbers below 4p. */
export const lazyLimbs = ({ bits }: Pick<Modulus, 'bits'>, width: number): number =>
  Math.ceil((bits + LAZY_BITS) / width);

/** Bits of a digit by which a product reduces; R is a power of 2 to them. */
const digitBits: Readonly<Record<FieldProduct, number>> = {
  unsigned: UNSIGNED_LIMB_BITS,
  dot4: 32,
  fma: FLOAT_LIMB_BITS,
};

/**
 * Returns −p⁻¹ mod 2^width. A digit of that width times this factor is the multiple of p that
 * clears the digit.
 */
export const montgomeryFactor = (p: bigint, width: number): bigint => {
  const one = 1n << BigInt(width);
  return mod(-invert(p, one), one);
};

/** Degree of a field over F_p. */
export type Degree = 1 | 2;

/**
 * Derives the constants of a prime.
 *
 * @throws RangeError if `p` is even, or has fewer than 46 bits or more than 414
 */
export const modulus = (p: bigint, product: FieldProduct = 'unsigned'): Modulus => {
  if (p < 5n || p % 2n === 0n) throw new RangeError(`modulus must be an odd prime above 3, got ${p}`);
  const bits = p.toString(2).length;
  if (bits < 46)
    throw new RangeError(`a ${bits}-bit modulus is too small: the bound on divsteps holds from 46 bits on`);
  if (bits > 414) throw new RangeError(`a ${bits}-bit modulus is too large: 414 bits are the most`);
  const words = Math.ceil(bits / 128) * 4;
  const width = digitBits[product];
  const montgomeryBits = width * lazyLimbs({ bits }, width);
  const R = 1n << BigInt(montgomeryBits);
  return {
    p,
    product,
    montgomeryBits,
    bits,
    words,
    bytes: words * 4,
    r: R % p,
    r2: (R * R) % p,
    rInverse: invert(R, p),
  };
};

/**
 * Returns `count` signed digits of `width` bits in [−2^(width−1), 2^(width−1)), least significant
 * first; the last one takes the rest.
 */
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

/** Returns `count` digits of `width` bits, least significant first; drops the rest. */
export const digitsOf = (value: bigint, width: number, count: number): number[] => {
  const mask = (1n << BigInt(width)) - 1n;
  return Array.from({ length: count }, (_, i) => Number((value >> BigInt(i * width)) & mask));
};

/** Returns the number that limbs of `width` bits represent, balanced or not. */
export const joinLimbs = (limbs: readonly number[], width: number): bigint =>
  limbs.reduceRight((sum, limb) => (sum << BigInt(width)) + BigInt(limb), 0n);

/** Reads a number of `words` little-endian words at index `at`. */
export const readWords = (source: Uint32Array, at: number, words: number): bigint => {
  let value = 0n;
  for (let i = words - 1; i >= 0; i--) value = (value << 32n) | BigInt(source[at + i] as number);
  return value;
};

/** Writes a number as `words` little-endian words at index `at`. */
export const writeWords = (target: Uint32Array, at: number, words: number, value: bigint): void => {
  let rest = value;
  for (let i = 0; i < words; i++) {
    target[at + i] = Number(rest & 0xffffffffn);
    rest >>= 32n;
  }
};

/** Returns whether the number in words from `at` on is below the one in the words of `limit`. */
export const isBelow = (words: Uint32Array, at: number, limit: readonly number[]): boolean => {
  for (let i = limit.length - 1; i >= 0; i--) {
    const word = words[at + i] as number;
    const other = limit[i] as number;
    if (word !== other) return word < other;
  }
  return false;
};

/** Returns a·R mod p. */
export const toMontgomery = (m: Modulus, a: bigint): bigint => mod(a * m.r, m.p);
/** Returns a·R⁻¹ mod p. */
export const fromMontgomery = (m: Modulus, a: bigint): bigint => mod(a * m.rInverse, m.p);

/** Writes a number as `count` little-endian words of 64 bits at index `at`. */
export const writeNumber = (target: BigUint64Array, at: number, count: number, value: bigint): void => {
  let rest = value;
  for (let i = 0; i < count; i++) {
    // the array takes numbers modulo 2^64
    target[at + i] = rest;
    rest >>= 64n;
  }
};

/** Returns the bytes of a number below p in the public format: whole words of 32 bits. */
export const wordBytesOf = (p: bigint): number => 4 * Math.ceil(p.toString(2).length / 32);
