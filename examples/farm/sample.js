/**
 * Makes statements with known sums: consecutive bases P_i = (k + i)·G, so that Σ s_i·P_i is one
 * multiple of G. Uses noble alone.
 */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { normalizeZ } from '@noble/curves/abstract/curve.js';
import { bn254 } from '@noble/curves/bn254.js';
import { bytesToNumberLE, concatBytes, numberToBytesBE, numberToBytesLE } from '@noble/curves/utils.js';

const { Point } = bn254.G1;
const order = Point.Fn.ORDER;

/** @param {InstanceType<typeof Point>} point */
const bigEndian = (point) => {
  const { x, y } = point.toAffine();
  return concatBytes(numberToBytesBE(x, 32), numberToBytesBE(y, 32));
};

/**
 * Writes n points of BN254 to a file.
 *
 * @param {string} folder
 * @param {number} n
 */
export async function makeBases(folder, n) {
  const k = bytesToNumberLE(randomBytes(16)) + 1n;
  const points = [Point.BASE.multiply(k)];
  while (points.length < n) points.push(/** @type {typeof Point.BASE} */ (points.at(-1)).add(Point.BASE));
  const path = join(folder, 'bases.bin');
  const bytes = new Uint8Array(64 * n);
  for (const [i, point] of normalizeZ(Point, points).entries()) {
    const { x, y } = point.toAffine();
    bytes.set(numberToBytesLE(x, 32), 64 * i);
    bytes.set(numberToBytesLE(y, 32), 64 * i + 32);
  }
  await writeFile(path, bytes);
  return { k, path, pointBytes: 64 };
}

/**
 * Writes n random scalars to a file, and returns their sum over the bases of `makeBases`.
 *
 * @param {string} path
 * @param {number} n
 * @param {bigint} k
 */
export async function makeScalars(path, n, k) {
  const bytes = randomBytes(32 * n);
  let log = 0n;
  for (let i = 0; i < n; i++) {
    // below 2^253, and thus below the order
    bytes[32 * i + 31] = /** @type {number} */ (bytes[32 * i + 31]) & 0x1f;
    log += bytesToNumberLE(bytes.subarray(32 * i, 32 * i + 32)) * (k + BigInt(i));
  }
  await writeFile(path, bytes);
  return { path, expected: bigEndian(Point.BASE.multiply(log % order)) };
}
