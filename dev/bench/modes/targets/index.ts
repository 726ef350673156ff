/** `targets`: what the library is meant to reach, measured: a line for every target. No time counts before its result was found right. */
import { openBenchDevice } from '../../bench-device.js';
import { errorMessage } from '../../error-message.js';
import { notes, type Parts } from '../../parts.js';
import { type RowOf, rowsOf } from '../../rows.js';
import type { BenchMode } from '../mode.js';
import { cold } from './cold.js';
import { failureOf, verdictOf, verdicts } from './findings.js';
import { findingsTable } from './findings-table.js';
import { batch, distributions } from './inputs.js';
import type { Row } from './row.js';
import { cost, gpuTime, memory, small } from './warm.js';
import { efficiency, work } from './work.js';
import { makeWorkbench, type Workbench } from './workbench.js';

// biome-ignore lint/suspicious/noExplicitAny: each judges what it measured
const rows: readonly Row<any>[] = [work, efficiency, cost, gpuTime, distributions, small, batch, memory, cold];

/** The largest n unless somebody says otherwise. */
const LOGN = { software: 16, hardware: 20 };

export const targets: BenchMode = {
  async run(run, host, knobs) {
    const wanted = rows.filter(({ name }) => knobs.rows === null || knobs.rows.includes(name));
    run.plan(wanted.map(() => 1));
    const device = await openBenchDevice(run, host, knobs);
    const { software } = device.adapter;
    const logn = knobs.logn ?? (software ? LOGN.software : LOGN.hardware);
    const bench = makeWorkbench(run, device, knobs, logn);
    const found = new Map<string, RowOf<'target'>>();
    try {
      for (const row of [...wanted.filter(({ first }) => first), ...wanted.filter(({ first }) => !first)]) {
        found.set(row.name, await measureRow(row, bench));
        run.advance(1, 'warm-up');
      }
    } finally {
      bench.destroy();
      device.destroy();
    }
    for (const { name } of wanted) run.tell(found.get(name) as RowOf<'target'>, 'progress', 'results');
    await run.end(
      failureOf(
        [...found.values()].flatMap(({ findings }) => findings),
        knobs.strict,
      ),
    );
  },
  show: (told) => targetParts(rowsOf(told, 'target')),
};

/** What goes wrong in a row is that row's failure; the others are measured all the same. */
async function measureRow(row: Row<unknown>, bench: Workbench): Promise<RowOf<'target'>> {
  try {
    const measured = await row.measure(bench);
    return { event: 'target', name: row.name, findings: row.judge(measured, bench), measured };
  } catch (error) {
    if (bench.signal.aborted) throw error;
    const failed = { what: 'all of it', target: null, value: null, failure: errorMessage(error) };
    return { event: 'target', name: row.name, findings: [failed], measured: null };
  }
}

export function targetParts(told: readonly Pick<RowOf<'target'>, 'name' | 'findings'>[]): Parts {
  const all = told.flatMap(({ findings }) => findings);
  const count = (verdict: string): number => all.filter((finding) => verdictOf(finding) === verdict).length;
  return [
    findingsTable('What the library is meant to reach', told),
    notes(
      verdicts.map((verdict) => `${count(verdict)} ${verdict}`).join(', '),
      'Medians, with where they lie by the repetitions (95 %; of fewer than 6 the least and the most); no verdict where the target lies in there.',
      'Product equivalents: the wall × the rate of the plain 13-bit product, measured before and after it.',
    ),
  ];
}
