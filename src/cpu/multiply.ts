import type { AffinePoint, Coordinate, RunRecord } from '../api.js';
import type { CurveContext } from '../curves/curve.js';
import { type Affine, toAffine } from '../curves/jacobian.js';
import { type PointSource, readerOf, wordsOf, writePoint } from '../curves/point-source.js';
import { digitsOf, readWords, writeWords } from '../field/modulus.js';
import type { SurveyedVector } from '../plan/survey.js';
import { publicPoint } from '../stages/fold.js';
import { pippenger } from './pippenger.js';
import { Turns } from './turns.js';
import { withAdder } from './wide.js';
import type { WideAdder } from './wide-adder.js';
import { multiplyWide, type Steps } from './wide-msm.js';

/** What a vector came to. */
interface VectorOutcome {
  readonly sum: Affine;
  readonly windowBits: number;
  readonly windows: number;
  readonly entries: number;
}

/** What a call came to that was computed on the CPU. */
export interface CpuOutcome {
  /** The sums of the vectors. */
  readonly sums: AffinePoint<Coordinate>[];
  /** c, and digits of a scalar, of the vector with the most digits. */
  readonly windowBits: number;
  readonly windows: number;
  /** Digits that were not zero, of all vectors. */
  readonly entries: number;
  readonly arithmetic: Exclude<RunRecord['arithmetic'], null>;
}

/**
 * Multiplies vectors on the CPU, one after the other.
 *
 * @param source all bases; null only if no vector has any scalars
 * @param goOn called now and then; what it throws ends the computation
 */
export const multiplyOnCpu = async (
  curve: CurveContext,
  source: PointSource | null,
  vectors: readonly SurveyedVector[],
  goOn: () => void,
): Promise<CpuOutcome> => {
  const turns = new Turns(goOn);
  const wide = await withAdder(curve, async (adder, lanes) => ({
    done: await multiplyAll(vectors, (vector) => inWasm(curve, source, vector, adder, turns)),
    arithmetic: lanes === 1 ? ('wasm' as const) : ('wasm-simd' as const),
  }));
  const { done, arithmetic } = wide ?? {
    done: await multiplyAll(vectors, (vector) => onBigInts(curve, source, vector, turns)),
    arithmetic: 'bigint',
  };
  const { windowBits, windows } = done.reduce((most, each) => (each.entries > most.entries ? each : most));
  return {
    sums: done.map(({ sum }) => publicPoint(curve, sum)),
    windowBits,
    windows,
    entries: done.reduce((sum, each) => sum + each.entries, 0),
    arithmetic,
  };
};

const multiplyAll = async (
  vectors: readonly SurveyedVector[],
  one: (vector: SurveyedVector) => Promise<VectorOutcome>,
): Promise<VectorOutcome[]> => {
  const done: VectorOutcome[] = [];
  for (const vector of vectors) done.push(await one(vector));
  return done;
};

/** Which of the bases scalar i multiplies. */
const baseOf = ({ offset, indices }: SurveyedVector, i: number): number =>
  offset + (indices === null ? i : (indices[i] as number));

const onBigInts = async (
  curve: CurveContext,
  source: PointSource | null,
  vector: SurveyedVector,
  turns: Turns,
): Promise<VectorOutcome> => {
  const read = source === null ? () => null : readerOf(curve, source);
  const { sum, ...done } = await pippenger(curve, (i) => read(baseOf(vector, i)), vector.scalars, turns);
  return { ...done, sum: toAffine(curve, sum) };
};

const inWasm = async (
  curve: CurveContext,
  source: PointSource | null,
  vector: SurveyedVector,
  adder: WideAdder,
  turns: Turns,
): Promise<VectorOutcome> => {
  if (source === null || vector.scalars.length === 0) return { sum: null, windowBits: 2, windows: 0, entries: 0 };
  const { words, scale } = pointsOf(curve, source, vector);
  const { sum, ...done } = await inTurns(multiplyWide(adder, words, scale, reduced(curve, vector.scalars)), turns);
  if (sum.every((value) => value === 0n)) return { ...done, sum: null };
  const f = curve.coordinates;
  return { ...done, sum: { x: f.of(sum.slice(0, f.degree)), y: f.of(sum.slice(f.degree)) } };
};

const inTurns = async <Result>(steps: Steps<Result>, turns: Turns): Promise<Result> => {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (turns.areOver) await turns.take();
  }
};

/** The points of a vector's scalars, as words, and what their coordinates were multiplied by. */
const pointsOf = (
  curve: CurveContext,
  source: PointSource,
  vector: SurveyedVector,
): { readonly words: (from: number, to: number) => Uint32Array; readonly scale: bigint } => {
  const { pointWords } = curve;
  if (source.sign === undefined && source.edwards === undefined) {
    const all = wordsOf(source.bytes);
    const { scale } = source;
    if (vector.indices === null) {
      const at = (i: number): number => (vector.offset + i) * pointWords;
      return { scale, words: (from, to) => all.subarray(at(from), at(to)) };
    }
    const words = (from: number, to: number): Uint32Array => {
      const picked = new Uint32Array((to - from) * pointWords);
      for (let i = from; i < to; i++) {
        const at = baseOf(vector, i) * pointWords;
        picked.set(all.subarray(at, at + pointWords), (i - from) * pointWords);
      }
      return picked;
    };
    return { scale, words };
  }
  const read = readerOf(curve, source);
  const words = (from: number, to: number): Uint32Array => {
    const written = new Uint32Array((to - from) * pointWords);
    for (let i = from; i < to; i++) writePoint(curve, written, i - from, read(baseOf(vector, i)));
    return written;
  };
  return { scale: 1n, words };
};

/** Scalars below the order, and the bits of the longest; a copy where one is not. */
const reduced = (
  { order, scalarBytes }: CurveContext,
  given: Uint8Array<ArrayBuffer>,
): { readonly scalars: Uint32Array; readonly words: number; readonly bits: number } => {
  const words = scalarBytes / 4;
  let scalars = wordsOf(given);
  const limit = digitsOf(order, 32, words);
  const isBelow = (at: number): boolean => {
    for (let w = words - 1; w >= 0; w--) {
      const difference = (scalars[at + w] as number) - (limit[w] as number);
      if (difference !== 0) return difference < 0;
    }
    return false;
  };
  const any = new Uint32Array(words);
  for (let at = 0; at < scalars.length; at += words) {
    if (!isBelow(at)) {
      if (scalars.buffer === given.buffer) scalars = scalars.slice();
      writeWords(scalars, at, words, readWords(scalars, at, words) % order);
    }
    for (let w = 0; w < words; w++) (any[w] as number) |= scalars[at + w] as number;
  }
  const top = any.findLastIndex((word) => word !== 0);
  return { scalars, words, bits: Math.max(1, 32 * (top + 1) - Math.clz32(any[top] ?? 0)) };
};
