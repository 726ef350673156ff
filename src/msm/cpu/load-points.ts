/** Loads points for the CPU: checks them and keeps them in main memory. */

import { type CurveContext, isOnCurve } from '../../curves/curve.js';
import { imageOf, isOnEdwards, mapConstants } from '../../curves/edwards.js';
import {
  type Affine,
  addAffine,
  endomorphism,
  isInfinity,
  multiply,
  negated,
  nonAdjacentForm,
} from '../../curves/jacobian.js';
import {
  canonicalTest,
  formatOf,
  type PointSource,
  readerOf,
  wordsOf,
  writePoint,
  Y_EVEN,
  Y_ODD,
} from '../../curves/point-source.js';
import { readElement, writeElement } from '../../field/field.js';
import { invert } from '../../field/modulus.js';
import type { Call } from '../../scheduling/call.js';
import { inTimeSlices, type Steps, type TimeSlice } from '../../scheduling/time-slice.js';
import { ANY_SIZE, timeSlices } from '../../scheduling/turn-queue.js';
import { wasmCurve } from '../../wasm/arithmetic/kernel-memory.js';
import { type DecodedCurve, PointDecoder } from '../../wasm/decode/decoder.js';
import { hasArithmetic } from '../../wasm/points/kernel.js';
import type { PointAdder, PointAt } from '../../wasm/points/point-adder.js';
import { refusal } from '../inputs/loaded-bases.js';
import { hasWasm, unlessNoMemory, withAdder } from './adder.js';
import type { CpuThreads } from './cpu-threads.js';

/**
 * Checks points on the CPU, when it is the turn of the call.
 *
 * @returns the points in the form that sums take
 * @throws MsmError `bad-argument`, `not-on-curve` or `not-in-subgroup` naming the first wrong point
 */
export const loadOnCpu = async (
  curve: CurveContext,
  source: PointSource,
  threads: CpuThreads,
  checkSubgroup: boolean,
  call: Call,
): Promise<PointSource> => {
  const checkpoint = (): void => call.checkpoint();
  checkpoint();
  const length = source.bytes.length / curve.pointBytes;
  const progress = (done: number): void => call.progress('load', done, length);
  const checked = await threads.queue.inTurn({ ...call, size: ANY_SIZE }, (pause) => {
    progress(0);
    return checkPoints(curve, source, checkSubgroup, timeSlices(checkpoint, pause), progress);
  });
  if ('wrong' in checked) {
    const at = checked.index * curve.pointBytes;
    const bytes = source.bytes.slice(at, at + curve.pointBytes);
    const format = checked.wrong === 'outside the group' ? null : formatOf(curve, { ...source, bytes });
    throw refusal(curve, checked.index, checked.wrong, format);
  }
  progress(length);
  checkpoint();
  return checked;
};

/** Returns whether sums take the points of a source as they are. */
export const isInFormOfSums = ({ sign, edwards }: PointSource): boolean => sign === undefined && edwards === undefined;

/* Checks points on the CPU: canonical coordinates, curve equation, and subgroup. */

/** Points of one list of additions. */
const POINTS_PER_LIST = 2 ** 11;

/**
 * Checks all points of a source.
 *
 * @param timeSlice time slices of the call
 * @param progress called with the number of points checked so far
 * @returns points in the form that sums take, or the first wrong point
 */
export const checkPoints = async (
  curve: CurveContext,
  source: PointSource,
  checkSubgroup: boolean,
  timeSlice: TimeSlice,
  progress: (done: number) => void,
): Promise<PointSource | WrongPoint> => {
  const slices = { timeSlice, progress };
  const inWasm = isInFormOfSums(source)
    ? unlessNoMemory(withAdder(curve, (adder) => checkByLists(curve, source, adder, slices)))
    : decodePoints(curve, source, timeSlice, progress);
  const checked = (await inWasm) ?? (await checkOnBigInts(curve, source, slices));
  if ('wrong' in checked || !checkSubgroup || curve.negatesScalars) return checked;
  const outside = await firstOutside(curve, checked, checked.bytes.length / curve.pointBytes, timeSlice);
  return outside === null ? checked : { index: outside, wrong: 'outside the group' };
};

