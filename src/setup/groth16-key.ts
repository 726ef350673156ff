/**
 * New keys of Groth16 from powers of tau: for each variable sums of Lagrange points over its
 * constraints ("On the Size of Pairing-based Non-interactive Arguments", Groth 2016, section 3.2), with
 * γ = δ = 1. The circuit and its points are hashed as snarkjs does.
 */
import type { CurveContext } from '../curves/curve.js';
import { type Affine, toAffine } from '../curves/jacobian.js';
import { invert, mod, readWords, writeNumber } from '../field/modulus.js';
import type { Matrix, R1cs } from '../formats/r1cs.js';
import type { Output } from '../formats/sink.js';
import type { PointSection } from '../formats/source.js';
import { Blake2b } from './blake2b.js';
import { bigEndian, u32, writeContributions } from './contributions.js';
import { hashedPoint, hashedPoints, readPoints } from './groups.js';
import { type HeaderPoints, SectionWriter, section } from './key-writer.js';
import { type MatrixSums, matrixSums, type Product } from './matrix-sums.js';
import { circuitBytes } from './memory.js';
import { domainFor, type PreparedPowers } from './prepared-powers.js';
import type { KeyPlan, Run } from './run.js';

/** The circuit of a new key, and the powers of tau. */
interface Input {
  readonly circuit: R1cs;
  readonly powers: PreparedPowers;
  readonly domainSize: number;
}

/** A key of Groth16 that is made. */
export interface Groth16KeyPlan extends KeyPlan {
  /** Bytes of its points and coefficients. */
  readonly byteLength: number;
  /** Points of its longest section. */
  readonly longest: number;
}

/** Plans a key of Groth16. @throws MsmError `bad-argument` if the powers of tau are too few */
export const planGroth16Key = (circuit: R1cs, powers: PreparedPowers): Groth16KeyPlan => {
  const { constraints, publicSignals, variables } = circuit;
  const { g1, g2 } = powers.groups;
  const { a, b } = circuit.matrices;
  // a row for each public variable and the constant 1
  const domainSize = domainFor(constraints + publicSignals + 1, powers);
  return {
    total: 4 * variables + 2 * domainSize,
    tables: { bytes: tableBytes(circuit, powers, domainSize), pointBytes: g2.pointBytes },
    byteLength:
      variables * (3 * g1.pointBytes + g2.pointBytes) +
      domainSize * g1.pointBytes +
      (a.variables.length + b.variables.length + publicSignals + 1) * COEFFICIENT_BYTES,
    longest: Math.max(variables, domainSize),
    write: (run, output) => writeKey({ circuit, powers, domainSize }, run, output),
  };
};

/** Returns the bytes of the matrices and of the Lagrange points that are in memory at the same time. */
const tableBytes = (
  { matrices, numbers }: R1cs,
  { groups: { g1, g2 } }: PreparedPowers,
  domainSize: number,
): number => {
  const terms = Object.values(matrices).reduce((sum, { variables }) => sum + variables.length, 0);
  // those of tau, alpha and beta, and beside them those of G2 or of twice the domain, read and copied
  const points = 3 * g1.pointBytes + 2 * Math.max(g2.pointBytes, 2 * g1.pointBytes);
  return circuitBytes(terms, numbers.length) + domainSize * points;
};

/** Writes a key, in the order in which snarkjs hashes its parts. */
const writeKey = async ({ circuit, powers, domainSize }: Input, run: Run, output: Output): Promise<void> => {
  const { groups } = powers;
  const { g1, g2 } = groups;
  const { variables, publicSignals, numbers, matrices } = circuit;
  const points = await headerPoints(powers);
  const hash = await Blake2b.begin();
  for (const name of ['alpha1', 'beta1', 'beta2', 'gamma2', 'delta1', 'delta2'] as const) {
    hash.update(hashedPoint(name.endsWith('1') ? g1 : g2, points[name]));
  }
  const writer = await SectionWriter.begin(output, 'zkey', 10);
  await writer.header(groups, { variables, publicSignals, domainSize }, points);
  await writeCoefficients(circuit, writer, run);

  const [tau, alpha, beta] = [
    await powers.lagrange('tauG1', domainSize),
    await powers.lagrange('alphaTauG1', domainSize),
    await powers.lagrange('betaTauG1', domainSize),
  ];
  const a = withPublicRows(circuit);
  const { b, c } = matrices;
  const joint: Product[] = [
    { matrix: a, table: beta },
    { matrix: b, table: alpha },
    { matrix: c, table: tau },
  ];
  const parts = { writer, hash, run, variables, numbers, scale: groups.scale };
  await writeSums(parts, section.ic, g1, joint, [0, publicSignals + 1]);
  await writeQuotientPoints(powers, domainSize, writer);
  await hashQuotientPoints(powers, domainSize, hash, run);
  await writeSums(parts, section.c, g1, joint, [publicSignals + 1, variables]);
  await writeSums(parts, section.a, g1, [{ matrix: a, table: tau }], [0, variables]);
  await writeSums(parts, section.b1, g1, [{ matrix: b, table: tau }], [0, variables]);
  const tauG2 = await powers.lagrange('tauG2', domainSize);
  await writeSums(parts, section.b2, g2, [{ matrix: b, table: tauG2 }], [0, variables]);
  await writer.whole(section.contributions, writeContributions(hash.digest(), 0, new Uint8Array()));
};

