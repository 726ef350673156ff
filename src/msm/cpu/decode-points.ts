/** Decodes compressed and Edwards points in WebAssembly. */

import { canonicalTest } from '../../curves/canonical.js';
import type { CurveContext } from '../../curves/curve.js';
import { type PointSource, wordsOf, writePoint } from '../../curves/point-source.js';
import type { TimeSlice } from '../../scheduling/time-slice.js';
import type { PointDecoder } from '../../wasm/decode/decoder.js';
import { checkedReader, type WrongPoint } from './checked-reader.js';
import { decoderOf } from './decoder.js';

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
