/**
 * Verifies many ed25519 signatures with one MSM: a random combination of their equations must be
 * zero (RFC 8032, section 8.9, with the cofactor).
 */
import { ed25519 } from '@noble/curves/ed25519.js';
import { bytesToNumberLE, concatBytes } from '@noble/curves/utils.js';
import { nobleMsm } from 'webgpu-msm/noble';

const { Point } = ed25519;
const order = Point.Fn.ORDER;

/** Returns 128 random bits, so that a wrong signature passes with probability 2^-128. */
const randomFactor = () => bytesToNumberLE(crypto.getRandomValues(new Uint8Array(16)));

/** Returns H(R ‖ A ‖ message). */
const challenge = async (...parts) => {
  const hash = await crypto.subtle.digest('SHA-512', concatBytes(...parts));
  return bytesToNumberLE(new Uint8Array(hash)) % order;
};

export async function openVerifier() {
  const msm = await nobleMsm(Point);
  return {
    /**
     * Returns whether all signatures are valid. To find an invalid one, halve the list.
     *
     * @param {readonly { signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array }[]}
     *   signed
     */
    async areRight(signed) {
      const points = [Point.BASE];
      const scalars = [0n];
      try {
        for (const { signature, message, publicKey } of signed) {
          const [R, S] = [signature.subarray(0, 32), bytesToNumberLE(signature.subarray(32, 64))];
          if (signature.length !== 64 || S >= order) return false;
          const factor = randomFactor();
          points.push(Point.fromBytes(R), Point.fromBytes(publicKey));
          scalars.push(factor, (factor * (await challenge(R, publicKey, message))) % order);
          scalars[0] = (scalars[0] + factor * (order - S)) % order;
        }
      } catch {
        // an invalid encoding of a point
        return false;
      }
      const sum = await msm(points, scalars);
      return sum.multiplyUnsafe(8n).equals(Point.ZERO);
    },
    close: () => msm.destroy(),
  };
}
