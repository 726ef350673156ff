/**
 * npm run bench:targets
 *
 * What the library is meant to reach, measured: a line for every target, with what was measured and whether it is met. No time counts before
 * its result was found right. Runs from a packed folder as well: it needs dist, dist-bench, scripts and dev/oracle.
 */
import { writeFileSync } from 'node:fs';
import { adapterLine, closeGpu } from './adapter/open-gpu.mjs';
import { progress, runOnAdapter } from './command-line.mjs';
import { commit } from './start/rows.mjs';
import { openBuilds } from './targets/builds.mjs';
import { exitCodeOf, verdictOf } from './targets/findings.mjs';
import { parseOptions, usage } from './targets/options.mjs';
import { summary, table } from './targets/report.mjs';
import { rows } from './targets/rows/all.mjs';
import { Workbench } from './targets/workbench.mjs';

/** The largest n unless somebody says otherwise. */
const LOGN = { software: 16, hardware: 20 };

/** @param {ReturnType<typeof parseOptions>} options */
async function benchTargets({ rows: names, logn: given, reps, strict, json, builds }) {
  if (builds === null) throw new Error('only --help needs no builds');
  /** @type {Workbench | undefined} */
  let bench;
  try {
    const adapter = await Workbench.adapter();
    const logn = given ?? (adapter.software ? LOGN.software : LOGN.hardware);
    const common = { at: new Date().toISOString(), commit: commit(builds.folder), node: process.version, adapter };
    console.log(`adapter: ${adapterLine(adapter)}; node ${process.version}; commit ${common.commit ?? 'unknown'}`);
    console.log(`BN254 G1, n up to 2^${logn}, medians of ${reps}; every result is checked before its time counts\n`);
    bench = new Workbench(await openBuilds(builds), { adapter, reps, logn, progress });

    const { lines, measured } = await measureRows(bench, names);
    progress('');
    console.log(table(lines));
    console.log(`\n${summary(lines)}`);
    console.log('Product equivalents: the wall × the rate of the plain 13-bit product, measured before and after it.');
    if (json !== undefined) {
      const verdicts = lines.map((line) => ({ ...line, verdict: verdictOf(line) }));
      const record = { ...common, platform: process.platform, logn, reps, lines: verdicts, measured };
      writeFileSync(json, `${JSON.stringify(record, null, 2)}\n`);
    }
    process.exitCode = exitCodeOf(lines, strict);
  } finally {
    progress('');
    bench?.destroy();
    closeGpu();
  }
}

/**
 * What goes wrong in a row is that row's failure; the others are measured all the same.
 *
 * @param {Workbench} bench
 * @param {readonly string[]} names
 */
async function measureRows(bench, names) {
  const wanted = rows.filter(({ name }) => names.includes(name));
  /** @type {Map<string, import('./targets/findings.mjs').Finding[]>} */
  const findings = new Map();
  /** @type {Record<string, unknown>} */
  const measured = {};
  for (const row of [...wanted.filter(({ first }) => first), ...wanted.filter(({ first }) => !first)]) {
    try {
      measured[row.name] = await row.measure(bench);
      findings.set(row.name, row.judge(measured[row.name], bench));
    } catch (error) {
      const failure = error instanceof Error ? error.message : String(error);
      findings.set(row.name, [{ what: 'all of it', target: null, value: null, failure }]);
    }
  }
  const lines = wanted.flatMap(({ name }) => (findings.get(name) ?? []).map((finding) => ({ row: name, ...finding })));
  return { lines, measured };
}

await runOnAdapter(usage, parseOptions, benchTargets);
