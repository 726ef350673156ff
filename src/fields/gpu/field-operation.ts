/** Runs of operations on vectors, as operations of a session. */

import type { FieldPlan } from '../../api/fields.js';
import { GpuFault, MsmError } from '../../errors.js';
import { invert, mod, readWords, writeWords } from '../../field/modulus.js';
import { power } from '../../field/powers.js';
import { range } from '../../field/straight-line.js';
import { bufferBytes, bytesOf, wantsOf } from '../../gpu/device-memory.js';
import { PlannedSubmission, type Submission } from '../../gpu/submission.js';
import { digestOfItems } from '../../msm/stages/entry.js';
import type { Call } from '../../scheduling/call.js';
import { sumInSlices, type TimeSlice } from '../../scheduling/time-slice.js';
import type { DeviceView, KnownAnswer, Operation, Resident, Step } from '../../session/operation.js';
import { sumOfLanes } from '../../shaders/hash-chain.js';
import { groupsFor } from '../../shaders/limits.js';
import type { Transform } from '../program/operations.js';
import { emitElementwise, emitEnter, emitLeave, powerTables, whole } from './combine.js';
import { THREADS } from './element.js';
import type { FieldSetup } from './emitter.js';
import { Emitter, type Part } from './emitter.js';
import { emitInverses } from './invert.js';
import { packScalarsConfig, SCALAR_WORDS } from './scalars.js';
import { emitScan, emitValue } from './scan.js';
import { emitTransform } from './transform.js';

/** Account of the ledger that counts vectors. */
export const VECTORS = 'vectors';

type Setup = FieldSetup;

/** The commands of a job. */
interface JobPlan extends Step {
  readonly emitted: Emitter;
  readonly read: readonly Part[];
}

/** Name of the buffer that stays, in commands. */
const OUTPUT = 'output';

/** Returns the most bytes that a device binds at a time. */
export const mostBytesOf = ({ maxStorageBufferBindingSize, maxBufferSize }: GPUSupportedLimits): number =>
  Math.min(maxStorageBufferBindingSize, maxBufferSize);

/**
 * @param isCheck true for the second evaluation
 * @throws MsmError `out-of-memory` if the scratch exceeds the allowance, or a buffer the device
 */
const planOf = (job: FieldJob, { setup, allowance, limits }: DeviceView<Setup>, isCheck: boolean): JobPlan => {
  const emitted = new Emitter(setup, isCheck);
  const output = job.outputBytes === 0 ? null : { buffer: OUTPUT, offset: 0, size: job.outputBytes };
  const read = (isCheck && job.check ? job.check : job.emit)(emitted, output);
  const sizes = Object.values(emitted.scratch);
  const scratch = sizes.reduce((sum, bytes) => sum + bytes, 0) - emitted.leftBytes;
  if (scratch > allowance.bytes) {
    throw new MsmError(
      'out-of-memory',
      `the run takes ${scratch} bytes of scratch, and ${allowance.name} leaves ${allowance.bytes}; raise it, or record fewer operations a run`,
    );
  }
  const largest = Math.max(job.outputBytes, emitted.resultBytes, ...sizes);
  if (largest > mostBytesOf(limits)) {
    throw new MsmError('out-of-memory', `the device binds no ${largest} bytes at a time; use shorter vectors`);
  }
  const submits = 1 + emitted.commands.filter(({ kind }) => kind === 'submit').length;
  return { emitted, read, submits, isCheck };
};

const areEqual = (some: Uint32Array, others: Uint32Array): boolean => some.every((word, i) => word === others[i]);

const digestInSlices = (words: Uint32Array, itemWords: number, slice: TimeSlice): Promise<number> => {
  const part = (begin: number, end: number): number =>
    digestOfItems(words.subarray(begin * itemWords, end * itemWords), itemWords, begin);
  return sumInSlices(words.length / itemWords, slice, part);
};

/** Returns emitted commands with their memory. @param output the buffer that stays; null: none */
const submissionOf = (emitted: Emitter, output: GPUBuffer | null): Submission => {
  const { scratch, uploads, commands, external, resultBytes, accountBytes } = emitted;
  return {
    ...{ scratch, uploads, commands, accounts: accountBytes, result: resultBytes },
    read: emitted.left.map(({ part }) => part),
    external: { ...external, ...(output === null ? {} : { [OUTPUT]: output }) },
  };
};

/** Types of a job as an operation. */
interface FieldTypes {
  readonly input: FieldJob;
  readonly result: FieldOutcome;
  readonly step: JobPlan;
  /** Digests of the numbers as they are sent. */
  readonly expected: readonly number[];
  readonly part: readonly Uint32Array[];
}

