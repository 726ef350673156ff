import { existsSync } from 'node:fs';
import { UsageError } from './command-line.mjs';

const built = new URL('../dist-bench/field-bench.js', import.meta.url);

/**
 * What dev/field-bench exports, as vite built it; on a packed GPU host there is nothing else.
 *
 * @returns {Promise<typeof import('../dev/field-bench/index.js')>}
 * @throws UsageError if it was not built
 */
export async function openBenchLibrary() {
  if (!existsSync(built))
    throw new UsageError('dist-bench/field-bench.js is not there: `npm run build:bench` makes it');
  return import(built.href);
}