/** Returns the points of the header: of the ceremony, and generators for γ = δ = 1. */
const headerPoints = async ({ groups, ptau }: PreparedPowers): Promise<HeaderPoints> => {
  const { g1, g2, scale } = groups;
  const { alphaTauG1, betaTauG1, betaG2 } = ptau.sections;
  const first = async (points: PointSection): Promise<Affine> =>
    readPoints(groups[points.group], scale, await points.points(0, 1), `ptau: ${points.name}`)[0] as Affine;
  return {
    alpha1: await first(alphaTauG1),
    beta1: await first(betaTauG1),
    beta2: await first(betaG2),
    gamma2: g2.generator,
    delta1: g1.generator,
    delta2: g2.generator,
  };
};

/** Returns matrix A with a row for each public variable and the constant 1. */
const withPublicRows = ({ matrices: { a }, constraints, publicSignals }: R1cs): Matrix => {
  const rows = Array.from({ length: publicSignals + 1 }, (_, i) => i);
  return {
    variables: Uint32Array.from([...a.variables, ...rows]),
    constraints: Uint32Array.from([...a.constraints, ...rows.map((row) => constraints + row)]),
    numbers: Uint32Array.from([...a.numbers, ...rows.map(() => 0)]),
  };
};

const COEFFICIENT_BYTES = 44;

/**
 * Writes the terms of A and B for the prover: u32 number of terms; each u32 matrix, u32 constraint, u32
 * variable and its number times R².
 */
const writeCoefficients = async (circuit: R1cs, writer: SectionWriter, run: Run): Promise<void> => {
  const { order, constraints, publicSignals, numbers } = circuit;
  const { a, b } = circuit.matrices;
  const square = mod(1n << 512n, order);
  const words = new BigUint64Array(4 * numbers.length);
  for (const [i, value] of numbers.entries()) writeNumber(words, 4 * i, 4, (value * square) % order);
  const written = new Uint8Array(words.buffer);
  const count = a.variables.length + b.variables.length + publicSignals + 1;
  await writer.section(section.coefficients, 4 + count * COEFFICIENT_BYTES);
  await writer.write(u32(count));
  const terms = [0, 0];
  const matrices = [a, b] as const;
  for (let from = 0; from < constraints; from += 1024) {
    const to = Math.min(constraints, from + 1024);
    const parts: [matrix: number, constraint: number, variable: number, number: number][] = [];
    for (let constraint = from; constraint < to; constraint++) {
      for (const [m, matrix] of matrices.entries()) {
        for (let i = terms[m] as number; matrix.constraints[i] === constraint; i++) {
          parts.push([m, constraint, matrix.variables[i] as number, matrix.numbers[i] as number]);
          terms[m] = i + 1;
        }
      }
    }
    await writer.write(coefficientBytes(parts, written));
    await run.pause();
  }
  const rows = Array.from({ length: publicSignals + 1 }, (_, i) => [0, constraints + i, i, 0] as const);
  await writer.write(coefficientBytes(rows, written));
};

const coefficientBytes = (
  parts: readonly (readonly [matrix: number, constraint: number, variable: number, number: number])[],
  numbers: Uint8Array,
): Uint8Array => {
  const bytes = new Uint8Array(parts.length * COEFFICIENT_BYTES);
  const view = new DataView(bytes.buffer);
  for (const [i, [matrix, constraint, variable, number]] of parts.entries()) {
    const at = i * COEFFICIENT_BYTES;
    for (const [k, value] of [matrix, constraint, variable].entries()) view.setUint32(at + 4 * k, value, true);
    bytes.set(numbers.subarray(32 * number, 32 * number + 32), at + 12);
  }
  return bytes;
};

/** Values that all sections of sums share. */
interface SumParts extends Pick<MatrixSums, 'numbers'> {
  readonly writer: SectionWriter;
  readonly hash: Blake2b;
  readonly run: Run;
  readonly variables: number;
  readonly scale: bigint;
}

/** Writes and hashes the sums of some variables. */
const writeSums = async (
  { writer, hash, run, variables, numbers, scale }: SumParts,
  id: number,
  curve: CurveContext,
  products: readonly Product[],
  [from, to]: readonly [number, number],
): Promise<void> => {
  hash.update(bigEndian(to - from));
  await writer.section(id, (to - from) * curve.pointBytes);
  const what = 'ptau: one of the sections 12 to 15 (Lagrange points)';
  const sums = { curve, products, numbers, from, to, scales: [scale, 1n], what };
  for await (const [file, plain] of matrixSums(run, variables, sums)) {
    const written = file as Uint32Array<ArrayBuffer>;
    await writer.write(new Uint8Array(written.buffer, written.byteOffset, written.byteLength));
    hash.update(hashedPoints(curve, plain as Uint32Array<ArrayBuffer>));
    run.progress(written.length / curve.pointWords);
  }
};

