/** Known answers of the kernels for vectors, for the self-test of a device. */
import { invert, mod, readWords, writeWords } from '../../field/modulus.js';
import { power } from '../../field/square-root.js';
import { range } from '../../field/straight-line.js';
import type { KnownAnswer } from '../../session/operation.js';
import { groupsFor } from '../../shaders/limits.js';
import { THREADS } from '../stages/element.js';
import { packScalarsConfig, SCALAR_WORDS } from '../stages/scalars.js';
import { emitElementwise, whole } from './elementwise.js';
import type { Emitter, Part } from './emitter.js';
import type { FieldJob, FieldOutcome, KnownKind } from './field-job.js';
import { emitInverses } from './inverses.js';
import { emitEnter, emitLeave } from './numbers.js';
import { powerTables } from './powers.js';
import { emitScan, emitValue } from './scans.js';
import type { FieldSetup } from './setup.js';
import { emitTransform } from './transforms.js';

/** Elements of the vector: several parts of a scan, and two of an inversion. */
const LENGTH = 40;

/** Most stages of the transforms. */
const MOST_BITS = 5;

/** A vector that a test computes, and its numbers. */
interface Known {
  /** Emits it as elements, or where `isResult` as numbers of `SCALAR_WORDS` words in the result. */
  emit(emit: Emitter, a: Part): Part;
  readonly isResult?: boolean;
  readonly expected: readonly bigint[];
}

/** The square of the first elements as a polynomial, modulo X^n − 1, by transforms. */
const knownSquare = ({ own, field }: FieldSetup, a: readonly bigint[]): Known => {
  const { p, twoAdicity, rootOfUnity } = own;
  const bits = Math.min(MOST_BITS, twoAdicity);
  const n = 2 ** bits;
  const root = power(rootOfUnity, 1n << BigInt(twoAdicity - bits), p);
  return {
    emit: (emit, numbers) => {
      // with one table of powers the second one is not read
      const { words } = powerTables(field, root, 1n, (n / 2) ** 2);
      const twiddles = { at: emit.upload(words), logLength: bits };
      const there = { kind: 'ntt', from: 'natural', to: 'reversed', coset: 1n, factor: 1n } as const;
      const back = { kind: 'intt', from: 'reversed', to: 'natural', coset: 1n, factor: invert(BigInt(n), p) } as const;
      const values = whole(emitTransform(emit, there, whole(numbers, n), n, false, twiddles), n);
      const squares = emitElementwise(emit, 'multiply', [values, values], n);
      return emitTransform(emit, back, whole(squares, n), n, true, twiddles);
    },
    expected: range(n).map((k) =>
      range(n).reduce((sum, i) => mod(sum + (a[i] as bigint) * (a[(k - i + n) % n] as bigint), p), 0n),
    ),
  };
};

/** Emits all elements as scalars of a sum. */
const emitScalars = (emit: Emitter, a: Part): Part => {
  const { field, kernels } = emit.setup;
  const out = emit.returned(Math.ceil((4 * SCALAR_WORDS * LENGTH) / emit.bytes));
  const values = { length: LENGTH, first: 0, first_out: 0, vector: 0, first_base: 0, account: emit.account() };
  emit.dispatch(kernels.scalars(), packScalarsConfig(field, values), { a, out }, groupsFor(LENGTH, THREADS), LENGTH);
  return out;
};

/** Returns the tests of a kind. */
const testsOf = (setup: FieldSetup, kind: KnownKind, a: readonly bigint[]): Known[] => {
  const { p } = setup.own;
  switch (kind) {
    case 'transform':
      return [knownSquare(setup, a)];
    case 'scalars':
      return [{ emit: emitScalars, expected: a, isResult: true }];
    case 'invert':
      return [{ emit: (emit, x) => emitInverses(emit, x, LENGTH), expected: a.map((each) => invert(each, p)) }];
    case 'scan': {
      const point = p - 3n;
      let product = 1n;
      const products = a.map((each) => {
        const before = product;
        product = (product * each) % p;
        return before;
      });
      return [
        { emit: (emit, x) => emitScan(emit, x, LENGTH, null), expected: products },
        {
          emit: (emit, x) => emitValue(emit, x, LENGTH, point),
          expected: [a.reduceRight((sum, each) => mod(sum * point + each, p), 0n)],
        },
      ];
    }
  }
};

/** Returns the numbers of the tests, and the tests of sums, products and some kinds. */
const testAll = (setup: FieldSetup, kinds: readonly KnownKind[]): { numbers: bigint[]; tests: Known[] } => {
  const { p } = setup.own;
  // 0 only at the end, so that products of all elements before each are not 0
  const edges = [1n, p - 1n, p / 2n, p / 3n, 2n];
  const numbers = range(LENGTH).map((i) => {
    if (i === LENGTH - 1) return 0n;
    return mod((edges[i % edges.length] as bigint) + (i < edges.length ? 0n : BigInt(i)), p);
  });
  const sum: Known = {
    emit: (emit, x) => {
      const all = whole(x, LENGTH);
      return emitElementwise(emit, 'multiplySubtract', [all, all, all], LENGTH);
    },
    expected: numbers.map((each) => mod(each * each - each, p)),
  };
  return { numbers, tests: [sum, ...kinds.flatMap((kind) => testsOf(setup, kind, numbers))] };
};

/** Returns the self-test of a setup. @param kinds kernels to test beside sums and products */
export const knownVectors = (setup: FieldSetup, kinds: ReadonlySet<KnownKind>): KnownAnswer<FieldJob, FieldOutcome> => {
  const { field, own } = setup;
  const { p } = own;
  const sorted = [...kinds].sort();
  // each job asks for the key, and few run the test
  let computed: ReturnType<typeof testAll> | null = null;
  const all = (): ReturnType<typeof testAll> => {
    computed ??= testAll(setup, sorted);
    return computed;
  };
  return {
    key: `vectors ${field.product} ${p} ${sorted.join(' ')}`,
    input: () => ({
      outputBytes: 0,
      residents: [],
      kinds: new Set(),
      emit: (emit) => {
        const { numbers, tests } = all();
        const words = new Uint32Array(LENGTH * field.words);
        for (const [i, each] of numbers.entries()) writeWords(words, i * field.words, field.words, each);
        const entered = emit.take(LENGTH);
        emitEnter(emit, words, 1n, entered);
        return tests.map((test) => {
          const made = test.emit(emit, entered);
          return test.isResult === true ? made : emitLeave(emit, made, test.expected.length, 1n);
        });
      },
    }),
    check: ({ data }) => {
      const isRight = ({ expected, isResult }: Known, k: number): boolean => {
        const words = isResult === true ? SCALAR_WORDS : field.words;
        return expected.every((value, i) => readWords(data[k] as Uint32Array, i * words, words) === value);
      };
      return all().tests.every(isRight) ? null : 'known vectors came out wrong';
    },
  };
};
