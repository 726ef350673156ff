#!/usr/bin/env bash
# Vite bundles a worker whose URL is a literal. With a comment before the literal, as bundlers have
# for hints, it leaves worker and URL as they are, without a warning: the page requests a file that
# is not there.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . vite@8.3.8 >/dev/null
echo 'postMessage("from the worker");' >worker.js
for kind in plain commented; do
  comment=$([ "$kind" = commented ] && echo '/* the worker */ ' || true)
  echo "<script type=module src=/$kind.js></script>" >index.html
  echo "new Worker(new URL($comment'./worker.js', import.meta.url), { type: 'module' });" >"$kind.js"
  node_modules/.bin/vite build --outDir "dist-$kind" >"$kind.log" 2>&1
done
seen="plain: $(ls dist-plain/assets | grep -c '^worker-') file of the worker, commented: $(ls dist-commented/assets | grep -c '^worker-' || true), lines of warnings $(grep -ci warn commented.log || true)"
echo "version: vite 8.3.8, node $(node --version)"
echo 'behaviour: a comment before the URL of a worker has Vite leave the worker out'
echo "output seen: $seen"
[ "$seen" = 'plain: 1 file of the worker, commented: 0, lines of warnings 0' ]
