/**
 * Multiples of many points side by side: doublings and additions of all points are lists that share
 * inversions (Montgomery 1987, section 10.3.1). A multiplier is two or four parts (curves/halving.ts) of
 * signed digits: 0 or odd and below 8 in size (Solinas 2000, "width-w NAF"), with which a multiple takes
 * a half or a quarter as many doublings as its scalar has bits.
 */
import type { Steps } from '../../scheduling/time-slice.js';
import type { PointAdder, PointAt } from '../../wasm/points/point-adder.js';

/** Words of one part of a multiplier. */
const PART_WORDS = 5;

/** Multipliers as threads take them. */
export interface Multipliers {
  /** Of each its signs, a bit for each part, and then its parts. */
  readonly words: Uint32Array<ArrayBuffer>;
  /** Parts of each. */
  readonly parts: number;
}

const wordsOf = (parts: number): number => 1 + parts * PART_WORDS;

/** Returns room for multipliers, each 0. @param parts number of parts of each */
export const roomForMultipliers = (count: number, parts: number): Multipliers => ({
  words: new Uint32Array(count * wordsOf(parts)),
  parts,
});

/** Writes a multiplier. @param split its parts */
export const writeMultiplier = ({ words, parts }: Multipliers, index: number, split: readonly bigint[]): void => {
  const at = index * wordsOf(parts);
  const view = new DataView(words.buffer);
  for (const [k, part] of split.entries()) {
    if (part < 0n) words[at] = (words[at] as number) | (1 << k);
    const size = part < 0n ? -part : part;
    const first = at + 1 + k * PART_WORDS;
    const top = size >> 128n;
    if (top >> 32n > 0n) throw new RangeError('a part of a multiplier is too long');
    view.setBigUint64(4 * first, size, true);
    view.setBigUint64(4 * first + 8, size >> 64n, true);
    words[first + 4] = Number(top);
  }
};

/** Digits of one part, from the lowest. */
export type Digits = Int8Array;

/** A multiplier as digits. */
export interface Multiplier {
  /** 1 or −1 where the multiplier is that number, else 0. */
  readonly unit: number;
  readonly parts: readonly Digits[];
  /** Whether some digit is neither 0 nor ±1, so that it needs a table. */
  readonly hasTable: boolean;
}

/** Bits of a digit, with its sign. */
const WIDTH = 4;

/** Points of a table: P, 3P, 5P and 7P. */
export const TABLE = 2 ** (WIDTH - 2);

/** Parts of up to so many bits have digits 0 and ±1: a table takes longer than it saves. */
const SHORT_BITS = 24;

/** Bits that are looked at together. */
const LOOK = 16;

/** Writes signed digits of a part: calls `put` with the place and the digit of each that is not 0. */
const recode = (
  words: Uint32Array,
  at: number,
  bits: number,
  width: number,
  put: (place: number, digit: number) => void,
): void => {
  const wordAt = (i: number): number => (i < PART_WORDS ? (words[at + i] as number) : 0);
  const mask = (1 << width) - 1;
  let carry = 0;
  for (let i = 0; i <= bits; ) {
    const [word, shift] = [i >>> 5, i & 31];
    const above = shift > LOOK ? wordAt(word + 1) << (32 - shift) : 0;
    const low = (((wordAt(word) >>> shift) | above) & 0xffff) + carry;
    // a carry goes on through bits that it turns to 0
    const zeros = (low & 0xffff) === 0 ? LOOK : 31 - Math.clz32(low & -low);
    if (zeros > 0) {
      i += zeros;
      continue;
    }
    const digit = low & mask;
    carry = digit >> (width - 1);
    put(i, digit - (carry << width));
    i += width;
  }
};

/** Returns the number of bits of a part. */
const bitsOf = (words: Uint32Array, at: number): number => {
  for (let i = PART_WORDS - 1; i >= 0; i--) {
    const word = words[at + i] as number;
    if (word !== 0) return 32 * i + 32 - Math.clz32(word);
  }
  return 0;
};

/** Returns the index of the first word of a part. */
const partAt = (parts: number, index: number, part: number): number => index * wordsOf(parts) + 1 + part * PART_WORDS;

const signOf = ({ words, parts }: Multipliers, index: number, part: number): 1 | -1 =>
  (words[index * wordsOf(parts)] as number) & (1 << part) ? -1 : 1;

