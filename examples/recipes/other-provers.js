/**
 * Takes points as other provers have them in memory or on disk, and returns sums in the same
 * encoding.
 */
import { createMsmEngine } from 'webgpu-msm';

/** Encodings of other provers; docs/reference/encodings.md has more. */
export const encodings = {
  /** `CanonicalSerialize`, compressed: `serialize_compressed(&mut bytes)` of each point. */
  arkworks: 'ark-compressed',
  /** `point.RawBytes()`; the compressed `point.Bytes()` is `gnark-compressed`. */
  gnark: 'gnark',
  /** `SerdeFormat::RawBytes`, the format of `ParamsKZG::write`. */
  halo2: 'le-montgomery',
};

/**
 * @param {keyof typeof encodings} prover
 * @param {import('webgpu-msm').NamedCurve} curve
 * @param {Uint8Array} points concatenated points
 */
export async function openMultiplier(prover, curve, points) {
  const engine = await createMsmEngine({ curve });
  const encoding = encodings[prover];
  const bases = await engine.loadBases(points, { encoding });
  return {
    /**
     * @param {Uint8Array} scalars little-endian, 32 bytes each
     * @returns {Promise<Uint8Array>} the sum, in the encoding of the points
     */
    multiply: (scalars) => engine.msm(bases, scalars, { result: encoding }),
    close: () => engine.destroy(),
  };
}
