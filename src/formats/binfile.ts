/**
 * "binfile", iden3's container of `.zkey` and `.ptau` files: four letters, u32 version, u32 number
 * of sections, then the sections in any order. A section is u32 id, u64 size and that many bytes.
 * All numbers are little-endian. Source:
 * https://github.com/iden3/r1csfile/blob/master/doc/r1cs_bin_format.md and the files themselves.
 */

import type { CurvesOf, Group } from '../curves/more-curves.js';
import { badArgument, warnBy } from '../errors.js';
import { type OptionTable, readOptions } from '../option-table.js';
import {
  type FileSource,
  numbersOf,
  type OpenFile,
  openFile,
  type PointSection,
  pointSection,
  whyShort,
} from './source.js';

/** The position of a section's bytes in the file. */
interface Extent {
  readonly at: number;
  readonly byteLength: number;
}

/** The sections of a file, by their ids. */
export type Sections = ReadonlyMap<number, Extent>;

/** Bytes before the first section. */
export const HEADER_BYTES = 12;
/**
 * The most sections that are read. snarkjs writes 17 at most; a wrong number must not cause endless
 * reading.
 */
const MOST_SECTIONS = 64;
/** The most bytes of a section that is read as a header. snarkjs's largest has 1,132. */
const MOST_HEADER_BYTES = 4096;

/** Options of the readers of snarkjs's files. */
export interface SnarkjsFileOptions {
  /**
   * Called with a warning if bytes follow the last section. Such a file may be damaged; snarkjs
   * ignores the bytes, and so do the readers. Its errors are ignored.
   *
   * @defaultValue `console.warn`
   */
  readonly onWarning?: ((message: string) => void) | undefined;
  /** Ends all reads of the file, those of its points too, with code `aborted`. */
  readonly signal?: AbortSignal | undefined;
}

/** `openZkey` and `openPtau`. */
const snarkjsFileOptions = {
  of: 'openZkey and openPtau',
  rows: { onWarning: { kind: 'function' }, signal: { kind: 'signal' } },
} as const satisfies OptionTable<SnarkjsFileOptions>;

/** Opens a file with the options of its reader. @throws MsmError `bad-argument` */
export const openSnarkjsFile = (
  what: string,
  source: FileSource,
  options: SnarkjsFileOptions,
): { readonly file: OpenFile; warn(message: string): void } => {
  const { onWarning, signal } = readOptions(snarkjsFileOptions, options);
  return { file: openFile(what, source, signal), warn: (message) => warnBy(onWarning, message) };
};

/**
 * Reads the table of sections.
 *
 * @param magic the four letters
 * @param newest the highest known version
 * @param warn called if bytes follow the last section, as files that were overwritten by shorter
 *   ones have them
 * @param head bytes before the first section, if they have been read
 * @throws MsmError `bad-argument` if the file is not such a container, or is cut off
 */
export const readSections = async (
  file: OpenFile,
  magic: string,
  newest: number,
  warn: (message: string) => void,
  head?: Uint8Array,
): Promise<Sections> => {
  const { what, byteLength } = file;
  if (byteLength < HEADER_BYTES) {
    throw badArgument(`${what}: the header takes ${HEADER_BYTES} bytes, and the file has ${byteLength}`);
  }
  const header = head ?? (await file.read(0, HEADER_BYTES));
  if ([...magic].some((letter, i) => header[i] !== letter.charCodeAt(0))) {
    throw badArgument(`${what}: the file must begin with the letters ${magic}`);
  }
  const version = numbersOf(header).getUint32(4, true);
  if (version < 1 || version > newest) {
    throw badArgument(`${what}: version ${version} is unknown; 1 to ${newest} are known`);
  }
  const count = numbersOf(header).getUint32(8, true);
  if (count > MOST_SECTIONS) {
    throw badArgument(`${what}: the header says ${count} sections, and at most ${MOST_SECTIONS} are read`);
  }
  const sections = new Map<number, Extent>();
  let at = HEADER_BYTES;
  for (let i = 0; i < count; i++) {
    if (byteLength - at < HEADER_BYTES) {
      throw badArgument(`${what}: the file is cut off: it ends before section ${i + 1} of ${count} begins`);
    }
    const head = numbersOf(await file.read(at, at + HEADER_BYTES));
    at += HEADER_BYTES;
    const id = head.getUint32(0, true);
    const size = head.getBigUint64(4, true);
    if (size > BigInt(byteLength - at)) {
      const why = whyShort(file, BigInt(at) + size, i === count - 1);
      throw badArgument(`${what}: section ${id} says ${size} bytes, and ${byteLength - at} are left: ${why}`);
    }
    if (sections.has(id)) throw badArgument(`${what}: section ${id} occurs twice`);
    sections.set(id, { at, byteLength: Number(size) });
    at += Number(size);
  }
  if (at !== byteLength) warn(`${what}: ${byteLength - at} bytes follow the last section and are ignored`);
  return sections;
};

/** Returns the extent of a section. @throws MsmError `bad-argument` if the section is missing */
export const sectionOf = ({ what }: OpenFile, sections: Sections, id: number, name: string): Extent => {
  const extent = sections.get(id);
  if (extent === undefined) throw badArgument(`${what}: section ${id} (${name}) is missing`);
  return extent;
};