/** Returns whether a part of a multiplier is so long that a table is worth it. */
export const hasLongPart = ({ words, parts }: Multipliers, index: number): boolean => {
  for (let k = 0; k < parts; k++) if (bitsOf(words, partAt(parts, index, k)) > SHORT_BITS) return true;
  return false;
};

/** Returns 1 or −1 where a multiplier is that number, else 0. */
const unitOf = (multipliers: Multipliers, index: number): 1 | -1 | 0 => {
  const { words, parts } = multipliers;
  if (words[partAt(parts, index, 0)] !== 1 || bitsOf(words, partAt(parts, index, 0)) > 1) return 0;
  for (let k = 1; k < parts; k++) if (bitsOf(words, partAt(parts, index, k)) > 0) return 0;
  return signOf(multipliers, index, 0);
};

/** Returns a multiplier as digits. */
export const multiplierAt = (multipliers: Multipliers, index: number): Multiplier => {
  const { words, parts } = multipliers;
  const hasTable = hasLongPart(multipliers, index);
  const digits = Array.from({ length: parts }, (_, k) => {
    const at = partAt(parts, index, k);
    const bits = bitsOf(words, at);
    const sign = signOf(multipliers, index, k);
    const own = new Int8Array(bits + 1);
    recode(words, at, bits, hasTable ? WIDTH : 2, (place, digit) => {
      own[place] = sign * digit;
    });
    return own;
  });
  return { unit: unitOf(multipliers, index), parts: digits, hasTable };
};

/** Returns the place of an odd digit's point behind the first of a table. */
export const placeOf = (digit: number, pointBytes: number): number =>
  ((Math.abs(digit) - 1) / 2) * pointBytes + (digit < 0 ? 1 : 0);

/** Multiplies points in the memory of an adder. */
export class PointMultiples {
  readonly #adder: PointAdder;
  readonly #factors: PointAt;
  /** What tells the digits of multipliers. */
  #additions: Additions | null = null;

  /** @param factors address of the factors of the endomorphism, as `PointAdder.images` takes them */
  constructor(adder: PointAdder, factors: PointAt) {
    this.#adder = adder;
    this.#factors = factors;
  }

  /**
   * Multiplies consecutive points by one number: they all take the same doublings and additions.
   *
   * @returns the address of the first product; of the first point if the number is 1
   */
  *byOne({ unit, parts, hasTable }: Multiplier, points: PointAt, count: number): Steps<PointAt> {
    if (unit === 1) return points;
    const adder = this.#adder;
    const { pointBytes } = adder;
    const size = hasTable ? TABLE : 1;
    const consecutive = (first: PointAt, step: number): Uint32Array =>
      Uint32Array.from({ length: count }, (_, i) => first + i * step);
    const table = hasTable ? yield* this.table(consecutive(points, pointBytes)) : points;
    const tables = this.images(table, count * size, parts.length);
    const first = adder.take(count);
    adder.clear(first, count);
    const sums = consecutive(first, pointBytes);
    const rows = consecutive(0, size * pointBytes);
    yield;
    let isBegun = false;
    for (let place = Math.max(...parts.map(({ length }) => length)) - 1; place >= 0; place--) {
      if (isBegun) adder.addEach([sums, sums, sums], 0, count);
      for (const [k, at] of tables.entries()) {
        const digit = (parts[k] as Digits)[place] ?? 0;
        if (digit === 0) continue;
        adder.addEach([sums, sums, rows], 0, count, at + placeOf(digit, pointBytes));
        isBegun = true;
      }
      yield;
    }
    return first;
  }

  /**
   * Multiplies consecutive points by a number each: all points are doubled together, and at each place those
   * that have a digit there are added to. Points with the number 1 are copied.
   *
   * @param which index of each point's multiplier
   * @returns the address of the first product
   */
  *byEach(multipliers: Multipliers, which: Uint32Array, points: PointAt): Steps<PointAt> {
    const adder = this.#adder;
    const { pointBytes } = adder;
    const products = adder.take(which.length);
    adder.copy(products, points, which.length);
    const lanes = Array.from(which.keys()).filter((i) => unitOf(multipliers, which[i] as number) !== 1);
    if (lanes.length === 0) return products;
    const sums = Uint32Array.from(lanes, (i) => products + i * pointBytes);
    const own = Uint32Array.from(lanes, (i) => which[i] as number);
    const tables = this.images(yield* this.table(sums), lanes.length * TABLE, multipliers.parts);
    this.#additions = additionsOf(multipliers, own, { sums, tables, pointBytes });
    const { places, ends, to, from } = this.#additions;
    for (const at of sums) adder.clear(at, 1);
    yield;
    for (let place = places - 1; place >= 0; place--) {
      if (place < places - 1) adder.addEach([sums, sums, sums], 0, sums.length);
      for (let k = 0; k < tables.length; k++) {
        const row = place * tables.length + k;
        adder.addEach([to, to, from], row === 0 ? 0 : (ends[row - 1] as number), ends[row] as number);
      }
      yield;
    }
    this.wipe();
    return products;
  }

