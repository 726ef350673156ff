/** What the modes that time MSMs have in common. */
import type { PhaseTime } from '../../src/api/run-record.js';
import { formatCaseAddress } from '../cases/address.js';
import type { MsmCase } from '../cases/msm-case.js';
import { spellPoint } from '../oracle/known-bases.js';
import type { EngineUnderTest, Outcome } from './engine-under-test.js';
import type { RowOf } from './rows.js';
import type { Run } from './run.js';
import { clampedKnobs } from './settings.js';

/** What a step of a run weighs beside others: an MSM of n points, and what an MSM takes whatever n is. */
export const weightOf = (n: number): number => n + 2000;

/** MSMs before the first that is timed: one compiles; after it an engine knows the device's speed, and may plan otherwise, which compiles again. */
const WARM_UPS = 2;

/** What to throw where an answer is not the oracle's: nothing of that case has a time. */
export const wrongResult = ({ address, expected }: MsmCase, whose: string, { result }: Outcome): Error =>
  new Error(
    `wrong result at ${formatCaseAddress(address)}, ${whose}: ${spellPoint(result)} for ${spellPoint(expected)}`,
  );

/** Whether a phase has a time on the GPU: what runs on the CPU says so in its name. */
export const isOnGpu = ({ name }: PhaseTime): boolean => !name.endsWith('(CPU)');

export const sumOnGpu = (phases: readonly PhaseTime[] | null): number | null =>
  phases === null ? null : phases.filter(isOnGpu).reduce((sum, { ms }) => sum + ms, 0);

/** Loads the points and computes until everything is compiled; the answer is checked. */
export async function warmUp(run: Run, subject: EngineUnderTest, msmCase: MsmCase): Promise<void> {
  const { engine, setting, label } = subject;
  const size = msmCase.address.n.toLocaleString('en');
  await run.next(`${label}: loading ${size} points`);
  const loadMs = await subject.load(msmCase);
  await run.next(`${label}: compiling, warming up with ${size} points, checking the answer`);
  const first = await subject.compute(msmCase);
  let last = first;
  for (let again = 1; again < WARM_UPS && last.agrees; again++) last = await subject.compute(msmCase);
  const { lastRun: record, memory } = engine;
  const row: RowOf<'warm-up'> = {
    event: 'warm-up',
    case: formatCaseAddress(msmCase.address),
    setting: label,
    loadMs,
    wallMs: last.agrees ? first.wallMs : null,
    agrees: last.agrees,
    tuning: record?.tuning ?? null,
    clamped: record === null ? [] : clampedKnobs(setting.tuning, record.tuning),
    windows: record?.windows ?? 0,
    entries: record?.entries ?? 0,
    dispatches: record?.dispatches ?? 0,
    submits: record?.submits ?? 0,
    basesBytes: subject.basesBytes(),
    pipelines: engine.pipelines,
    scratchBytes: memory.peak,
  };
  run.tell(row, 'progress', 'results');
  if (!last.agrees) throw wrongResult(msmCase, `${label}, nothing was timed`, last);
}

/** What rows tell of an outcome; a wrong one has no time. */
export const timesOf = ({ agrees, wallMs, record }: Outcome) => ({
  agrees,
  on: record?.on ?? ('cpu' as const),
  wallMs: agrees ? wallMs : null,
  gpuMs: agrees && record?.on === 'gpu' ? sumOnGpu(record.phases) : null,
  hostTimes: agrees ? (record?.hostTimes ?? null) : null,
  phases: agrees ? (record?.phases ?? null) : null,
  placement: record?.tuning.walkerPrefixMemory ?? ('private' as const),
});
