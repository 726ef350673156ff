/**
 * The circuit in a `.zkey` of PLONK or FFLONK: the beginning of the header (section 2), additions
 * (3), the wires of each constraint (4 to 6), and polynomials. Numbers are in Montgomery form,
 * little-endian. Behind the n coefficients of each polynomial are its values at the 4n-th roots of
 * unity, which are not read.
 */
import type { FieldEngine, FieldVector } from '../../api/fields.js';
import type { AffinePoint, Fp2 } from '../../api/values.js';
import { assertNotAborted, badArgument } from '../../errors.js';
import { invert } from '../../field/modulus.js';
import { Fields, sectionOf } from '../../formats/binfile.js';
import { ORDER_BYTES, readCurve } from '../../formats/snarkjs.js';
import { readRange } from '../../formats/source.js';
import { fileOf, type KeyFile, type PlonkZkey } from '../../formats/zkey.js';
import { TimeSlice } from '../../scheduling/time-slice.js';
import { inSection } from '../in-section.js';
import { ADDITION_BYTES, type Additions, readAdditions } from './additions.js';
import { encodeCommitment } from './commitment.js';

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
  /** Coefficients, in the encoding `le-montgomery`. */
  readonly coefficients: Readonly<Record<CircuitPolynomial, Uint8Array>>;
}

/** The header of a key, read up to k1 and k2. */
export interface CircuitHeader {
  /** Order of the group. */
  readonly order: bigint;
  readonly additions: number;
  readonly constraints: number;
  readonly k1: bigint;
  readonly k2: bigint;
  /** Skips scalars. */
  skip(count: number): void;
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
    skip: (count) => header.skip(count * ORDER_BYTES),
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
export interface PolynomialPlace {
  readonly section: number;
  readonly name: string;
  /** Polynomials in the section; default 1. */
  readonly count?: number;
  /** Its index among them; default 0. */
  readonly index?: number;
}

/** Places of all polynomials, in the order of a proof system. */
export type PolynomialPlaces = Readonly<Record<CircuitPolynomial, PolynomialPlace>>;

/** Reads the coefficients of all polynomials. @throws MsmError `bad-argument` naming the section */
export const readPolynomials = async (
  zkey: PlonkZkey,
  places: PolynomialPlaces,
): Promise<PlonkishCircuit['coefficients']> => {
  const { domainSize: n } = zkey;
  const key = fileOf(zkey);
  const bytes = 5 * n * ORDER_BYTES;
  const read = {} as Record<CircuitPolynomial, Uint8Array>;
  for (const [polynomial, { section, name, count = 1, index = 0 }] of Object.entries(places)) {
    const at = extentOf(key, section, name, count * bytes) + index * bytes;
    read[polynomial as CircuitPolynomial] = await readRange(key.file, at, at + n * ORDER_BYTES);
  }
  return read;
};

/** Loads the coefficients of all polynomials. @throws MsmError as `load`, naming the section */
export const loadPolynomials = async (
  fr: FieldEngine,
  coefficients: PlonkishCircuit['coefficients'],
  places: PolynomialPlaces,
  signal: AbortSignal | undefined,
): Promise<Record<CircuitPolynomial, FieldVector>> => {
  const loaded = {} as Record<CircuitPolynomial, FieldVector>;
  for (const [polynomial, { section, name }] of Object.entries(places)) {
    const bytes = coefficients[polynomial as CircuitPolynomial];
    loaded[polynomial as CircuitPolynomial] = await inSection(`${section} (${name})`, () =>
      fr.load(bytes, { encoding: 'le-montgomery', signal }),
    );
  }
  return loaded;
};