  /** Overwrites what tells the digits of multipliers, which may be secret. */
  wipe(): void {
    const { ends, to, from } = this.#additions ?? {};
    for (const words of [ends, to, from]) words?.fill(0);
    this.#additions = null;
  }

  /** Returns the addresses of consecutive points, of their images, of the images of these, and so on. */
  images(points: PointAt, count: number, parts: number): PointAt[] {
    const all = [points];
    while (all.length < parts) all.push(this.#adder.images(all.at(-1) as PointAt, count, this.#factors));
    return all;
  }

  /** Returns the address of P, 3P, 5P and 7P of each point. */
  *table(points: ArrayLike<PointAt>): Steps<PointAt> {
    const adder = this.#adder;
    const { pointBytes } = adder;
    const tables = adder.take(points.length * TABLE);
    const twos = adder.take(points.length);
    for (let i = 0; i < points.length; i++) {
      const at = points[i] as PointAt;
      adder.copy(tables + i * TABLE * pointBytes, at, 1);
      adder.add(twos + i * pointBytes, at, at);
    }
    adder.flush();
    for (let k = 1; k < TABLE; k++) {
      for (let i = 0; i < points.length; i++) {
        const to = tables + (i * TABLE + k) * pointBytes;
        adder.add(to, to - pointBytes, twos + i * pointBytes);
      }
      adder.flush();
      yield;
    }
    return tables;
  }
}

/** Additions to sums, for each place those of the first parts of multipliers, then of the second, and so on. */
interface Additions {
  readonly places: number;
  /** Index behind the last addition for each place and part. */
  readonly ends: Uint32Array;
  /** Addresses of the sums, and of what is added, odd for negatives. */
  readonly to: Uint32Array;
  readonly from: Uint32Array;
}

/** Returns the additions for digits of multipliers, sorted by place (counting sort). */
const additionsOf = (
  multipliers: Multipliers,
  which: Uint32Array,
  at: { readonly sums: Uint32Array; readonly tables: readonly PointAt[]; readonly pointBytes: number },
): Additions => {
  const { words, parts } = multipliers;
  let [places, most] = [1, 0];
  for (const index of which) {
    for (let k = 0; k < parts; k++) {
      const bits = bitsOf(words, partAt(parts, index, k));
      places = Math.max(places, bits + 1);
      // digits of at least two bits each
      most += (bits >> 1) + 1;
    }
  }
  const ends = new Uint32Array(places * parts + 1);
  const [rows, lanes, points] = [new Uint16Array(most), new Uint32Array(most), new Uint32Array(most)];
  let count = 0;
  let [lane, part, sign, table] = [0, 0, 1, 0];
  const put = (place: number, digit: number): void => {
    const row = place * parts + part;
    ends[row + 1] = (ends[row + 1] as number) + 1;
    rows[count] = row;
    lanes[count] = lane;
    points[count++] = table + placeOf(sign * digit, at.pointBytes);
  };
  for (; lane < which.length; lane++) {
    const index = which[lane] as number;
    const width = hasLongPart(multipliers, index) ? WIDTH : 2;
    for (part = 0; part < parts; part++) {
      const first = partAt(parts, index, part);
      sign = signOf(multipliers, index, part);
      table = (at.tables[part] as PointAt) + lane * TABLE * at.pointBytes;
      recode(words, first, bitsOf(words, first), width, put);
    }
  }
  for (let row = 1; row < ends.length; row++) ends[row] = (ends[row] as number) + (ends[row - 1] as number);
  const [to, from] = [new Uint32Array(count), new Uint32Array(count)];
  for (let i = 0; i < count; i++) {
    const row = rows[i] as number;
    const next = ends[row] as number;
    ends[row] = next + 1;
    to[next] = at.sums[lanes[i] as number] as number;
    from[next] = points[i] as number;
  }
  for (const words of [rows, lanes, points]) words.fill(0);
  return { places, ends, to, from };
};
