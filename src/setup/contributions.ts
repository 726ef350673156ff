/**
 * The contributions to a key, in section 10 of a Groth16 `.zkey`: the hash of the circuit, u32 number
 * of contributions, and each as its points, the transcript before it, u32 kind, and u32 bytes of
 * parameters, each u8 type and u8 length: 1 a name; 2 the logarithm of a beacon's iterations, without
 * a length; 3 the bytes of a beacon. Source: snarkjs's files.
 */
import type { Affine } from '../curves/jacobian.js';
import { badArgument } from '../errors.js';
import { sectionOf } from '../formats/binfile.js';
import { joined, numbersOf, readRange } from '../formats/source.js';
import type { KeyFile } from '../formats/zkey.js';
import { Blake2b, HASH_BYTES } from './blake2b.js';
import { filePoint, type Groups, hashedPoint, readPoints } from './groups.js';

/** A public beacon: a value that nobody knew before. */
export interface Beacon {
  readonly bytes: Uint8Array;
  /** Logarithm of the number of times that it is hashed. */
  readonly iterations: number;
}

/** The author of a contribution. */
export interface Author {
  readonly name: string | null;
  readonly beacon: Beacon | null;
}

/** The points of a contribution, which prove that whoever made it knows its secret k. */
export interface ContributionPoints {
  /** δ·G1 after the contribution. */
  readonly delta: Affine;
  /** A random point S of G1. */
  readonly s: Affine;
  /** k·S. */
  readonly sx: Affine;
  /** k·T in G2, with the point T that the transcript hashes to. */
  readonly tx: Affine;
}

/** A contribution. */
export interface Contribution extends ContributionPoints, Author {
  /** Hash of the contributions before, and of S and k·S. */
  readonly transcript: Uint8Array;
}

/** Section 10. */
export interface Contributions {
  readonly circuitHash: Uint8Array;
  readonly all: readonly Contribution[];
  /** Bytes of all contributions. */
  readonly bytes: Uint8Array;
}

const BEACON = 1;

const parameter = { name: 1, iterations: 2, beacon: 3 } as const;

/** Logarithm of the most iterations of a beacon. */
export const MOST_ITERATIONS = 63;

/** Code units of a name that are kept. */
const NAME_LENGTH = 64;

/** Reads bytes one after the other. */
export class Reader {
  readonly #bytes: Uint8Array;
  readonly #what: string;
  at = 0;

  /** @param what the place of the bytes, for errors */
  constructor(bytes: Uint8Array, what: string) {
    this.#bytes = bytes;
    this.#what = what;
  }

  get left(): number {
    return this.#bytes.length - this.at;
  }

  take(bytes: number): Uint8Array {
    if (bytes > this.left) throw badArgument(`${this.#what} is cut off`);
    this.at += bytes;
    return this.#bytes.subarray(this.at - bytes, this.at);
  }

  u8(): number {
    return this.take(1)[0] as number;
  }

  u32(): number {
    return numbersOf(this.take(4)).getUint32(0, true);
  }
}

/** Reads section 10. @throws MsmError `bad-argument` naming the contribution */
export const readContributions = async ({ file, sections }: KeyFile, groups: Groups): Promise<Contributions> => {
  const { at, byteLength } = sectionOf(file, sections, 10, 'contributions');
  const reader = new Reader(await readRange(file, at, at + byteLength), 'zkey: section 10 (contributions)');
  const circuitHash = reader.take(HASH_BYTES);
  const count = reader.u32();
  const start = reader.at;
  const all: Contribution[] = [];
  for (let i = 0; i < count; i++) all.push(readContribution(reader, groups, `zkey: contribution ${i}`));
  if (reader.left > 0) throw badArgument(`zkey: section 10 (contributions) has ${reader.left} bytes too many`);
  reader.at = start;
  return { circuitHash, all, bytes: reader.take(reader.left) };
};

const readContribution = (reader: Reader, { g1, g2, scale }: Groups, what: string): Contribution => {
  const point = (curve: Groups['g1'], name: string): Affine =>
    readPoints(curve, scale, reader.take(curve.pointBytes), `${what}: ${name}`)[0] as Affine;
  const points = { delta: point(g1, 'delta'), s: point(g1, 's'), sx: point(g1, 'sx'), tx: point(g2, 'tx') };
  const transcript = reader.take(HASH_BYTES);
  return { ...points, transcript, ...readAuthor(reader, what) };
};

