/**
 * Commits to polynomials and opens them at a point (KZG), over the powers of tau of a `.ptau` file.
 * Polynomials are vectors that stay on the GPU, or in the memory of the CPU where it computes: the
 * values go there once, and points come back.
 */
import { createMsmEngine } from 'webgpu-msm';
import { createFieldEngine } from 'webgpu-msm/fields';
import { openPtau } from 'webgpu-msm/formats';

/** @param {Uint8Array} bytes a little-endian number */
const numberOf = (bytes) => bytes.reduceRight((number, byte) => (number << 8n) + BigInt(byte), 0n);

/**
 * @param {import('webgpu-msm/formats').FileSource} file bytes, a Blob, or an object that reads
 *   ranges of a file
 * @param {number} length largest number of coefficients of a polynomial
 * @param {Omit<import('webgpu-msm').MsmEngineOptions, 'curve'>} options of the engine
 */
export async function openProver(file, length, options = {}) {
  const { curve, sections } = await openPtau(file);
  const { tauG1 } = sections;
  const engine = await createMsmEngine({ ...options, curve });
  const bases = await engine.loadBases(await tauG1.points(0, length), { encoding: tauG1.encoding });
  const fr = await createFieldEngine({ field: `${curve}-fr`, deviceOf: engine });
  return {
    engine,
    fr,
    /**
     * Interpolates: returns the polynomial with these values at the n-th roots of unity, as its
     * coefficients. `destroy` frees it.
     *
     * @param {Uint8Array | readonly bigint[]} values n of them, a power of two
     */
    async interpolate(values) {
      const loaded = await fr.load(values);
      try {
        return await fr.run((ops) => ops.keep(ops.intt(loaded)));
      } finally {
        loaded.destroy();
      }
    },
    /**
     * Computes f(τ)·G1 for each polynomial f. They go to the GPU together.
     *
     * @param {readonly import('webgpu-msm/fields').FieldVector[]} polynomials
     */
    commit: (polynomials) => engine.msmBatch(bases, polynomials),
    /**
     * Opens a polynomial f of at least two coefficients: returns y = f(x) and the proof q(τ)·G1,
     * where q = (f − y) / (X − x).
     *
     * @param {import('webgpu-msm/fields').FieldVector} polynomial
     * @param {bigint} x
     */
    async open(polynomial, x) {
      const [value, quotient] = await fr.run((ops) => [
        ops.keep(ops.evaluate(polynomial, x)),
        ops.keep(ops.divideByLinear(polynomial, x)),
      ]);
      try {
        const proof = await engine.msm(bases, quotient);
        return { value: numberOf(await fr.read(value)), proof };
      } finally {
        value.destroy();
        quotient.destroy();
      }
    },
    close() {
      fr.destroy();
      engine.destroy();
    },
  };
}
