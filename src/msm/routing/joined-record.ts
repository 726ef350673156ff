import type { RunRecord } from '../../api/run-record.js';
import type { Half } from './division.js';

/** Returns the record of most additions. */
const largestOf = (records: readonly RunRecord[]): RunRecord =>
  records.reduce((most, each) => (each.entries > most.entries ? each : most));

/**
 * Joins the records of the halves of a call, which ran at the same time or one after the other.
 *
 * @param gpuShare share of the scalars that the GPU computed
 */
export const joinedRecord = (
  { front, back }: Readonly<Record<Half, readonly RunRecord[]>>,
  gpuShare: number,
  own: Pick<RunRecord, 'n' | 'vectors' | 'wallMs'>,
): RunRecord => {
  const all = [...front, ...back];
  const onCpu = all.filter(({ on }) => on === 'cpu');
  const sum = (field: 'entries' | 'dispatches' | 'uploadedBytes' | 'submits'): number =>
    all.reduce((total, each) => total + each[field], 0);
  const workers = onCpu.reduce((most, record) => Math.max(most, record.workers), 0);
  const retried = [...new Set(all.flatMap((each) => each.retried ?? []))];
  const whyNone = onCpu.findLast(({ noWorkers }) => noWorkers !== null)?.noWorkers ?? null;
  return {
    ...largestOf(all),
    ...own,
    on: onCpu.length === all.length ? 'cpu' : onCpu.length === 0 ? 'gpu' : 'both',
    gpuShare: onCpu.length === all.length ? 0 : gpuShare,
    arithmetic: onCpu.length === 0 ? null : largestOf(onCpu).arithmetic,
    workers,
    noWorkers: workers > 0 ? null : whyNone,
    entries: sum('entries'),
    dispatches: sum('dispatches'),
    uploadedBytes: sum('uploadedBytes'),
    submits: sum('submits'),
    hostTimes: null,
    retried: retried.length === 0 ? null : retried.join('; '),
    fallback: front[0]?.fallback ?? null,
    verified: all.every(({ verified }) => verified),
    phases: null,
    timeline: null,
    predicted: null,
  };
};
