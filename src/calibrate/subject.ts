/** The device and the curve that a calibration measures, and the MSM that it times on them. */
import type { Calibration, Tuning } from '../api/device.js';
import type { MsmEngine } from '../api/engine.js';
import type { AffinePoint, Coordinate } from '../api/values.js';
import type { CurveContext } from '../curves/curve.js';
import { addAffine, infinityOf, type Jacobian, multiply, toAffine } from '../curves/jacobian.js';
import { writePoint } from '../curves/point-source.js';
import { mod, writeNumber } from '../field/modulus.js';
import { areSame, publicPoint } from '../msm/stages/combine-windows.js';

/**
 * A device and a curve to calibrate, with all that calibrations need of the rest of the library.
 * They import nothing of it: index.js loads calibration.js, and rolldown keeps every module of a
 * circle of dynamic imports in every program.
 */
export interface Subject extends Pick<Calibration, 'adapter' | 'version' | 'curve'> {
  readonly device: GPUDevice;
  /** Creates an engine of the curve on the device, whose sums the GPU computes. */
  open(tuning: Partial<Tuning>): Promise<MsmEngine<Coordinate>>;
  /**
   * Makes an MSM of n points.
   *
   * @param random returns random words of 32 bits
   */
  makeProblem(n: number, random: () => number): Problem;
  /** Returns the time that pipelines of the device took to compile so far, in ms. */
  compileMs(): number;
  /** Returns true while the device has work. */
  isBusy(): boolean;
  /** Checks knobs. @throws MsmError `bad-argument` */
  checkTuning(knobs: Partial<Tuning>): Partial<Tuning>;
}

/** An MSM with a known answer: the points are i·G, so the sum is (Σ s_i·i)·G. */
export interface Problem {
  readonly n: number;
  readonly points: Uint8Array<ArrayBuffer>;
  readonly scalars: Uint8Array<ArrayBuffer>;
  /** Returns true for the right sum. */
  isSolvedBy(sum: AffinePoint<Coordinate>): boolean;
}

/** Returns the first multiples of the generator, over and over, as bytes of n points. */
const multiplesOf = (curve: CurveContext, distinct: number, n: number): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(n * curve.pointBytes);
  const words = new Uint32Array(bytes.buffer);
  let sum: Jacobian = infinityOf(curve);
  for (let i = 0; i < distinct; i++) {
    sum = addAffine(curve, sum, curve.generator);
    writePoint(curve, words, i, toAffine(curve, sum));
  }
  const period = distinct * curve.pointBytes;
  for (let at = period; at < bytes.length; at += period) bytes.copyWithin(at, 0, period);
  return bytes;
};

/**
 * Makes an MSM of n points, of which n/16 are distinct.
 *
 * @param n a power of two, 16 or more
 * @param random returns random words of 32 bits
 */
export const makeProblem = (curve: CurveContext, n: number, random: () => number): Problem => {
  // few enough to compute quickly, and enough that equal points rarely meet in a bucket
  const distinct = n / 16;
  const each = curve.scalarBytes / 8;
  const words = new BigUint64Array(n * each);
  let logarithm = 0n;
  for (let i = 0; i < n; i++) {
    let scalar = 0n;
    for (let bits = 0; bits < curve.scalarBits; bits += 32) scalar = (scalar << 32n) | BigInt(random());
    scalar = mod(scalar, curve.order);
    writeNumber(words, i * each, each, scalar);
    logarithm += scalar * BigInt((i % distinct) + 1);
  }
  const sum = toAffine(curve, multiply(curve, mod(logarithm, curve.order), curve.generator));
  return {
    n,
    points: multiplesOf(curve, distinct, n),
    scalars: new Uint8Array(words.buffer),
    isSolvedBy: (given) => areSame(curve, given, publicPoint(curve, sum)),
  };
};
