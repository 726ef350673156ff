import type { Tuning } from '../../api/device.js';
import type { CurveContext } from '../../curves/curve.js';
import { type Command, type Kernel, type KernelPart, once } from '../../shaders/kernel.js';
import type { KernelWithArray } from '../../shaders/limits.js';
import { decomposeKernel } from './decompose.js';
import { digestKernel } from './entry.js';
import { importKernel } from './import.js';
import { normalizeKernel } from './normalize.js';
import { partitionKernel } from './partition.js';
import { programKernel } from './program.js';
import { reduceKernel } from './reduce.js';
import { type SortKernels, type SortShape, sortKernels } from './sort.js';
import { type TablesKernels, tablesKernels } from './tables.js';
import { type WalkShape, walkKernel } from './walk.js';
import { walkXyzzKernel } from './walk-xyzz.js';

/** The kernels of one curve; each is rendered once. */
export interface Kernels {
  readonly curve: CurveContext;
  program(): Kernel;
  importPoints(): Kernel;
  tables(): TablesKernels;
  digest(): Kernel;
  decompose(): Kernel;
  sort(shape: SortShape): SortKernels;
  partition(): Kernel;
  walk(shape: WalkShape): Kernel;
  walkXyzz(shape: Pick<WalkShape, 'threads' | 'instrumented'>): Kernel;
  normalize(): Kernel;
  reduce(): Kernel;
}

/**
 * @param walkPart kernel part that walks include whose shape is `instrumented`
 * @param padded kernels whose private arrays are padded (`localLength`)
 */
export const createKernels = (
  curve: CurveContext,
  walkPart?: KernelPart,
  padded: readonly KernelWithArray[] = [],
): Kernels => ({
  curve,
  program: once(() => programKernel(curve, padded.includes('program'))),
  importPoints: once(() => importKernel(curve)),
  tables: once(() => tablesKernels(curve, padded.includes('tables'))),
  digest: once(digestKernel),
  decompose: once(() => decomposeKernel(curve)),
  sort: once(sortKernels),
  partition: once(partitionKernel),
  walk: once((shape: WalkShape) => walkKernel(curve, shape, shape.instrumented ? walkPart : undefined)),
  walkXyzz: once(({ threads, instrumented }: Pick<WalkShape, 'threads' | 'instrumented'>) =>
    walkXyzzKernel(curve, threads, instrumented ? walkPart : undefined),
  ),
  normalize: once(() => normalizeKernel(curve)),
  reduce: once(reduceKernel),
});

/** Sizes of a plan that decide how much scratch an instrument needs. */
export interface InstrumentedSizes {
  /** Bytes of the sorted stream of one group of windows. */
  readonly streamBytes: number;
  /** Buckets of all windows. */
  readonly buckets: number;
  /** Walks of the reduction. */
  readonly walks: InstrumentedPlan['reduce']['walks'];
}

/** Fields of a plan that an instrument reads to find its way through the commands. */
export interface InstrumentedPlan {
  readonly tuning: Pick<Tuning, 'walkerCoordinates'>;
  readonly blocks: number;
  readonly tables: number;
  readonly buckets: number;
  readonly windows: number;
  readonly vectorWindows: number;
  readonly windowsPerGroup: number;
  readonly levelTasks: readonly number[];
  readonly reduce: {
    /** The walks in their order; every task is one run. */
    readonly walks: readonly { readonly entries: number; readonly tasks: number }[];
  };
  /** Bytes by the name of the buffer, those of `Instrument.scratch` included. */
  readonly scratch: Readonly<Record<string, number>>;
}

/**
 * A tool that observes the stages of an MSM while they compute, as `dev/checks` does. The engine
 * knows no tool by name: it plans room for the tool, lets it add commands, and asks it what it
 * found. With an instrument a job has one batch, and calls are neither coalesced nor reduced to
 * their nonzero scalars.
 */
export interface Instrument {
  /** Returns bytes of the extra scratch buffers by name. */
  scratch(sizes: InstrumentedSizes): Readonly<Record<string, number>>;
  /**
   * Returns how many dispatches the instrument adds.
   *
   * @param levels walks over the sorted stream and its partial sums
   * @param walks walks of the reduction
   */
  dispatches(groups: number, levels: number, walks: number): number;
  /**
   * Returns the words of the findings, which precede the accounts of the stages.
   *
   * @param walks walks over the sorted stream and its partial sums, and those of the reduction
   */
  findingsWords(walks: number): number;
  /** Bindings and WGSL that the walk kernel includes where its shape is `instrumented`. */
  readonly walk: KernelPart;
  /** Returns the commands of a batch with those of the instrument between them. */
  instrument(
    curve: CurveContext,
    batch: { readonly plan: InstrumentedPlan; readonly n: number },
    commands: readonly Command[],
  ): Command[];
  /**
   * Reads the findings of a job.
   *
   * @param accounts words that the job returned, with the findings in front
   * @param levels walks over the sorted stream and its partial sums
   * @param walks these and the walks of the reduction
   * @returns null if nothing was found, else the stage and the finding
   */
  read(accounts: Uint32Array, levels: number, walks: number): readonly [stage: string, finding: string] | null;
}
