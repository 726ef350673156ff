import type { CurveContext } from '../../curves/curve.js';
import { LANES } from '../../shaders/hash-chain.js';
import { aligned, itemsPerBindingStep, jobBytes } from '../../shaders/limits.js';
import { type Plan, planMsm, planTogether, type Room } from './planner.js';
import type { Knobs } from './tuning.js';
import { together, type Workload } from './workload.js';

/** A vector of scalars whose first scalar multiplies base `offset`. */
export interface VectorShape {
  readonly load: Workload;
  readonly offset: number;
  /**
   * Indices of the bases of its scalars, counted from `offset`, in ascending order; null if the
   * bases are consecutive.
   */
  readonly indices: Uint32Array | null;
  /** Present if the device has the scalars, and converts them. */
  readonly onDevice?: object;
}

/** Consecutive scalars of a vector. */
export interface Chunk {
  /** Index of the vector. */
  readonly vector: number;
  readonly first: number;
  readonly length: number;
  /**
   * First word of the digest that the device computes of the scalars, among the accounts; absent
   * where the host has them.
   */
  readonly sentAt?: number;
}

/**
 * Buffers of which every batch of a job has a slice of its own: inputs, and results that the host
 * reads back.
 */
const own = [
  'scalars',
  'vectors',
  'picks',
  'accounts',
  'bitSums',
] as const satisfies readonly (keyof Plan['scratch'])[];
export type OwnName = (typeof own)[number];

/** Chunks of vectors that one plan computes together. */
export interface Batch {
  readonly plan: Plan;
  /** Scalars of the longest chunk, at most those of the plan. */
  readonly n: number;
  readonly chunks: readonly Chunk[];
  /** The bases to bind, [first, first + count). A binding may start at `first`. */
  readonly bases: { readonly first: number; readonly count: number };
  /** Offsets of its slices, in bytes. */
  readonly at: Readonly<Record<OwnName, number>>;
  /** Begins a submit of its own, because the one before would take too long with it. */
  readonly ownSubmit: boolean;
}

/** Batches that are uploaded, computed and read back together. */
export interface Job {
  readonly batches: readonly Batch[];
  readonly scratch: Readonly<Record<string, number>>;
  /** Bytes of all `accounts` and of all `bitSums`, which the host reads back. */
  readonly accounts: number;
  readonly bitSums: number;
  readonly submits: number;
  /** Bytes that the job takes at the same time, bases not counted. */
  readonly peakBytes: number;
}

/** Returns the bases of chunks, from an index at which a binding may start. */
const basesOf = (
  vectors: readonly VectorShape[],
  chunks: readonly Chunk[],
  pointBytes: number,
): { first: number; count: number } => {
  const baseOf = (vector: number, scalar: number): number => {
    const { offset, indices } = vectors[vector] as VectorShape;
    return offset + (indices === null ? scalar : (indices[scalar] as number));
  };
  const firsts = chunks.map(({ vector, first }) => baseOf(vector, first));
  const ends = chunks.map(({ vector, first, length }) => baseOf(vector, first + length - 1) + 1);
  const least = firsts.reduce((left, right) => Math.min(left, right));
  const first = least - (least % itemsPerBindingStep(pointBytes));
  return { first, count: ends.reduce((left, right) => Math.max(left, right)) - first };
};

type UnplacedBatch = Pick<Batch, 'plan' | 'n' | 'chunks' | 'bases'>;

/** The most batches of a job; beyond them the cost of a submit is negligible. */
const MOST_BATCHES = 64;

/** The most vectors of a batch; more of them gain nothing. */
const MOST_VECTORS = 2 ** 12;

/**
 * The most that the padding of shorter vectors may grow a vector: they are padded to the longest of
 * their batch.
 */
const MOST_FILLED_UP = 2;

/**
 * Cuts vectors into batches: vectors of about equal length together, and vectors that are too long
 * in chunks.
 */
const cutIntoBatches = (
  vectors: readonly VectorShape[],
  curve: CurveContext,
  { limits, budget, name }: Room,
  tuning: Knobs,
): UnplacedBatch[] => {
  const lengthOf = (vector: number): number => (vectors[vector] as VectorShape).load.n;
  const whole = (vector: number): Chunk => ({ vector, first: 0, length: lengthOf(vector) });
  const waiting = vectors.map((_, i) => i).filter((vector) => lengthOf(vector) > 0);
  waiting.sort((left, right) => lengthOf(right) - lengthOf(left));
  const batches: UnplacedBatch[] = [];
  while (waiting.length > 0) {
    const [longest] = waiting as [number];
    const pointBytes = curve.pointBytes * (vectors[longest] as VectorShape).load.tables.count;
    const bases = (chosen: readonly number[]) => basesOf(vectors, chosen.map(whole), pointBytes);
    let chosen = waiting
      .slice(0, MOST_VECTORS)
      .filter((vector) => MOST_FILLED_UP * lengthOf(vector) >= lengthOf(longest));
    let plan: Plan | null = null;
    while (chosen.length > 1) {
      if (bases(chosen).count * pointBytes <= limits.maxStorageBufferBindingSize) {
        const load = together(chosen.map((vector) => (vectors[vector] as VectorShape).load));
        plan = planTogether(load, curve, limits, budget, tuning);
        if (plan !== null) break;
      }
      chosen = chosen.slice(0, Math.ceil(chosen.length / 2));
    }
    if (plan !== null) {
      batches.push({ plan, n: plan.n, chunks: chosen.map(whole), bases: bases(chosen) });
    } else {
      const chunk = planMsm((vectors[longest] as VectorShape).load, curve, { limits, budget, name }, tuning);
      for (let first = 0; first < lengthOf(longest); first += chunk.n) {
        const length = Math.min(chunk.n, lengthOf(longest) - first);
        const chunks = [{ vector: longest, first, length }];
        batches.push({ plan: chunk, n: length, chunks, bases: basesOf(vectors, chunks, pointBytes) });
      }
    }
    waiting.splice(0, chosen.length);
  }
  return batches;
};

