/** `msm-cross-check`: case after case against the oracles. */

import { median } from '../../../src/calibrate/statistics.js';
import { type CaseAddress, formatCaseAddress, parseCaseAddress } from '../../cases/address.js';
import { type MsmCase, makeCase, makePoints } from '../../cases/msm-case.js';
import type { PointSet } from '../../cases/point-distributions.js';
import { bn254G1, encodePoint } from '../../oracle/known-bases.js';
import { BenchDevice } from '../bench-device.js';
import { EngineUnderTest, type Outcome } from '../engine-under-test.js';
import type { Host } from '../environment.js';
import { errorMessage } from '../error-message.js';
import type { Knobs } from '../knobs.js';
import { weightOf } from '../measure.js';
import { type CaseRow, type Placement, passed, rowsOf, type StampedRow } from '../rows.js';
import type { Run } from '../run.js';
import type { Setting } from '../settings.js';
import type { BenchMode } from './mode.js';

export const msmCrossCheck: BenchMode = { run: runMsmCrossCheck, report };

/** The point set of the case before, which is often that of the next case as well. */
class PointSetOfLastCase {
  #key = '';
  #points: PointSet | null = null;

  get(address: CaseAddress): PointSet {
    const key = `${address.points} ${address.n} ${address.seed}`;
    if (this.#points === null || key !== this.#key) {
      this.#points = makePoints(address);
      this.#key = key;
    }
    return this.#points;
  }
}

/** Engines by placement, made when they are first asked for and again after one has failed. */
class Engines {
  readonly #run: Run;
  readonly #bench: BenchDevice;
  readonly #setting: Setting;
  readonly #engines = new Map<Placement | undefined, EngineUnderTest>();

  constructor(run: Run, bench: BenchDevice, setting: Setting) {
    this.#run = run;
    this.#bench = bench;
    this.#setting = setting;
  }

  async get(placement: Placement | undefined): Promise<EngineUnderTest> {
    const there = this.#engines.get(placement);
    if (there !== undefined) return there;
    const { tuning } = this.#setting;
    const placed = placement === undefined ? tuning : { ...tuning, walkerPrefixMemory: placement };
    const made = await EngineUnderTest.create(this.#run, this.#bench, { ...this.#setting, tuning: placed });
    this.#engines.set(placement, made);
    return made;
  }

  drop(placement: Placement | undefined): void {
    this.#engines.get(placement)?.destroy();
    this.#engines.delete(placement);
  }

  destroy(): void {
    for (const placement of [...this.#engines.keys()]) this.drop(placement);
  }
}

/** Runs every case with every placement some times, and compares the results with the oracles and with each other. */
async function runMsmCrossCheck(run: Run, host: Host, knobs: Knobs): Promise<void> {
  const { cases, reps } = knobs;
  run.plan(cases.flatMap(({ address: { n } }) => Array(reps).fill(weightOf(n))));
  const bench = await BenchDevice.open(run, host, knobs);
  const engines = new Engines(run, bench, knobs.settings[0] as Setting);
  const pointSets = new PointSetOfLastCase();
  let failures = 0;
  try {
    let msmCase: MsmCase | null = null;
    for (const { address, placement } of cases) {
      if (msmCase?.address !== address) {
        await run.next(`Making ${formatCaseAddress(address)} and its known answer`);
        msmCase = makeCase(address, pointSets.get(address));
      }
      const row = await runCase(run, engines, msmCase, placement, reps);
      if (!passed(row)) failures++;
      run.tell(row, 'progress', 'results');
    }
  } finally {
    engines.destroy();
    bench.destroy();
  }
  await run.end(failures === 0 ? null : `${failures} of ${cases.length} checks failed`);
}

async function runCase(
  run: Run,
  engines: Engines,
  msmCase: MsmCase,
  asked: Placement | undefined,
  reps: number,
): Promise<CaseRow> {
  const name = formatCaseAddress(msmCase.address);
  const doneBefore = run.bench.done;
  const outcomes: Outcome[] = [];
  let placement = asked ?? 'workgroup';
  let error: string | null = null;
  try {
    const subject = await engines.get(asked);
    await run.next(`${name}, ${asked ?? 'default'} scratch: loading the points`);
    await subject.load(msmCase.points);
    for (let repetition = 1; repetition <= reps; repetition++) {
      await run.next(`${name}, ${asked ?? 'default'} scratch: run ${repetition} of ${reps}`);
      const outcome = await subject.compute(msmCase);
      outcomes.push(outcome);
      if (outcome.agrees) run.bench.lastWallMs = outcome.wallMs;
      placement = asked ?? subject.engine.lastRun?.tuning.walkerPrefixMemory ?? placement;
      run.advance(weightOf(msmCase.address.n));
    }
  } catch (caught) {
    if (run.signal.aborted) throw caught;
    error = errorMessage(caught);
    engines.drop(asked);
    while (run.bench.done < doneBefore + reps) run.advance(weightOf(msmCase.address.n));
  }
  const bytes = new Set(outcomes.map(({ result }) => encodePoint(bn254G1, result).join()));
  const complete = outcomes.length === reps;
  const agrees = complete && outcomes.every((outcome) => outcome.agrees);
  return {
    event: 'case',
    case: name,
    placement,
    runs: outcomes.length,
    agrees,
    onCurve: complete && outcomes.every((outcome) => outcome.onCurve),
    identical: complete && bytes.size === 1,
    medianMs: agrees ? median(outcomes.map(({ wallMs }) => wallMs)) : null,
    error,
  };
}

function report(rows: readonly StampedRow[]): string[] {
  const all = rowsOf(rows, 'case');
  if (all.length === 0) return [];
  const failed = all.filter((row) => !passed(row));
  const lines = failed.map((row) => {
    const { points, scalars, n, seed } = parseCaseAddress(row.case);
    return `WRONG: ${points} × ${scalars}, n = ${n}, seed ${seed}, ${row.placement} scratch: ${row.error ?? 'another answer'}`;
  });
  return [`${all.length - failed.length} of ${all.length} checks passed`, ...lines];
}
