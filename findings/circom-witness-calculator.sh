#!/usr/bin/env bash
# Two surprises of the witness_calculator.js that circom 2 writes beside a program.
#
# It assigns a variable `a` that it does not declare, for inputs that are arrays. The file is CommonJS
# for sloppy mode; Vite bundles it without a warning into an ES module, which is strict, and the bundle
# throws a ReferenceError. With `let a;` in front it computes.
#
# calculateWitness runs the program, waits for a resolved promise, and reads the result afterwards. Of
# two calls at once the second has run the program again by then: both return its witness.
#
# Node 20.19 or later, npm. Exits with 1 when the output changes.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "type": "module" }' >package.json
npm install --no-audit --no-fund circom2@0.2.22 vite@8.3.8 >install.log 2>&1 || {
  cat install.log
  exit 2
}

cat >product.circom <<'CIRCUIT'
pragma circom 2.0.0;
template Product() {
  signal input one;
  signal input two[2];
  signal output product;
  signal partial <== one * two[0];
  product <== partial * two[1];
}
component main = Product();
CIRCUIT
npx circom2 product.circom --wasm -o . >compile.log

cat >entry.js <<'ENTRY'
export { default as makeCalculator } from './calculator.cjs';
ENTRY
cat >vite.config.js <<'CONFIG'
export default { logLevel: 'warn', build: { minify: false, lib: { entry: 'entry.js', formats: ['es'], fileName: 'bundle' } } };
CONFIG
cat >run.js <<'RUN'
import { readFileSync } from 'node:fs';
import { makeCalculator } from './dist/bundle.js';

const calculator = await makeCalculator(readFileSync('product_js/product.wasm'));
const witness = await calculator.calculateWitness({ one: 3, two: [5, 7] }, 0).catch(String);
if (!Array.isArray(witness)) console.log(witness);
else {
  const inputs = [2, 11].map((one) => ({ one, two: [5, 7] }));
  const atOnce = await Promise.all(inputs.map((input) => calculator.calculateWitness(input, 0)));
  console.log(`product ${witness[1]}; 70 and 385 at once: ${atOnce.map((values) => values[1]).join(' and ')}`);
}
RUN

attempt() {
  npx vite build
  node run.js
}
cp product_js/witness_calculator.js calculator.cjs
seen="as circom writes it: $(attempt)"
{ echo 'let a;' && cat product_js/witness_calculator.js; } >calculator.cjs
seen+=$'\n'"with the variable: $(attempt)"
expected='as circom writes it: ReferenceError: a is not defined
with the variable: product 105; 70 and 385 at once: 385 and 385'

echo "version: circom2 0.2.22 ($(npx circom2 --version | tail -n 1)), vite 8.3.8, Node $(node --version)"
echo "behaviour: a bundle of circom's witness_calculator.js is built without a warning, and throws for an input that is an array; two calls at once return one witness twice"
echo "output seen:"
echo "$seen"
[ "$seen" = "$expected" ]