/** Returns true if the device converts the scalars of a chunk. */
const isConverted = (vectors: readonly VectorShape[], { vector }: Chunk): boolean =>
  (vectors[vector] as VectorShape).onDevice !== undefined;

/** The most bytes of the account, the config, the link and the times of one conversion. */
const CONVERSION_BYTES = 2 ** 11;

/**
 * Lays out the slices of batches in one job. Batches share all scratch but the buffers of `own`.
 */
const layOutBatches = (
  batches: readonly UnplacedBatch[],
  vectors: readonly VectorShape[],
): Pick<Job, 'scratch' | 'accounts' | 'bitSums'> & { at: Batch['at'][]; sentAt: number; peakBytes: number } => {
  const taken: Record<string, number> = {};
  const at = batches.map(({ plan }) => {
    const starts = Object.fromEntries(own.map((name) => [name, aligned(taken[name] ?? 0)])) as Record<OwnName, number>;
    for (const [name, bytes] of Object.entries(plan.scratch)) {
      const start = starts[name as OwnName];
      taken[name] = start === undefined ? Math.max(taken[name] ?? 0, bytes) : start + bytes;
    }
    return starts;
  });
  const total = (counted: (plan: Plan) => number): number => batches.reduce((sum, { plan }) => sum + counted(plan), 0);
  const { accounts: ofStages = 0, bitSums = 0, ...scratch } = taken;
  const conversions = batches.flatMap(({ chunks }) => chunks.filter((chunk) => isConverted(vectors, chunk))).length;
  const accounts = ofStages + conversions * 4 * LANES;
  const { all } = jobBytes(
    accounts,
    bitSums,
    total(({ dispatches }) => dispatches) + conversions,
    total(({ timedPasses }) => timedPasses) + conversions,
  );
  return {
    at,
    sentAt: ofStages / 4,
    scratch,
    accounts,
    bitSums,
    peakBytes: Object.values(scratch).reduce((sum, bytes) => sum + bytes, all),
  };
};

/** Makes a job of batches: gives each its slices and decides which begin a submit. */
const jobOf = (batches: readonly UnplacedBatch[], vectors: readonly VectorShape[]): Job => {
  const { at, sentAt, scratch, accounts, bitSums, peakBytes } = layOutBatches(batches, vectors);
  let converted = 0;
  const withAccount = (chunk: Chunk): Chunk =>
    isConverted(vectors, chunk) ? { ...chunk, sentAt: sentAt + LANES * converted++ } : chunk;
  let additions = 0;
  let submits = 0;
  const placed = batches.map((batch, i): Batch => {
    const { plan } = batch;
    const ownSubmit = submits === 0 || plan.submits > 1 || additions + plan.additions > plan.tuning.additionsPerSubmit;
    additions = ownSubmit ? plan.additions : additions + plan.additions;
    submits += ownSubmit ? plan.submits : 0;
    return { ...batch, chunks: batch.chunks.map(withAccount), at: at[i] as Batch['at'], ownSubmit };
  });
  return { batches: placed, scratch, accounts, bitSums, submits, peakBytes };
};

/**
 * Decides what is computed together. Vectors of about equal length become a batch, and as many
 * batches as fit the budget become a job. A job takes one map, and one submit unless that would
 * hold the GPU for too long. Vectors without scalars are in no batch.
 *
 * @throws MsmError `bad-argument` if not even one scalar at a time fits the budget
 */
export const schedule = (
  vectors: readonly VectorShape[],
  curve: CurveContext,
  { limits, budget, name }: Room,
  tuning: Knobs,
): Job[] => {
  const fits = (batches: readonly UnplacedBatch[]): boolean => {
    const { scratch, bitSums, peakBytes } = layOutBatches(batches, vectors);
    const largest = Math.min(limits.maxBufferSize, limits.maxStorageBufferBindingSize);
    return peakBytes <= budget && [bitSums, ...Object.values(scratch)].every((bytes) => bytes <= largest);
  };
  const jobs: UnplacedBatch[][] = [];
  const conversions = vectors.filter(({ onDevice }) => onDevice !== undefined).length;
  const forPlans = budget - conversions * CONVERSION_BYTES;
  for (const batch of cutIntoBatches(vectors, curve, { limits, budget: forPlans, name }, tuning)) {
    const last = jobs.at(-1);
    // an instrument observes one MSM at a time
    const joins = last !== undefined && last.length < MOST_BATCHES && batch.plan.instrument === undefined;
    if (joins && fits([...last, batch])) last.push(batch);
    else jobs.push([batch]);
  }
  return jobs.map((batches) => jobOf(batches, vectors));
};
