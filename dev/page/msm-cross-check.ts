import { type CaseAddress, formatCaseAddress } from '../cases/address.js';
import { type MsmCase, makeCase, makePoints } from '../cases/msm-case.js';
import type { PointSet } from '../cases/point-distributions.js';
import { bn254G1, encodePoint } from '../oracle/known-bases.mjs';
import { EngineUnderTest, type Outcome } from './engine-under-test.js';
import { errorMessage } from './error-message.js';
import type { Knobs } from './knobs.js';
import type { CaseRow, Placement } from './rows.js';
import type { Run } from './run.js';
import { median } from './statistics.js';

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
  readonly #tuning: Knobs['tuning'];
  readonly #engines = new Map<Placement | undefined, EngineUnderTest>();

  constructor(run: Run, tuning: Knobs['tuning']) {
    this.#run = run;
    this.#tuning = tuning;
  }

  async get(placement: Placement | undefined): Promise<EngineUnderTest> {
    const there = this.#engines.get(placement);
    if (there !== undefined) return there;
    const made = await EngineUnderTest.create(this.#run, this.#tuning, placement);
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
export async function runMsmCrossCheck(run: Run, { cases, reps, tuning }: Knobs): Promise<void> {
  run.bench.total = cases.length * reps;
  const engines = new Engines(run, tuning);
  const pointSets = new PointSetOfLastCase();
  let failures = 0;
  try {
    await run.next('Opening the GPU');
    const start = performance.now();
    const { adapter } = (await engines.get(cases[0]?.placement)).engine;
    run.bench.adapter = adapter;
    run.tell(
      {
        event: 'init',
        mode: 'msm-cross-check',
        query: location.search,
        adapter,
        userAgent: navigator.userAgent,
        createMs: performance.now() - start,
      },
      'progress',
      'results',
    );
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
  }
  await run.end(failures === 0 ? null : `${failures} of ${cases.length} checks failed`);
}

export const passed = (row: CaseRow): boolean => row.agrees && row.onCurve && row.identical && row.error === null;

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
      run.advance();
    }
  } catch (caught) {
    if (run.signal.aborted) throw caught;
    error = errorMessage(caught);
    engines.drop(asked);
    run.bench.done = doneBefore + reps;
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
