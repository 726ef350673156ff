/**
 * Writes a common reference string of 8 points as @aztec/bb.js 5.0.0 takes it. What is on disk at
 * Aztec's users is downloaded, and this runs without: so the powers are those of a τ of our own,
 * multiplied by barretenberg, which says here what it takes bytes for; τ·G2 is Aztec's own, which
 * its binary has.
 *
 *     npm ci && node make.mjs
 */
// @ts-nocheck: what it needs is not installed here
import { ok, strictEqual } from 'node:assert';
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const installed = resolve('node_modules/@aztec/bb.js');
const { BackendType, Barretenberg } = await import(pathToFileURL(`${installed}/dest/node/index.js`).href);
const api = await Barretenberg.new({ backend: BackendType.Wasm, skipSrsInit: true, threads: 1 });

const order = 0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001n;
const tau = 0xa27ecn;
const bigEndian = (value) => Uint8Array.from(Buffer.from(value.toString(16).padStart(64, '0'), 'hex'));
const generator = { x: bigEndian(1n), y: bigEndian(2n) };

const points = [generator];
for (let power = tau; points.length < 8; power = (power * tau) % order) {
  points.push((await api.bn254G1Mul({ point: generator, scalar: bigEndian(power) })).point);
}

// x, with y's lowest bit as the topmost one: barretenberg finds the same points again
const compressed = points.map(({ x, y }) => {
  const bytes = Uint8Array.from(x);
  if (y[31] & 1) bytes[0] |= 0x80;
  return bytes;
});
for (const [i, bytes] of compressed.entries()) {
  const { point } = await api.bn254G1FromCompressed({ compressed: bytes });
  strictEqual(Buffer.compare(point.x, points[i].x) || Buffer.compare(point.y, points[i].y), 0);
}
ok(compressed.some((bytes) => bytes[0] & 0x80));

const binary = readFileSync(`${installed}/build/amd64-linux/bb`);
// x.c0 of Aztec's τ·G2
const at = binary.indexOf(Buffer.from('0118c4d5b837bcc2bc89b5b398b5974e9f5944073b32078b7e231fec938883b0', 'hex'));
ok(at > 0);
const g2 = binary.subarray(at, at + 128);

// Barretenberg reads points of 64 bytes, and knows the first two of Aztec's: ours begins with the
// generator, and has another τ. Where the generator is missing, or written otherwise, it is the
// first that it refuses.
const g1 = Buffer.concat(points.flatMap(({ x, y }) => [x, y]));
const said = async (bytes) => {
  try {
    await api.srsInitSrs({ pointsBuf: bytes, numPoints: bytes.length / 64, g2Point: g2 });
    return 'nothing';
  } catch (error) {
    return error.message;
  }
};
ok((await said(g1)).includes('g1_points[1] does not match'));
ok((await said(g1.subarray(64))).includes('g1_points[0] is not the canonical BN254 generator'));
ok((await said(Buffer.from(g1).reverse())).includes('point is not on the curve'));

writeFileSync('aztec-g1.dat', g1);
writeFileSync('aztec-g1-compressed.dat', Buffer.concat(compressed));
writeFileSync('aztec-g2.dat', g2);
await api.destroy();
