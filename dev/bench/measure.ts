/** Helpers that all modes that time MSMs share. */
import type { PhaseTime, RunRecord } from '../../src/api/run-record.js';
import { formatCaseAddress } from '../cases/address.js';
import type { MsmCase } from '../cases/msm-case.js';
import { gotExpected } from '../oracle/known-bases.js';
import { type EngineUnderTest, gpuPartOf, type Outcome } from './engine-under-test.js';
import type { RowOf } from './rows.js';
import type { Run } from './run.js';
import { clampedKnobs } from './settings.js';

/**
 * Returns the weight of a step for the progress estimate: an MSM of n points plus its fixed cost.
 */
export const weightOf = (n: number): number => n + 2000;

/**
 * MSMs before the first timed one. The first compiles. After it the engine knows the speed of the
 * device, may plan differently, and then compiles again.
 */
const WARM_UPS = 2;

/** Returns the error for a result that differs from the oracle's. No time of that case is kept. */
export const wrongResult = ({ address, expected }: MsmCase, whose: string, { result }: Outcome): Error =>
  new Error(`wrong result at ${formatCaseAddress(address)}, ${whose}: ${gotExpected(result, expected)}`);

/** Returns whether a phase ran on the GPU. Phases of the CPU end in `(CPU)`. */
export const isOnGpu = ({ name }: PhaseTime): boolean => !name.endsWith('(CPU)');

export const sumOnGpu = (phases: readonly PhaseTime[] | null): number | null =>
  phases === null ? null : phases.filter(isOnGpu).reduce((sum, { ms }) => sum + ms, 0);

/**
 * Time without a faster MSM after which the clock of a GPU counts as raised. An idle H200 goes from
 * 345 to 1,980 MHz in 4 s, in steps of 0.2 s.
 */
const STEADY_MS = 600;

/** Ratio of times below which an MSM counts as faster. */
const FASTER = 0.97;

const MOST_CLOCK_MS = 8000;

/** Time without work after which the clock may have fallen; drawing 2^20 scalars takes 3 s. */
const IDLE_MS = 300;

/**
 * Computes until the clock of a GPU is raised, if the GPU was idle.
 *
 * @throws Error if a result is wrong
 */
export async function raiseClock(subject: EngineUnderTest, msmCase: MsmCase): Promise<void> {
  const { engine, label } = subject;
  if (engine.adapter.software || engine.lastRun?.on !== 'gpu' || subject.idleMs() < IDLE_MS) return;
  const begun = performance.now();
  let [best, since] = [Number.POSITIVE_INFINITY, begun];
  for (let now = begun; now - since < STEADY_MS && now - begun < MOST_CLOCK_MS; now = performance.now()) {
    const outcome = await subject.compute(msmCase);
    if (!outcome.agrees) throw wrongResult(msmCase, label, outcome);
    const ms = sumOnGpu(gpuPartOf(outcome.record)?.phases ?? null) ?? outcome.wallMs;
    if (ms < FASTER * best) [best, since] = [ms, performance.now()];
  }
}

/** Loads the points, computes until everything is compiled, and checks the result. */
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
  const onGpu = gpuPartOf(record);
  const row: RowOf<'warm-up'> = {
    event: 'warm-up',
    case: formatCaseAddress(msmCase.address),
    setting: label,
    loadMs,
    wallMs: last.agrees ? first.wallMs : null,
    agrees: last.agrees,
    tuning: record === null ? null : (onGpu?.tuning ?? setting.tuning),
    clamped: onGpu === null ? [] : clampedKnobs(setting.tuning, onGpu.tuning),
    windows: record?.windows ?? 0,
    entries: record?.entries ?? 0,
    dispatches: onGpu?.dispatches ?? 0,
    submits: onGpu?.submits ?? 0,
    basesBytes: subject.basesBytes(),
    pipelines: engine.pipelines,
    scratchBytes: memory.peak,
  };
  run.emit(row);
  if (!last.agrees) throw wrongResult(msmCase, `${label}, nothing was timed`, last);
}

/** Returns the times of an outcome for a row; a wrong result has none. */
export const timesOf = ({ agrees, wallMs, record }: Outcome) => ({
  agrees,
  on: record?.on ?? ('cpu' as const),
  wallMs: agrees ? wallMs : null,
  gpuMs: agrees && record?.on === 'gpu' ? sumOnGpu(record.phases) : null,
  hostTimes: agrees ? (gpuPartOf(record)?.hostTimes ?? null) : null,
  phases: agrees ? phasesOf(record) : null,
  placement: gpuPartOf(record)?.tuning.walkerPrefixMemory ?? ('private' as const),
});

/** Returns the phases of a call for a row. The CPU has one. */
const phasesOf = (record: RunRecord | null): readonly PhaseTime[] | null =>
  record?.on === 'cpu' ? [{ name: 'msm (CPU)', ms: record.cpuMs }] : (gpuPartOf(record)?.phases ?? null);
