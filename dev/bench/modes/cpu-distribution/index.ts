/**
 * `cpu-distribution`: compares ways to distribute bucket rows to CPU threads, interleaved: equal
 * shares, or chunks that a thread draws when it is done.
 */
import { median, ratioOfMedians } from '../../../../src/calibrate/statistics.js';
import type { CurveContext } from '../../../../src/curves/curve.js';
import { openCurve } from '../../../../src/curves/open-curve.js';
import { workerStarter } from '../../../../src/msm/cpu/cpu-threads.js';
import { threadsHere } from '../../../../src/threads/platform.js';
import { type CaseAddress, formatCaseAddress } from '../../../cases/address.js';
import { makeCase, redrawn } from '../../../cases/msm-case.js';
import type { Bench } from '../../bench-setup.js';
import { makeEngine } from '../../engine-under-test.js';
import { interleave } from '../../interleave.js';
import type { Knobs } from '../../knobs.js';
import { weightOf } from '../../measure.js';
import type { RowOf } from '../../rows.js';
import type { Run } from '../../run.js';
import { type EngineWithWorkers, engineWithWorkers } from '../../threads/engine-with-workers.js';
import { oneSlowed } from '../../threads/one-slowed.js';
import { benchMode, refuseNoWorkers } from '../mode.js';
import { distributionResult } from './result.js';
import { measureCosts, SIMULATED, simulatedMs } from './simulation.js';
import { addressOf, type Way, WORKS, type Work, waysOf, workerCountsOf } from './works.js';

export const cpuDistribution = benchMode({
  title: 'Distribution to CPU threads',
  about:
    'times MSMs on CPU threads, with contiguous and strided equal shares and with chunks of 2 to 256 rows on demand, in turns: which is best?',
  takes: '2 to 6 min',
  example: 'cpu-distribution --logn 14,16 --workers 7',
  limits:
    'Workers: 3, 7, 15 and all cores but one, as far as there are cores. For 7, 15 and 32 threads that the machine does not have, threads are simulated from the times of chunks on one thread.',
  runsOn: 'cpu',
  uses: ['curve', 'group', 'logn', 'n', 'reps', 'seed'],
  engine: ['workers'],
  defaults: { reps: 7, logn: [14] },
  knobs: {},
  problemOf: refuseNoWorkers,
  run: runCpuDistribution,
  show: distributionResult,
});

async function runCpuDistribution(bench: Bench, knobs: Knobs): Promise<null> {
  const { run } = bench;
  const { cases, reps, settings } = knobs;
  if (workerStarter() === null) throw new Error('cpu-distribution: this host has no workers to compare');
  const asked = settings[0]?.workers ?? null;
  const counts = asked === null ? workerCountsOf(threadsHere()) : [asked];
  const works = cases.flatMap(({ address }) => WORKS.map((work) => ({ work, address: addressOf(address, work) })));
  const steps = counts.length * waysOf(1).length * (reps + 1) + 1;
  run.plan(works.flatMap(({ address: { n } }) => Array(steps).fill(weightOf(n))));
  const curve = await openCurve(knobs.curve, knobs.group);
  for (const { work, address } of works) {
    let windowBits = 0;
    for (const workers of counts) {
      const timed = await timeWork(bench, { curve, work, address, ways: waysOf(workers), workers, reps });
      windowBits = timed.windowBits;
      for (const shared of timed.rows) run.emit(shared);
    }
    for (const row of await simulateWork(run, curve, work, address, windowBits)) run.emit(row);
    run.advance(weightOf(address.n), 'warm-up');
  }
  return null;
}

interface Timing {
  readonly curve: CurveContext;
  readonly work: Work;
  readonly address: CaseAddress;
  readonly ways: readonly Way[];
  readonly workers: number;
  readonly reps: number;
}

