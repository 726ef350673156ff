/** Memory of workers that have nothing to do: the resident set of the process with so many of them, less what it is without. */
import { median } from '../../../../src/calibrate/statistics.js';
import { redrawn } from '../../../cases/msm-case.js';
import { type Part, tableOf } from '../../parts.js';
import { type RowOf, rowsOf, type StampedRow } from '../../rows.js';
import { type BareThread, type BareThreads, startBareThreads } from '../../threads/bare-threads.js';
import { type Finding, middleOf, notMeasured } from '../targets/findings.js';
import { openEngine, type PoolBench } from './pool-bench.js';

/** Bytes of a worker, beside those of a thread that has nothing in it. */
const TARGET = { most: 5e6 };

/**
 * Of threads of either kind, each beside all that were started before: what ends leaves memory that the next ones would take unseen. The first is not
 * told: it has what a process takes for its first threads.
 */
const ROUNDS = 4;

/** Bare ones at a time: all of them together are to take no memory to speak of. */
const MOST_AT_A_TIME = 4;

const BARE: readonly BareThread[] = ['empty', 'worker'];

/** Before these of the large sum memory of the own thread still grows. */
const CALLS = 3;

/** What has just begun or ended has settled after so many milliseconds. */
const SETTLED_MS = 500;

/** Workers without anything to do are idle again by then, and have not ended yet. */
const IDLE_MS = 3000;

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Tells nothing where nobody says what memory there is, as in a page. */
export async function measureResident(bench: PoolBench): Promise<RowOf<'resident'>[]> {
  const { run, host } = bench;
  if (host.residentBytes === undefined) return [];
  const residentBytes = host.residentBytes.bind(host);
  const most = Math.min(bench.most, MOST_AT_A_TIME);
  const rows: RowOf<'resident'>[] = [];
  const tell = (of: RowOf<'resident'>['of'], threads: number, round: number, bytes: number): void => {
    const row = { event: 'resident', of, threads, round, bytesEach: bytes / threads } as const;
    rows.push(row);
    run.tell(row, 'progress', 'results');
  };
  const started: BareThreads[] = [];
  try {
    for (let round = 0; round < ROUNDS; round++) {
      for (const which of BARE) {
        await run.next(`Memory of ${most} threads more, round ${round + 1} of ${ROUNDS}`);
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
 * Workers of an engine, after a sum, and when they have had nothing to do for a while. What the own thread takes for one was taken before; it still moves
 * by some 10 MB, which counts for less the more workers there are.
 */
async function measureUsed(
  bench: PoolBench,
  residentBytes: () => number,
  tell: (of: RowOf<'resident'>['of'], threads: number, round: number, bytes: number) => void,
): Promise<void> {
  const { large, most } = bench;
  const alone = await openEngine(bench, 0, large);
  const crewed = await openEngine(bench, most, large);
  try {
    for (let call = 1; call <= CALLS; call++) await alone.call(redrawn(large, call));
    await wait(IDLE_MS);
    const before = residentBytes();
    await crewed.bringWorkers(large);
    let threads = 0;
    for (let call = 1; call <= CALLS; call++) threads = (await crewed.crewedCall(redrawn(large, call))).record.workers;
    // a sum that is worth no worker says nothing of any
    if (threads === 0) return;
    tell('worker after a call', threads, 1, residentBytes() - before);
    await wait(IDLE_MS);
    tell('worker idle again', threads, 1, residentBytes() - before);
  } finally {
    for (const { subject } of [alone, crewed]) subject.destroy();
  }
}

const bytesOf = (rows: readonly RowOf<'resident'>[], of: RowOf<'resident'>['of']): number[] =>
  rows.flatMap((row) => (row.of === of ? [row.bytesEach] : []));

export function judgeResident(rows: readonly RowOf<'resident'>[]): Finding[] {
  const empty = bytesOf(rows, 'empty');
  const bare = bytesOf(rows, 'worker').map((bytes, round) => bytes - (empty[round] as number));
  const [again] = bytesOf(rows, 'worker idle again');
  const inMillions = { target: { most: TARGET.most / 1e6 }, unit: 'MB' };
  const alone = 'a bare worker, beside an empty thread';
  const idle = 'a worker that has computed and is idle, beside an empty thread';
  const unknown = 'a page cannot say what memory it has';
  return [
    bare.length === 0
      ? notMeasured(alone, inMillions.target, unknown)
      : { what: alone, ...inMillions, ...middleOf(bare, 1e6) },
    again === undefined
      ? notMeasured(idle, inMillions.target, bare.length === 0 ? unknown : 'no worker took part: take more points')
      : { what: idle, ...inMillions, value: (again - (median(empty) as number)) / 1e6 },
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
  return tableOf('Resident memory of a thread more', items, [
    ['Of', ({ of }) => spell[of]],
    ['MB, median', ({ bytes }) => ({ text: millions(median(bytes) as number), as: 'strong' })],
    ['From – to', ({ bytes }) => `${millions(Math.min(...bytes))} – ${millions(Math.max(...bytes))}`],
    ['Threads at a time', ({ threads }) => String(threads)],
  ]);
}
