/** Elements of a prime field as floats: signed limbs of at most 51 bits in f64. */
import { balancedDigits, type Degree, invert, mod } from '../../field/modulus.js';
import { range } from '../../field/straight-line.js';
import type { FieldFormat } from '../arithmetic/field-programs.js';

/**
 * Bits of a limb at most. Rounding to a multiple of 2^51 by adding 3·2^102 takes all 53 bits of the
 * sum.
 */
const MAX_LIMB_BITS = 51;

/** Least quotient of R and p. Products of reduced operands then stay within 1.3·p. */
const LEAST_ROOM = 1.99;

/** Most bits of a prime. */
const MAX_BITS = 414;

/** A prime field whose elements are limbs in floats. */
export interface FloatField extends FieldFormat {
  readonly kind: 'floats';
  readonly degree: Degree;
}

/** Returns the format of the elements of a field; null if p is too long or too short. */
export const floatField = (p: bigint, degree: Degree): FloatField | null => {
  const bits = p.toString(2).length;
  if (bits < 46 || bits > MAX_BITS) return null;
  for (let limbs = Math.ceil(bits / MAX_LIMB_BITS); ; limbs++) {
    const width = Math.min(MAX_LIMB_BITS, Math.ceil((bits + 1) / limbs));
    const R = 1n << BigInt(width * limbs);
    if (Number(R / (p >> 20n)) / 2 ** 20 < LEAST_ROOM) continue;
    return { kind: 'floats', p, degree, width, limbs, r: R % p, rInverse: invert(R, p), bytes: 8 * limbs };
  }
};

/** Returns the residue of `value` modulo `modulus` that is nearest to 0. */
export const centred = (value: bigint, modulus: bigint): bigint => {
  const residue = mod(value, modulus);
  return 2n * residue > modulus ? residue - modulus : residue;
};

/** Returns the bits of a double. */
export const bitsOf = (value: number): bigint => {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  return view.getBigUint64(0);
};

/* Memory of a kernel on floats: constants, temporaries, and the lists of one call of `add`. */

/** Bytes that divide the addresses of vectors. */
const ALIGNMENT = 16;

/** Splits 64 bits into words of 32, the lower first. */
const wordsOfBits = (bits: bigint): [number, number] => [
  Number(BigInt.asIntN(32, bits)),
  Number(BigInt.asIntN(32, bits >> 32n)),
];

/** Returns the words of an element. @param value a number that is it modulo p */
export const floatWords = ({ p, width, limbs }: FloatField, value: bigint): number[] =>
  balancedDigits(centred(value, p), width, limbs).flatMap((limb) => wordsOfBits(bitsOf(limb)));

export class FloatMemory {
  /** Words of 32 bits by address, to be written before anything is computed. */
  readonly constants = new Map<number, readonly number[]>();
  /** Bytes of a coordinate. */
  readonly coordinate: number;
  readonly #field: FloatField;
  readonly #vectors = new Map<bigint, number>();
  #next = ALIGNMENT;

  constructor(field: FloatField) {
    this.#field = field;
    this.coordinate = field.degree * field.bytes;
  }

  take(bytes: number): number {
    const at = this.#next;
    this.#next += ALIGNMENT * Math.ceil(bytes / ALIGNMENT);
    return at;
  }

  get end(): number {
    return this.#next;
  }

  /** Reserves a coordinate for each lane. */
  takeLanes(): [number, number] {
    return [this.take(this.coordinate), this.take(this.coordinate)];
  }

  /** Reserves a coordinate of two lanes side by side. */
  takeWide(count = 1): number {
    return this.take(2 * this.coordinate * count);
  }

  /** Returns the address of a vector with the same bits in both lanes. */
  vector(bits: bigint): number {
    const known = this.#vectors.get(bits);
    if (known !== undefined) return known;
    const at = this.take(16);
    this.#vectors.set(bits, at);
    this.constants.set(at, [...wordsOfBits(bits), ...wordsOfBits(bits)]);
    return at;
  }

  /** Returns the address of a coordinate in Montgomery form. */
  element(coefficients: readonly bigint[]): number {
    const at = this.take(this.coordinate);
    const field = this.#field;
    const words = range(field.degree).flatMap((c) => floatWords(field, (coefficients[c] ?? 0n) * field.r));
    this.constants.set(at, words);
    return at;
  }
}
