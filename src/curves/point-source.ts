/** Points as they wait in main memory. */
import type { Coordinate, PointEncoding } from '../api.js';
import { readElement } from '../field/field.js';
import { invert } from '../field/modulus.js';
import type { CurveContext } from './curve.js';
import type { Affine } from './jacobian.js';

/** Bytes as little-endian words, which is what every machine with WebGPU has. */
export const wordsOf = (bytes: Uint8Array<ArrayBuffer>): Uint32Array =>
  new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);

/** Points in main memory. */
export interface PointSource {
  /** x‖y of each, little-endian. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** What coordinates were multiplied by, modulo p, before they were written; 1 where they stand for themselves. */
  readonly scale: bigint;
  /** As which they came. */
  readonly encoding: PointEncoding;
}

/** How points of a source are read. */
export const readerOf = (
  { coordinates: f, p, pointWords }: CurveContext,
  { bytes, scale }: PointSource,
): ((index: number) => Affine) => {
  const points = wordsOf(bytes);
  const unit = scale === 1n ? 1n : invert(scale, p);
  const read = (at: number): Coordinate => {
    const value = readElement(f, points, at);
    return unit === 1n ? value : f.reduced(f.multiple(value, unit));
  };
  return (index) => {
    const [x, y] = [read(index * pointWords), read(index * pointWords + f.words)];
    return f.isZero(x) && f.isZero(y) ? null : { x, y };
  };
};