/** Reads the kind of a contribution, and its parameters. @throws MsmError `bad-argument` */
export const readAuthor = (reader: Reader, what: string): Author => {
  const kind = reader.u32();
  if (kind > BEACON) throw badArgument(`${what}: kind ${kind} is unknown; there are 0 (random) and 1 (beacon)`);
  const parameters = new Reader(reader.take(reader.u32()), what);
  let [name, iterations, bytes] = [null as string | null, null as number | null, null as Uint8Array | null];
  for (let last = 0; parameters.left > 0; ) {
    const type = parameters.u8();
    if (type <= last) throw badArgument(`${what}: its parameters are not in order`);
    last = type;
    if (type === parameter.name) name = new TextDecoder().decode(parameters.take(parameters.u8()));
    else if (type === parameter.iterations) iterations = parameters.u8();
    else if (type === parameter.beacon) bytes = parameters.take(parameters.u8());
    else throw badArgument(`${what}: parameter ${type} is unknown; there are 1 to 3`);
  }
  if (kind !== BEACON) return { name, beacon: null };
  if (iterations === null || bytes === null) throw badArgument(`${what}: a beacon lacks its bytes or its iterations`);
  if (iterations > MOST_ITERATIONS) {
    throw badArgument(`${what}: the beacon is hashed 2^${iterations} times, and 2^${MOST_ITERATIONS} is the most`);
  }
  return { name, beacon: { bytes, iterations } };
};

/** Returns the bytes of a contribution. */
export const writeContribution = ({ g1, g2, scale }: Groups, own: Contribution): Uint8Array => {
  const { delta, s, sx, tx, transcript } = own;
  return joined([
    ...[delta, s, sx].map((point) => filePoint(g1, scale, point)),
    filePoint(g2, scale, tx),
    transcript,
    writeAuthor(own),
  ]);
};

/** Returns the kind of a contribution, and its parameters. */
export const writeAuthor = ({ name, beacon }: Author): Uint8Array => {
  const text = new TextEncoder().encode(name?.slice(0, NAME_LENGTH) ?? '');
  const parameters = [
    ...(text.length === 0 ? [] : [parameter.name, text.length, ...text]),
    ...(beacon === null
      ? []
      : [parameter.iterations, beacon.iterations, parameter.beacon, beacon.bytes.length, ...beacon.bytes]),
  ];
  return joined([u32(beacon === null ? 0 : BEACON), u32(parameters.length), Uint8Array.from(parameters)]);
};

/** Returns section 10. */
export const writeContributions = (circuitHash: Uint8Array, count: number, contributions: Uint8Array): Uint8Array =>
  joined([circuitHash, u32(count), contributions]);

/** Adds a contribution to a transcript. */
export const hashContribution = (hash: Blake2b, { g1, g2 }: Groups, own: Contribution): void => {
  for (const point of [own.delta, own.s, own.sx]) hash.update(hashedPoint(g1, point));
  hash.update(hashedPoint(g2, own.tx)).update(own.transcript);
};

/** Returns the hash by which a contribution is published. */
export const contributionHash = async (groups: Groups, own: Contribution): Promise<Uint8Array<ArrayBuffer>> => {
  const hash = await Blake2b.begin();
  hashContribution(hash, groups, own);
  return hash.digest();
};

/** Begins the transcript of a key. */
export const beginTranscript = async (circuitHash: Uint8Array): Promise<Blake2b> =>
  (await Blake2b.begin()).update(circuitHash);

/** Returns the transcript of the next contribution: after those before, with its S and k·S. */
export const transcriptWith = (before: Blake2b, { g1 }: Groups, s: Affine, sx: Affine): Uint8Array<ArrayBuffer> =>
  before.clone().update(hashedPoint(g1, s)).update(hashedPoint(g1, sx)).digest();

/** Returns a number as 4 little-endian bytes. */
export const u32 = (value: number): Uint8Array => new Uint8Array(Uint32Array.of(value).buffer);

/** Returns a number as 4 big-endian bytes, as transcripts and challenges have it. */
export const bigEndian = (value: number): Uint8Array => u32(value).reverse();
