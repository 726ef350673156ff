#!/usr/bin/env bash
# openAsBlob of Node gives a Blob of a file above 4 GiB the file's size modulo 2^32: its end cannot be
# read, and programs that compare the size with a header take the file for one that is cut off.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . node@24.21.0 >/dev/null
cat >blob.mjs <<'PROGRAM'
import { closeSync, ftruncateSync, openAsBlob, openSync, statSync } from 'node:fs';
// a sparse file: nothing is written
const file = openSync('large', 'w');
ftruncateSync(file, 2 ** 32 + 100);
closeSync(file);
const blob = await openAsBlob('large');
console.log(`${process.version} file ${statSync('large').size} blob ${blob.size} slice ${blob.slice(2 ** 32).size}`);
PROGRAM
seen=$(node_modules/node/bin/node blob.mjs 2>/dev/null)
echo "version: node ${seen%% *} (npm package node@24.21.0)"
echo 'behaviour: the Blob of a file of 2^32 + 100 bytes has a size of 100'
echo "output seen: $seen"
[ "$seen" = 'v24.21.0 file 4294967396 blob 100 slice 0' ]
