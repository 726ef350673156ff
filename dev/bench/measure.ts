/** What the modes that time MSMs have in common. */
import { WARM_UPS } from '../../scripts/ab/warm-ups.mjs';
import type { PhaseTime } from '../../src/api.js';
import { formatCaseAddress } from '../cases/address.js';
import type { MsmCase } from '../cases/msm-case.js';
import type { EngineUnderTest, Outcome } from './engine-under-test.js';
import type { WarmUpRow } from './rows.js';
import type { Run } from './run.js';
import { clampedKnobs } from './settings.js';

/** What a step of a run weighs beside others: an MSM of n points, and what an MSM takes whatever n is. */
export const weightOf = (n: number): number => n + 2000;

/** Whether a phase has a time on the GPU: what runs on the CPU says so in its name. */
export const isOnGpu = ({ name }: PhaseTime): boolean => !name.endsWith('(CPU)');

export const sumOnGpu = (phases: readonly PhaseTime[] | null): number | null =>
  phases === null ? null : phases.filter(isOnGpu).reduce((sum, { ms }) => sum + ms, 0);

/** Loads the points and computes until everything is compiled; the answer is checked. */
export async function warmUp(run: Run, subject: EngineUnderTest, msmCase: MsmCase): Promise<WarmUpRow> {
  const { n } = msmCase.address;
  const { name } = subject.setting;
  const size = n.toLocaleString('en');
  await run.next(`${name}: loading ${size} points`);
  const loadMs = await subject.load(msmCase.points);
  await run.next(`${name}: warming up with ${size} points, checking the answer`);
  const first = await subject.compute(msmCase);
  let agrees = first.agrees;
  for (let again = 1; again < WARM_UPS && agrees; again++) agrees = (await subject.compute(msmCase)).agrees;
  const row = warmUpRow(formatCaseAddress(msmCase.address), subject, loadMs, agrees ? first.wallMs : null);
  run.tell(row, 'progress', 'results');
  if (!agrees) throw new Error(`wrong result at ${row.case}, ${name}: nothing was timed`);
  return row;
}

/** What a case with a setting takes, and the knobs it ran with. */
export function warmUpRow(
  name: string,
  { engine, setting, basesBytes }: Pick<EngineUnderTest, 'engine' | 'setting' | 'basesBytes'>,
  loadMs: number,
  wallMs: number | null,
): WarmUpRow {
  const record = engine.lastRun;
  return {
    event: 'warm-up',
    case: name,
    setting: setting.name,
    loadMs,
    wallMs,
    agrees: wallMs !== null,
    tuning: record?.tuning ?? null,
    clamped: record === null ? [] : clampedKnobs(setting.tuning, record.tuning),
    windows: record?.windows ?? 0,
    entries: record?.entries ?? 0,
    dispatches: record?.dispatches ?? 0,
    submits: record?.submits ?? 0,
    basesBytes,
    scratchBytes: engine.memory.peak,
  };
}

/** What rows tell of an outcome; a wrong one has no time. */
export const timesOf = ({ agrees, wallMs, record }: Outcome) => ({
  agrees,
  on: record?.on ?? ('cpu' as const),
  wallMs: agrees ? wallMs : null,
  gpuMs: agrees && record?.on === 'gpu' ? sumOnGpu(record.phases) : null,
  walls: agrees ? (record?.walls ?? null) : null,
  phases: agrees ? (record?.phases ?? null) : null,
  placement: record?.tuning.walkerPrefixMemory ?? ('private' as const),
});
