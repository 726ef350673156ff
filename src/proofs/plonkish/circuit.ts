/**
 * The circuit in a `.zkey` of PLONK or FFLONK: the beginning of the header (section 2), additions
 * (3), the wires of each constraint (4 to 6), and polynomials. Numbers are in Montgomery form,
 * little-endian. Behind the n coefficients of each polynomial are its values at the 4n-th roots of
 * unity, which are not read.
 */
import type { FieldEngine, FieldVector } from '../../api/fields.js';
import type { AffinePoint, Fp2 } from '../../api/values.js';
import { assertNotAborted, badArgument, untilAborted } from '../../errors.js';
import { invert, writeNumber } from '../../field/modulus.js';
import { Fields, ORDER_BYTES, readCurve, sectionOf } from '../../formats/binfile.js';
import { numbersOf, readRange } from '../../formats/source.js';
import { fileOf, type KeyFile, type PlonkZkey } from '../../formats/zkey.js';
import { TimeSlice } from '../../scheduling/time-slice.js';
import { inSection } from '../few-points.js';
import { SCALAR_BYTES } from '../witness.js';
import { encodeCommitment } from './transcript.js';

/** Names of the polynomials of a circuit. */
export type CircuitPolynomial = 'qm' | 'ql' | 'qr' | 'qo' | 'qc' | 's1' | 's2' | 's3';

/** Parts of a circuit that both proof systems have. */
export interface PlonkishCircuit {
  readonly k1: bigint;
  readonly k2: bigint;
  /** τ·G2. */
  readonly tau2: AffinePoint<Fp2>;
  readonly additions: Additions;
  /** Variable of each constraint, for the wires a, b and c. */
  readonly wires: readonly [Uint32Array, Uint32Array, Uint32Array];
}

/** Returns the coefficients of a polynomial, in the encoding `le-montgomery`. */
export type ReadPolynomial = (name: CircuitPolynomial) => Promise<Uint8Array>;

/** The header of a key, read up to k1 and k2. */
interface CircuitHeader {
  /** Order of the group. */
  readonly order: bigint;
  readonly additions: number;
  readonly constraints: number;
  readonly k1: bigint;
  readonly k2: bigint;
  /** Reads a scalar. */
  scalar(): bigint;
  /** Reads a point of G1 as x‖y, big-endian; infinity is zeros. */
  commitment(): Uint8Array;
  /** Reads a point of G2. */
  point2(): AffinePoint<Fp2>;
}

/** Opens the header of a key. @throws MsmError `bad-argument` */
export const openHeader = async (zkey: PlonkZkey): Promise<CircuitHeader> => {
  const { file, sections } = fileOf(zkey);
  const header = await Fields.read(file, sectionOf(file, sections, 2, 'header'), 'section 2 (header)');
  const { order, prime, primeBytes } = readCurve(file, header);
  header.skip(4 + ORDER_BYTES + 12);
  const [additions, constraints] = [header.u32(), header.u32()];
  const [ofScalars, ofCoordinates] = [
    invert(1n << BigInt(8 * ORDER_BYTES), order),
    invert(1n << BigInt(8 * primeBytes), prime),
  ];
  const scalar = (): bigint => (header.number(ORDER_BYTES) * ofScalars) % order;
  const coordinate = (): bigint => (header.number(primeBytes) * ofCoordinates) % prime;
  const pair = (): Fp2 => ({ c0: coordinate(), c1: coordinate() });
  return {
    ...{ order, additions, constraints, k1: scalar(), k2: scalar() },
    scalar,
    commitment: () => encodeCommitment({ x: coordinate(), y: coordinate(), infinity: false }, primeBytes),
    point2: () => ({ x: pair(), y: pair(), infinity: false }),
  };
};