/** Time slices of a load, and who is told of its progress. */
interface Slices {
  readonly timeSlice: TimeSlice;
  readonly progress: (done: number) => void;
}

/** Checks points one by one, where there is no WebAssembly. */
const checkOnBigInts = async (
  curve: CurveContext,
  source: PointSource,
  { timeSlice, progress }: Slices,
): Promise<PointSource | WrongPoint> => {
  const isPlain = isInFormOfSums(source);
  const length = source.bytes.length / curve.pointBytes;
  const read = checkedReader(curve, source);
  const bytes = isPlain ? source.bytes : new Uint8Array(length * curve.pointBytes);
  const words = wordsOf(bytes);
  for (let index = 0; index < length; index++) {
    const point = read(index);
    if (typeof point === 'string') return { index, wrong: point };
    if (!isPlain) writePoint(curve, words, index, point);
    // a square root takes 0.1 to 1 ms
    if (timeSlice.isOver) {
      progress(index);
      await timeSlice.yield();
    }
  }
  return isPlain ? source : { bytes, scale: 1n, encoding: 'le' };
};

/** Checks points by lists in WebAssembly. */
const checkByLists = async (
  curve: CurveContext,
  source: PointSource,
  adder: PointAdder,
  { timeSlice, progress }: Slices,
): Promise<PointSource | WrongPoint> => {
  const { bytes, scale } = source;
  const { pointBytes, pointWords } = curve;
  const length = bytes.length / pointBytes;
  const words = wordsOf(bytes);
  const isCanonical = canonicalTest(curve, words, pointWords);
  for (let from = 0; from < length; from += POINTS_PER_LIST) {
    const end = Math.min(length, from + POINTS_PER_LIST);
    let to = from;
    while (to < end && isCanonical(to)) to++;
    adder.release();
    const points = adder.enter(words.subarray(from * pointWords, to * pointWords), scale);
    const index = from + adder.check(points, to - from);
    if (index < to) return { index, wrong: 'off the curve' };
    if (to < end) return { index: to, wrong: 'a coordinate' };
    if (timeSlice.isOver) {
      progress(to);
      await timeSlice.yield();
    }
  }
  return source;
};

/*
 * Tests on the CPU that points are in the group of order r: k·P = φ(P) for an endomorphism φ where
 * the curve has such a test (`Membership`), else r·P = 0.
 */

/** Points that are multiplied side by side: one list of additions. */
const POINTS_PER_MULTIPLE = 2 ** 9;

/**
 * Returns the index of the first point outside the group; null if there is none.
 *
 * @param source points with both coordinates, on the curve
 * @param length number of points
 */
export const firstOutside = async (
  curve: CurveContext,
  source: PointSource,
  length: number,
  timeSlice: TimeSlice,
): Promise<number | null> => {
  const adding = withAdder(curve, async (adder) => ({
    index: await inTimeSlices(outsideByLists(curve, source, length, adder), timeSlice),
  }));
  const found = await unlessNoMemory(adding);
  return found === null ? inTimeSlices(outsideByNumbers(curve, source, length), timeSlice) : found.index;
};

/** Computes the test on BigInts, a point a step. */
function* outsideByNumbers(curve: CurveContext, source: PointSource, length: number): Steps<number | null> {
  const { membership, order } = curve;
  const read = readerOf(curve, source);
  const imageOf = membership && endomorphism(curve, membership);
  const multiple = membership?.multiple ?? order;
  for (let index = 0; index < length; index++) {
    const point = read(index);
    const image = imageOf?.(point) ?? null;
    const product = multiply(curve, multiple < 0n ? -multiple : multiple, point);
    const other = image !== null && multiple > 0n ? negated(curve, image) : image;
    if (!isInfinity(curve, addAffine(curve, product, other))) return index;
    yield;
  }
  return null;
}

