/** Writes the sections of a `.zkey` or a `.ptau` one after the other. */
import type { CurveContext } from '../curves/curve.js';
import type { Affine } from '../curves/jacobian.js';
import { badArgument } from '../errors.js';
import { writeNumber } from '../field/modulus.js';
import type { Output } from '../formats/sink.js';
import { joined, type OpenFile } from '../formats/source.js';
import type { KeyFile } from '../formats/zkey.js';
import { u32 } from './contributions.js';
import { filePoint, type Groups } from './groups.js';
import type { Run } from './run.js';

/** Numbers of the sections of a Groth16 key. */
export const section = {
  protocol: 1,
  header: 2,
  ic: 3,
  coefficients: 4,
  a: 5,
  b1: 6,
  b2: 7,
  c: 8,
  h: 9,
  contributions: 10,
} as const;

const GROTH16 = 1;

/** Facts of a circuit in the header of its key. */
export interface CircuitShape {
  readonly variables: number;
  readonly publicSignals: number;
  readonly domainSize: number;
}

/** Points in the header of a key. */
export interface HeaderPoints {
  readonly alpha1: Affine;
  readonly beta1: Affine;
  readonly beta2: Affine;
  readonly gamma2: Affine;
  readonly delta1: Affine;
  readonly delta2: Affine;
}

/** Writes a container of sections whose sizes are known. */
export class SectionWriter {
  readonly #output: Output;

  private constructor(output: Output) {
    this.#output = output;
  }

  static async begin(output: Output, letters: 'zkey' | 'ptau', sections: number): Promise<SectionWriter> {
    const writer = new SectionWriter(output);
    await output.write(Uint8Array.from(letters, (letter) => letter.charCodeAt(0)));
    await output.write(u32(1));
    await output.write(u32(sections));
    return writer;
  }

  /** Begins a section, whose bytes are to follow by `write`. */
  async section(id: number, byteLength: number): Promise<void> {
    await this.#output.write(u32(id));
    await this.#output.write(new Uint8Array(BigUint64Array.of(BigInt(byteLength)).buffer));
  }

  write(bytes: Uint8Array): Promise<void> {
    return this.#output.write(bytes);
  }

  /** Writes a whole section. */
  async whole(id: number, bytes: Uint8Array): Promise<void> {
    await this.section(id, bytes.length);
    await this.#output.write(bytes);
  }

  /** Writes the first two sections. */
  async header(groups: Groups, shape: CircuitShape, points: HeaderPoints): Promise<void> {
    await this.whole(section.protocol, u32(GROTH16));
    await this.whole(section.header, headerOf(groups, shape, points));
  }

  /**
   * Copies a section of another file.
   *
   * @param most bytes that are copied, from its beginning; by default all
   * @throws MsmError `bad-argument` if the section is missing, or shorter
   */
  async copy({ file, sections }: KeyFile, id: number, run: Run, most?: number): Promise<void> {
    const extent = sections.get(id);
    if (extent === undefined) throw badArgument(`${file.what}: section ${id} is missing`);
    const { at, byteLength: whole } = extent;
    const byteLength = most ?? whole;
    if (byteLength > whole) throw badArgument(`${file.what}: section ${id} has ${whole} bytes of ${byteLength}`);
    await this.section(id, byteLength);
    await copyBytes(this.#output, file, [at, at + byteLength], run);
  }
}

/** Bytes that are copied at a time: a page copies them once more, which takes a millisecond. */
export const COPIED_BYTES = 2 ** 22;

/** Copies bytes of another file, part by part. */
export const copyBytes = async (
  output: Output,
  file: Pick<OpenFile, 'read'>,
  [from, to]: readonly [number, number],
  run: Run,
): Promise<void> => {
  for (let at = from; at < to; at += COPIED_BYTES) {
    await output.write(await file.read(at, Math.min(to, at + COPIED_BYTES)));
    await run.pause();
  }
};

/** Returns a number as little-endian bytes. */
export const number = (value: bigint, bytes: number): Uint8Array => {
  const words = new BigUint64Array(bytes / 8);
  writeNumber(words, 0, words.length, value);
  return new Uint8Array(words.buffer);
};

/** Returns the beginning of a header, which all proof systems share. */
export const headerOfCircuit = (
  { g1, order }: Groups,
  { variables, publicSignals, domainSize }: CircuitShape,
): Uint8Array => {
  const { bytes } = g1.field;
  const primes = [u32(bytes), number(g1.p, bytes), u32(32), number(order, 32)];
  return joined([...primes, ...[variables, publicSignals, domainSize].map(u32)]);
};

const headerOf = (groups: Groups, shape: CircuitShape, points: HeaderPoints): Uint8Array => {
  const { g1, g2, scale } = groups;
  const point = (curve: CurveContext, P: Affine): Uint8Array => filePoint(curve, scale, P);
  const parts = [
    headerOfCircuit(groups, shape),
    point(g1, points.alpha1),
    point(g1, points.beta1),
    point(g2, points.beta2),
    point(g2, points.gamma2),
    point(g1, points.delta1),
    point(g2, points.delta2),
  ];
  return joined(parts);
};
