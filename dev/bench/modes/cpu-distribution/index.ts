/**
 * `cpu-distribution`: compares ways to distribute bucket rows to CPU threads, interleaved: equal
 * shares, or chunks that a thread draws when it is done.
 */
import { median, ratioOfMedians } from '../../../../src/calibrate/statistics.js';
import type { CurveContext } from '../../../../src/curves/curve.js';
import { workerStarter } from '../../../../src/msm/cpu/start-worker.js';
import { threadsHere } from '../../../../src/threads/platform.js';
import { type CaseAddress, formatCaseAddress } from '../../../cases/address.js';
import { libraryCurve } from '../../../cases/library-curve.js';
import { makeCase, redrawn } from '../../../cases/msm-case.js';
import { openBenchCpu } from '../../bench-cpu.js';
import { type EngineSetup, makeEngine } from '../../engine-under-test.js';
import type { Host } from '../../environment.js';
import { interleave } from '../../interleave.js';
import type { Knobs } from '../../knobs.js';
import { weightOf } from '../../measure.js';
import type { RowOf } from '../../rows.js';
import type { Run } from '../../run.js';
import { EngineWithWorkers } from '../../threads/engine-with-workers.js';
import { oneSlowed } from '../../threads/one-slowed.js';
import { benchMode } from '../mode.js';
import { refuseNoWorkers } from '../no-workers.js';
import { distributionResult } from './result.js';
import { addressOf, type Way, WORKS, type Work, waysOf } from './works.js';

export const cpuDistribution = benchMode({
  title: 'Rows to threads',
  about:
    'times MSMs on CPU threads, with equal shares and with chunks of 2 to 256 rows on demand, in turns: which is best?',
  takes: '1 to 5 min',
  example: 'cpu-distribution --logn 14,16 --workers 7',
  runsOn: 'cpu',
  uses: ['curve', 'group', 'logn', 'n', 'reps', 'seed'],
  engine: ['workers'],
  defaults: { reps: 7, logn: [14] },
  knobs: {},
  problemOf: refuseNoWorkers,
  run: runCpuDistribution,
  show: distributionResult,
});

async function runCpuDistribution(run: Run, host: Host, knobs: Knobs): Promise<void> {
  const { cases, reps, settings } = knobs;
  if (workerStarter() === null) throw new Error('cpu-distribution: this host has no workers to compare');
  const workers = settings[0]?.workers ?? Math.max(1, threadsHere() - 1);
  const ways = waysOf(workers);
  const works = cases.flatMap(({ address }) => WORKS.map((work) => ({ work, address: addressOf(address, work) })));
  run.plan(works.flatMap(({ address: { n } }) => Array(ways.length * (reps + 1)).fill(weightOf(n))));
  const setup = await openBenchCpu(run, host, { ...knobs, settings: ways.map(({ setting }) => setting) });
  const curve = await libraryCurve(knobs);
  const medians: RowOf<'end'>['medians'][number][] = [];
  for (const { work, address } of works) {
    for (const shared of await timeWork(run, setup, { curve, work, address, ways, workers, reps })) {
      run.emit(shared, 'progress', 'results');
      const setting = `${shared.setting}; ${work.name}`;
      medians.push({ case: shared.case, setting, medianMs: shared.medianMs });
    }
  }
  await run.end(null, medians);
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
async function timeWork(run: Run, setup: EngineSetup, timing: Timing): Promise<RowOf<'shared'>[]> {
  const { curve, work, address, ways, workers, reps } = timing;
  const told = { case: formatCaseAddress(address), n: address.n, work: work.name };
  const what = `${work.name}, ${address.n.toLocaleString('en')} points`;
  await run.next(`${what}: making the points and the known answer`);
  const made = makeCase(address);
  const engines: { readonly way: Way; readonly engine: EngineWithWorkers; readonly calls: Call[] }[] = [];
  try {
    for (const way of ways) {
      await run.next(`${what}, ${way.name}: loading, starting workers, checking the answer`);
      const at = work.isOneSlowed ? { ...setup, createWorker: oneSlowed() } : setup;
      const subject = await makeEngine(run, at, address, way.setting, way.name);
      const engine = new EngineWithWorkers(subject, curve, workers);
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
        const call = { wallMs, workers: record.workers, chunk: record.tuning.cpuChunk };
        calls.push(call);
        run.emit({ event: 'share', ...told, setting: way.name, repetition, ...call }, 'progress', 'results');
        run.advance(weightOf(address.n));
      },
    });
  } finally {
    for (const { engine } of engines) engine.subject.destroy();
  }
  const [first] = engines as [(typeof engines)[0]];
  return engines.map(({ way, calls }) => conclude(told, way, first.calls, calls));
}

/** One timed call. */
interface Call {
  readonly wallMs: number;
  readonly workers: number;
  readonly chunk: number;
}

function conclude(
  told: Pick<RowOf<'shared'>, 'case' | 'n' | 'work'>,
  { name }: Way,
  first: readonly Call[],
  calls: readonly Call[],
): RowOf<'shared'> {
  const [firstMs, wallTimesMs] = [first, calls].map((all) => all.map(({ wallMs }) => wallMs)) as [number[], number[]];
  const workers = calls.map((call) => call.workers);
  return {
    event: 'shared',
    ...told,
    setting: name,
    medianMs: median(wallTimesMs) as number,
    ratio: ratioOfMedians(firstMs, wallTimesMs),
    leastWorkers: Math.min(...workers),
    mostWorkers: Math.max(...workers),
    chunk: calls.at(-1)?.chunk ?? 0,
  };
}