/** Points that are read at a time. */
const POINTS_AT_ONCE = 2 ** 14;

/** Writes the points of the quotient: Lagrange points of twice the domain, at its odd places. */
const writeQuotientPoints = async (
  { groups: { g1 }, lagrange }: PreparedPowers,
  domainSize: number,
  writer: SectionWriter,
): Promise<void> => {
  const { pointWords } = g1;
  const all = await lagrange('tauG1', 2 * domainSize);
  await writer.section(section.h, domainSize * g1.pointBytes);
  for (let from = 0; from < domainSize; from += POINTS_AT_ONCE) {
    const count = Math.min(POINTS_AT_ONCE, domainSize - from);
    const some = new Uint32Array(count * pointWords);
    for (let i = 0; i < count; i++) {
      const at = (2 * (from + i) + 1) * pointWords;
      some.set(all.subarray(at, at + pointWords), i * pointWords);
    }
    await writer.write(new Uint8Array(some.buffer));
  }
};

/**
 * Hashes (τ^n − 1)·τ^i for a domain of n: differences of powers. snarkjs hashes them 2^14 at a time
 * and none too few: for n above 2^14 also the difference of i = n − 1, though it has counted one less
 * (findings/snarkjs-circuit-hash-past-section.sh).
 */
const hashQuotientPoints = async (powers: PreparedPowers, n: number, hash: Blake2b, run: Run): Promise<void> => {
  const { groups, ptau } = powers;
  const { g1, scale } = groups;
  const { tauG1 } = ptau.sections;
  hash.update(bigEndian(n - 1));
  const count = Math.ceil((n - 1) / POINTS_AT_ONCE) * Math.min(n - 1, POINTS_AT_ONCE);
  // the file ends one power before the last difference if it has no more than the circuit needs
  const most = Math.min(count, tauG1.count - n);
  for (let from = 0; from < most; from += POINTS_AT_ONCE) {
    const some = Math.min(POINTS_AT_ONCE, most - from);
    const [high, low] = [await tauG1.points(n + from, n + from + some), await tauG1.points(from, from + some)];
    const points = new Uint8Array(2 * some * g1.pointBytes);
    for (let i = 0; i < some; i++) {
      const at = i * g1.pointBytes;
      points.set(high.subarray(at, at + g1.pointBytes), 2 * at);
      points.set(low.subarray(at, at + g1.pointBytes), 2 * at + g1.pointBytes);
    }
    const [plain] = await run.compute(
      g1,
      {
        points: new Uint32Array(points.buffer),
        scale,
        starts: Uint32Array.from({ length: some + 1 }, (_, i) => 2 * i),
        which: Uint32Array.from({ length: 2 * some }, (_, i) => i % 2),
        multipliers: [1n, g1.order - 1n],
        scales: [1n],
      },
      'ptau: section 2 (tauG1)',
    );
    hash.update(hashedPoints(g1, plain as Uint32Array<ArrayBuffer>));
    run.progress(some);
  }
  if (count > most) hash.update(hashedPoint(g1, await lastDifference(powers, n)));
};

/**
 * Returns the difference that snarkjs hashes behind the last power: it reads the bytes that follow
 * the section as a point, whose coordinates are not below p. Its sums and differences then wrap at
 * the width of an element, so that the result is none of numbers modulo p: the steps are those of its
 * formula, madd-2007-bl of the Explicit-Formulas Database.
 */
const lastDifference = async (
  { groups: { g1, scale }, ptau, behindPowers }: PreparedPowers,
  n: number,
): Promise<Affine> => {
  const { p, pointWords } = g1;
  const half = pointWords / 2;
  const inverse = invert(scale, p);
  const numbersIn = (bytes: Uint8Array): [bigint, bigint] => {
    const words = new Uint32Array(bytes.slice().buffer);
    return [readWords(words, 0, half), readWords(words, half, half)];
  };
  const sub = (a: bigint, b: bigint): bigint => (a >= b ? a - b : mod(a - b + p, scale));
  const add = (a: bigint, b: bigint): bigint => (a + b >= p ? mod(a + b - p, scale) : a + b);
  const factor = scale - invert(p, scale);
  const mul = (a: bigint, b: bigint): bigint => {
    const product = (a * b + mod(a * b * factor, scale) * p) / scale;
    return product >= p ? mod(product - p, scale) : product;
  };
  const [x1, y1] = numbersIn(await behindPowers(g1.pointBytes));
  const [x2, y] = numbersIn(await ptau.sections.tauG1.points(n - 1, n));
  const h = sub(x2, x1);
  const square = mul(h, h);
  const i = add(add(square, square), add(square, square));
  const j = mul(h, i);
  const slope = sub(sub(0n, y), y1);
  const r = add(slope, slope);
  const v = mul(x1, i);
  const x3 = sub(sub(mul(r, r), j), add(v, v));
  const last = mul(y1, j);
  const y3 = sub(mul(sub(v, x3), r), add(last, last));
  const z3 = add(h, h);
  const [x, yOver, z] = [x3, y3, z3].map((value) => mod(value * inverse, p)) as [bigint, bigint, bigint];
  return toAffine(g1, { x, y: yOver, z });
};