/** A reader of consecutive little-endian numbers. */
export class Fields {
  readonly #what: string;
  readonly #bytes: Uint8Array;
  /** Position of the first byte in the file. */
  readonly #start: number;
  #at = 0;

  private constructor(what: string, bytes: Uint8Array, start: number) {
    this.#what = what;
    this.#bytes = bytes;
    this.#start = start;
  }

  /** Opens a whole section. @throws MsmError `bad-argument` if it is too long for a header */
  static async read(file: OpenFile, { at, byteLength }: Extent, name: string): Promise<Fields> {
    const what = `${file.what}: ${name}`;
    if (byteLength > MOST_HEADER_BYTES) {
      throw badArgument(`${what} has ${byteLength} bytes, and at most ${MOST_HEADER_BYTES} are read`);
    }
    return new Fields(what, await file.read(at, at + byteLength), at);
  }

  /** Reads a number of 4 bytes. @throws MsmError `bad-argument` at the end of the section */
  u32(): number {
    return Number(this.number(4));
  }

  /** Reads a number of `bytes` bytes. @throws MsmError `bad-argument` at the end of the section */
  number(bytes: number): bigint {
    const from = this.skip(bytes) - this.#start;
    return this.#bytes.subarray(from, from + bytes).reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n);
  }

  /**
   * Skips bytes, and returns their position in the file.
   *
   * @throws MsmError `bad-argument` at the end of the section
   */
  skip(bytes: number): number {
    if (bytes > this.#bytes.length - this.#at) {
      throw badArgument(`${this.#what} is cut off: it has ${this.#bytes.length} bytes`);
    }
    const at = this.#start + this.#at;
    this.#at += bytes;
    return at;
  }

  /** Checks that the section ends here. @throws MsmError `bad-argument` if bytes are left */
  end(): void {
    const left = this.#bytes.length - this.#at;
    if (left > 0) throw badArgument(`${this.#what} has ${left} bytes too many`);
  }
}

/*
 * Common parts of snarkjs's files: points in the encoding `le-montgomery`, and a header with the
 * prime of the coordinates, which identifies the curve.
 */

/** A curve of snarkjs. */
export interface SnarkjsCurve {
  readonly name: keyof CurvesOf<'snarkjs'>;
  /** Prime of the base field. */
  readonly prime: bigint;
  /** Bytes of a coordinate in G1. */
  readonly primeBytes: number;
  /** Group order, in 32 bytes. */
  readonly order: bigint;
}

export const ORDER_BYTES = 32;

/**
 * Constants of src/curves/, copied because an import would load the module of all curves. The tests
 * compare them.
 */
const bn254: SnarkjsCurve = {
  name: 'bn254',
  prime: 0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47n,
  primeBytes: 32,
  order: 0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001n,
};

const bls12381: SnarkjsCurve = {
  name: 'bls12-381',
  prime: 0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaabn,
  primeBytes: 48,
  order: 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001n,
};

/** Returns the group order of a curve. */
export const orderOf = (curve: SnarkjsCurve['name']): bigint => (curve === 'bn254' ? bn254 : bls12381).order;

/**
 * Reads the prime of a header: u32 length, and that many bytes.
 *
 * @throws MsmError `bad-argument` if it is the prime of another curve
 */
export const readCurve = ({ what }: OpenFile, header: Fields): SnarkjsCurve => {
  const bytes = header.u32();
  const curve = bytes === 32 ? bn254 : bls12381;
  if (bytes !== curve.primeBytes || header.number(bytes) !== curve.prime) {
    throw badArgument(`${what}: the header has a prime of ${bytes} bytes that is not that of bn254 or bls12-381`);
  }
  return curve;
};

const pointBytesOf = ({ primeBytes }: SnarkjsCurve, group: Group): number => (group === 'g1' ? 2 : 4) * primeBytes;

/** The points of a section. */
interface PointsOf {
  readonly name: string;
  readonly group: Group;
  readonly count: number;
}

const montgomerySection = (
  file: OpenFile,
  curve: SnarkjsCurve,
  points: PointsOf,
  at: number,
): PointSection<'le-montgomery'> =>
  pointSection(file, {
    ...points,
    curve: curve.name,
    encoding: 'le-montgomery',
    pointBytes: pointBytesOf(curve, points.group),
    at,
  });

/**
 * Opens a section of points.
 *
 * @throws MsmError `bad-argument` if its size does not fit the number of points
 */
export const pointsIn = (
  file: OpenFile,
  curve: SnarkjsCurve,
  sections: Sections,
  id: number,
  points: PointsOf,
): PointSection<'le-montgomery'> => {
  const { at, byteLength }: Extent = sectionOf(file, sections, id, points.name);
  const pointBytes = pointBytesOf(curve, points.group);
  if (byteLength !== points.count * pointBytes) {
    throw badArgument(
      `${file.what}: section ${id} (${points.name}) has ${byteLength} bytes, but the header says ${points.count} points of ${pointBytes}`,
    );
  }
  return montgomerySection(file, curve, points, at);
};

/**
 * Opens the next field of a header, which is a point.
 *
 * @throws MsmError `bad-argument` at the end of the header
 */
export const pointInHeader = (
  file: OpenFile,
  curve: SnarkjsCurve,
  header: Fields,
  name: string,
  group: Group,
): PointSection<'le-montgomery'> =>
  montgomerySection(file, curve, { name, group, count: 1 }, header.skip(pointBytesOf(curve, group)));
