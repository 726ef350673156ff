/**
 * npm start
 *
 * Runs MSMs with the built library on Dawn in Node, on a GPU or on the software adapter, and checks
 * each against noble: the benchmark of `npm run bench` without other libraries. Exits non-zero when
 * a result is wrong.
 */
import { parseKnobs } from '../dev/bench/knobs.js';
import { rowsOf } from '../dev/bench/rows.js';
import { ensureBuilt, project } from './builds.mjs';
import {
  adapterOption,
  anyText,
  command,
  integer,
  listOf,
  onAdapter,
  outputFile,
  refusalsAsUsage,
  runCommand,
  size,
  valued,
} from './command-line.js';
import { reportBench } from './run-bench.js';

const sizes = [2 ** 10, 2 ** 12, 2 ** 14];

const own = command({
  usage: `Computes multi-scalar multiplications on the GPU, checks each, and prints their times.

usage: npm start -- [options]`,
  options: {
    curve: valued('bls12-381', 'the curve (default bn254)', anyText),
    group: valued('g2', 'its group (default g1)', anyText),
    encoding: valued('ark-compressed', 'the encoding of the points that are loaded (default le)', anyText),
    n: valued('2^10,4097,…', 'numbers of points (default 2^10,2^12,2^14)', listOf(size(1, 2 ** 22)), sizes),
    reps: valued('3', 'timed repetitions of each, after a warm-up; the median is printed', integer(1, 1000), 3),
    budget: valued('256', 'memoryBudget in MiB; a larger MSM runs in groups and chunks', integer(1, 65_536), 256),
    json: valued('FILE', 'also write every row to a file, as npm run bench does', outputFile),
    adapter: adapterOption,
  },
  notes: 'npm run bench has more modes and options.',
  run: ({ adapter, curve, group, encoding, n, reps, budget, json }) => {
    ensureBuilt('library');
    return onAdapter(adapter, async () => {
      const query = new URLSearchParams({
        ...{
          autorun: 'msm-bench',
          n: n.toSorted((a, b) => a - b).join(','),
          reps: String(reps),
          budget: String(budget),
        },
        ...{ peers: 'none', build: project },
        ...(curve !== undefined && { curve }),
        ...(group !== undefined && { group }),
        ...(encoding !== undefined && { encoding }),
      });
      const read = refusalsAsUsage(() => parseKnobs(query, 'terminal'));
      await reportBench(read, query, { json }, (rows) => {
        const compiled =
          rowsOf(rows, 'warm-up')[0]?.pipelines.map(({ name, ms }) => `${name} ${ms.toFixed(0)} ms`) ?? [];
        return `\n\ncompiled once, in parallel: ${compiled.join(', ')}`;
      });
    });
  },
});

export const start = (): Promise<void> => runCommand(own, undefined, 1);
