/** One run of the bench in this process. */
import { availableParallelism, machine, release, type } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { closeGpu, openGpu } from './adapter/open-gpu.mjs';
import { commit, openLibrary } from './builds.mjs';
import { progress } from './command-line.mjs';

/** Dawn rounds times to 100 µs, of which whole phases of a fast GPU take less. */
const EXACT_TIMES = ['disable-dawn-features=timestamp_quantization'];

/** @type {(() => void) | undefined} */
let collect;

/** Room for what is young, up to 32 MB, is given back when nothing survived so many collections in a row. */
const COLLECTIONS = 16;

/** A collector is there for contexts that are made once the flag is set. */
const collectGarbage = () => {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc');
    collect = /** @type {() => void} */ (runInNewContext('gc'));
  }
  for (let i = 0; i < COLLECTIONS; i++) collect();
};

/**
 * @param {typeof import('../dev/bench/index.js')} library
 * @param {import('../dev/bench/knobs.js').Knobs} knobs with a mode
 * @param {string} query what they were read from
 */
export async function runBench({ Run, startBench, formatProgress }, knobs, query) {
  const run = new Run({ onProgress: (bench) => progress(formatProgress(bench)), onRow() {} });
  const stop = () => run.stop();
  process.once('SIGINT', stop);
  const host = {
    /** Opened when it is asked for: some modes do without. */
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
      runtime: `Node ${process.version}`,
      os: `${type()} ${release()} ${machine()}`,
      userAgent: null,
      commit: commit(),
      cores: availableParallelism(),
      crossOriginIsolated: null,
    },
  };
  try {
    await startBench(run, host, knobs, /** @type {import('../dev/bench/modes.js').Mode} */ (knobs.mode));
  } finally {
    process.off('SIGINT', stop);
    progress('');
    closeGpu();
  }
  return run.bench;
}
