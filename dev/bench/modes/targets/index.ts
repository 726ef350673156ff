/**
 * `targets`: measures the library's performance targets, with a line for each. Times count only if
 * results are correct.
 */
import { maxPoints } from '../../../cases/address.js';
import type { GpuBench } from '../../bench-setup.js';
import { integerKnob, wordsKnob } from '../../knob.js';
import { notes, type Parts } from '../../parts.js';
import { type RowOf, rowsOf } from '../../rows.js';
import { errorMessage } from '../../run.js';
import { benchMode } from '../mode.js';
import { cold } from './cold.js';
import { failureOf, findingsTable, verdictOf, verdicts } from './findings.js';
import { batch, distributions } from './inputs.js';
import { cost, gpuTime, memory, small } from './warm.js';
import { efficiency, work } from './work.js';
import { openWorkbench, type Row, rowNames, type Workbench } from './workbench.js';

// biome-ignore lint/suspicious/noExplicitAny: each row judges its own kind of measurement
const rows: readonly Row<any>[] = [work, efficiency, cost, gpuTime, distributions, small, batch, memory, cold];

const LOGN = { software: 16, hardware: 20 };

/** Smallest largest size: cold starts are measured at this size. */
const LEAST_LOGN = 10;

const own = {
  logn: integerKnob(
    ['Sizes, log₂ n', 'The largest size, as a power of two.'],
    [LEAST_LOGN, Math.log2(maxPoints)],
    `${LOGN.software} on a software adapter, ${LOGN.hardware} on a GPU`,
  ),
  rows: wordsKnob(['Rows', 'Targets to measure.'], rowNames, 'all'),
};

export const targets = benchMode({
  title: 'Targets',
  about: 'measures the performance targets: which are met, and which are missed?',
  takes: '4 to 10 min up to 2^16',
  example: 'targets --logn 16 --rows work,small --strict',
  nodeOnly: 'it needs the clocks of Node, and new devices that compile every kernel again',
  runsOn: 'gpu',
  uses: ['reps', 'strict'],
  engine: ['build'],
  defaults: { reps: 6 },
  knobs: own,
  async run(bench, knobs) {
    const { run, adapter } = bench;
    const wanted = rows.filter(({ name }) => knobs.rows === null || knobs.rows.includes(name));
    run.plan(wanted.map(() => 1));
    const logn = knobs.logn ?? (adapter.software ? LOGN.software : LOGN.hardware);
    const workbench = openWorkbench(bench as GpuBench, knobs, logn);
    const found = new Map<string, RowOf<'target'>>();
    for (const row of [...wanted.filter(({ first }) => first), ...wanted.filter(({ first }) => !first)]) {
      found.set(row.name, await measureRow(row, workbench));
      run.advance(1, 'warm-up');
    }
    for (const { name } of wanted) run.emit(found.get(name) as RowOf<'target'>);
    const findings = [...found.values()].flatMap((row) => row.findings);
    return failureOf(findings, knobs.strict);
  },
  show: (told) => targetParts(rowsOf(told, 'target')),
});

/** Measures one row. An error fails this row alone, and the others are still measured. */
async function measureRow(row: Row<unknown>, bench: Workbench): Promise<RowOf<'target'>> {
  try {
    const measured = await row.measure(bench);
    return { event: 'target', name: row.name, findings: row.judge(measured, bench), measured };
  } catch (error) {
    if (bench.signal.aborted) throw error;
    const failed = { what: 'the whole row', target: null, value: null, failure: errorMessage(error) };
    return { event: 'target', name: row.name, findings: [failed], measured: null };
  }
}

export function targetParts(told: readonly Pick<RowOf<'target'>, 'name' | 'findings'>[]): Parts {
  const all = told.flatMap(({ findings }) => findings);
  const count = (verdict: string): number => all.filter((finding) => verdictOf(finding) === verdict).length;
  return [
    findingsTable('Targets of the library', told),
    notes(
      verdicts.map((verdict) => `${count(verdict)} ${verdict}`).join(', '),
      'Medians with their 95 % confidence interval over the repetitions (for fewer than 6 repetitions, the smallest and the largest value). There is no verdict if the target lies inside the interval.',
      'Product equivalents: total time × rate of the plain 13-bit product, measured before and after it.',
    ),
  ];
}
