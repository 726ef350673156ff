/**
 * npm start
 *
 * Says how fast this machine proves and sums: a whole Groth16 proof, which noble verifies, and MSMs
 * with the built library, each compared with noble. They run where the library would run them: on a
 * GPU, the CPU, or both. Exits non-zero when a result is wrong.
 */
import { writeFileSync } from 'node:fs';
import { parseKnobs } from '../dev/bench/knobs.js';
import { reportLines, toJson } from '../dev/bench/report.js';
import { rowsOf, type StampedRow } from '../dev/bench/rows.js';
import { chooseAdapter, NoAdapterError, parseAdapterRequest } from './adapter/choose-adapter.mjs';
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
  type Values,
  valued,
} from './command-line.js';
import { runBench } from './run-bench.js';

const sizes = [2 ** 10, 2 ** 12, 2 ** 14];

const options = {
  proof: valued('14', 'constraints of the proof as a power of two; 0 leaves it out (default 12)', integer(0, 20), 12),
  curve: valued('bls12-381', 'the curve of the sums (default bn254)', anyText),
  group: valued('g2', 'its group (default g1)', anyText),
  encoding: valued('ark-compressed', 'the encoding of the points that are loaded (default le)', anyText),
  n: valued('2^10,4097,…', 'numbers of points (default 2^10,2^12,2^14)', listOf(size(1, 2 ** 22)), sizes),
  reps: valued('3', 'timed repetitions of each, after a warm-up; the median is printed', integer(1, 1000), 3),
  budget: valued('256', 'memoryBudget in MiB; a larger MSM runs in groups and chunks', integer(1, 65_536), 256),
  json: valued('FILE', 'also write every row to a file, as npm run bench does', outputFile),
  adapter: adapterOption,
};

/** Where the library computes. `gpu` times a GPU that was asked for, `cpu` opens none. */
interface Place {
  readonly backend: 'auto' | 'gpu' | 'cpu';
  /** A note about a GPU that is not used; empty if there is none. */
  readonly note: string;
}

const SOFTWARE =
  'The only GPU here is a software adapter, which is slower than the CPU: nothing ran on it. To time it: npm start -- --adapter software';

/** Runs work where the library computes fastest here, or on the adapter that was asked for. */
async function onFastest(adapter: string | undefined, work: (place: Place) => Promise<void>): Promise<void> {
  if (adapter !== undefined) return onAdapter(adapter, () => work({ backend: 'gpu', note: '' }));
  const request = parseAdapterRequest(undefined);
  const choice = await chooseAdapter(request).catch((error: unknown) => {
    // the CPU needs no adapter
    if (request === 'auto' && error instanceof NoAdapterError) return null;
    throw error;
  });
  if (choice?.kind === 'hardware') return onAdapter(request, () => work({ backend: 'auto', note: '' }));
  return work({ backend: 'cpu', note: choice === null ? '' : SOFTWARE });
}

function queries(given: Values<typeof options>, { backend }: Place): URLSearchParams[] {
  const { proof, curve, group, encoding, n, reps, budget } = given;
  const where = backend === 'gpu' ? {} : { backend };
  const ofProof = { autorun: 'proof', logn: String(proof), reps: String(reps), ...where };
  const ofSums = {
    ...{ autorun: 'msm-bench', n: n.toSorted((a, b) => a - b).join(','), reps: String(reps) },
    ...{ peers: 'none', build: project, ...where },
    ...(backend !== 'cpu' && { budget: String(budget) }),
    ...(curve !== undefined && { curve }),
    ...(group !== undefined && { group }),
    ...(encoding !== undefined && { encoding }),
  };
  return [...(proof === 0 ? [] : [ofProof]), ofSums].map((query) => new URLSearchParams(query));
}

/** Returns what a GPU compiled for the sums, and for how long. */
const compiled = (rows: readonly StampedRow[]): string[] => {
  const pipelines = rowsOf(rows, 'warm-up')[0]?.pipelines ?? [];
  const times = pipelines.map(({ name, ms }) => `${name} ${ms.toFixed(0)} ms`);
  return times.length === 0 ? [] : ['', `compiled once, in parallel: ${times.join(', ')}`];
};

const own = command({
  usage: `Says how fast this machine proves and computes multi-scalar multiplications, and checks each result.

usage: npm start -- [options]`,
  options,
  notes: 'npm run bench has more modes and options.',
  run(given) {
    ensureBuilt('library');
    return onFastest(given.adapter, async (place) => {
      // a wrong option is refused before anything runs
      const runs = queries(given, place).map((query) => ({
        query,
        knobs: refusalsAsUsage(() => parseKnobs(query, 'terminal')),
      }));
      const all: StampedRow[] = [];
      for (const [i, { query, knobs }] of runs.entries()) {
        const { rows, status, error } = await runBench(knobs, query.toString());
        all.push(...rows);
        // the line about the machine is the same
        const lines = [...reportLines(rows), ...compiled(rows)].slice(i === 0 ? 0 : 1);
        console.log(lines.join('\n'));
        if (status === 'done') continue;
        console.error(`\n${error}`);
        process.exitCode = 1;
        break;
      }
      if (place.note !== '') console.log(`\n${place.note}`);
      if (given.json !== undefined) writeFileSync(given.json, toJson(all));
    });
  },
});

export const start = (): Promise<void> => runCommand(own, undefined, 1);
