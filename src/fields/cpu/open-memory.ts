/** Opens the fastest arithmetic of a field that computes known answers. */
import { MsmError, NoWasmMemory } from '../../errors.js';
import { mod } from '../../field/modulus.js';
import { power } from '../../field/powers.js';
import { range } from '../../field/straight-line.js';
import { finish } from '../../scheduling/time-slice.js';
import { fastestFirst } from '../../wasm/points/fastest-first.js';
import { hasArithmetic, type WasmArithmetic } from '../../wasm/points/kernel.js';
import { decimateFrequency, decimateTime, withNumbers, writeTwiddles } from '../../wasm/vectors/transform-passes.js';
import { type VectorAt, type VectorKernel, VectorMemory, vectorKernel } from '../../wasm/vectors/vector-kernel.js';
import type { Phases } from '../../wasm/vectors/vector-program.js';
import type { OpenField } from '../program/open-field.js';
import type { Elementwise } from '../program/operations.js';
import { elementwise } from './combine.js';

/** Generated kernels by field and arithmetic; null for those that are missing or wrong. */
const kernels = new Map<string, VectorKernel | null>();

const kernelOf = (
  p: bigint,
  arithmetic: WasmArithmetic,
): { readonly key: string; readonly kernel: VectorKernel | null } => {
  const key = `${arithmetic} ${p}`;
  const known = kernels.get(key);
  if (known !== undefined) return { key, kernel: known };
  const kernel = hasArithmetic(arithmetic) ? vectorKernel(p, arithmetic) : null;
  kernels.set(key, kernel);
  return { key, kernel };
};

/**
 * Returns memory whose arithmetic has computed known answers; null if there is none, or the
 * platform has no WebAssembly.
 *
 * @throws NoWasmMemory
 * @param given arithmetics in the order in which they are tried; default: the fastest first
 * @param sharedBytes most bytes of a memory that threads can share; null: not shared
 */
export const openMemory = async (
  field: OpenField,
  given?: readonly WasmArithmetic[],
  sharedBytes: number | null = null,
): Promise<VectorMemory | null> => {
  for (const arithmetic of given ?? fastestFirst(field.p)) {
    const { key, kernel } = kernelOf(field.p, arithmetic);
    if (kernel === null) continue;
    let memory: VectorMemory;
    try {
      memory = await VectorMemory.open(kernel, sharedBytes);
    } catch (error) {
      if (error instanceof NoWasmMemory) throw error;
      // a content security policy forbids WebAssembly
      continue;
    }
    if (knowsAnswers(memory, field)) return memory;
    kernels.set(key, null);
  }
  return null;
};

/** Error of a platform on which `openMemory` finds no arithmetic. */
export const noWebAssembly = (): MsmError =>
  new MsmError(
    'unsupported-device',
    "WebAssembly is missing or forbidden; a content security policy must have 'wasm-unsafe-eval'",
  );

/* Known answers of an arithmetic, which it computes before its first result. */

/** Elements of the test: its transforms have passes of every kind. */
const MOST_BITS = 4;

/** Computes phases at once. */
const compute = (memory: VectorMemory, phases: Phases): void => {
  for (const phase of phases) {
    if ('alone' in phase) phase.alone();
    else for (const each of phase.chunks.flat()) memory.run(each);
  }
};

/** Reads numbers by the function that users' numbers are read by. */
const numbersAt = (memory: VectorMemory, at: VectorAt, count: number): bigint[] => {
  const perNumber = memory.kernel.wordBytes / 4;
  const words = new Uint32Array(count * perNumber);
  finish(memory.leave(words, at, 1n));
  return range(count).map((i) =>
    range(perNumber).reduceRight((sum, j) => (sum << 32n) + BigInt(words[i * perNumber + j] as number), 0n),
  );
};

const areEqual = (own: readonly bigint[], other: readonly bigint[]): boolean =>
  own.every((value, i) => value === other[i]);

