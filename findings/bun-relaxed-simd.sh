#!/bin/sh
# Bun computes other results of relaxed SIMD instructions once a function is hot: its baseline
# compiler and its optimising compiler lower relaxed conversions of NaN and of numbers out of range,
# and lane selects by masks that are not all ones or zeros, in different ways. The specification of
# WebAssembly fixes each choice for the whole execution. A program that compares results, or that
# decides once at its start which of the allowed results it has, is wrong later.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts bun@1.4.5 >/dev/null 2>&1
cat >probe.mjs <<'JS'
const leb = (n) => (n < 128 ? [n] : [(n & 127) | 128, ...leb(n >>> 7)]);
const section = (id, body) => [id, ...leb(body.length), ...body];
// export "m": a memory; export "r": stores OP(v128 at 0, at 16, at 32) at 64
const moduleOf = (opcode, operands) => {
  const loads = Array.from({ length: operands }, (_, i) => [0x41, 16 * i, 0xfd, 0, 4, 0]).flat();
  const body = [0, 0x41, 0xc0, 0, ...loads, 0xfd, ...leb(opcode), 0xfd, 11, 4, 0, 0x0b];
  return Uint8Array.of(
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, 0, 0]),
    ...section(3, [1, 0]),
    ...section(5, [1, 0, 1]),
    ...section(7, [2, 1, 0x72, 0, 0, 1, 0x6d, 2, 0]),
    ...section(10, [1, ...leb(body.length), ...body]),
  );
};
const fill = {
  floats: (buffer) => new Float32Array(buffer).set([Number.NaN, 5e9, -1.5, -5e9]),
  masks: (buffer) => new Uint8Array(buffer, 0, 48).forEach((_, i, all) => (all[i] = (i * 151 + 99) & 255)),
};
const cases = [
  ['i32x4.relaxed_trunc_f32x4_s', 0x101, 1, fill.floats],
  ['i8x16.relaxed_laneselect', 0x109, 3, fill.masks],
  ['i64x2.relaxed_laneselect', 0x10c, 3, fill.masks],
];
let changed = 0;
for (const [name, opcode, operands, prepare] of cases) {
  const { r, m } = new WebAssembly.Instance(new WebAssembly.Module(moduleOf(opcode, operands))).exports;
  prepare(m.buffer);
  const result = () => {
    r();
    return Buffer.from(m.buffer, 64, 16).toString('hex');
  };
  const cold = result();
  let hot = cold;
  const until = Date.now() + 10_000;
  while (hot === cold && Date.now() < until) {
    for (let i = 0; i < 1000; i++) hot = result();
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  if (hot !== cold) changed++;
  console.log(`output seen: ${name}: ${cold} in the first call, ${hot} when hot`);
}
process.exit(changed === cases.length ? 0 : 1);
JS
bun="$folder/node_modules/bun/bin/bun.exe"
[ -x "$bun" ] && "$bun" --version >/dev/null 2>&1 || bun="$folder/node_modules/.bin/bun"
"$bun" --version >/dev/null 2>&1 || (cd node_modules/bun && node install.js >/dev/null 2>&1)
echo "version: Bun $("$bun" --version), $(uname -sm)"
echo 'behaviour: relaxed SIMD instructions give other results for the same operands once their function is hot'
"$bun" probe.mjs
