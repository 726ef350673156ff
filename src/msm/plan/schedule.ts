import type { CurveContext } from '../../curves/curve.js';
import { itemsPerBindingStep, jobBytes, STORAGE_ALIGNMENT } from '../../shaders/limits.js';
import { type BudgetName, type Plan, type PlanLimits, planMsm, planTogether } from './planner.js';
import type { Knobs } from './tuning.js';
import { together, type Workload } from './workload.js';

/** A vector of scalars, of which the first multiplies base `offset`. */
export interface VectorShape {
  readonly load: Workload;
  readonly offset: number;
  /** How far behind `offset` the bases of its scalars are, in ascending order; null if as far as the scalars. */
  readonly indices: Uint32Array | null;
}

/** Consecutive scalars of a vector. */
export interface Chunk {
  /** Index of the vector. */
  readonly vector: number;
  readonly first: number;
  readonly length: number;
}

/** Buffers of which every part of a job has a stretch of its own: what goes in before the first part, and what comes out after the last. */
const own = [
  'scalars',
  'vectors',
  'picks',
  'accounts',
  'bitSums',
] as const satisfies readonly (keyof Plan['scratch'])[];
export type WeierstrassName = (typeof own)[number];

/** Pieces that are computed as one, by one plan; where it has its stretches, in bytes. */
export interface Batch {
  readonly plan: Plan;
  /** Scalars of the longest piece, at most those of the plan. */
  readonly n: number;
  readonly chunks: readonly Chunk[];
  /** The bases to bind: [first, first + count), where `first` is such that a binding may start there. */
  readonly bases: { readonly first: number; readonly count: number };
  readonly at: Readonly<Record<WeierstrassName, number>>;
  /** It begins a submit of its own, as the one before would become too long. */
  readonly ownSubmit: boolean;
}

/** Parts that are uploaded, computed and read back together. */
export interface Job {
  readonly batches: readonly Batch[];
  readonly scratch: Readonly<Record<string, number>>;
  /** Bytes of what comes back: the stretches of `accounts`, and those of `bitSums`. */
  readonly accounts: number;
  readonly bitSums: number;
  readonly submits: number;
  /** Bytes of all that it takes at the same time, beside the bases. */
  readonly peakBytes: number;
}

const aligned = (bytes: number): number => Math.ceil(bytes / STORAGE_ALIGNMENT) * STORAGE_ALIGNMENT;

/** The bases that pieces take, from a place on where a binding may start. */
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

/** Parts of a job at most: by then a submit is nothing beside them. */
const MOST_BATCHES = 64;

/** Vectors of a part at most; more have nothing to gain from each other. */
const MOST_VECTORS = 2 ** 12;

/** A shorter vector is filled up to the longest of its part; no more than as much again. */
const MOST_FILLED_UP = 2;

/** Cuts vectors into parts: those of about equal length together, those too long for one by one in chunks. */
const cutIntoBatches = (
  vectors: readonly VectorShape[],
  curve: CurveContext,
  limits: PlanLimits,
  budget: number,
  tuning: Knobs,
  name: BudgetName | undefined,
): UnplacedBatch[] => {
  const lengthOf = (vector: number): number => (vectors[vector] as VectorShape).load.n;
  const whole = (vector: number): Chunk => ({ vector, first: 0, length: lengthOf(vector) });
  const waiting = vectors.map((_, i) => i).filter((vector) => lengthOf(vector) > 0);
  waiting.sort((left, right) => lengthOf(right) - lengthOf(left));
  const parts: UnplacedBatch[] = [];
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
      parts.push({ plan, n: plan.n, chunks: chosen.map(whole), bases: bases(chosen) });
    } else {
      const chunk = planMsm((vectors[longest] as VectorShape).load, curve, limits, budget, tuning, name);
      for (let first = 0; first < lengthOf(longest); first += chunk.n) {
        const length = Math.min(chunk.n, lengthOf(longest) - first);
        const chunks = [{ vector: longest, first, length }];
        parts.push({ plan: chunk, n: length, chunks, bases: basesOf(vectors, chunks, pointBytes) });
      }
    }
    waiting.splice(0, chosen.length);
  }
  return parts;
};

/** Where parts of one job have their stretches, and what they take; they share all scratch but what is their own. */
const layOutBatches = (
  parts: readonly UnplacedBatch[],
): Pick<Job, 'scratch' | 'accounts' | 'bitSums'> & { at: Batch['at'][]; peakBytes: number } => {
  const taken: Record<string, number> = {};
  const at = parts.map(({ plan }) => {
    const starts = Object.fromEntries(own.map((name) => [name, aligned(taken[name] ?? 0)])) as Record<
      WeierstrassName,
      number
    >;
    for (const [name, bytes] of Object.entries(plan.scratch)) {
      const start = starts[name as WeierstrassName];
      taken[name] = start === undefined ? Math.max(taken[name] ?? 0, bytes) : start + bytes;
    }
    return starts;
  });
  const total = (counted: (plan: Plan) => number): number => parts.reduce((sum, { plan }) => sum + counted(plan), 0);
  const { accounts = 0, bitSums = 0, ...scratch } = taken;
  const { all } = jobBytes(
    accounts,
    bitSums,
    total(({ dispatches }) => dispatches),
    total(({ timedPasses }) => timedPasses),
  );
  return { at, scratch, accounts, bitSums, peakBytes: Object.values(scratch).reduce((sum, bytes) => sum + bytes, all) };
};

/** Gives every part its stretches and its place in a submit. */
const place = (parts: readonly UnplacedBatch[]): Job => {
  const { at, scratch, accounts, bitSums, peakBytes } = layOutBatches(parts);
  let additions = 0;
  let submits = 0;
  const placed = parts.map((part, i): Batch => {
    const { plan } = part;
    const ownSubmit = submits === 0 || plan.submits > 1 || additions + plan.additions > plan.tuning.additionsPerSubmit;
    additions = ownSubmit ? plan.additions : additions + plan.additions;
    submits += ownSubmit ? plan.submits : 0;
    return { ...part, at: at[i] as Batch['at'], ownSubmit };
  });
  return { batches: placed, scratch, accounts, bitSums, submits, peakBytes };
};

/**
 * Decides what is computed together: vectors of about equal length become parts, and as many parts as the budget has room for become a
 * job, which takes one map, and one submit unless it would hold the GPU for too long. Vectors without scalars are in none.
 *
 * @param name what to call the budget where it is too small
 * @throws MsmError `bad-argument` where not even one scalar at a time fits the budget
 */
export const schedule = (
  vectors: readonly VectorShape[],
  curve: CurveContext,
  limits: PlanLimits,
  budget: number,
  tuning: Knobs,
  name?: BudgetName,
): Job[] => {
  const fits = (parts: readonly UnplacedBatch[]): boolean => {
    const { scratch, bitSums, peakBytes } = layOutBatches(parts);
    const largest = Math.min(limits.maxBufferSize, limits.maxStorageBufferBindingSize);
    return peakBytes <= budget && [bitSums, ...Object.values(scratch)].every((bytes) => bytes <= largest);
  };
  const jobs: UnplacedBatch[][] = [];
  for (const part of cutIntoBatches(vectors, curve, limits, budget, tuning, name)) {
    const last = jobs.at(-1);
    // the checks look at one MSM at a time
    const joins = last !== undefined && last.length < MOST_BATCHES && part.plan.checks === undefined;
    if (joins && fits([...last, part])) last.push(part);
    else jobs.push([part]);
  }
  return jobs.map(place);
};
