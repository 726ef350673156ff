#!/usr/bin/env bash
# A pending Atomics.waitAsync does not keep Node alive, not even with a timeout: a program that waits
# for a worker only by it ends in the middle, with exit code 13 and without its output.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . node@24.21.0 >/dev/null
cat >wait.mjs <<'PROGRAM'
const words = new Int32Array(new SharedArrayBuffer(4));
const { value } = Atomics.waitAsync(words, 0, 0, 200);
console.log(process.version, 'waits 200 ms');
console.log(await value);
PROGRAM
code=0
seen=$(node_modules/node/bin/node wait.mjs 2>/dev/null) || code=$?
echo "version: node ${seen%% *} (npm package node@24.21.0)"
echo "behaviour: the process ends before the 200 ms are over, with exit code $code"
echo "output seen: $seen"
[ "$seen" = 'v24.21.0 waits 200 ms' ] && [ "$code" = 13 ]