/** Returns the position of a section. @throws MsmError `bad-argument` for another size */
const extentOf = ({ file, sections }: KeyFile, id: number, name: string, bytes: number): number => {
  const { at, byteLength } = sectionOf(file, sections, id, name);
  if (byteLength === bytes) return at;
  throw badArgument(`${file.what}: section ${id} (${name}) has ${byteLength} bytes instead of ${bytes}`);
};

/**
 * Reads additions and wires.
 *
 * @param blinded rows of the domain that have no constraint, since they blind the wires
 * @throws MsmError `bad-argument` naming the section; `aborted`
 */
export const readWiring = async (
  zkey: PlonkZkey,
  { order, additions: additionCount, constraints }: CircuitHeader,
  blinded: number,
  signal: AbortSignal | undefined,
): Promise<Pick<PlonkishCircuit, 'additions' | 'wires'>> => {
  const { domainSize: n, publicSignals, variables } = zkey;
  const key = fileOf(zkey);
  const { file } = key;
  const { what } = file;
  if (constraints > n - blinded) {
    throw badArgument(`${what}: the header says ${constraints} constraints in a domain of ${n}`);
  }
  if (publicSignals > constraints) {
    throw badArgument(`${what}: the header says ${publicSignals} public signals in ${constraints} constraints`);
  }
  const additionsAt = extentOf(key, 3, 'additions', additionCount * ADDITION_BYTES);
  const additionBytes = await readRange(file, additionsAt, additionsAt + additionCount * ADDITION_BYTES);
  const slice = new TimeSlice(() => assertNotAborted(signal));
  const additions = await readAdditions(additionBytes, order, slice);
  const wire = async (id: number, name: string): Promise<Uint32Array> => {
    const at = extentOf(key, id, name, 4 * constraints);
    return new Uint32Array((await readRange(file, at, at + 4 * constraints)).slice().buffer);
  };
  const wires = [await wire(4, 'A'), await wire(5, 'B'), await wire(6, 'C')] as const;
  for (const list of [...wires, additions.variables]) {
    const variable = list.find((each) => each >= variables);
    if (variable !== undefined) {
      throw badArgument(`${what}: variable ${variable} is used, and the header says ${variables} variables`);
    }
    if (slice.isOver) await slice.yield();
  }
  return { additions, wires: [...wires] };
};

/** Place of a polynomial in a key. */
interface PolynomialPlace {
  readonly section: number;
  readonly name: string;
  /** Polynomials in the section; default 1. */
  readonly count?: number;
  /** Its index among them; default 0. */
  readonly index?: number;
}

/** Places of all polynomials, in the order of a proof system. */
export type PolynomialPlaces = Readonly<Record<CircuitPolynomial, PolynomialPlace>>;

/**
 * Returns what reads the coefficients of polynomials.
 *
 * @param isReadAgain true to read all of them here, for later, when nobody may read the file any more
 * @throws MsmError `bad-argument` naming the section
 */
export const openPolynomials = async (
  zkey: PlonkZkey,
  places: PolynomialPlaces,
  isReadAgain: boolean,
): Promise<ReadPolynomial> => {
  const { domainSize: n } = zkey;
  const key = fileOf(zkey);
  const bytes = 5 * n * ORDER_BYTES;
  const read = {} as Record<CircuitPolynomial, () => Promise<Uint8Array>>;
  for (const [polynomial, { section, name, count = 1, index = 0 }] of Object.entries(places)) {
    const at = extentOf(key, section, name, count * bytes) + index * bytes;
    const readNow = () => readRange(key.file, at, at + n * ORDER_BYTES);
    const made = isReadAgain ? await readNow() : null;
    read[polynomial as CircuitPolynomial] = async () => made ?? (await readNow());
  }
  return (name) => read[name]();
};

