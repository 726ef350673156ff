/**
 * Opens an engine with given kinds of sharing, resident sets of points, and a record of its events.
 */
import type { EngineEvent, Priority, Sharing } from '../../../../src/api/calls.js';
import type { Bases } from '../../../../src/api/engine.js';
import { describeAdapter } from '../../../../src/gpu/device.js';
import { defaultBudget } from '../../../../src/msm/plan/device-profiles.js';
import { engineIn } from '../../../cases/engine-in.js';
import { gotExpected, samePoint } from '../../../oracle/known-bases.js';
import type { Bench } from '../../bench-setup.js';
import { engineOptions } from '../../engine-under-test.js';
import type { Knobs } from '../../knobs.js';
import type { Setting } from '../../settings.js';
import { type Job, type JobShape, type Problem, type SetName, setNames } from './jobs.js';

export type Subject = Awaited<ReturnType<typeof openSubject>>;

/** @param label name of the engine in rows */
export async function openSubject(bench: Bench, knobs: Knobs, problem: Problem, label: string, sharing: Sharing) {
  const { run, device } = bench;
  const setting = knobs.settings[0] as Setting;
  const memoryBudget = setting.memoryBudget ?? defaultBudget(describeAdapter(device?.adapterInfo));
  const { createMsmEngine } = await bench.library(setting);
  const events: EngineEvent[] = [];
  const scratch = { most: 0, now: (): number => 0 };
  const options = { ...engineOptions(bench, { ...setting, memoryBudget }), tuning: setting.tuning, sharing };
  const engine = await engineIn(createMsmEngine, knobs, {
    ...options,
    onEvent(event) {
      events.push(event);
      scratch.most = Math.max(scratch.most, scratch.now());
    },
  });
  bench.own(engine);
  scratch.now = () => engine.memory.scratch;
  const bases = new Map<SetName, Bases>();
  for (const set of setNames) {
    bases.set(set, await engine.loadBases(problem.pointsOf(set), { signal: run.signal }));
  }
  const basesOf = (set: SetName): Bases => bases.get(set) as Bases;
  return {
    ...{ label, engine, events, scratch, memoryBudget },

    /** @throws Error if the result differs from the known answer */
    async compute({ set, n, scalars, expected }: Job, priority: Priority = 'normal'): Promise<void> {
      run.signal.throwIfAborted();
      // without onProgress, because a call that reports progress is not coalesced
      const result = await engine.msm(basesOf(set), scalars, { priority });
      if (!samePoint(result, expected))
        throw new Error(`wrong result of ${n} scalars, ${label}: ${gotExpected(result, expected)}`);
      run.tick();
    },

    /** Returns the planned scratch in bytes of `callers` calls at once, the largest of some. */
    async promised(shapes: readonly JobShape[], callers: number): Promise<number> {
      const distinct = new Map(shapes.map((shape) => [`${shape.set} ${shape.n}`, shape]));
      const plans = await Promise.all([...distinct.values()].map(({ set, n }) => engine.plan(basesOf(set), n)));
      const bytesOf = new Map([...distinct.keys()].map((key, i) => [key, plans[i]?.bytes ?? 0]));
      const largest = shapes.map(({ set, n }) => bytesOf.get(`${set} ${n}`) ?? 0).sort((a, b) => b - a);
      return Math.min(
        memoryBudget,
        largest.slice(0, callers).reduce((sum, bytes) => sum + bytes, 0),
      );
    },
  };
}
