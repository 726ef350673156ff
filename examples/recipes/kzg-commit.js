/**
 * Commits to polynomials (KZG) over the powers of tau of a `.ptau` file, the format of snarkjs and
 * its ceremonies.
 */
import { createMsmEngine } from 'webgpu-msm';
import { openPtau } from 'webgpu-msm/formats';

/**
 * Returns points or scalars in bit-reversed order: element i moves to the index whose bits are
 * those of i, reversed. Use it where Lagrange points and values differ in their order: a blob of
 * EIP-4844 has values in bit-reversed order, and the setup file has points in natural order.
 *
 * @param {Uint8Array} bytes 2^k elements
 * @param {number} elementBytes bytes of an element
 */
export function bitReversed(bytes, elementBytes) {
  const bits = Math.log2(bytes.length / elementBytes);
  const result = new Uint8Array(bytes.length);
  for (let i = 0; i < 2 ** bits; i++) {
    let to = 0;
    for (let bit = 0; bit < bits; bit++) to = 2 * to + ((i >> bit) & 1);
    result.set(bytes.subarray(i * elementBytes, (i + 1) * elementBytes), to * elementBytes);
  }
  return result;
}

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
