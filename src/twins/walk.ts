import type { CurveContext } from '../curves/curve.js';
import { addAffine, infinity, type Jacobian, toAffine } from '../curves/jacobian.js';
import { mod } from '../field/modulus.js';
import { ABSENT, ENTRY_WORDS, INDEX_MASK, NEGATE } from '../stages/entry.js';
import { taskStart } from './partition.js';
import { readPoint, writePoint } from './points.js';

/** What a walk leaves behind. */
export interface Walked {
  /** Both places of every task: the stream of the next level. */
  readonly places: Uint32Array;
  readonly partials: Uint32Array;
  /** For every key that this walk wrote to `sums`: the tasks that did. One, unless something is very wrong. */
  readonly writers: Map<number, number[]>;
}

/**
 * The CPU twin of wgsl/walk.wgsl: the three rules on plain integers, the sums in Jacobian coordinates.
 * `sums` is written in place, as on the GPU, where only keys with a present entry are touched.
 */
export const walk = (
  curve: CurveContext,
  level: { entries: number; tasks: number; quotient: number; remainder: number },
  stream: Uint32Array,
  points: Uint32Array,
  sums: Uint32Array,
): Walked => {
  const keyAt = (i: number): number => stream[i * ENTRY_WORDS] as number;
  const handleAt = (i: number): number => stream[i * ENTRY_WORDS + 1] as number;
  const places = new Uint32Array(2 * level.tasks * ENTRY_WORDS);
  const partials = new Uint32Array(2 * level.tasks * curve.pointWords);
  const writers = new Map<number, number[]>();

  for (let t = 0; t < level.tasks; t++) {
    const [start, end] = [taskStart(level, t), taskStart(level, t + 1)];
    const before = start > 0 ? keyAt(start - 1) : 0;
    places.set([start < end ? keyAt(start) : before, ABSENT, start < end ? keyAt(end - 1) : before, ABSENT], 4 * t);
    for (let i = start; i < end; ) {
      const key = keyAt(i);
      const first = i;
      let sum: Jacobian | null = null;
      for (; i < end && keyAt(i) === key; i++) {
        const handle = handleAt(i);
        if (handle === ABSENT) continue;
        const point = readPoint(curve, points, handle & INDEX_MASK);
        const negated = point !== null && handle >= NEGATE ? { x: point.x, y: mod(-point.y, curve.p) } : point;
        sum = addAffine(curve, sum ?? infinity, negated);
      }
      if (sum === null) continue;
      const openLeft = first > 0 && keyAt(first - 1) === key;
      const openRight = i < level.entries && keyAt(i) === key;
      if (!openLeft && !openRight) {
        writePoint(curve, sums, key, toAffine(curve, sum));
        writers.set(key, [...(writers.get(key) ?? []), t]);
      } else {
        const place = 2 * t + (openLeft ? 0 : 1);
        writePoint(curve, partials, place, toAffine(curve, sum));
        places[place * ENTRY_WORDS + 1] = place;
      }
    }
  }
  return { places, partials, writers };
};