/** Times one work, with engines of its own, so that no further threads wait. */
async function timeWork(bench: Bench, timing: Timing) {
  const { run } = bench;
  const { curve, work, address, ways, workers, reps } = timing;
  const told = { case: formatCaseAddress(address), n: address.n, work: work.name, permitted: workers };
  const what = `${work.name}, ${address.n.toLocaleString('en')} points, ${workers} workers`;
  let windowBits = 0;
  await run.next(`${what}: making the points and the known answer`);
  const made = makeCase(address);
  const engines: { readonly way: Way; readonly engine: EngineWithWorkers; readonly calls: Call[] }[] = [];
  try {
    for (const way of ways) {
      await run.next(`${what}, ${way.name}: loading, starting workers, checking the answer`);
      const at = work.isOneSlowed ? { ...bench, createWorker: oneSlowed() } : bench;
      const subject = await makeEngine(at, address, way.setting, way.name);
      const engine = engineWithWorkers(subject, curve, workers);
      engines.push({ way, engine, calls: [] });
      await subject.load(made);
      await engine.awaitWorkers(made);
      run.advance(weightOf(address.n), 'warm-up');
    }
    let drawn = made;
    await interleave(engines, reps, {
      begin: (repetition) => {
        drawn = redrawn(made, repetition);
      },
      async take({ way, engine, calls }, repetition) {
        await run.next(`${what}, ${way.name}: repetition ${repetition} of ${reps}`);
        const { wallMs, record } = await engine.callWithWorkers(drawn);
        windowBits = record.windowBits;
        const call = { wallMs, workers: record.workers, chunk: record.chunkRows };
        calls.push(call);
        run.emit({ event: 'share', ...told, setting: way.name, repetition, ...call });
        run.advance(weightOf(address.n));
      },
    });
  } finally {
    for (const { engine } of engines) engine.subject.destroy();
  }
  const [first] = engines as [(typeof engines)[0]];
  return { rows: engines.map(({ way, calls }) => conclude(told, way, first.calls, calls)), windowBits };
}

/** Simulates threads that this machine does not have, for all but Edwards curves. */
async function simulateWork(
  run: Run,
  curve: CurveContext,
  work: Work,
  address: CaseAddress,
  windowBits: number,
): Promise<RowOf<'simulated'>[]> {
  const missing = SIMULATED.filter((threads) => threads > threadsHere());
  if (missing.length === 0 || curve.edwards !== undefined) return [];
  await run.next(`${work.name}: timing chunks on one thread`);
  const told = { event: 'simulated' as const, case: formatCaseAddress(address), n: address.n, work: work.name };
  return measureCosts(curve, makeCase(address), windowBits, (costsOf, rows) =>
    missing.flatMap((threads) => {
      const times = waysOf(threads - 1).map(({ name, setting: { tuning } }) => {
        const cutting = { distribution: tuning.cpuDistribution ?? 'dynamic', chunk: tuning.cpuChunk || null };
        return { setting: name, ms: simulatedMs(costsOf, rows, threads, cutting, work.isOneSlowed) };
      });
      const [first] = times as [(typeof times)[0]];
      return times.map(({ setting, ms }) => ({ ...told, setting, threads, ms, ratio: ms / first.ms }));
    }),
  );
}

interface Call {
  readonly wallMs: number;
  readonly workers: number;
  readonly chunk: number;
}

export function conclude(
  told: { readonly case: string; readonly n: number; readonly work: string; readonly permitted: number },
  { name }: Way,
  first: readonly Call[],
  calls: readonly Call[],
) {
  const [firstMs, wallTimesMs] = [first, calls].map((all) => all.map(({ wallMs }) => wallMs)) as [number[], number[]];
  const workers = calls.map((call) => call.workers);
  return {
    event: 'shared' as const,
    ...told,
    setting: name,
    medianMs: median(wallTimesMs) as number,
    ratio: ratioOfMedians(firstMs, wallTimesMs),
    leastWorkers: Math.min(...workers),
    mostWorkers: Math.max(...workers),
    chunk: calls.at(-1)?.chunk ?? 0,
  };
}
