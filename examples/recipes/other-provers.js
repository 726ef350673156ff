/** Points as other provers have them in memory or on disk go in as they are, and sums come back in the same form. */
import { createMsmEngine } from 'webgpu-msm';

/** What each of them writes; the README's table of encodings has more. */
export const encodings = {
  /** `CanonicalSerialize`, compressed: `points.serialize_compressed(&mut bytes)` of each. */
  arkworks: 'ark-compressed',
  /** `point.RawBytes()`; compressed, `point.Bytes()`, it is `gnark-compressed`. */
  gnark: 'gnark',
  /** `SerdeFormat::RawBytes`, as `ParamsKZG::write` has its points. */
  halo2: 'le-montgomery',
};

/**
 * @param {keyof typeof encodings} prover
 * @param {import('webgpu-msm').NamedCurve} curve
 * @param {Uint8Array} points one behind the other
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
