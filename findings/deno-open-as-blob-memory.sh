#!/usr/bin/env bash
# openAsBlob of node:fs reads no byte in Node. Deno reads the whole file for it and holds it twice, so a
# program that takes a part of a large file by Blob.slice needs twice the file in memory.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . deno@2.9.5 >/dev/null
node --eval '
  const { openSync, writeSync } = require("node:fs");
  const [file, bytes] = [openSync("large", "w"), Buffer.alloc(2 ** 20)];
  for (let i = 0; i < 256; i++) writeSync(file, bytes.fill(i));
'
cat >blob.mjs <<'PROGRAM'
import { openAsBlob } from 'node:fs';
import process from 'node:process';
const before = process.memoryUsage().rss;
const blob = await openAsBlob('large');
console.log((process.memoryUsage().rss - before) / blob.size);
PROGRAM
export DENO_DIR=$folder/cache DENO_NO_UPDATE_CHECK=1 NO_COLOR=1
deno=$(node_modules/.bin/deno run --no-config --allow-read --allow-env --allow-sys blob.mjs)
node=$(node blob.mjs)
echo "version: $(node_modules/.bin/deno --version | head -n 1), node $(node --version)"
echo 'behaviour: opening a Blob of a file of 256 MiB takes twice its size in Deno, and next to nothing in Node'
printf 'output seen: memory / size of the file %.1f in Deno, %.1f in Node\n' "$deno" "$node"
node --eval "process.exitCode = Number(!($deno > 1.8 && $deno < 2.5 && $node < 0.1))"