/** Loads the coefficients of all polynomials. @throws MsmError as `load`, naming the section */
export const loadPolynomials = async (
  fr: FieldEngine,
  read: ReadPolynomial,
  places: PolynomialPlaces,
  signal: AbortSignal | undefined,
): Promise<Record<CircuitPolynomial, FieldVector>> => {
  const loaded = {} as Record<CircuitPolynomial, FieldVector>;
  for (const [polynomial, { section, name }] of Object.entries(places)) {
    const bytes = await untilAborted(read(polynomial as CircuitPolynomial), signal);
    loaded[polynomial as CircuitPolynomial] = await inSection(`${section} (${name})`, () =>
      fr.load(bytes, { encoding: 'le-montgomery', signal }),
    );
  }
  return loaded;
};

/* Additions: sums of two variables that the constraints use as variables of their own. */

interface Additions {
  /** Two variables for each. */
  readonly variables: Uint32Array;
  /** Two factors for each, canonical. */
  readonly factors: readonly bigint[];
}

/** Bytes of an addition: two variables and two factors. */
const ADDITION_BYTES = 8 + 2 * SCALAR_BYTES;

/** Additions that are read between two looks at the clock. */
const ADDITIONS_AT_ONCE = 2 ** 8;

/** Reads additions, whose factors are in Montgomery form. */
const readAdditions = async (bytes: Uint8Array, order: bigint, slice: TimeSlice): Promise<Additions> => {
  const numbers = numbersOf(bytes);
  const count = bytes.length / ADDITION_BYTES;
  const fromMontgomery = invert(1n << BigInt(8 * SCALAR_BYTES), order);
  const factor = (at: number): bigint => {
    const [w0, w1, w2, w3] = [0, 8, 16, 24].map((word) => numbers.getBigUint64(at + word, true)) as [
      ...[bigint, bigint, bigint, bigint],
    ];
    return ((w0 | (w1 << 64n) | (w2 << 128n) | (w3 << 192n)) * fromMontgomery) % order;
  };
  const variables = new Uint32Array(2 * count);
  const factors: bigint[] = [];
  for (let i = 0; i < count; i++) {
    const at = i * ADDITION_BYTES;
    variables.set([numbers.getUint32(at, true), numbers.getUint32(at + 4, true)], 2 * i);
    factors.push(factor(at + 8), factor(at + 8 + SCALAR_BYTES));
    if (i % ADDITIONS_AT_ONCE === 0 && slice.isOver) await slice.yield();
  }
  return { variables, factors };
};

/** Additions that are computed between two turns. */
const ADDITIONS_PER_TURN = 2 ** 13;

const read = (words: BigUint64Array, variable: number): bigint => {
  const word = (i: number): bigint => words[4 * variable + i] as bigint;
  return word(0) | (word(1) << 64n) | (word(2) << 128n) | (word(3) << 192n);
};

/**
 * Appends the additions to a witness. Variable 0 is set to 0: no constraint reads it.
 *
 * @param witness 32 little-endian bytes for each variable
 * @param spare bytes that the caller fills behind the variables
 * @returns an array of its own, which has secrets
 */
export const extendWitness = async (
  witness: Uint8Array,
  { variables, factors }: Additions,
  order: bigint,
  spare: number,
  turn: () => Promise<void>,
): Promise<Uint8Array<ArrayBuffer>> => {
  const given = witness.length / SCALAR_BYTES;
  const all = new Uint8Array(witness.length + (variables.length / 2) * SCALAR_BYTES + spare);
  all.set(witness);
  all.fill(0, 0, SCALAR_BYTES);
  const words = new BigUint64Array(all.buffer);
  for (let i = 0; 2 * i < variables.length; i++) {
    const [first, second] = [variables[2 * i] as number, variables[2 * i + 1] as number];
    const sum =
      ((factors[2 * i] as bigint) * read(words, first) + (factors[2 * i + 1] as bigint) * read(words, second)) % order;
    writeNumber(words, 4 * (given + i), 4, sum);
    if (i % ADDITIONS_PER_TURN === ADDITIONS_PER_TURN - 1) await turn();
  }
  return all;
};