/** Computes the test by double and add, for a list of points side by side. */
function* outsideByLists(
  curve: CurveContext,
  source: PointSource,
  length: number,
  adder: PointAdder,
): Steps<number | null> {
  const { membership, order, pointWords } = curve;
  const words = wordsOf(source.bytes);
  const multiple = membership?.multiple ?? order;
  const digits = nonAdjacentForm(multiple < 0n ? -multiple : multiple).slice(1);
  const factors = new Uint32Array(pointWords);
  writePoint(curve, factors, 0, membership ?? null);
  for (let from = 0; from < length; from += POINTS_PER_MULTIPLE) {
    const count = Math.min(POINTS_PER_MULTIPLE, length - from);
    adder.release();
    const points = adder.enter(words.subarray(from * pointWords, (from + count) * pointWords), source.scale);
    const sums = adder.take(count);
    /** Adds each Q, or −Q, to each P. */
    const addAll = (P: PointAt, Q: PointAt, negates: boolean): void => {
      for (let i = 0; i < count; i++) {
        const at = i * adder.pointBytes;
        adder.add(sums + at, P + at, Q + at + Number(negates));
      }
      adder.flush();
    };
    let sum = points;
    for (const digit of digits) {
      addAll(sum, sum, false);
      yield;
      sum = sums;
      if (digit === 0) continue;
      addAll(sums, points, digit < 0);
      yield;
    }
    if (membership !== undefined) {
      const images = adder.images(points, count, adder.enter(factors, 1n));
      addAll(sums, images, multiple > 0n);
      yield;
    }
    for (let i = 0; i < count; i++) if (!isZero(adder, sums + i * adder.pointBytes)) return from + i;
  }
  return null;
}

/** Returns whether a point of an adder is infinity. */
const isZero = (adder: PointAdder, at: PointAt): boolean =>
  adder.words(at, adder.pointBytes / 4).every((word) => word === 0) || adder.read(at).every((value) => value === 0n);

/* Decodes compressed and Edwards points in WebAssembly. */

/**
 * Decodes and checks the points of a source.
 *
 * @param progress called with the number of points decoded so far
 * @returns points in the form that sums take, or the first wrong point; null if there is no
 * WebAssembly
 */
export const decodePoints = async (
  curve: CurveContext,
  source: PointSource,
  timeSlice: TimeSlice,
  progress: (done: number) => void,
): Promise<PointSource | WrongPoint | null> => {
  const decoder = await decoderOf(curve);
  if (decoder === null) return null;
  const { pointWords } = curve;
  const bytes = source.bytes.slice();
  const words = wordsOf(bytes);
  const tested = source.sign === undefined ? pointWords : pointWords / 2;
  const isCanonical = canonicalTest(curve, words, tested);
  const length = words.length / pointWords;
  for (let from = 0; from < length; ) {
    const end = Math.min(length, from + decoder.mostPoints);
    let to = from;
    while (to < end && isCanonical(to)) to++;
    const list = words.subarray(from * pointWords, to * pointWords);
    from += decodeList(decoder, source, list, pointWords);
    if (from < end) {
      // the reader names the fault
      const point = checkedReader(curve, source)(from);
      if (typeof point === 'string') return { index: from, wrong: point };
      words.fill(0, from * pointWords, (from + 1) * pointWords);
      writePoint(curve, words, from++, point);
    }
    if (timeSlice.isOver) {
      progress(from);
      await timeSlice.yield();
    }
  }
  return { bytes, scale: 1n, encoding: 'le' };
};

/** Decodes the points of a list up to the first wrong one. @returns how many */
const decodeList = (
  decoder: PointDecoder,
  { scale, edwards, sign }: PointSource,
  list: Uint32Array,
  pointWords: number,
): number => {
  const decode = (words: Uint32Array): number => decoder.decode(words, (edwards ?? { scale }).scale, sign === 'odd');
  const right = decode(list);
  if (right * pointWords < list.length) decode(list.subarray(0, right * pointWords));
  return right;
};

/* Decoders of compressed and Edwards points in WebAssembly, if the platform has it. */

