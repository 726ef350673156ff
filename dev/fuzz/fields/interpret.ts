/** Interprets operations of a program, for an engine and for the oracle alike. */
import type { TransformOptions } from '../../../src/api/fields.js';
import type { OracleMatrix } from '../../oracle/field-values.js';
import { Random } from '../../oracle/known-bases.js';
import type { Loaded, Operation } from './program.js';

/** Operations on vectors of some kind: those of a run, or those of the oracle. */
export interface Machine<Vector, Matrix> {
  ntt(a: Vector, options: TransformOptions): Vector;
  intt(a: Vector, options: TransformOptions): Vector;
  add(a: Vector, b: Vector): Vector;
  subtract(a: Vector, b: Vector): Vector;
  multiply(a: Vector, b: Vector): Vector;
  multiplyAdd(a: Vector, b: Vector, c: Vector): Vector;
  multiplySubtract(a: Vector, b: Vector, c: Vector): Vector;
  negate(a: Vector): Vector;
  scale(a: Vector, factor: bigint): Vector;
  scalePowers(a: Vector, base: bigint, options: { factor: bigint; order: 'natural' | 'reversed' }): Vector;
  linearCombination(terms: readonly (readonly [bigint, Vector])[]): Vector;
  invert(a: Vector): Vector;
  prefixProduct(a: Vector): Vector;
  evaluate(a: Vector, x: bigint): Vector;
  divideByLinear(a: Vector, x: bigint): Vector;
  slice(a: Vector, from: number, to: number): Vector;
  pad(a: Vector, length: number, from: number): Vector;
  gather(a: Vector, indices: readonly number[]): Vector;
  apply(matrix: Matrix, a: Vector): Vector;
}

/** Most elements that an operation makes longer. */
const MOST = 4096;

const drawNumber = (random: Random, p: bigint): bigint => {
  const edges = [0n, 1n, p - 1n, 2n, (p - 1n) / 2n];
  return random.below(3) === 0 ? (edges[random.below(edges.length)] as bigint) : random.belowBig(p);
};

export const numbersOf = ({ n, from, seed }: Loaded, p: bigint): bigint[] => {
  const random = new Random(seed);
  const equal = random.belowBig(p);
  const of = {
    random: () => random.belowBig(p),
    edges: () => drawNumber(random, p),
    sparse: () => (random.below(8) === 0 ? random.belowBig(p) : 0n),
    equal: () => equal,
    zero: () => 0n,
  };
  return Array.from({ length: n }, of[from]);
};

/** Returns the matrix of an `apply`. One row in four has most of the entries. */
export const matrixOf = ({ seed }: Operation, p: bigint): OracleMatrix => {
  const random = new Random(seed);
  const [rows, columns] = [1 + random.below(200), 1 + random.below(300)];
  const entries = random.below(3 * rows);
  const long = random.below(rows);
  const draw = <Item>(of: () => Item): Item[] => Array.from({ length: entries }, of);
  return {
    ...{ rows, columns },
    row: draw(() => (random.below(4) === 0 ? long : random.below(rows))),
    column: draw(() => random.below(columns)),
    values: draw(() => drawNumber(random, p)),
  };
};

/** Computes an operation. @param twoAdicity of p − 1 @param given last vectors, the last first */
export const interpret = <Vector extends { readonly length: number }, Matrix>(
  { kind, operands, seed }: Operation,
  machine: Machine<Vector, Matrix>,
  given: readonly Vector[],
  { p, twoAdicity, matrix }: { readonly p: bigint; readonly twoAdicity: number; readonly matrix: Matrix | null },
): Vector => {
  const random = new Random(seed);
  const [a, b, c] = operands.map((i) => given[i % given.length]) as [Vector, Vector, Vector];
  const number = (): bigint => drawNumber(random, p);
  const order = (): 'natural' | 'reversed' => (random.below(2) === 0 ? 'natural' : 'reversed');
  const fitted = (v: Vector, length: number): Vector => {
    if (v.length === length) return v;
    return v.length > length ? machine.slice(v, v.length - length, v.length) : machine.pad(v, length, 0);
  };
  /** Cuts a vector to a power of two. */
  const halved = (v: Vector, most = 32): Vector => fitted(v, 2 ** Math.min(Math.floor(Math.log2(v.length)), most));
  const n = a.length;
  switch (kind) {
    case 'ntt':
    case 'intt': {
      const coset = random.below(2) === 0 ? 1n : number() || 1n;
      return machine[kind](halved(a, twoAdicity), { from: order(), to: order(), coset });
    }
    case 'add':
    case 'subtract':
    case 'multiply':
      return machine[kind](a, fitted(b, n));
    case 'multiplyAdd':
    case 'multiplySubtract':
      return machine[kind](a, fitted(b, n), fitted(c, n));
    case 'negate':
    case 'invert':
    case 'prefixProduct':
      return machine[kind](a);
    case 'scale':
      return machine.scale(a, number());
    case 'scalePowers': {
      const own = order();
      return machine.scalePowers(own === 'natural' ? a : halved(a), number(), { factor: number(), order: own });
    }
    case 'linearCombination':
      return machine.linearCombination([a, b, c].slice(0, 1 + random.below(3)).map((v) => [number(), v] as const));
    case 'evaluate':
      return machine.evaluate(a, number());
    case 'divideByLinear':
      return machine.divideByLinear(fitted(a, Math.max(2, n)), number());
    case 'slice': {
      const from = random.below(n);
      return machine.slice(a, from, from + 1 + random.below(n - from));
    }
    case 'pad': {
      const length = n + random.below(Math.max(1, Math.min(n, MOST - n)));
      return machine.pad(a, length, random.below(length - n + 1));
    }
    case 'gather':
      return machine.gather(
        a,
        Array.from({ length: 1 + random.below(2 * n) }, () => random.below(n)),
      );
    case 'apply': {
      const own = matrix as Matrix & { readonly columns: number };
      return machine.apply(own, fitted(a, own.columns));
    }
  }
};
