/** Small circuits of every shape: empty rows, several public variables, none that is private. */
import { Bytes, fileOf } from '../../dev/trial-keys/bytes.js';

/** A circuit is drawn by its shape and a seed. */
export interface CircuitShape {
  readonly publicInputs: number;
  readonly privateInputs: number;
  readonly constraints: number;
  readonly seed: bigint;
}

const FIELD_BYTES = 32;

/** A sum of variables times numbers. */
export type Combination = readonly (readonly [wire: number, factor: bigint])[];

/** A constraint: a·b = c. */
export type Row = readonly [a: Combination, b: Combination, c: Combination];

/** Numbers that are the same in each run. */
const drawFrom = (seed: bigint, r: bigint) => {
  let state = seed;
  const below = (limit: bigint): bigint => {
    state = (state * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n) % 2n ** 512n;
    return ((state * state) >> 64n) % limit;
  };
  const value = (): bigint => {
    const edges = [0n, 1n, r - 1n, r >> 1n];
    const kind = Number(below(8n));
    return edges[kind] ?? below(r);
  };
  return { below, value };
};

/**
 * Makes a circuit and a witness that satisfies it. A constraint's right side has a new variable if
 * the circuit has private ones; otherwise it is a multiple of the constant 1.
 *
 * @param r the prime of the field
 */
export const randomCircuit = (r: bigint, { publicInputs, privateInputs, constraints, seed }: CircuitShape) => {
  const { below, value } = drawFrom(seed, r);
  const isPrivate = privateInputs > 0;
  const values = [1n, ...Array.from({ length: publicInputs + privateInputs }, value)];
  const combination = (): Combination => {
    const wires = new Set(Array.from({ length: Number(below(4n)) }, () => Number(below(BigInt(values.length)))));
    return [...wires].map((wire) => [wire, value()]);
  };
  const evaluate = (terms: Combination): bigint =>
    terms.reduce((sum, [wire, factor]) => (sum + factor * (values[wire] as bigint)) % r, 0n);
  const rows: Row[] = [];
  for (let i = 0; i < constraints; i++) {
    const [a, b, c] = [combination(), combination(), isPrivate ? combination() : []];
    const rest = (evaluate(a) * evaluate(b) - evaluate(c) + r) % r;
    const wire = isPrivate ? values.push(rest) - 1 : 0;
    rows.push([a, b, [...c, [wire, isPrivate ? 1n : rest]]]);
  }
  const numbers = new Bytes();
  for (const each of values) numbers.number(each, FIELD_BYTES);
  const witnessHeader = new Bytes().u32(FIELD_BYTES).number(r, FIELD_BYTES).u32(values.length);
  return {
    r1cs: r1csOf(r, { variables: values.length, publicInputs, privateInputs, rows }),
    witness: fileOf('wtns', 2, [
      [1, witnessHeader.done()],
      [2, numbers.done()],
    ]),
    publicSignals: values.slice(1, 1 + publicInputs),
  };
};

/** Writes a circuit. */
export const r1csOf = (
  r: bigint,
  {
    variables,
    publicInputs,
    privateInputs,
    rows,
  }: Omit<CircuitShape, 'seed' | 'constraints'> & { readonly variables: number; readonly rows: readonly Row[] },
): Uint8Array => {
  const body = new Bytes();
  for (const combination of rows.flat()) {
    body.u32(combination.length);
    for (const [at, factor] of combination) body.u32(at).number(factor, FIELD_BYTES);
  }
  const header = new Bytes().u32(FIELD_BYTES).number(r, FIELD_BYTES).u32(variables);
  header.u32(0).u32(publicInputs).u32(privateInputs).u64(variables).u32(rows.length);
  const labels = new Bytes();
  for (let i = 0; i < variables; i++) labels.u64(i);
  return fileOf('r1cs', 1, [
    [1, header.done()],
    [2, body.done()],
    [3, labels.done()],
  ]);
};

/**
 * Makes a circuit that nobody satisfies, for setups: with duplicate terms, zeros, constants, and long sums.
 *
 * @param longest most terms of a sum
 */
export const unevenCircuit = (
  r: bigint,
  { publicInputs, privateInputs, constraints, seed }: CircuitShape,
  longest: number,
): Uint8Array => {
  const { below, value } = drawFrom(seed, r);
  const variables = 1 + publicInputs + privateInputs;
  const combination = (): Combination => {
    const kind = Number(below(8n));
    if (kind === 0) return [];
    if (kind === 1) return [[0, value()]];
    const length = kind === 2 ? longest : Number(below(4n));
    return Array.from({ length }, () => [Number(below(BigInt(variables))), value()] as const);
  };
  const rows = Array.from({ length: constraints }, (): Row => [combination(), combination(), combination()]);
  return r1csOf(r, { variables, publicInputs, privateInputs, rows });
};
