/**
 * The circuit in a PLONK `.zkey`: constants and commitments of the header (section 2), additions
 * (3), the wires of each constraint (4 to 6), and the coefficients of selectors (7 to 11) and
 * permutations (12). Numbers are in Montgomery form, little-endian. Behind the n coefficients of
 * each polynomial are its values at the 4n-th roots of unity, which are not read.
 */
import type { AffinePoint, Fp2 } from '../api/values.js';
import { assertNotAborted, badArgument } from '../errors.js';
import { invert } from '../field/modulus.js';
import { Fields, sectionOf } from '../formats/binfile.js';
import { ORDER_BYTES, readCurve, type SnarkjsCurve } from '../formats/snarkjs.js';
import { numbersOf, type OpenFile, readRange } from '../formats/source.js';
import { fileOf, type PlonkZkey } from '../formats/zkey.js';
import { TimeSlice } from '../scheduling/time-slice.js';
import { encodeCommitment } from './commitment.js';

/** Names of the polynomials of a circuit, in the order of their commitments. */
export const circuitPolynomials = ['qm', 'ql', 'qr', 'qo', 'qc', 's1', 's2', 's3'] as const;
export type CircuitPolynomial = (typeof circuitPolynomials)[number];

/** Sums of two variables that the constraints use as variables of their own. */
export interface Additions {
  /** Two variables for each. */
  readonly variables: Uint32Array;
  /** Two factors for each, canonical. */
  readonly factors: readonly bigint[];
}

export interface PlonkCircuit {
  readonly k1: bigint;
  readonly k2: bigint;
  /** Commitments as x‖y, big-endian; infinity is zeros. */
  readonly commitments: readonly Uint8Array[];
  /** τ·G2. */
  readonly tau2: AffinePoint<Fp2>;
  readonly additions: Additions;
  /** Variable of each constraint, for the wires a, b and c. */
  readonly wires: readonly [Uint32Array, Uint32Array, Uint32Array];
  /** Coefficients, in the encoding `le-montgomery`. */
  readonly coefficients: Readonly<Record<CircuitPolynomial, Uint8Array>>;
}

const ADDITION_BYTES = 8 + 2 * ORDER_BYTES;

/** Returns a reader of coordinates, which are in Montgomery form. */
const coordinatesIn = (header: Fields, { prime, primeBytes }: SnarkjsCurve): (() => bigint) => {
  const inverse = invert(1n << BigInt(8 * primeBytes), prime);
  return () => (header.number(primeBytes) * inverse) % prime;
};

/** Sections of the polynomials, for errors. */
export const sectionNames: Readonly<Record<CircuitPolynomial, string>> = {
  ...{ qm: '7 (Qm)', ql: '8 (Ql)', qr: '9 (Qr)', qo: '10 (Qo)', qc: '11 (Qc)' },
  ...{ s1: '12 (sigma)', s2: '12 (sigma)', s3: '12 (sigma)' },
};

/** Additions that are read between two looks at the clock. */
const ADDITIONS_AT_ONCE = 2 ** 8;

/** Reads additions, whose factors are in Montgomery form. */
const readAdditions = async (bytes: Uint8Array, order: bigint, slice: TimeSlice): Promise<Additions> => {
  const numbers = numbersOf(bytes);
  const count = bytes.length / ADDITION_BYTES;
  const fromMontgomery = invert(1n << BigInt(8 * ORDER_BYTES), order);
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
    factors.push(factor(at + 8), factor(at + 8 + ORDER_BYTES));
    if (i % ADDITIONS_AT_ONCE === 0 && slice.isOver) await slice.yield();
  }
  return { variables, factors };
};

/** Returns numbers of 4 bytes. @throws MsmError `bad-argument` for another size */
const readWords = async (file: OpenFile, at: number, count: number): Promise<Uint32Array> => {
  const bytes = await readRange(file, at, at + 4 * count);
  return new Uint32Array(bytes.slice().buffer);
};

/** Reads the circuit of a key. @throws MsmError `bad-argument` naming the section; `aborted` */
export const readPlonkCircuit = async (zkey: PlonkZkey, signal: AbortSignal | undefined): Promise<PlonkCircuit> => {
  const { file, sections } = fileOf(zkey);
  const { what } = file;
  const header = await Fields.read(file, sectionOf(file, sections, 2, 'header'), 'section 2 (header)');
  const curve = readCurve(file, header);
  header.skip(4 + ORDER_BYTES + 12);
  const [additionCount, constraints] = [header.u32(), header.u32()];
  const fromMontgomery = invert(1n << BigInt(8 * ORDER_BYTES), curve.order);
  const scalar = (value: bigint): bigint => (value * fromMontgomery) % curve.order;
  const [k1, k2] = [scalar(header.number(ORDER_BYTES)), scalar(header.number(ORDER_BYTES))];
  const coordinate = coordinatesIn(header, curve);
  const commitments = circuitPolynomials.map(() =>
    encodeCommitment({ x: coordinate(), y: coordinate() }, curve.primeBytes),
  );
  const pair = (): Fp2 => ({ c0: coordinate(), c1: coordinate() });
  const tau2 = { x: pair(), y: pair(), infinity: false };
  const n = zkey.domainSize;
  if (constraints > n) throw badArgument(`${what}: the header says ${constraints} constraints in a domain of ${n}`);
  const extent = (id: number, name: string, bytes: number): number => {
    const { at, byteLength } = sectionOf(file, sections, id, name);
    if (byteLength === bytes) return at;
    throw badArgument(`${what}: section ${id} (${name}) has ${byteLength} bytes instead of ${bytes}`);
  };
  if (zkey.publicSignals > constraints) {
    throw badArgument(`${what}: the header says ${zkey.publicSignals} public signals in ${constraints} constraints`);
  }
  const additionsAt = extent(3, 'additions', additionCount * ADDITION_BYTES);
  const additionBytes = await readRange(file, additionsAt, additionsAt + additionCount * ADDITION_BYTES);
  const slice = new TimeSlice(() => assertNotAborted(signal));
  const additions = await readAdditions(additionBytes, curve.order, slice);
  const wire = (id: number, name: string) => readWords(file, extent(id, name, 4 * constraints), constraints);
  const wires = [await wire(4, 'A'), await wire(5, 'B'), await wire(6, 'C')] as const;
  for (const list of [...wires, additions.variables]) {
    const variable = list.find((each) => each >= zkey.variables);
    if (variable !== undefined) {
      throw badArgument(`${what}: variable ${variable} is used, and the header says ${zkey.variables} variables`);
    }
    if (slice.isOver) await slice.yield();
  }
  const polynomial = async (id: number, name: string, index: number, count: number): Promise<Uint8Array> => {
    const at = extent(id, name, count * 5 * n * ORDER_BYTES) + index * 5 * n * ORDER_BYTES;
    return readRange(file, at, at + n * ORDER_BYTES);
  };
  const coefficients = {
    qm: await polynomial(7, 'Qm', 0, 1),
    ql: await polynomial(8, 'Ql', 0, 1),
    qr: await polynomial(9, 'Qr', 0, 1),
    qo: await polynomial(10, 'Qo', 0, 1),
    qc: await polynomial(11, 'Qc', 0, 1),
    s1: await polynomial(12, 'sigma', 0, 3),
    s2: await polynomial(12, 'sigma', 1, 3),
    s3: await polynomial(12, 'sigma', 2, 3),
  };
  return { k1, k2, commitments, tau2, additions, wires: [...wires], coefficients };
};
