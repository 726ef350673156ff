/** Runs the bench in this process. */
import { writeFileSync } from 'node:fs';
import { availableParallelism, machine, release, type } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { closeGpu, openGpu } from './adapter/open-gpu.mjs';
import { commit, openLibrary } from './builds.mjs';
import { progress } from './command-line.mjs';

/** Returns the runtime with its version. Deno and Bun also tell a version of Node. */
const runtimeName = () => {
  const { deno, bun } = process.versions;
  return deno ? `Deno ${deno}` : bun ? `Bun ${bun}` : `Node ${process.version}`;
};

/** Dawn rounds GPU times to 100 µs, which is more than some phases of a fast GPU take. */
const EXACT_TIMES = ['disable-dawn-features=timestamp_quantization'];

/** @type {(() => void) | undefined} */
let collect;

/** V8 releases its young generation, up to 32 MB, after so many collections without a survivor. */
const COLLECTIONS = 16;

/** Collects garbage. Only contexts that are made after the flag is set have the function `gc`. */
const collectGarbage = () => {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc');
    collect = /** @type {() => void} */ (runInNewContext('gc'));
  }
  for (let i = 0; i < COLLECTIONS; i++) collect();
};

/**
 * Runs a mode, prints its report and writes its files. A failure sets the exit code.
 *
 * @param {typeof import('../dev/bench/index.js')} library
 * @param {import('../dev/bench/knobs.js').AnyKnobs} knobs knobs with a mode
 * @param {URLSearchParams} query the query that the knobs were read from
 * @param {{ json?: string | undefined, csv?: string | undefined, trace?: string | undefined }} files
 * @param {(rows: import('../dev/bench/rows.js').StampedRow[]) => string} [more] text below the report
 */
export async function reportBench(library, knobs, query, { json, csv, trace }, more = () => '') {
  const { rows, status, error } = await runBench(library, knobs, query.toString());
  // rows that were measured before a failure are reported, too
  console.log(library.reportLines(rows).join('\n') + more(rows));
  if (json !== undefined) writeFileSync(json, library.toJson(rows));
  if (csv !== undefined) writeFileSync(csv, library.toCsv(rows));
  if (trace) writeFileSync(trace, library.toChromeTrace(rows));
  if (status === 'done') return;
  console.error(`\n${error}`);
  process.exitCode = 1;
}

/**
 * Runs a mode to its end and returns the state of the run.
 *
 * @param {typeof import('../dev/bench/index.js')} library
 * @param {import('../dev/bench/knobs.js').AnyKnobs} knobs
 * @param {string} query
 */
async function runBench({ Run, startBench, formatProgress }, knobs, query) {
  const run = new Run({ onProgress: (bench) => progress(formatProgress(bench)), onRow() {} });
  const stop = () => run.stop();
  process.once('SIGINT', stop);
  const host = {
    /** Opens the GPU on first use: some modes need none. */
    get gpu() {
      return openGpu(EXACT_TIMES);
    },
    query,
    openBuild: openLibrary,
    cpuSeconds: () => process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6,
    usedBytes: () => process.memoryUsage.rss(),
    residentBytes: () => {
      collectGarbage();
      return process.memoryUsage.rss();
    },
    facts: {
      runtime: runtimeName(),
      os: `${type()} ${release()} ${machine()}`,
      userAgent: null,
      commit: commit(),
      cores: availableParallelism(),
      crossOriginIsolated: null,
    },
  };
  try {
    await startBench(run, host, knobs, /** @type {string} */ (knobs.mode));
  } finally {
    process.off('SIGINT', stop);
    progress('');
    closeGpu();
  }
  return run.bench;
}
