/**
 * `replay`: runs the calls of a prover on the GPU, on the CPU, divided, and as the library routes
 * them, to measure how good its routing is.
 */
import { median } from '../../../../src/calibrate/statistics.js';
import type { Group } from '../../../../src/curves/names.js';
import { defaultEncoding } from '../../../cases/address.js';
import { type MsmCase, makeCase } from '../../../cases/msm-case.js';
import { oracleOf } from '../../../oracle/curves.js';
import { expectedMsm } from '../../../oracle/known-bases.js';
import { makeTrace, type Trace, type TraceCall } from '../../../routing/trace.js';
import { type BenchDevice, openBenchDevice } from '../../bench-device.js';
import { type EngineUnderTest, makeEngine } from '../../engine-under-test.js';
import type { Host } from '../../environment.js';
import { interleave } from '../../interleave.js';
import type { Knobs } from '../../knobs.js';
import { weightOf, wrongResult } from '../../measure.js';
import type { RowOf } from '../../rows.js';
import type { Run } from '../../run.js';
import { makeSetting } from '../../settings.js';
import type { BenchMode } from '../mode.js';
import { replayResult } from './result.js';
import { type Routing, routings } from './routings.js';
import { scalarsOf } from './scalars.js';

export const replay: BenchMode = { run: runReplay, show: replayResult };

/** One routing, with an engine for each group of the trace. */
interface Routed {
  readonly routing: Routing;
  readonly engines: ReadonlyMap<Group, EngineUnderTest>;
}

async function runReplay(run: Run, host: Host, knobs: Knobs): Promise<void> {
  const trace = knobs.trace ?? makeTrace(knobs.seed, knobs.calls);
  const groups = [...new Set(trace.map(({ group }) => group))];
  const works = trace.map(({ nonZero }) => weightOf(nonZero));
  run.plan([
    ...works.flatMap((work) => Array(routings.length * knobs.reps).fill(work)),
    ...routings.map(() => weightOf(longestOf(trace).n)),
  ]);
  const bench = await openBenchDevice(run, host, knobs);
  const routed: Routed[] = [];
  try {
    const bases = await basesOf(run, knobs, groups, trace);
    for (const routing of routings) routed.push(await prepare(run, bench, knobs, routing, bases));
    const medians: RowOf<'end'>['medians'][number][] = [];
    for (const [index, call] of trace.entries()) {
      for (const told of await replayCall(run, knobs, routed, { index, call, of: trace.length }, bases)) {
        run.emit(told, 'progress', 'results');
        const { routing: setting, medianMs } = told;
        medians.push({ case: `call ${index}`, setting, medianMs });
      }
    }
    await run.end(null, medians);
  } finally {
    for (const { engines } of routed) for (const engine of engines.values()) engine.destroy();
    bench.destroy();
  }
}

const longestOf = (trace: Trace): TraceCall => trace.reduce((most, call) => (call.n > most.n ? call : most));

type BasesOf = ReadonlyMap<Group, MsmCase>;

/** Makes as many points in each group as its longest call has. */
async function basesOf(run: Run, { curve, seed }: Knobs, groups: readonly Group[], trace: Trace): Promise<BasesOf> {
  const bases = new Map<Group, MsmCase>();
  for (const group of groups) {
    const { n } = longestOf(trace.filter((call) => call.group === group));
    await run.next(`Making ${n.toLocaleString('en')} points of ${group}`);
    bases.set(
      group,
      makeCase({ curve, group, encoding: defaultEncoding, points: 'distinct', scalars: 'all-one', n, seed }),
    );
  }
  return bases;
}

/** Creates engines for a routing, compiles, and loads their bases. */
async function prepare(
  run: Run,
  bench: BenchDevice,
  { curve }: Knobs,
  routing: Routing,
  bases: BasesOf,
): Promise<Routed> {
  const setting = makeSetting(new Map([['backend', routing]]));
  const engines = new Map<Group, EngineUnderTest>();
  for (const [group, msmCase] of bases) {
    await run.next(`${routing}: compiling, loading points of ${group}`);
    const engine = await makeEngine(run, bench, { curve, group }, setting, routing);
    engines.set(group, engine);
    if (routing !== 'cpu') await engine.engine.warmup(msmCase.address.n);
    await engine.load(msmCase);
  }
  run.advance(weightOf(Math.max(...[...bases.values()].map(({ address }) => address.n))), 'warm-up');
  return { routing, engines };
}

/** Runs one call with every routing, interleaved. @throws Error if an answer is wrong */
async function replayCall(
  run: Run,
  { reps, seed }: Knobs,
  routed: readonly Routed[],
  { index, call, of }: { readonly index: number; readonly call: TraceCall; readonly of: number },
  bases: BasesOf,
): Promise<RowOf<'replayed'>[]> {
  const { group } = call;
  const base = bases.get(group) as MsmCase;
  const scalars = scalarsOf(call, seed + 1 + index, oracleOf(base.address));
  const msmCase = {
    ...base,
    scalars,
    expected: expectedMsm(base.curve, base.points.logs, scalars.values),
    direct: null,
  };
  // the first routing rotates from call to call
  const rotated = routed.map((_, i) => routed[(i + index) % routed.length] as Routed);
  const all = rotated.map(({ routing, engines }) => ({
    routing,
    engine: engines.get(group) as EngineUnderTest,
    wallTimesMs: [] as number[],
    on: 'cpu' as RowOf<'replayed'>['on'],
    gpuShare: 0,
    predicted: null as RowOf<'replayed'>['predicted'],
  }));
  await interleave(all, reps, {
    async take(each, repetition) {
      await run.next(`Call ${index + 1} of ${of}, ${each.routing}: repetition ${repetition} of ${reps}`);
      const outcome = await each.engine.compute(msmCase);
      if (!outcome.agrees) throw wrongResult(msmCase, each.routing, outcome);
      each.wallTimesMs.push(outcome.wallMs);
      if (outcome.record !== null)
        ({ on: each.on, gpuShare: each.gpuShare, predicted: each.predicted } = outcome.record);
      run.advance(weightOf(call.nonZero));
    },
  });
  return all.map(({ routing, wallTimesMs, on, gpuShare, predicted }) => ({
    event: 'replayed',
    call: index,
    ...call,
    routing,
    ...{ on, gpuShare, predicted },
    medianMs: median(wallTimesMs) as number,
  }));
}
