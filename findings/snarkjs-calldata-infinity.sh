#!/bin/sh
# snarkjs writes the point at infinity into calldata as (0, 1), as its JSON has it. EIP-196 has (0, 0)
# there: (0, 1) is not on the curve y² = x³ + 3, so the precompiled contracts refuse it.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund snarkjs@0.7.6
cat >run.mjs <<'JS'
import { readFileSync } from 'node:fs';
import * as snarkjs from 'snarkjs';

console.log('version: snarkjs', JSON.parse(readFileSync('node_modules/snarkjs/package.json')).version);
const { G1, q } = await snarkjs.curves.getCurveFromName('bn128', { singleThread: true });
const infinity = G1.toObject(G1.zero).map(String);
const pair = ['1', '2'];
const proof = { pi_a: infinity, pi_b: [pair, pair, ['1', '0']], pi_c: infinity, protocol: 'groth16', curve: 'bn128' };
const [[x, y]] = JSON.parse(`[${await snarkjs.groth16.exportSolidityCallData(proof, [])}]`);
const isOnCurve = (BigInt(y) ** 2n - BigInt(x) ** 3n - 3n) % BigInt(q) === 0n;
console.log('behaviour: calldata of infinity is no point of the curve, and not the (0, 0) of EIP-196');
console.log('output seen:', JSON.stringify({ json: infinity, calldata: [BigInt(x), BigInt(y)].map(String), isOnCurve }));
process.exit(BigInt(x) === 0n && BigInt(y) === 1n && !isOnCurve ? 0 : 1);
JS
node run.mjs
