/**
 * node scripts/package/weigh.mjs
 *
 * Compares the modules of `dist/` with their limits. A module weighs what a bundler makes of it: the
 * package itself is not minified.
 */
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { transformSync } from 'esbuild';
import { sizeLimits } from './size-limits.mjs';

/** Returns the bytes of a module that esbuild minified and gzip compressed. @param {string} code */
export const weigh = (code) => {
  const minified = transformSync(code, { minify: true, format: 'esm', target: 'es2022' }).code;
  return gzipSync(minified, { level: 9 }).length;
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const [name, { bytes: most }] of Object.entries(sizeLimits)) {
    const file = `dist/${name}.js`;
    const bytes = weigh(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'));
    console.log(`${file}: ${bytes} of ${most} bytes`);
    if (bytes <= most) continue;
    console.log(`${file} is too large`);
    process.exitCode = 1;
  }
}
