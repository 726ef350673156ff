/** `msm-cross-check`: compares every case with the oracles. */
import { median } from '../../../src/calibrate/statistics.js';
import {
  defaultCurve,
  defaultEncoding,
  defaultGroup,
  formatCaseAddress,
  parseCaseAddress,
} from '../../cases/address.js';
import { type MsmCase, makeCase, makePoints } from '../../cases/msm-case.js';
import type { PointSet } from '../../cases/point-distributions.js';
import type { CurveGroup } from '../../oracle/curves.js';
import { type Coordinate, encodePoints } from '../../oracle/known-bases.js';
import type { Bench } from '../bench-setup.js';
import { formatMs } from '../format.js';
import { type Knobs, ofMsm } from '../knob.js';
import { type EngineUnderTest, makeEngine, type Outcome, weightOf } from '../measure.js';
import { type Cell, headline, type Parts, tableOf, verdict } from '../parts.js';
import { type Placement, type RowOf, rowsOf, type StampedRow } from '../rows.js';
import { errorMessage, type Run } from '../run.js';
import type { Setting } from '../settings.js';
import { benchMode } from './mode.js';

declare module '../rows.js' {
  interface Rows {
    /** Verdict over all runs of one case with one placement. */
    readonly case: Awaited<ReturnType<typeof runCase>>;
  }
}

export const msmCrossCheck = benchMode({
  title: 'Cross-check',
  about: 'compares every case with independent references: is it correct?',
  takes: '5 to 20 s',
  example: "check --logn 8,10 --case 'points=*,scalars=random'",
  limits: 'Times are not compared: they include compilation.',
  runsOn: 'either',
  checksPlacements: true,
  uses: [...ofMsm.uses, 'case'],
  engine: ofMsm.engine,
  defaults: { reps: 3, logn: [8, 10] },
  knobs: {},
  run: runMsmCrossCheck,
  show,
});

/** Creates engines by group and placement on first use, and anew after a failure. */
function enginesOf(bench: Bench, setting: Setting) {
  const engines = new Map<string, EngineUnderTest>();
  const keyOf = ({ curve, group }: CurveGroup, placement: Placement | undefined): string =>
    `${curve} ${group} ${placement}`;
  return {
    async get(of: CurveGroup, placement: Placement | undefined): Promise<EngineUnderTest> {
      const tuning = { ...setting.tuning, ...(placement && { walkerPrefixMemory: placement }) };
      const key = keyOf(of, placement);
      const engine = engines.get(key) ?? bench.own(await makeEngine(bench, of, { ...setting, tuning }));
      engines.set(key, engine);
      return engine;
    },
    drop(of: CurveGroup, placement: Placement | undefined): void {
      const key = keyOf(of, placement);
      engines.get(key)?.destroy();
      engines.delete(key);
    },
  };
}

/**
 * Runs every case with every placement `reps` times, and compares the results with the oracles and
 * each other.
 */
async function runMsmCrossCheck(bench: Bench, { cases, reps, settings }: Knobs): Promise<string | null> {
  const { run } = bench;
  run.plan(cases.flatMap(({ address: { n } }) => Array(reps).fill(weightOf(n))));
  const engines = enginesOf(bench, settings[0] as Setting);
  /** Points of the previous case, which the next case often shares. */
  let points = null as { readonly key: string; readonly set: PointSet<Coordinate> } | null;
  let failures = 0;
  let msmCase = null as MsmCase | null;
  for (const { address, placement } of cases) {
    if (msmCase?.address !== address) {
      await run.next(`Making ${formatCaseAddress(address)} and its known answer`);
      const key = `${address.curve} ${address.group} ${address.points} ${address.n} ${address.seed}`;
      if (points?.key !== key) points = { key, set: makePoints(address) };
      msmCase = makeCase(address, points.set);
    }
    const row = await runCase(run, engines, msmCase, placement, reps);
    if (!passed(row)) failures++;
    run.emit(row);
  }
  return failures === 0 ? null : `${failures} of ${cases.length} checks failed`;
}

