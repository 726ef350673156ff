/**
 * Changes the points that a call reads back. All but swaps of words leave each point on the curve.
 */
import type { Random } from '../oracle/known-bases.js';

/** Changes some of the points, unless all are equal. */
type Change = (random: Random, points: readonly Uint8Array[]) => void;

export const isSame = (a: Uint8Array, b: Uint8Array): boolean => a.every((byte, i) => byte === b[i]);

const swap = (a: Uint8Array, b: Uint8Array): void => {
  const kept = a.slice();
  a.set(b);
  b.set(kept);
};

const drawPair = <Item>(
  random: Random,
  items: readonly Item[],
  differ: (a: Item, b: Item) => boolean,
): [Item, Item] => {
  const draw = (): Item => items[random.below(items.length)] as Item;
  let pair: [Item, Item] = [draw(), draw()];
  for (let tries = 0; tries < 100 && !differ(...pair); tries++) pair = [draw(), draw()];
  return pair;
};

const differ = (a: Uint8Array, b: Uint8Array): boolean => !isSame(a, b);

const wordsOf = (points: readonly Uint8Array[]): Uint8Array[] =>
  points.flatMap((point) => Array.from({ length: point.length / 4 }, (_, w) => point.subarray(4 * w, 4 * w + 4)));

export const pointChanges = {
  swapped: (random, points) => swap(...drawPair(random, points, differ)),
  doubled: (random, points) => {
    const [from, to] = drawPair(random, points, differ);
    to.set(from);
  },
  zeroed: (random, points) => {
    const zeros = new Uint8Array((points[0] as Uint8Array).length);
    drawPair(random, points, (point) => differ(point, zeros))[0].set(zeros);
  },
  'one place further': (random, points) => {
    // moves the points of a range by one; the last one becomes the first
    const indices = [...points.keys()];
    const [one, other] = drawPair(random, indices, (a, b) => differ(points[a] as Uint8Array, points[b] as Uint8Array));
    const [first, last] = [Math.min(one, other), Math.max(one, other)];
    for (let i = last; i > first; i--) swap(points[i] as Uint8Array, points[i - 1] as Uint8Array);
  },
  'stretches swapped': (random, points) => {
    const length = 1 + random.below(Math.max(1, Math.floor(points.length / 2)));
    const starts = Array.from({ length: points.length - length + 1 }, (_, i) => i);
    const [one, other] = drawPair(
      random,
      starts,
      (a, b) => Math.abs(a - b) >= length && differ(points[a] as Uint8Array, points[b] as Uint8Array),
    );
    if (Math.abs(one - other) < length) return;
    for (let i = 0; i < length; i++) swap(points[one + i] as Uint8Array, points[other + i] as Uint8Array);
  },
  'words swapped': (random, points) => swap(...drawPair(random, wordsOf(points), differ)),
  'words swapped within one': (random, points) => {
    const [point] = drawPair(random, points, (each) => differ(each, new Uint8Array(each.length)));
    swap(...drawPair(random, wordsOf([point]), differ));
  },
} as const satisfies Readonly<Record<string, Change>>;
export type PointChange = keyof typeof pointChanges;
export const pointChangeNames = Object.keys(pointChanges) as readonly PointChange[];

/** Returns views of consecutive points in some bytes. */
export const pointsIn = (bytes: Uint8Array, pointBytes: number): Uint8Array[] =>
  Array.from({ length: bytes.length / pointBytes }, (_, i) => bytes.subarray(i * pointBytes, (i + 1) * pointBytes));
