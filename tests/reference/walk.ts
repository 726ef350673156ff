import type { CurveContext } from '../../src/curves/curve.js';
import { type Affine, addAffine, infinityOf, type Jacobian, negated, toAffine } from '../../src/curves/jacobian.js';
import { ABSENT, ENTRY_WORDS, INDEX_MASK, NEGATE } from '../../src/msm/stages/entry.js';
import { taskStart } from './partition.js';
import { readPoint, writePoint } from './points.js';

/** The cut of one walk, as partition makes it. */
export interface Cut {
  readonly entries: number;
  readonly tasks: number;
  readonly quotient: number;
  readonly remainder: number;
}

/** What a walk leaves behind, with `Value` for what it sums. */
export interface WalkOf<Value> {
  /** Both places of every task: the stream of the next level. */
  readonly carries: Uint32Array<ArrayBuffer>;
  /** What the present places hold, by index; null for the absent ones. */
  readonly partials: (Value | null)[];
  /** The sums of the runs that ended here. */
  readonly sums: Map<number, Value>;
  /** For every key of `sums`: the tasks that wrote it. One, unless something is very wrong. */
  readonly writers: Map<number, number[]>;
}

/**
 * The three rules of wgsl/msm/walk.wgsl, over values of any kind.
 *
 * @param add what `handle` names, added to a sum; a sum of nothing is null
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
        const place = 2 * t + (openLeft ? 0 : 1);
        partials[place] = sum;
        carries[place * ENTRY_WORDS + 1] = place;
      }
    }
  }
  return { carries, partials, sums, writers };
};

/** What a walk over points leaves behind, as the GPU's buffers have it. */
export interface Walked {
  readonly carries: Uint32Array<ArrayBuffer>;
  readonly partials: Uint32Array<ArrayBuffer>;
  readonly writers: Map<number, number[]>;
}

/**
 * The CPU twin of wgsl/msm/walk.wgsl: the rules above, the sums in Jacobian coordinates.
 * `sums` is written in place, as on the GPU, where only keys with a present entry are touched.
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
