/**
 * Measures the memory of idle workers: resident bytes of the process with them, less those without.
 */
import { median } from '../../../../src/calibrate/statistics.js';
import { redrawn } from '../../../cases/msm-case.js';
import { type Part, tableOf } from '../../parts.js';
import { type RowOf, rowsOf, type StampedRow } from '../../rows.js';
import { type BareThread, type BareThreads, startBareThreads } from '../../threads/bare-threads.js';
import { type Finding, middleOf, notMeasured } from '../targets/findings.js';
import { openEngine, type PoolBench } from './pool-bench.js';

/** Target in bytes of a worker, less those of an empty thread. */
const TARGET = { most: 5e6 };

/**
 * Rounds in which threads of each kind start. Earlier threads keep running, because memory that an
 * ended thread leaves would be reused unseen. The first round is dropped: it includes what a
 * process allocates for its first threads.
 */
const ROUNDS = 4;

/** Bare threads started at a time; few, so that all of them together take little memory. */
const MOST_AT_A_TIME = 4;

const BARE: readonly BareThread[] = ['empty', 'worker'];

/** Calls of the large sum before memory of the own thread stops growing. */
const CALLS = 3;

/** Milliseconds until memory settles after threads start or end. */
const SETTLED_MS = 500;

/** Milliseconds until workers are idle again, but have not ended yet. */
const IDLE_MS = 3000;

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Measures all kinds of threads; returns no rows where memory is unknown, as on a page. */
export async function measureResident(bench: PoolBench): Promise<RowOf<'resident'>[]> {
  const { run, host } = bench;
  if (host.residentBytes === undefined) return [];
  const residentBytes = host.residentBytes.bind(host);
  const most = Math.min(bench.most, MOST_AT_A_TIME);
  const rows: RowOf<'resident'>[] = [];
  const tell = (of: RowOf<'resident'>['of'], threads: number, round: number, bytes: number): void => {
    const row = { event: 'resident', of, threads, round, bytesEach: bytes / threads } as const;
    rows.push(row);
    run.emit(row);
  };
  const started: BareThreads[] = [];
  try {
    for (let round = 0; round < ROUNDS; round++) {
      for (const which of BARE) {
        await run.next(`Memory of ${most} more threads, round ${round + 1} of ${ROUNDS}`);
        await wait(SETTLED_MS);
        const before = residentBytes();
        started.push(await startBareThreads(which, most));
        await wait(SETTLED_MS);
        const bytes = residentBytes() - before;
        if (round > 0) tell(which, most, round, bytes);
      }
    }
    await run.next('Memory of workers that have computed');
    await measureUsed(bench, residentBytes, tell);
  } finally {
    for (const { end } of started) await end();
  }
  return rows;
}

/**
 * Measures workers of an engine after a sum, and after a while without work. Earlier calls allocate
 * what the own thread needs. Its memory still varies by about 10 MB, which matters less with more
 * workers.
 */
async function measureUsed(
  bench: PoolBench,
  residentBytes: () => number,
  tell: (of: RowOf<'resident'>['of'], threads: number, round: number, bytes: number) => void,
): Promise<void> {
  const { large, most } = bench;
  const withoutWorkers = await openEngine(bench, 0, large);
  const withWorkers = await openEngine(bench, most, large);
  try {
    for (let call = 1; call <= CALLS; call++) await withoutWorkers.call(redrawn(large, call));
    await wait(IDLE_MS);
    const before = residentBytes();
    await withWorkers.awaitWorkers(large);
    let threads = 0;
    for (let call = 1; call <= CALLS; call++)
      threads = (await withWorkers.callWithWorkers(redrawn(large, call))).record.workers;
    // a sum too small for workers says nothing about their memory
    if (threads === 0) return;
    tell('worker after a call', threads, 1, residentBytes() - before);
    await wait(IDLE_MS);
    tell('worker idle again', threads, 1, residentBytes() - before);
  } finally {
    for (const { subject } of [withoutWorkers, withWorkers]) subject.destroy();
  }
}

const bytesOf = (rows: readonly RowOf<'resident'>[], of: RowOf<'resident'>['of']): number[] =>
  rows.flatMap((row) => (row.of === of ? [row.bytesEach] : []));

/** Takes the verdict from memory that shrank: the process freed more than the threads took. */
const withoutNegative = (found: Pick<Finding, 'value' | 'interval'>): Pick<Finding, 'value' | 'interval' | 'note'> =>
  (found.value ?? 0) < 0 ? { ...found, interval: null, note: 'the process freed memory meanwhile' } : found;

export function judgeResident(rows: readonly RowOf<'resident'>[]): Finding[] {
  const empty = bytesOf(rows, 'empty');
  const bare = bytesOf(rows, 'worker').map((bytes, round) => bytes - (empty[round] as number));
  const [again] = bytesOf(rows, 'worker idle again');
  const inMillions = { target: { most: TARGET.most / 1e6 }, unit: 'MB' };
  const bareWhat = 'a bare worker, less an empty thread';
  const idle = 'an idle worker that has computed, less an empty thread';
  const unknown = 'a page cannot measure its memory';
  return [
    bare.length === 0
      ? notMeasured(bareWhat, inMillions.target, unknown)
      : { what: bareWhat, ...inMillions, ...withoutNegative(middleOf(bare, 1e6)) },
    again === undefined
      ? notMeasured(idle, inMillions.target, bare.length === 0 ? unknown : 'no worker took part; take more points')
      : { what: idle, ...inMillions, ...withoutNegative({ value: (again - (median(empty) as number)) / 1e6 }) },
  ];
}

const spell: Readonly<Record<RowOf<'resident'>['of'], string>> = {
  empty: 'an empty thread',
  worker: 'a bare worker',
  'worker after a call': 'a worker after a call',
  'worker idle again': 'a worker, idle again',
};

export function residentResult(rows: readonly StampedRow[]): Part | null {
  const told = rowsOf(rows, 'resident');
  const items = (Object.keys(spell) as RowOf<'resident'>['of'][])
    .map((of) => ({ of, bytes: bytesOf(told, of), threads: told.find((row) => row.of === of)?.threads ?? 0 }))
    .filter(({ bytes }) => bytes.length > 0);
  if (items.length === 0) return null;
  const millions = (bytes: number): string => (bytes / 1e6).toFixed(2);
  return tableOf('Resident memory per additional thread', items, [
    ['Thread', ({ of }) => spell[of]],
    ['Median, MB', ({ bytes }) => ({ text: millions(median(bytes) as number), as: 'strong' })],
    ['Range, MB', ({ bytes }) => `${millions(Math.min(...bytes))} – ${millions(Math.max(...bytes))}`],
    ['Threads started together', ({ threads }) => String(threads)],
  ]);
}
