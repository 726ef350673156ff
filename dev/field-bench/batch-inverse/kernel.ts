/**
 * Kernels of field-bench that invert batches with a shared inversion, in a thread or a workgroup.
 */
import { digitsOf, invert, LIMB_BITS, type Modulus, mod, readWords } from '../../../src/field/modulus.js';
import { fieldView } from '../../../src/field/wgsl.js';
import { type Kernel, kernel } from '../../../src/shaders/kernel.js';
import { renderShader } from '../../../src/shaders/partials.js';
import { Random } from '../../oracle/known-bases.js';
import { ChainConfig, libraryVariant, matrices } from '../kernels.js';
import type { Subject } from '../rig.js';
import columns from './columns.wgsl?template';
import template from './kernel.wgsl?template';
import trick from './trick.wgsl?template';

/** Threads that share an inversion. */
export type Scope = 'thread' | 'workgroup columns';

export interface BatchInversion {
  readonly scope: Scope;
  /** Numbers a thread inverts. */
  readonly size: number;
  /** Threads of a workgroup, a power of two. */
  readonly threads: number;
  /** Inversions of a workgroup that shares them in columns: a power of two, at most `threads`. */
  readonly roots: number;
}

/** WGSL for a thread that does not share its inversion. */
const alone = 'fn shared_inverse(own: Tight, thread: u32) -> Tight { return field_inverse(own); }';

/**
 * Returns the batches to measure. `lanes` is the number of lanes in lockstep; only rates depend on
 * it.
 */
export const batchInversions = (lanes: number): BatchInversion[] => [
  ...[1, 4, 8, 16, 32].map((size) => ({ scope: 'thread' as const, size, threads: 64, roots: 1 })),
  ...[1, 4, 8, 16].map((size) => ({
    ...{ scope: 'workgroup columns' as const, size, threads: 64 },
    roots: Math.min(64, lanes),
  })),
];

export const describeBatch = ({ scope, threads, roots }: BatchInversion): string =>
  scope === 'thread' ? scope : `${scope}, ${threads} in ${roots}`;

/** Returns a kernel that inverts canonical numbers in Montgomery form in place, `size` a thread. */
export const batchKernel = (m: Modulus, batch: BatchInversion): Kernel => {
  const { scope, size, threads, roots } = batch;
  const view = { ...fieldView(m), size, threads, roots };
  return kernel(
    'batch_inverse',
    template,
    [
      { name: 'config', access: 'uniform', type: 'ChainConfig' },
      { name: 'values', access: 'write', type: 'array<Packed>' },
    ],
    {
      declarations: renderShader(
        [['field', '>'], ['inverse', '>'], ...matrices, ...trick, ...(scope === 'thread' ? [alone] : columns)],
        view,
      ),
      structs: ChainConfig.wgsl,
      threads,
    },
  );
};

/** Returns what the kernel makes of x·R: the inverse is 1/x·R, and that of 0 is 0. */
const batchApplied = (m: Modulus, x: bigint, steps: number): bigint => {
  const r = 1n << BigInt(LIMB_BITS * m.limbs);
  let value = x;
  for (let step = 0; step < steps; step++) {
    value ^= BigInt(step & 1);
    if (value !== 0n) value = mod(invert(value, m.p) * r * r, m.p);
  }
  return value;
};

/**
 * Number of distinct operands, which repeat for all threads because BigInts are slow. It is prime,
 * so that no two threads of a workgroup start with the same operands.
 */
const OPERANDS = 4099;

/** Largest number of threads of a dispatch, so that the numbers fit in a binding of any device. */
const MOST_THREADS = 65_536;

export const batchSubject = (m: Modulus, batch: BatchInversion, wanted: number): Subject => {
  const threads = Math.min(wanted, MOST_THREADS);
  const random = new Random(batch.size);
  const operands = Array.from({ length: OPERANDS }, (_, i) => (i === 0 ? 0n : random.belowBig(m.p)));
  const words = operands.map((value) => digitsOf(value, 32, m.words));
  const values = new Uint32Array(threads * batch.size * m.words);
  for (let i = 0; i < threads * batch.size; i++) values.set(words[i % OPERANDS] as number[], i * m.words);
  const [variant, name] = [libraryVariant(m.product), `batch inversion, ${describeBatch(batch)}`];
  return {
    ...{ variant, name, threads, values, groupThreads: batch.threads, chains: batch.size, perStep: 1 },
    multiplyAdds: null,
    kernel: batchKernel(m, batch),
    check: {
      got: (results, at) => readWords(results, at * m.words, m.words),
      expected: (at, steps) => batchApplied(m, operands[at % OPERANDS] as bigint, steps),
    },
  };
};
