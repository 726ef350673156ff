#!/usr/bin/env bash
# circom_runtime allocates a memory of 2 GiB for every witness program, also for those of circom 2,
# which bring their own and do not import it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . circom_runtime@0.1.28 >/dev/null
cat >memory.mjs <<'PROGRAM'
import { readFileSync } from 'node:fs';
const { Memory } = WebAssembly;
const bytes = [];
WebAssembly.Memory = function (type) {
  bytes.push(type.initial * 2 ** 16);
  return new Memory(type);
};
const { WitnessCalculatorBuilder } = await import('circom_runtime');
const program = readFileSync('node_modules/circom_runtime/test/circuit/circuit_js/circuit.wasm');
const imported = WebAssembly.Module.imports(new WebAssembly.Module(program)).filter(({ kind }) => kind === 'memory');
await (await WitnessCalculatorBuilder(program)).calculateWitness({ a: 3, b: 11, c: 7 });
console.log(`imported memories ${imported.length} allocated bytes ${bytes.join(' ')}`);
PROGRAM
seen=$(node memory.mjs)
echo "version: circom_runtime 0.1.28, node $(node --version)"
echo 'behaviour: a program that imports no memory has 2 GiB allocated for it'
echo "output seen: $seen"
[ "$seen" = 'imported memories 0 allocated bytes 2147418112' ]
