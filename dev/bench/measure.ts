/** An engine with one setting, and the steps that all modes that time MSMs share. */
import { bytesToHex } from '@noble/curves/utils.js';
import type { GpuRun, PhaseTime, RunRecord } from '../../src/api/run-record.js';
import type { AffinePoint } from '../../src/api/values.js';
import type { Bases } from '../../src/index.js';
import { defaultEncoding, formatCaseAddress } from '../cases/address.js';
import { encodedPoints, engineIn, isOnCurve, type MsmCase } from '../cases/msm-case.js';
import type { CurveGroup } from '../oracle/curves.js';
import { hasInfinity, pointsIn } from '../oracle/encodings.js';
import { type Coordinate, gotExpected, samePoint } from '../oracle/known-bases.js';
import type { Bench } from './bench-setup.js';
import type { RowOf } from './rows.js';
import type { Run } from './run.js';
import { clampedKnobs, type Setting } from './settings.js';

/**
 * Interleaves the subjects: each repetition takes every subject once. The first subject rotates
 * with each repetition, so none always follows the same other, and a slowing machine slows all of
 * them down.
 */
export async function interleave<Subject>(
  subjects: readonly Subject[],
  reps: number,
  steps: {
    begin?(repetition: number): void;
    take(subject: Subject, repetition: number): Promise<void>;
    end?(repetition: number): Promise<void>;
  },
): Promise<void> {
  for (let repetition = 1; repetition <= reps; repetition++) {
    steps.begin?.(repetition);
    for (let offset = 0; offset < subjects.length; offset++) {
      await steps.take(subjects[(offset + repetition - 1) % subjects.length] as Subject, repetition);
    }
    await steps.end?.(repetition);
  }
}

/** One MSM, timed and compared with the oracles. */
export interface Outcome {
  readonly result: AffinePoint<Coordinate>;
  readonly wallMs: number;
  /** Run record of the engine; null if the MSM had no scalars. */
  readonly record: RunRecord | null;
  /** True if the result equals that of the oracles. */
  readonly agrees: boolean;
  readonly onCurve: boolean;
}

interface LoadOptions {
  /** Points already encoded as the case asks; default: encode them here. */
  readonly bytes?: Uint8Array<ArrayBuffer>;
  readonly checkSubgroup?: boolean;
  /** Loads the points even if they are loaded already. */
  readonly again?: boolean;
}

/** Returns what the GPU computed of a call; null if it computed nothing. */
export const gpuPartOf = (record: RunRecord | null): GpuRun | null => {
  if (record?.on === 'both') return record.gpu;
  return record?.on === 'gpu' ? record : null;
};

/** An engine with one setting, and the bases it loaded last. */
export type EngineUnderTest = Awaited<ReturnType<typeof makeEngine>>;

/** @param label name of the engine in rows */
export async function makeEngine(bench: Bench, where: CurveGroup, setting: Setting, label = setting.name) {
  const { run } = bench;
  const { tuning, verify, precompute, memoryBudget } = setting;
  const { createMsmEngine } = await bench.library(setting);
  const engine = await engineIn(createMsmEngine, where, { ...engineOptions(bench, setting), tuning, verify });
  const watched = { signal: run.signal, onProgress: () => run.tick() };
  let bases: Bases | null = null;
  let loaded: Pick<MsmCase, 'points' | 'address'> | null = null;
  let lastEnd = Number.NEGATIVE_INFINITY;
  const loadedBases = (): Bases => {
    if (bases === null) throw new Error('no points are loaded; call load() first');
    return bases;
  };
  return {
    ...{ engine, group: where.group, setting, label },
    basesBytes: (): number => bases?.byteLength ?? 0,
    /** Returns the time since the last MSM, in ms. */
    idleMs: (): number => performance.now() - lastEnd,
    /** @returns milliseconds that loading took; 0 if the points were loaded already */
    async load(msmCase: MsmCase, options: LoadOptions = {}): Promise<number> {
      const { points, address } = msmCase;
      const { encoding } = address;
      const { again = false, checkSubgroup = false } = options;
      if (!again && loaded?.points === points && loaded.address.encoding === encoding) return 0;
      const bytes = options.bytes ?? encodedPoints(msmCase);
      bases?.destroy();
      [bases, loaded] = [null, null];
      const start = performance.now();
      bases = await engine.loadBases(bytes, { precompute, encoding, checkSubgroup, ...watched });
      loaded = msmCase;
      return performance.now() - start;
    },
    /** Multiplies the loaded points and compares the result with the oracles. */
    async compute({ curve, scalars, expected, direct }: MsmCase): Promise<Outcome> {
      const used = loadedBases();
      const start = performance.now();
      const result = await engine.msm(used, scalars.bytes, watched);
      lastEnd = performance.now();
      const { peak } = engine.memory;
      if (peak > (memoryBudget ?? Number.POSITIVE_INFINITY))
        throw new Error(`memory.peak is ${peak} bytes, above the budget of ${memoryBudget} bytes`);
      return {
        ...{ result, wallMs: lastEnd - start },
        record: scalars.values.length === 0 ? null : engine.lastRun,
        agrees: samePoint(result, expected) && (direct === null || samePoint(result, direct)),
        onCurve: isOnCurve(result, curve),
      };
    },
    /**
     * Returns whether the engine encodes the sum correctly in the encoding of the points. The check
     * is skipped for the default encoding, and for encodings that have no infinity.
     */
    async writes({ address: { encoding }, curve, scalars, expected }: MsmCase): Promise<boolean> {
      if (encoding === defaultEncoding || !hasInfinity(encoding)) return true;
      const written = await engine.msm(loadedBases(), scalars.bytes, { result: encoding, ...watched });
      return bytesToHex(written) === bytesToHex(pointsIn(curve, [expected], encoding));
    },
    destroy: (): void => engine.destroy(),
  };
}

/** Returns the options of an engine that say where it computes, and with how much memory. */
export const engineOptions = (
  { device }: Pick<Bench, 'device'>,
  { memoryBudget, backend, workers }: Pick<Setting, 'memoryBudget' | 'backend' | 'workers'>,
) => ({
  ...(device && { device }),
  ...(memoryBudget !== null && { memoryBudget }),
  ...(backend !== null && { backend }),
  ...(workers !== null && { maxWorkers: workers }),
});

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