/** Returns the parameters of a curve that a decoder is generated from. */
const decodedCurve = (curve: CurveContext): DecodedCurve => {
  const { edwards, p } = curve;
  return {
    ...wasmCurve(curve),
    edwards: edwards === undefined ? null : { ...edwards, ...mapConstants(edwards, p) },
    oddMark: Y_ODD,
  };
};

/** Returns whether a decoder finds the generator. */
const passes = (curve: CurveContext, decoder: PointDecoder): boolean => {
  const { coordinates: f, generator, pointWords, edwards } = curve;
  const [given, expected] = [new Uint32Array(2 * pointWords), new Uint32Array(2 * pointWords)];
  const { x, y } = edwards?.generator ?? generator;
  const deciding = f.coefficients(y).findLast((value) => value !== 0n) ?? 0n;
  for (const i of [0, 1]) {
    writePoint(curve, expected, i, generator);
    if (edwards !== undefined) writePoint(curve, given, i, { x, y });
    else {
      writeElement(f, given, i * pointWords, x);
      given[i * pointWords + f.words] = deciding % 2n === 1n ? Y_ODD : Y_EVEN;
    }
  }
  return decoder.decode(given, 1n, true) === 2 && given.every((word, i) => word === expected[i]);
};

/**
 * Opens the decoder of a curve: of Edwards points on a curve with that form, of compressed points
 * on any other.
 *
 * @returns null if there is no WebAssembly, or it computes wrong
 */
export const openDecoder = async (curve: CurveContext, lanes: 1 | 2): Promise<PointDecoder | null> => {
  if (!hasWasm()) return null;
  const decoder = await PointDecoder.open(decodedCurve(curve), lanes);
  return passes(curve, decoder) ? decoder : null;
};

/** Decoders by the constants of the curve; null where there is none. */
const decoders = new WeakMap<object, Promise<PointDecoder | null>>();

const openOnce = (curve: CurveContext): Promise<PointDecoder | null> => {
  const opened = openDecoder(curve, hasArithmetic('wasm-simd') ? 2 : 1);
  decoders.set(curve.constants, opened);
  // there may be memory for the next call
  opened.catch(() => decoders.delete(curve.constants));
  return opened;
};

/**
 * Returns the one decoder of a curve, as `openDecoder` does; null also where it gets no memory. Its
 * calls leave nothing behind.
 */
const decoderOf = (curve: CurveContext): Promise<PointDecoder | null> =>
  unlessNoMemory(decoders.get(curve.constants) ?? openOnce(curve));

/* Reads points one by one on BigInts, and tells their faults. */

/** First wrong point, and its fault. */
export interface WrongPoint {
  readonly index: number;
  readonly wrong: 'a coordinate' | 'off the curve' | 'outside the group';
}

/** Returns a reader of points of the curve that is computed on, or of their faults. */
export const checkedReader = (
  curve: CurveContext,
  source: PointSource,
): ((index: number) => Affine | WrongPoint['wrong']) => {
  const { coordinates: f, p, pointWords } = curve;
  const { bytes, sign, edwards } = source;
  const { scale } = edwards ?? source;
  const words = wordsOf(bytes);
  const unit = scale === 1n ? 1n : invert(scale, p);
  const isCanonical = (at: number): boolean => f.coefficients(readElement(f, words, at)).every((value) => value < p);
  const read = readerOf(curve, source);
  return (index) => {
    const at = index * pointWords;
    if (!isCanonical(at) || (sign === undefined && !isCanonical(at + f.words))) return 'a coordinate';
    const [x, y] = [at, at + f.words].map((from) => f.reduced(f.multiple(readElement(f, words, from), unit)));
    if (x === undefined || y === undefined || (f.isZero(x) && f.isZero(y))) return null;
    if (edwards !== undefined) {
      const own = curve.edwards;
      if (own === undefined || !isOnEdwards(own, p, x as bigint, y as bigint)) return 'off the curve';
      return imageOf(curve, x, y);
    }
    // a compressed point without a y is not on the curve
    if (sign !== undefined) return read(index) ?? 'off the curve';
    return isOnCurve(curve, x, y) ? { x, y } : 'off the curve';
  };
};
