import type { CurveContext } from '../../src/curves/curve.js';
import { type Affine, addAffine, infinityOf, type Jacobian, negated, toAffine } from '../../src/curves/jacobian.js';
import { ABSENT, ENTRY_WORDS, INDEX_MASK, NEGATE } from '../../src/msm/stages/entry.js';
import { taskStart } from './partition.js';
import { readPoint, writePoint } from './points.js';

/** Cut of one walk into tasks, by partition. */
export interface Cut {
  readonly entries: number;
  readonly tasks: number;
  readonly quotient: number;
  readonly remainder: number;
}

/** Results of a walk over values of type `Value`. */
export interface WalkOf<Value> {
  /** Both carries of every task: the stream of the next level. */
  readonly carries: Uint32Array<ArrayBuffer>;
  /** Partial sums of the carries, by index; null for absent carries. */
  readonly partials: (Value | null)[];
  /** Sums of the runs that begin and end inside one task. */
  readonly sums: Map<number, Value>;
  /** Tasks that wrote each key of `sums`: one, unless the rules are broken. */
  readonly writers: Map<number, number[]>;
}

/**
 * Walks a stream by the three rules of wgsl/msm/walk.wgsl, a segmented reduction over values of any
 * kind.
 *
 * @param add adds the value of a point reference to a sum; an empty sum is null
 */
export const walkOf = <Value>(
  { entries, tasks, ...cut }: Cut,
  stream: Uint32Array,
  add: (sum: Value | null, pointRef: number) => Value,
): WalkOf<Value> => {
  const keyAt = (i: number): number => stream[i * ENTRY_WORDS] as number;
  const pointRefAt = (i: number): number => stream[i * ENTRY_WORDS + 1] as number;
  const carries = new Uint32Array(2 * tasks * ENTRY_WORDS);
  const partials = new Array<Value | null>(2 * tasks).fill(null);
  const sums = new Map<number, Value>();
  const writers = new Map<number, number[]>();

  for (let t = 0; t < tasks; t++) {
    const [start, end] = [taskStart(cut, t), taskStart(cut, t + 1)];
    const before = start > 0 ? keyAt(start - 1) : 0;
    carries.set([start < end ? keyAt(start) : before, ABSENT, start < end ? keyAt(end - 1) : before, ABSENT], 4 * t);
    for (let i = start; i < end; ) {
      const key = keyAt(i);
      const first = i;
      let sum: Value | null = null;
      for (; i < end && keyAt(i) === key; i++) if (pointRefAt(i) !== ABSENT) sum = add(sum, pointRefAt(i));
      if (sum === null) continue;
      const openLeft = first > 0 && keyAt(first - 1) === key;
      const openRight = i < entries && keyAt(i) === key;
      if (!openLeft && !openRight) {
        sums.set(key, sum);
        writers.set(key, [...(writers.get(key) ?? []), t]);
      } else {
        const carry = 2 * t + (openLeft ? 0 : 1);
        partials[carry] = sum;
        carries[carry * ENTRY_WORDS + 1] = carry;
      }
    }
  }
  return { carries, partials, sums, writers };
};

/** Results of a walk over points, as in the buffers of the GPU. */
export interface Walked {
  readonly carries: Uint32Array<ArrayBuffer>;
  readonly partials: Uint32Array<ArrayBuffer>;
  readonly writers: Map<number, number[]>;
}

/**
 * CPU reference of wgsl/msm/walk.wgsl: the rules above, with sums in Jacobian coordinates. Writes
 * `sums` in place, as the GPU does, and only keys with a present entry.
 */
export const walk = (
  curve: CurveContext,
  cut: Cut,
  stream: Uint32Array,
  points: Uint32Array,
  sums: Uint32Array,
): Walked => {
  const pointOf = (pointRef: number): Affine => {
    const point = readPoint(curve, points, pointRef & INDEX_MASK);
    return point !== null && pointRef >= NEGATE ? negated(curve, point) : point;
  };
  const walked = walkOf<Jacobian>(cut, stream, (sum, pointRef) =>
    addAffine(curve, sum ?? infinityOf(curve), pointOf(pointRef)),
  );
  for (const [key, sum] of walked.sums) writePoint(curve, sums, key, toAffine(curve, sum));
  const partials = new Uint32Array(2 * cut.tasks * curve.pointWords);
  walked.partials.forEach((sum, place) => {
    if (sum !== null) writePoint(curve, partials, place, toAffine(curve, sum));
  });
  return { carries: walked.carries, partials, writers: walked.writers };
};
