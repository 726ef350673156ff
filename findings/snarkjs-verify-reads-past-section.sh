#!/usr/bin/env bash
# zKey.verifyFromInit of snarkjs, with a .ptau of exactly the power of the circuit, reads one point
# more than section 2 of the .ptau has, 2^(power+1) - 1. The last place is bytes of the next section.
# The scalar there is zero, so the verdict is right; but an MSM that checks its points refuses it.
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

const POWER = 4;
const u32 = (value) => { const b = Buffer.alloc(4); b.writeUInt32LE(value); return b; };
const u64 = (value) => { const b = Buffer.alloc(8); b.writeBigUInt64LE(BigInt(value)); return b; };
const number = (value) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse();
const curve = await snarkjs.curves.getCurveFromName('bn128', { singleThread: true });
globalThis.curve_bn128 = curve;

// a chain of squarings: the constraints and the public wire need a domain of 2^POWER
const depth = 2 ** POWER - 4;
const wires = depth + 2;
const wire = (index) => Buffer.concat([u32(1), u32(index), number(1n)]);
const constraints = Array.from({ length: depth }, (_, i) => Buffer.concat([wire(i + 2), wire(i + 2), wire(i === depth - 1 ? 1 : i + 3)]));
const header = Buffer.concat([u32(32), number(BigInt(curve.r)), u32(wires), u32(1), u32(0), u32(1), u64(wires), u32(depth)]);
const sections = [[1, header], [2, Buffer.concat(constraints)], [3, Buffer.concat(Array.from({ length: wires }, (_, i) => u64(i)))]];
const r1cs = Buffer.concat([Buffer.from('r1cs'), u32(1), u32(3), ...sections.flatMap(([id, bytes]) => [u32(id), u64(bytes.length), bytes])]);

const memory = (data) => ({ type: 'mem', ...(data && { data: new Uint8Array(data) }) });
const beacon = '0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20';
const [fresh, ptau, prepared, first, zkey] = Array.from({ length: 5 }, () => memory());
await snarkjs.powersOfTau.newAccumulator(curve, POWER, fresh);
await snarkjs.powersOfTau.beacon(fresh, ptau, 'x', beacon, 10);
await snarkjs.powersOfTau.preparePhase2(ptau, prepared);
await snarkjs.zKey.newZKey(memory(r1cs), memory(prepared.data), first);
await snarkjs.zKey.beacon(memory(first.data), zkey, 'x', beacon, 10);

// looks at the points of each MSM in G1, and computes as before
const { G1 } = curve;
const original = G1.multiExpAffine;
let offCurve = 0;
let withScalar = 0;
G1.multiExpAffine = function (points, scalars, ...more) {
  const [size, each] = [2 * G1.F.n8, scalars.byteLength / (points.byteLength / (2 * G1.F.n8))];
  for (let i = 0; i * size < points.byteLength; i++) {
    if (G1.isValid(points.slice(i * size, (i + 1) * size))) continue;
    offCurve++;
    if (scalars.slice(i * each, (i + 1) * each).some((byte) => byte !== 0)) withScalar++;
  }
  return original.call(this, points, scalars, ...more);
};
const isRight = await snarkjs.zKey.verifyFromInit(memory(first.data), memory(prepared.data), memory(zkey.data));
console.log('behaviour: zKey.verifyFromInit multiplies bytes behind the powers of tau, which are no point, by zero');
const seen = `verdict ${isRight}, places off the curve ${offCurve}, of which with a scalar other than zero ${withScalar}`;
console.log(`output seen: ${seen}`);
process.exit(seen === 'verdict true, places off the curve 1, of which with a scalar other than zero 0' ? 0 : 1);
EOF
node check.mjs