/** Computes jobs. */
export const fieldOperation: Operation<FieldTypes, Setup> = {
  name: 'vectors',
  unit: 'products',
  residents: ({ residents }) => residents,
  output: ({ outputBytes }) => (outputBytes === 0 ? null : { account: VECTORS, label: 'vectors', bytes: outputBytes }),
  plan: (job, device) => [planOf(job, device, false), ...(job.check ? [planOf(job, device, true)] : [])],
  record(_, { emitted }, __, call, output): Submission<readonly number[]> {
    const { sent } = emitted;
    return {
      ...submissionOf(emitted, output),
      meanwhile: async () => {
        const slice = call.timeSlice();
        const digests: number[] = [];
        for (const { words, itemWords } of sent) digests.push(await digestInSlices(words, itemWords, slice));
        return digests;
      },
    };
  },
  cost: (_, { emitted }, { setup }) => emitted.products / setup.productsPerMs,
  async read(_, { emitted, read }, { accounts, result, data, expected }, { setup }, call) {
    if (emitted.sent.some(({ account }, k) => sumOfLanes(accounts, account) !== expected[k])) {
      throw new GpuFault('vectors', 'other numbers arrived than those that were sent');
    }
    const slice = call.timeSlice();
    for (const [k, { account }] of emitted.left.entries()) {
      const digest = await digestInSlices(data[k] as Uint32Array, setup.field.words, slice);
      if (sumOfLanes(accounts, account) === digest) continue;
      throw new GpuFault('vectors', 'other numbers were read than those that were computed');
    }
    const places = emitted.left.map(({ part }) => part.buffer);
    return read.map(
      ({ buffer, offset, size }) => data[places.indexOf(buffer)] ?? result.subarray(offset / 4, (offset + size) / 4),
    );
  },
  finish: (_, [done, check], __: Call, output) => {
    const { step, part } = done as { readonly step: JobPlan; readonly part: readonly Uint32Array[] };
    for (let i = 0; check !== undefined && i < check.part.length; i += 2) {
      if (!areEqual(check.part[i] as Uint32Array, check.part[i + 1] as Uint32Array)) {
        throw new GpuFault('verify', 'a second evaluation gives another result');
      }
    }
    return { output, data: part, products: step.emitted.products, passes: step.emitted.passes };
  },
  knownAnswer: ({ kinds }, setup) => knownVectors(setup, kinds),
};

/* Jobs on vectors as data. */

/** Kernels that have a known answer of their own. */
export type KnownKind = 'transform' | 'scan' | 'invert' | 'scalars';

/** One run, load or read. */
export interface FieldJob {
  /** Bytes of the buffer that stays; 0: none. */
  readonly outputBytes: number;
  readonly residents: readonly Resident[];
  /** Kernels whose known answers are wanted first. */
  readonly kinds: ReadonlySet<KnownKind>;
  /** Emits the commands. @returns the parts of the result */
  emit(emit: Emitter, output: Part | null): readonly Part[];
  /**
   * Emits a second evaluation. @returns pairs of parts that must be equal: of what `emit` left, and
   * of what this emits
   */
  readonly check?: ((emit: Emitter, output: Part | null) => readonly Part[]) | undefined;
}

/** Outcome of a job. */
export interface FieldOutcome {
  readonly output: GPUBuffer | null;
  /** Words of each part of the result. */
  readonly data: readonly Uint32Array[];
  readonly products: number;
  /** Passes of transforms. */
  readonly passes: number;
}

/* Costs of runs before they run. */

type View = DeviceView<FieldSetup>;

/** Costs of a job. */
type Costs = Pick<FieldPlan, 'products' | 'passes' | 'dispatches' | 'submits' | 'bytes'>;

const sizesOf = ({ emitted }: JobPlan, hasTimestamps: boolean): { dispatches: number; bytes: number } => {
  const planned = new PlannedSubmission(submissionOf(emitted, null), new Map(), hasTimestamps, 0);
  return { dispatches: planned.dispatches, bytes: bytesOf(wantsOf(planned.wanted)) };
};

/**
 * Returns the costs of a run.
 *
 * @param tables job that makes its table of powers first; null: there is one
 * @throws MsmError as `planOf`
 */
export const costsOf = (job: FieldJob, tables: FieldJob | null, view: View, hasTimestamps: boolean): Costs => {
  const plan = planOf(job, view, false);
  const { dispatches, bytes } = sizesOf(plan, hasTimestamps);
  const check = job.check ? sizesOf(planOf(job, view, true), hasTimestamps).bytes : 0;
  const kept = job.outputBytes === 0 ? 0 : bufferBytes(job.outputBytes);
  const run = kept + Math.max(bytes, check);
  const { products, passes } = plan.emitted;
  const counts = { products, passes, dispatches, submits: plan.submits };
  if (tables === null) return { ...counts, bytes: run };
  const made = sizesOf(planOf(tables, view, false), hasTimestamps).bytes;
  return { ...counts, bytes: bufferBytes(tables.outputBytes) + Math.max(made, run) };
};

/* Known answers of the kernels for vectors, for the self-test of a device. */

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
      const { words } = powerTables(field, { base: root, factor: 1n, length: (n / 2) ** 2 });
      const twiddles = { at: emit.upload(words), logLength: bits };
      const there = { from: 'natural', to: 'reversed', coset: 1n, factor: 1n } as const;
      const back = { from: 'reversed', to: 'natural', coset: 1n, factor: invert(BigInt(n), p) } as const;
      const step = (parameters: Transform, at: Part, mayOverwrite: boolean) => ({
        ...{ parameters, a: whole(at, n), length: n },
        ...{ mayOverwrite, twiddles },
      });
      const values = whole(emitTransform(emit, 'ntt', step(there, numbers, false)), n);
      const squares = emitElementwise(emit, 'multiply', [values, values], n);
      return emitTransform(emit, 'intt', step(back, squares, true));
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
  const config = packScalarsConfig(field, values);
  const groups = groupsFor(LENGTH, THREADS);
  emit.dispatch({ kernel: kernels.scalars(), config, bindings: { a, out }, groups }, LENGTH);
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
