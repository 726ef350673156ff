/** npm run bench -- --autorun sweep --logn 10..18: see ./bench/options.mjs, or --help. */
import { writeFileSync } from 'node:fs';
import { availableParallelism, machine, release, type } from 'node:os';
import { closeGpu, openGpu } from './adapter/open-gpu.mjs';
import { parseOptions, usage } from './bench/options.mjs';
import { openBenchBuild } from './bench-library.mjs';
import { progress, runOnAdapter } from './command-line.mjs';
import { commit } from './start/rows.mjs';

const library = await openBenchBuild('bench');

/** @param {ReturnType<typeof parseOptions>} options */
async function bench({ knobs, query, json, csv, trace }) {
  const { Run, startBench, reportLines, toJson, toCsv, toChromeTrace, formatProgress } = library;
  const run = new Run({
    onProgress: (bench) => progress(formatProgress(bench)),
    onRow() {},
  });
  const stop = () => run.stop();
  process.once('SIGINT', stop);
  const host = {
    gpu: openGpu(),
    query: query.toString(),
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
    const { mode } = /** @type {{ mode: import('../dev/bench/modes.js').Mode }} */ (knobs);
    await startBench(run, host, /** @type {NonNullable<typeof knobs>} */ (knobs), mode);
  } finally {
    process.off('SIGINT', stop);
    progress('');
    closeGpu();
  }
  const { rows, status, error } = run.bench;
  // what was measured before something failed is worth having
  console.log(reportLines(rows).join('\n'));
  if (json !== undefined) writeFileSync(json, toJson(rows));
  if (csv !== undefined) writeFileSync(csv, toCsv(rows));
  if (trace !== undefined) writeFileSync(trace, toChromeTrace(rows));
  if (status !== 'done') {
    console.error(`\n${error}`);
    process.exitCode = 1;
  }
}

await runOnAdapter(usage(library), () => parseOptions(library), bench);
