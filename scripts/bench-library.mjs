import { existsSync } from 'node:fs';
import { UsageError } from './command-line.mjs';

/**
 * @typedef {object} BenchBuilds what vite.bench.config.ts makes, by name
 * @property {typeof import('../dev/bench/index.js')} bench
 * @property {typeof import('../dev/field-bench/index.js')} field-bench
 */

/**
 * A part of dev/ as vite built it; on a packed GPU host there is nothing else.
 *
 * @template {keyof BenchBuilds} Name
 * @param {Name} name
 * @returns {Promise<BenchBuilds[Name]>}
 * @throws UsageError if it was not built
 */
export async function openBenchBuild(name) {
  const built = new URL(`../dist-bench/${name}.js`, import.meta.url);
  if (!existsSync(built)) throw new UsageError(`dist-bench/${name}.js is not there: \`npm run build:bench\` makes it`);
  return import(built.href);
}
