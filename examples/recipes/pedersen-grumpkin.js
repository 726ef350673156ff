/**
 * Pedersen commitments to vectors on Grumpkin. Generators are hashed to the curve, so no one knows
 * a relation between them.
 */
import { Field } from '@noble/curves/abstract/modular.js';
import { bytesToNumberBE } from '@noble/curves/utils.js';
import { createMsmEngine } from 'webgpu-msm';

/** Grumpkin is y² = x³ − 17 over BN254's scalar field, and has a prime number of points. */
const Fp = Field(0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001n);

/** @param {string} label */
const generatorOf = async (label) => {
  for (let attempt = 0; ; attempt++) {
    const hash = await crypto.subtle.digest('SHA-512', new TextEncoder().encode(`${label} ${attempt}`));
    const x = Fp.create(bytesToNumberBE(new Uint8Array(hash)));
    const square = Fp.create(x ** 3n - 17n);
    try {
      return { x, y: Fp.sqrt(square), infinity: false };
    } catch {
      // half of all numbers are not the x of a point
    }
  }
};

/**
 * @param {string} domain domain of the generators; other kinds of commitments use other domains
 * @param {number} length largest number of values of a vector
 */
export async function openPedersen(domain, length) {
  const engine = await createMsmEngine({ curve: 'grumpkin' });
  const generators = await Promise.all(Array.from({ length: length + 1 }, (_, i) => generatorOf(`${domain} ${i}`)));
  const bases = await engine.loadBases(generators);
  return {
    generators,
    /**
     * Computes blinding · H + Σ values[i] · G_i.
     *
     * @param {readonly bigint[]} values
     * @param {bigint} blinding random, and secret
     */
    commit: (values, blinding) => engine.msm(bases, [blinding, ...values]),
    close: () => engine.destroy(),
  };
}