/** Numbers of a known answer, and the vectors that they are entered as. */
interface Known {
  readonly memory: VectorMemory;
  readonly field: OpenField;
  readonly bits: number;
  readonly a: readonly bigint[];
  readonly b: readonly bigint[];
  readonly atA: VectorAt;
  readonly atB: VectorAt;
  readonly to: VectorAt;
}

/** The results of a, b and a. */
const results: readonly (readonly [Elementwise, (x: bigint, y: bigint) => bigint])[] = [
  ['add', (x, y) => x + y],
  ['subtract', (x, y) => x - y],
  ['multiply', (x, y) => x * y],
  ['multiplyAdd', (x, y) => x * y + x],
  ['multiplySubtract', (x, y) => x * y - x],
];

/** Returns whether sums and products are right. */
const areElementsRight = ({ memory, field: { p }, a, b, atA, atB, to }: Known): boolean =>
  results.every(([kind, result]) => {
    const length = a.length;
    const whole = { bytes: memory.elementBytes, grain: () => length };
    compute(memory, elementwise(whole, kind, { to, operands: [atA, atB, atA], length }));
    const expected = a.map((x, i) => mod(result(x, b[i] as bigint), p));
    return areEqual(numbersAt(memory, to, length), expected);
  });

/** Returns whether transforms in both orders are right; `twiddles` is memory for them. */
const areTransformsRight = ({ memory, field, bits, a, b, atA, atB }: Known, twiddles: VectorAt): boolean => {
  const { p, twoAdicity, rootOfUnity } = field;
  const length = a.length;
  const root = power(rootOfUnity, 1n << BigInt(twoAdicity - bits), p);
  compute(memory, writeTwiddles(memory, twiddles, length, root));
  const transform = { length, twiddles, bytes: memory.elementBytes, grain: 2 ** MOST_BITS };
  const reversed = (i: number): number => range(bits).reduce((sum, j) => sum | (((i >> j) & 1) << (bits - 1 - j)), 0);
  const valueAt = (x: bigint, coefficients: readonly bigint[]): bigint =>
    coefficients.reduceRight((sum, c) => mod(sum * x + c, p), 0n);
  const roots = range(length).map((i) => power(root, BigInt(i), p));
  compute(memory, decimateFrequency({ ...transform, at: atA }));
  compute(memory, decimateTime({ ...transform, at: atB }));
  const inOrder = b.map((_, i) => b[reversed(i)] as bigint);
  return (
    areEqual(
      numbersAt(memory, atA, length),
      roots.map((_, i) => valueAt(roots[reversed(i)] as bigint, a)),
    ) &&
    areEqual(
      numbersAt(memory, atB, length),
      roots.map((x) => valueAt(x, inOrder)),
    )
  );
};

/** Returns whether sums, products and transforms are those of BigInts. Leaves no vectors. */
export const knowsAnswers = (memory: VectorMemory, field: OpenField): boolean => {
  const { p, twoAdicity } = field;
  const bits = Math.min(MOST_BITS, twoAdicity);
  const n = 2 ** bits;
  // small numbers, large ones, and what is between
  const edges = [0n, 1n, p - 1n, p / 3n, p / 2n];
  const a = range(n).map((i) => ((edges[i % edges.length] as bigint) + (i > 4 ? BigInt(i) : 0n)) % p);
  const b = [...a].reverse();
  let isRight = false;
  compute(
    memory,
    withNumbers(memory, [...a, ...b, ...a, ...a], function* (atA) {
      const [atB, to, twiddles] = [1, 2, 3].map((k) => atA + k * n * memory.elementBytes) as [number, number, number];
      const known: Known = { memory, field, bits, a, b, atA, atB, to };
      yield {
        alone: () => {
          isRight = areElementsRight(known) && areTransformsRight(known, twiddles);
        },
      };
    }),
  );
  return isRight;
};
