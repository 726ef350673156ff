/** `cpu-pool`: measures what workers cost: at their start, with too little work, and idle. */
import { openCurve } from '../../../../src/curves/open-curve.js';
import type { Bench } from '../../bench-setup.js';
import type { Knobs } from '../../knobs.js';
import type { Parts } from '../../parts.js';
import { rowsOf, type StampedRow } from '../../rows.js';
import type { BareThread } from '../../threads/bare-threads.js';
import { benchMode, refuseNoWorkers } from '../mode.js';
import { type Finding, failureOf, findingsTable } from '../targets/findings.js';
import { fewPointsResult, judgeFewPoints, type rowOf, timeFewPoints } from './few-points.js';
import { caseOf, type PoolBench } from './pool-bench.js';
import { judgeResident, measureResident, residentResult } from './resident.js';
import { startsResult, type timeFirstCall, timeStarts, workerCounts } from './starts.js';

declare module '../../rows.js' {
  interface Rows {
    /** The first large MSM of a new engine, and one with all workers running; both were correct. */
    readonly 'first-call': Awaited<ReturnType<typeof timeFirstCall>>;
    /** Workers started at once without an engine: when the first and the last reported ready. */
    readonly ready: {
      readonly workers: number;
      readonly repetition: number;
      readonly firstMs: number;
      readonly lastMs: number;
    };
    /** MSMs too small for workers, on an engine that may have `permitted` workers. */
    readonly 'few-points': ReturnType<typeof rowOf>;
    /** Main memory of one more thread. */
    readonly resident: {
      readonly of: BareThread | 'worker after a call' | 'worker idle again';
      /** Threads started at a time. */
      readonly threads: number;
      readonly round: number;
      readonly bytesEach: number;
    };
  }
}

export const cpuPool = benchMode({
  title: 'Workers',
  about: 'measures the CPU’s workers: their start, MSMs that are too small for them, and their memory',
  takes: '30 s to 2 min',
  example: 'cpu-pool --workers 4 --reps 9',
  limits: 'Memory is measured in Node only.',
  runsOn: 'cpu',
  uses: ['curve', 'group', 'logn', 'n', 'reps', 'seed', 'strict'],
  engine: ['workers'],
  defaults: { reps: 7, logn: [14] },
  knobs: {},
  problemOf: refuseNoWorkers,
  run: runCpuPool,
  show,
});

/** Default number of workers. */
const MOST_WORKERS = 8;

async function runCpuPool(bench: Bench, knobs: Knobs): Promise<string | null> {
  const { run } = bench;
  const most = knobs.settings[0]?.workers ?? MOST_WORKERS;
  const n = Math.max(...knobs.cases.map(({ address }) => address.n));
  run.plan(Array(workerCounts(most).length * knobs.reps).fill(n));
  await run.next(`Making ${n.toLocaleString('en')} points and the known answer`);
  const pool: PoolBench = {
    ...bench,
    knobs,
    most,
    curve: await openCurve(knobs.curve, knobs.group),
    large: caseOf(knobs, n),
  };
  // measured first, before ended threads leave unused memory behind
  const resident = judgeResident(await measureResident(pool));
  const few = judgeFewPoints(await timeFewPoints(pool));
  await timeStarts(pool);
  const found: Readonly<Record<string, readonly Finding[]>> = { 'few points': few, memory: resident };
  for (const [name, findings] of Object.entries(found)) run.emit({ event: 'target', name, findings, measured: null });
  return failureOf(Object.values(found).flat(), knobs.strict);
}

function show(rows: readonly StampedRow[]): Parts {
  return [
    startsResult(rows),
    fewPointsResult(rows),
    residentResult(rows),
    findingsTable('Targets', rowsOf(rows, 'target')),
  ];
}
