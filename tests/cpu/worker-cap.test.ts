/** The cap of workers. Other calls and work of the caller hold it, not the call's own GPU half. */
import { afterEach, describe, expect, test } from 'vitest';
import { makeCase } from '../../dev/cases/msm-case.js';
import { createMsmEngine, type EngineEvent, type MsmEngine, type Sharing } from '../../src/index.js';
import { workerCap } from '../../src/msm/routing/routing.js';
import { DeviceQueue } from '../../src/scheduling/device-queue.js';
import { useAllWorkers } from '../support/all-workers.js';
import { getDevice } from '../support/gpu.js';
import { dividedRunOf } from '../support/runs.js';

useAllWorkers();

describe('the cap', () => {
  const flags = { gpu: false, caller: false };
  const capOf = (throttle: boolean) =>
    workerCap({ sidePool: 2, throttle, yieldWhile: () => flags.caller }, () => flags.gpu);
  afterEach(() => {
    Object.assign(flags, { gpu: false, caller: false });
  });

  test.each(['gpu', 'caller'] as const)('holds while the %s has work, and changes with the throttle alone', (who) => {
    const [throttled, once] = [capOf(true), capOf(false)];
    expect([throttled(), once()]).toEqual([Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]);
    flags[who] = true;
    expect([throttled(), once()]).toEqual([2, Number.POSITIVE_INFINITY]);
    flags[who] = false;
    expect(throttled()).toBe(Number.POSITIVE_INFINITY);
  });

  test("a device is not busy with a call's own jobs", () => {
    const queue = new DeviceQueue();
    const [own, other] = [{}, {}];
    const jobOf = (call: object, priority: 'normal' | 'background') => ({ call, priority, since: 0, deadline: null });
    const begin = (job: ReturnType<typeof jobOf>): void => {
      queue.add(job, 0);
      expect(queue.next(0, () => true)).toBe(job);
      queue.submitted(job);
    };
    begin(jobOf(own, 'normal'));
    expect(queue.isBusyBeside({ call: own, priority: 'normal' })).toBe(false);
    expect(queue.isBusyBeside({ call: other, priority: 'normal' })).toBe(true);
    expect(queue.isBusyBeside({ priority: 'normal' })).toBe(true);
    expect(queue.isBusyBeside({ call: other, priority: 'interactive' })).toBe(false);
  });
});

describe('a call that GPU and CPU share', { tags: 'long' }, () => {
  const { points, scalars, expected } = makeCase({ points: 'distinct', scalars: 'random', n: 2 ** 14, seed: 32 });
  const engines: MsmEngine[] = [];
  afterEach(() => {
    for (const engine of engines.splice(0)) engine.destroy();
  });

  const open = async (sharing: Sharing, backend: 'both' | 'gpu', onEvent?: (event: EngineEvent) => void) => {
    const device = await getDevice();
    const watched = onEvent === undefined ? {} : { onEvent };
    // the slowest arithmetic in WebAssembly, so that the GPU has a part
    const tuning = { cpuArithmetic: 'wasm' } as const;
    const engine = await createMsmEngine({
      curve: 'bn254',
      device,
      backend,
      maxWorkers: 4,
      sharing,
      tuning,
      ...watched,
    });
    engines.push(engine);
    return { engine, bases: await engine.loadBases(points.bytes) };
  };
  /** Returns the workers that took part in a right sum. */
  const workersOf = async ({ engine, bases }: Awaited<ReturnType<typeof open>>): Promise<number> => {
    expect(await engine.msm(bases, scalars.bytes)).toEqual(expected);
    return dividedRunOf(engine).cpu.workers;
  };

  test("has all workers beside its own GPU half, and those of the cap beside the caller's own work", async () => {
    let isBusy = false;
    const sharing: Sharing = { sidePool: 1, throttle: true, yieldWhile: () => isBusy };
    const both = await open(sharing, 'both');
    expect(await workersOf(both)).toBeGreaterThan(1);
    isBusy = true;
    expect(await workersOf(both)).toBeLessThanOrEqual(1);
  });

  test.each([0, 1])('has %i workers beside the work of another engine on its device', async (sidePool) => {
    let begin: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const other = await open({}, 'gpu', ({ event, kind }) => {
      if (event === 'submitted' && kind === 'msm') begin();
    });
    const both = await open({ sidePool }, 'both');
    const ahead = other.engine.msm(other.bases, scalars.bytes);
    await begun;
    expect(await workersOf(both)).toBeLessThanOrEqual(sidePool);
    expect(await ahead).toEqual(expected);
  });
});
