/** Runs the bench in this process. */
import { existsSync, writeFileSync } from 'node:fs';
import { availableParallelism, machine, release, type } from 'node:os';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { formatProgress } from '../dev/bench/format.js';
import type { AnyKnobs } from '../dev/bench/knob.js';
import { startBench } from '../dev/bench/modes.js';
import { reportLines, toChromeTrace, toJson } from '../dev/bench/report.js';
import type { Library } from '../dev/bench/rows.js';
import { Run } from '../dev/bench/run.js';
import { closeGpu, openGpu } from './adapter/open-gpu.mjs';
import { commit } from './builds.mjs';
import { progress, UsageError } from './command-line.js';

/** Returns the runtime with its version. Deno and Bun also tell a version of Node. */
const runtimeName = () => {
  const { deno, bun } = process.versions;
  return deno ? `Deno ${deno}` : bun ? `Bun ${bun}` : `Node ${process.version}`;
};

/** Dawn rounds GPU times to 100 µs, which is more than some phases of a fast GPU take. */
const EXACT_TIMES = ['disable-dawn-features=timestamp_quantization'];

/**
 * Returns the path of the built library in a package folder.
 *
 * @param said name of the option that gave the folder
 * @throws UsageError
 */
export function findLibrary(folder: string, said: string): string {
  const library = resolve(folder, 'dist/index.js');
  if (!existsSync(library)) throw new UsageError(`--${said}: ${library} does not exist; run \`npm run build\` there`);
  return library;
}

/** Imports the library that is built in a folder. @throws UsageError */
export async function openLibrary(folder: string): Promise<Library> {
  const library = findLibrary(folder, 'build');
  const module = await import(/* @vite-ignore */ pathToFileURL(library).href);
  if (module.createMsmEngine === undefined) throw new UsageError(`--build: ${library} exports no createMsmEngine`);
  return module;
}

/**
 * Runs a mode, prints its report and writes its files. A failure sets the exit code.
 *
 * @param knobs knobs with a mode
 * @param query the query that the knobs were read from
 */
export async function reportBench(
  knobs: AnyKnobs,
  query: URLSearchParams,
  { json, trace }: { json?: string | undefined; trace?: string | undefined },
) {
  const { rows, status, error } = await runBench(knobs, query.toString());
  // rows that were measured before a failure are reported, too
  console.log(reportLines(rows).join('\n'));
  if (json !== undefined) writeFileSync(json, toJson(rows));
  if (trace) writeFileSync(trace, toChromeTrace(rows));
  if (status === 'done') return;
  console.error(`\n${error}`);
  process.exitCode = 1;
}

/** Runs a mode, with its progress in the last line of the terminal. */
export async function runBench(knobs: AnyKnobs, query: string) {
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
    usedBytes: () => process.memoryUsage.rss(),
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
    await startBench(run, host, knobs, knobs.mode as string);
  } finally {
    process.off('SIGINT', stop);
    progress('');
    closeGpu();
  }
  return run.bench;
}