async function runCase(
  run: Run,
  engines: ReturnType<typeof enginesOf>,
  msmCase: MsmCase,
  asked: Placement | undefined,
  reps: number,
) {
  const name = formatCaseAddress(msmCase.address);
  const doneBefore = run.bench.done;
  const outcomes: Outcome[] = [];
  let placement: Placement | null = asked ?? null;
  const where = asked === undefined ? name : `${name}, ${asked} scratch`;
  let error: string | null = null;
  let isWritten = true;
  try {
    const subject = await engines.get(msmCase.address, asked);
    await run.next(`${where}: loading the points`);
    await subject.load(msmCase);
    for (let repetition = 1; repetition <= reps; repetition++) {
      await run.next(`${where}: run ${repetition} of ${reps}`);
      const outcome = await subject.compute(msmCase);
      outcomes.push(outcome);
      if (outcome.agrees) run.bench.lastWallMs = outcome.wallMs;
      const record = subject.engine.lastRun;
      if (record?.on === 'gpu') placement = asked ?? record.tuning.walkerPrefixMemory;
      run.advance(weightOf(msmCase.address.n));
    }
    isWritten = await subject.writes(msmCase);
  } catch (caught) {
    if (run.signal.aborted) throw caught;
    error = errorMessage(caught);
    engines.drop(msmCase.address, asked);
    while (run.bench.done < doneBefore + reps) run.advance(weightOf(msmCase.address.n));
  }
  const bytes = new Set(outcomes.map(({ result }) => encodePoints(msmCase.curve, [result]).join()));
  const complete = outcomes.length === reps;
  const agrees = complete && isWritten && outcomes.every((outcome) => outcome.agrees);
  return {
    event: 'case' as const,
    case: name,
    /** Null on the CPU, which has no walker. */
    placement,
    runs: outcomes.length,
    agrees,
    onCurve: complete && outcomes.every((outcome) => outcome.onCurve),
    /** True if every run gave the same bytes. */
    identical: complete && bytes.size === 1,
    medianMs: agrees ? median(outcomes.map(({ wallMs }) => wallMs)) : null,
    error,
  };
}

function show(rows: readonly StampedRow[]): Parts {
  const all = rowsOf(rows, 'case');
  if (all.length === 0) return [];
  const failed = all.filter((row) => !passed(row)).length;
  const mark = (right: boolean): Cell => verdict(right, right ? 'yes' : 'no');
  return [
    headline(
      failed === 0
        ? `Correct: ${all.length} of ${all.length} checks passed.`
        : `Wrong: ${failed} of ${all.length} checks failed.`,
    ),
    tableOf(
      'Every case, compared with independent references. Correct: every run returned the expected sum. Same bytes: every run returned the same bytes. The time of the first run includes compilation.',
      all,
      [
        ['Points × scalars', caseCell],
        ['Correct', ({ agrees }) => mark(agrees)],
        ['On curve', ({ onCurve }) => mark(onCurve)],
        ['Same bytes', ({ identical }) => mark(identical)],
        ['Median, ms', ({ medianMs }) => formatMs(medianMs)],
      ],
      { long: true, of: (row) => (passed(row) ? {} : { is: 'failed', below: row.error }) },
    ),
  ];
}

function caseCell(row: RowOf<'case'>): Cell {
  const { curve, group, encoding, points, scalars, n, seed } = parseCaseAddress(row.case);
  const where = [
    curve === defaultCurve ? '' : `${curve}, `,
    group === defaultGroup ? '' : `${group}, `,
    encoding === defaultEncoding ? '' : `${encoding}, `,
  ].join('');
  const which = [
    `${where}n = ${n.toLocaleString('en')}`,
    seed === 1 ? [] : `seed ${seed}`,
    row.placement === null ? [] : `${row.placement} scratch`,
  ];
  return { text: `${points} × ${scalars}`, small: which.flat().join(', ') };
}

/** Returns whether all runs of a case gave the one correct answer. */
export const passed = (row: RowOf<'case'>): boolean => row.agrees && row.onCurve && row.identical && row.error === null;
