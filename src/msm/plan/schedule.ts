import type { CurveContext } from '../../curves/curve.js';
import { itemsPerBindingStep, jobBytes, STORAGE_ALIGNMENT } from '../../shaders/limits.js';
import { type BudgetName, type Plan, type PlanLimits, planMsm, planTogether } from './planner.js';
import type { Knobs } from './tuning.js';
import { together, type Workload } from './workload.js';

/** A vector of scalars, of which the first multiplies base `offset`. */
export interface ScalarVector {
  readonly load: Workload;
  readonly offset: number;
  /** How far behind `offset` the bases of its scalars are, in ascending order; null if as far as the scalars. */
  readonly indices: Uint32Array | null;
}

/** Consecutive scalars of a vector. */
export interface Piece {
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
export type OwnName = (typeof own)[number];

/** Pieces that are computed as one, by one plan; where it has its stretches, in bytes. */
export interface Part {
  readonly plan: Plan;
  /** Scalars of the longest piece, at most those of the plan. */
  readonly n: number;
  readonly pieces: readonly Piece[];
  /** The bases to bind: [first, first + count), where `first` is such that a binding may start there. */
  readonly bases: { readonly first: number; readonly count: number };
  readonly at: Readonly<Record<OwnName, number>>;
  /** It begins a submit of its own, as the one before would become too long. */
  readonly apart: boolean;
}

/** Parts that are uploaded, computed and read back together. */
export interface Job {
  readonly parts: readonly Part[];
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
  vectors: readonly ScalarVector[],
  pieces: readonly Piece[],
  pointBytes: number,
): { first: number; count: number } => {
  const baseOf = (vector: number, scalar: number): number => {
    const { offset, indices } = vectors[vector] as ScalarVector;
    return offset + (indices === null ? scalar : (indices[scalar] as number));
  };
  const firsts = pieces.map(({ vector, first }) => baseOf(vector, first));
  const ends = pieces.map(({ vector, first, length }) => baseOf(vector, first + length - 1) + 1);
  const least = firsts.reduce((left, right) => Math.min(left, right));
  const first = least - (least % itemsPerBindingStep(pointBytes));
  return { first, count: ends.reduce((left, right) => Math.max(left, right)) - first };
};

type UnplacedPart = Pick<Part, 'plan' | 'n' | 'pieces' | 'bases'>;

/** Parts of a job at most: by then a submit is nothing beside them. */
const MOST_PARTS = 64;

/** Vectors of a part at most; more have nothing to gain from each other. */
const MOST_VECTORS = 2 ** 12;

/** A shorter vector is filled up to the longest of its part; no more than as much again. */
const MOST_FILLED_UP = 2;

/** Cuts vectors into parts: those of about equal length together, those too long for one by one in chunks. */
const cutIntoParts = (
  vectors: readonly ScalarVector[],
  curve: CurveContext,
  limits: PlanLimits,
  budget: number,
  tuning: Knobs,
  name: BudgetName | undefined,
): UnplacedPart[] => {
  const lengthOf = (vector: number): number => (vectors[vector] as ScalarVector).load.n;
  const whole = (vector: number): Piece => ({ vector, first: 0, length: lengthOf(vector) });
  const waiting = vectors.map((_, i) => i).filter((vector) => lengthOf(vector) > 0);
  waiting.sort((left, right) => lengthOf(right) - lengthOf(left));
  const parts: UnplacedPart[] = [];
  while (waiting.length > 0) {
    const [longest] = waiting as [number];
    const pointBytes = curve.pointBytes * (vectors[longest] as ScalarVector).load.tables.count;
    const bases = (chosen: readonly number[]) => basesOf(vectors, chosen.map(whole), pointBytes);
    let chosen = waiting
      .slice(0, MOST_VECTORS)
      .filter((vector) => MOST_FILLED_UP * lengthOf(vector) >= lengthOf(longest));
    let plan: Plan | null = null;
    while (chosen.length > 1) {
      if (bases(chosen).count * pointBytes <= limits.maxStorageBufferBindingSize) {
        const load = together(chosen.map((vector) => (vectors[vector] as ScalarVector).load));
        plan = planTogether(load, curve, limits, budget, tuning);
        if (plan !== null) break;
      }
      chosen = chosen.slice(0, Math.ceil(chosen.length / 2));
    }
    if (plan !== null) {
      parts.push({ plan, n: plan.n, pieces: chosen.map(whole), bases: bases(chosen) });
    } else {
      const chunk = planMsm((vectors[longest] as ScalarVector).load, curve, limits, budget, tuning, name);
      for (let first = 0; first < lengthOf(longest); first += chunk.n) {
        const length = Math.min(chunk.n, lengthOf(longest) - first);
        const pieces = [{ vector: longest, first, length }];
        parts.push({ plan: chunk, n: length, pieces, bases: basesOf(vectors, pieces, pointBytes) });
      }
    }
    waiting.splice(0, chosen.length);
  }
  return parts;
};

/** Where parts of one job have their stretches, and what they take; they share all scratch but what is their own. */
const layParts = (
  parts: readonly UnplacedPart[],
): Pick<Job, 'scratch' | 'accounts' | 'bitSums'> & { at: Part['at'][]; peakBytes: number } => {
  const taken: Record<string, number> = {};
  const at = parts.map(({ plan }) => {
    const starts = Object.fromEntries(own.map((name) => [name, aligned(taken[name] ?? 0)])) as Record<OwnName, number>;
    for (const [name, bytes] of Object.entries(plan.scratch)) {
      const start = starts[name as OwnName];
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
const place = (parts: readonly UnplacedPart[]): Job => {
  const { at, scratch, accounts, bitSums, peakBytes } = layParts(parts);
  let additions = 0;
  let submits = 0;
  const placed = parts.map((part, i): Part => {
    const { plan } = part;
    const apart = submits === 0 || plan.submits > 1 || additions + plan.additions > plan.tuning.additionsPerSubmit;
    additions = apart ? plan.additions : additions + plan.additions;
    submits += apart ? plan.submits : 0;
    return { ...part, at: at[i] as Part['at'], apart };
  });
  return { parts: placed, scratch, accounts, bitSums, submits, peakBytes };
};

/**
 * Decides what is computed together: vectors of about equal length become parts, and as many parts as the budget has room for become a
 * job, which takes one map, and one submit unless it would hold the GPU for too long. Vectors without scalars are in none.
 *
 * @param name what to call the budget where it is too small
 * @throws MsmError `bad-argument` where not even one scalar at a time fits the budget
 */
export const schedule = (
  vectors: readonly ScalarVector[],
  curve: CurveContext,
  limits: PlanLimits,
  budget: number,
  tuning: Knobs,
  name?: BudgetName,
): Job[] => {
  const fits = (parts: readonly UnplacedPart[]): boolean => {
    const { scratch, bitSums, peakBytes } = layParts(parts);
    const largest = Math.min(limits.maxBufferSize, limits.maxStorageBufferBindingSize);
    return peakBytes <= budget && [bitSums, ...Object.values(scratch)].every((bytes) => bytes <= largest);
  };
  const jobs: UnplacedPart[][] = [];
  for (const part of cutIntoParts(vectors, curve, limits, budget, tuning, name)) {
    const last = jobs.at(-1);
    // the checks look at one MSM at a time
    const joins = last !== undefined && last.length < MOST_PARTS && part.plan.checks === undefined;
    if (joins && fits([...last, part])) last.push(part);
    else jobs.push([part]);
  }
  return jobs.map(place);
};
