#!/usr/bin/env bash
# The circuit hash of a new Groth16 key of snarkjs depends on what follows section 2 of the .ptau, for
# domains above 2^14. newZKey hashes differences of powers of tau 2^14 at a time and rounds their number
# up: one more than it has counted before. With a .ptau of exactly the power of the circuit the last one
# is of bytes behind the section: two files with the same sections in another order lead to keys that
# differ in their hash alone. The powers of tau here are 1, so that they take no ceremony.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund snarkjs@0.7.6 >/dev/null

cat >check.mjs <<'EOF'
import { readFileSync } from 'node:fs';
import * as snarkjs from 'snarkjs';

const { version } = JSON.parse(readFileSync('node_modules/snarkjs/package.json', 'utf8'));
console.log(`version: snarkjs ${version}, Node ${process.version}`);

const u32 = (value) => { const b = Buffer.alloc(4); b.writeUInt32LE(value); return b; };
const u64 = (value) => { const b = Buffer.alloc(8); b.writeBigUInt64LE(BigInt(value)); return b; };
const number = (value) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse();
const file = (magic, sections) => new Uint8Array(Buffer.concat([Buffer.from(magic), u32(1), u32(sections.length), ...sections.flatMap(([id, bytes]) => [u32(id), u64(bytes.length), bytes])]));
const memory = (data) => ({ type: 'mem', ...(data && { data }) });
const curve = await snarkjs.curves.getCurveFromName('bn128', { singleThread: true });
globalThis.curve_bn128 = curve;
const [g1, g2] = [curve.G1, curve.G2].map((G) => { const b = new Uint8Array(2 * G.F.n8); G.toRprLEM(b, 0, G.g); return Buffer.from(b); });
const times = (point, count) => Buffer.concat(Array(count).fill(point));

// powers of tau = 1, which are generators, and as many Lagrange points, none of which is looked at
const ptauOf = (power, order) => {
  const n = 2 ** power;
  const all = new Map([
    [1, Buffer.concat([u32(32), number(BigInt(curve.q)), u32(power), u32(power)])],
    [2, times(g1, 2 * n - 1)], [3, times(g2, n)], [4, times(g1, n)], [5, times(g1, n)], [6, g2], [7, u32(0)],
    [12, times(g1, 4 * n - 1)], [13, times(g2, 2 * n - 1)], [14, times(g1, 2 * n - 1)], [15, times(g1, 2 * n - 1)],
  ]);
  return file('ptau', order.map((id) => [id, all.get(id)]));
};
// constraints x · x = x
const r1csOf = (count) => {
  const wire = Buffer.concat([u32(1), u32(1), number(1n)]);
  const header = Buffer.concat([u32(32), number(BigInt(curve.r)), u32(2), u32(0), u32(0), u32(1), u64(2), u32(count)]);
  return file('r1cs', [[1, header], [2, times(wire, 3 * count)], [3, Buffer.concat([u64(0), u64(1)])]]);
};
const orders = [[1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 15], [1, 2, 7, 3, 4, 5, 6, 12, 13, 14, 15]];
const hashes = async (power) => {
  const r1cs = r1csOf(2 ** (power - 1) + 1);
  const each = [];
  for (const order of orders) each.push(Buffer.from(await snarkjs.zKey.newZKey(memory(r1cs), memory(ptauOf(power, order)), memory())).toString('hex'));
  return each[0] === each[1] ? 'the same hash' : 'another hash';
};
console.log('behaviour: the circuit hash of zKey.newZKey takes in 64 bytes behind the powers of tau, for domains above 2^14');
const seen = `sections of the .ptau in another order, domain 2^14: ${await hashes(14)}; 2^15: ${await hashes(15)}`;
console.log(`output seen: ${seen}`);
process.exit(seen.endsWith('2^14: the same hash; 2^15: another hash') ? 0 : 1);
EOF
node check.mjs
