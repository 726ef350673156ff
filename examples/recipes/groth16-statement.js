/**
 * Loads the points of a Groth16 key once, by name, and computes the five MSMs of each proof over
 * them.
 */
import { createMsmEngine } from 'webgpu-msm';
import { openZkey } from 'webgpu-msm/formats';

/**
 * @param {import('webgpu-msm/formats').FileSource} file a `.zkey`: bytes, a Blob, or an object that
 *   reads ranges of a file
 * @param {Omit<import('webgpu-msm').MsmEngineOptions, 'curve' | 'group'>} [options] options of both
 *   engines, which share one device and the witness on it
 */
export async function openStatement(file, options = {}) {
  const zkey = await openZkey(file);
  if (zkey.protocol !== 'groth16') throw new Error(`file: the key is for ${zkey.protocol}; use a key for Groth16`);
  const { curve, publicSignals, sections } = zkey;
  const g1 = await createMsmEngine({ ...options, curve });
  const engines = { g1, g2: await createMsmEngine({ ...options, curve, group: 'g2', deviceOf: g1 }) };
  const bases = {};
  try {
    for (const name of ['a', 'b1', 'b2', 'c', 'h']) {
      const { group, encoding } = sections[name];
      bases[name] = await engines[group].loadBases(await sections[name].points(), { encoding, label: name });
    }
  } catch (error) {
    for (const engine of Object.values(engines)) engine.destroy();
    throw error;
  }
  return {
    bases,
    /**
     * Computes the sums of a proof, before the prover blinds them.
     *
     * @param {Uint8Array} witness 32 bytes little-endian for each variable, the 1 first
     * @param {Uint8Array} h 32 bytes little-endian each, values of A·B − C on the odd coset of the
     *   domain
     * @param {AbortSignal} [signal] aborts the MSMs
     */
    async multiply(witness, h, signal) {
      // three MSMs use the whole witness, and one its secret part
      const scalars = await engines.g1.loadScalars(witness, { label: 'witness' });
      const secret = scalars.subarray(publicSignals + 1);
      try {
        const [a, b1, b2, c, hSum] = await Promise.all([
          engines.g1.msm(bases.a, scalars, { signal }),
          engines.g1.msm(bases.b1, scalars, { signal }),
          engines.g2.msm(bases.b2, scalars, { signal }),
          engines.g1.msm(bases.c, secret, { signal }),
          engines.g1.msm(bases.h, h, { signal }),
        ]);
        return { a, b1, b2, c, h: hSum };
      } finally {
        scalars.destroy();
      }
    },
    close() {
      for (const engine of Object.values(engines)) engine.destroy();
    },
  };
}
