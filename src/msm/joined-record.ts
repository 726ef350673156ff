/** The record of a call that was computed in parts: on both backends, or page by page. */
import type { CpuRun, GpuRun, RunFacts, RunRecord } from '../api/run-record.js';

/** Record of a part that one backend computed. */
type PartRun = GpuRun | CpuRun;

/** Facts of a whole call, which its parts do not have. */
type WholeCall = Pick<RunFacts, 'vectors' | 'wallMs'>;

/** Joins the records of the parts of a call, which ran at the same time or one after the other. */
export const joinedRecord = (records: readonly RunRecord[], whole: WholeCall): RunRecord => {
  const runs = records.flatMap((record): PartRun[] => (record.on === 'both' ? [record.gpu, record.cpu] : [record]));
  const onGpu = runs.filter((run) => run.on === 'gpu');
  const onCpu = runs.filter((run) => run.on === 'cpu');
  if (onGpu.length === 0) return joinedCpuRun(onCpu, whole);
  if (onCpu.length === 0) return joinedGpuRun(onGpu, whole);
  const facts = joinedFacts(runs, whole);
  const gpu = joinedGpuRun(onGpu, whole);
  return { on: 'both', ...facts, gpuShare: gpu.n / facts.n, gpu, cpu: joinedCpuRun(onCpu, whole) };
};

/** Returns the part of most additions. */
const largestOf = <Run extends RunFacts>(runs: readonly Run[]): Run =>
  runs.reduce((most, each) => (each.entries > most.entries ? each : most));

/** Returns the facts of some parts together: counts add up, widths are those of the largest part. */
const joinedFacts = (runs: readonly PartRun[], whole: WholeCall): RunFacts => {
  const { windowBits, windows } = largestOf(runs);
  const retried = [...new Set(runs.flatMap((each) => each.retried ?? []))];
  return {
    ...whole,
    n: runs.reduce((sum, { n }) => sum + n, 0),
    windowBits,
    windows,
    entries: runs.reduce((sum, { entries }) => sum + entries, 0),
    retried: retried.length === 0 ? null : retried.join('; '),
    verified: runs.every(({ verified }) => verified),
    predicted: null,
  };
};

/** Joins what the GPU computed of a call. Its times overlap with those of the CPU, so it has none. */
const joinedGpuRun = (runs: readonly GpuRun[], whole: WholeCall): GpuRun => {
  const total = (count: 'dispatches' | 'uploadedBytes' | 'submits'): number =>
    runs.reduce((sum, each) => sum + each[count], 0);
  const { tasks, tuning, adapter } = largestOf(runs);
  return {
    on: 'gpu',
    ...joinedFacts(runs, whole),
    tasks,
    tuning,
    adapter,
    dispatches: total('dispatches'),
    uploadedBytes: total('uploadedBytes'),
    submits: total('submits'),
    hostTimes: null,
    fallback: runs[0]?.fallback ?? null,
    phases: null,
    timeline: null,
  };
};

/** Joins what the CPU computed of a call. */
const joinedCpuRun = (runs: readonly CpuRun[], whole: WholeCall): CpuRun => {
  const workers = runs.reduce((most, each) => Math.max(most, each.workers), 0);
  const whyNone = runs.findLast(({ noWorkers }) => noWorkers !== null)?.noWorkers ?? null;
  return {
    on: 'cpu',
    ...joinedFacts(runs, whole),
    arithmetic: largestOf(runs).arithmetic,
    workers,
    noWorkers: workers > 0 ? null : whyNone,
    chunkRows: runs.reduce((most, each) => Math.max(most, each.chunkRows), 0),
    cpuMs: runs.reduce((sum, each) => sum + each.cpuMs, 0),
  };
};
