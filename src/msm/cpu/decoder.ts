/** Decoders of compressed and Edwards points in WebAssembly, if the platform has it. */
import type { CurveContext } from '../../curves/curve.js';
import { mapConstants } from '../../curves/edwards.js';
import { writePoint, Y_EVEN, Y_ODD } from '../../curves/point-source.js';
import { writeElement } from '../../field/field.js';
import { wasmCurve } from '../../wasm/arithmetic/wasm-curve.js';
import { PointDecoder } from '../../wasm/decode/decoder.js';
import type { DecodedCurve } from '../../wasm/decode/decoder-module.js';
import { hasArithmetic } from '../../wasm/points/kernel.js';
import { hasWasm, unlessNoMemory } from './adder.js';

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
export const decoderOf = (curve: CurveContext): Promise<PointDecoder | null> =>
  unlessNoMemory(decoders.get(curve.constants) ?? openOnce(curve));
