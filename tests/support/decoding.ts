/** Points to decode, as words, and what they are decoded to. */
import { type CurveGroup, edwardsNames, oracleOf } from '../../dev/oracle/curves.js';
import { type Coordinate, makeKnownBases, numbersOf } from '../../dev/oracle/known-bases.js';
import type { CurveContext } from '../../src/curves/curve.js';
import type { Affine } from '../../src/curves/jacobian.js';
import { type RootSign, writePoint, Y_EVEN, Y_ODD } from '../../src/curves/point-source.js';
import { writeElement } from '../../src/field/field.js';
import { openDecoder } from '../../src/msm/cpu/load-points.js';
import type { PointDecoder } from '../../src/wasm/decode/decoder.js';

export type Words = Uint32Array<ArrayBuffer>;

export const bytesOf = (words: Words): Uint8Array<ArrayBuffer> => new Uint8Array(words.buffer);

export const isEdwards = ({ curve }: CurveGroup): boolean => (edwardsNames as readonly string[]).includes(curve);

/** Returns groups with their names, for `test.each`. */
export const named = (groups: readonly CurveGroup[]) => groups.map((of) => [`${of.curve} ${of.group}`, of] as const);

export const decoderFor = async (curve: CurveContext, lanes: 1 | 2): Promise<PointDecoder> => {
  const decoder = await openDecoder(curve, lanes);
  if (decoder === null) throw new Error(`${curve.name} has no decoder`);
  return decoder;
};

const negative = (y: Coordinate, p: bigint): Coordinate => {
  const minus = (value: bigint): bigint => (value === 0n ? 0n : p - value);
  return typeof y === 'bigint' ? minus(y) : { c0: minus(y.c0), c1: minus(y.c1) };
};

/** Returns points of noble, with both signs of y and infinities. */
export const pointsOf = (of: CurveGroup, { p }: CurveContext, n: number): Affine[] =>
  makeKnownBases<Coordinate>(oracleOf(of), n, 17).points.map(({ x, y }, i) =>
    i % 9 === 4 ? null : { x, y: i % 2 === 0 ? y : negative(y, p) },
  );

/** Returns x and the mark of y of each point, and x‖y. */
export const compress = (
  { coordinates: f, p, pointWords, ...curve }: CurveContext,
  points: readonly Affine[],
  sign: RootSign,
): { readonly given: Words; readonly expected: Words } => {
  const [given, expected] = [new Uint32Array(points.length * pointWords), new Uint32Array(points.length * pointWords)];
  for (const [i, point] of points.entries()) {
    if (point === null) continue;
    writePoint({ coordinates: f, p, pointWords, ...curve }, expected, i, point);
    writeElement(f, given, i * pointWords, point.x);
    const deciding = numbersOf(point.y).findLast((number) => number !== 0n) ?? 0n;
    const isOdd = sign === 'odd' ? deciding % 2n === 1n : 2n * deciding > p;
    given[i * pointWords + f.words] = isOdd ? Y_ODD : Y_EVEN;
  }
  return { given, expected };
};

/** Writes a compressed point. */
export const writeCompressed = (
  { coordinates: f, pointWords }: CurveContext,
  words: Words,
  index: number,
  x: Coordinate,
  mark: number,
): void => {
  words.fill(0, index * pointWords, (index + 1) * pointWords);
  writeElement(f, words, index * pointWords, x);
  words[index * pointWords + f.words] = mark;
};

/** Writes points of an Edwards curve, times a scale. */
export const edwardsWords = (
  curve: CurveContext,
  points: readonly { readonly x: Coordinate; readonly y: Coordinate }[],
  scale: bigint,
): Words => {
  const words = new Uint32Array(points.length * curve.pointWords);
  const scaled = (value: Coordinate): bigint => ((value as bigint) * scale) % curve.p;
  for (const [i, { x, y }] of points.entries()) writePoint(curve, words, i, { x: scaled(x), y: scaled(y) });
  return words;
};
