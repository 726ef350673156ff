/** Memory of a kernel on floats: constants, temporaries, and the lists of one call of `add`. */
import { mod } from '../../field/modulus.js';
import { range } from '../../field/straight-line.js';
import { bitsOf, centred, centredLimbs, type FloatField } from './float-field.js';

/** Additions of one call at most; they share an inversion. */
export const MAX_ADDITIONS = 512;

/** Bytes that divide the addresses of vectors. */
const ALIGNMENT = 16;

/** Splits 64 bits into words of 32, the lower first. */
export const wordsOfBits = (bits: bigint): [number, number] => [
  Number(BigInt.asIntN(32, bits)),
  Number(BigInt.asIntN(32, bits >> 32n)),
];

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
    const { r, p, degree } = this.#field;
    const limbs = range(degree).flatMap((c) =>
      centredLimbs(this.#field, centred(mod((coefficients[c] ?? 0n) * r, p), p)),
    );
    this.constants.set(
      at,
      limbs.flatMap((limb) => wordsOfBits(bitsOf(Number(limb)))),
    );
    return at;
  }
}
