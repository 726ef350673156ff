#!/usr/bin/env bash
# Powers of tau that snarkjs truncates verify, and those that it prepares verify; but powers that were
# truncated and are then prepared again do not. A .ptau names two powers: its own, and that of its
# ceremony, from which the hashes of contributions follow. preparePhase2 writes its own in both places,
# so verify computes the hash of the first challenge for another ceremony.
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
const { powersOfTau } = snarkjs;
const curve = await snarkjs.curves.getCurveFromName('bn128', { singleThread: true });
globalThis.curve_bn128 = curve;
await powersOfTau.newAccumulator(curve, 3, 'new.ptau');
await powersOfTau.contribute('new.ptau', 'one.ptau', 'one', 'some text');
await powersOfTau.preparePhase2('one.ptau', 'whole.ptau');
// writes short01.ptau, short02.ptau and others
await powersOfTau.truncate('whole.ptau', 'short');
await powersOfTau.preparePhase2('short02.ptau', 'again.ptau');

// the second section 1 field of four bytes is the power of the ceremony
const ceremony = (name) => {
  const bytes = readFileSync(name);
  for (let at = 12; at < bytes.length; ) {
    const [id, length] = [bytes.readUInt32LE(at), Number(bytes.readBigUInt64LE(at + 4))];
    if (id === 1) return bytes.readUInt32LE(at + 12 + length - 4);
    at += 12 + length;
  }
};
const seen = [];
for (const name of ['whole.ptau', 'short02.ptau', 'again.ptau']) {
  seen.push(`${name}: ceremony 2^${ceremony(name)}, verify ${await powersOfTau.verify(name)}`);
}
console.log('behaviour: powersOfTau.verify refuses truncated powers after preparePhase2, which writes their own power in the place of the ceremony’s');
console.log(`output seen: ${seen.join('; ')}`);
process.exit(seen.join() === 'whole.ptau: ceremony 2^3, verify true,short02.ptau: ceremony 2^3, verify true,again.ptau: ceremony 2^2, verify false' ? 0 : 1);
EOF
node check.mjs
