/**
 * Commits to polynomials (KZG) over the powers of tau of a `.ptau` file, the format of snarkjs and
 * its ceremonies.
 */
import { createMsmEngine } from 'webgpu-msm';
import { openPtau } from 'webgpu-msm/formats';

/**
 * @param {import('webgpu-msm/formats').FileSource} file bytes, a Blob, or an object that reads
 *   ranges of a file
 * @param {number} length largest number of coefficients of a polynomial
 */
export async function openCommitter(file, length) {
  const { curve, sections } = await openPtau(file);
  const { tauG1 } = sections;
  const engine = await createMsmEngine({ curve });
  const bases = await engine.loadBases(await tauG1.points(0, length), { encoding: tauG1.encoding });
  return {
    /**
     * Computes Σ coefficients[i] · τ^i·G1. Several polynomials go to the GPU together.
     *
     * @param {readonly (readonly bigint[])[]} polynomials coefficients, the constant one first
     */
    commit: (polynomials) => engine.msmBatch(bases, polynomials),
    close: () => engine.destroy(),
  };
}
