/** Leak tests: neither GPU buffers, nor their bytes, nor the JavaScript heap grow. */
import { queryObjects, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { makeCase } from '../../dev/cases/msm-case.js';
import { createMsmEngine, type MsmEngine } from '../../src/index.js';
import { getDevice } from '../support/gpu.js';
import { smallCase, smallCurve } from '../support/small-curve.js';
import { sleep } from '../support/time.js';

/** Until all garbage is gone; Node collects on demand only behind a flag. */
const collect = async (): Promise<void> => {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  // finalisers run between collections, and what they let go of falls to the next one
  for (let i = 0; i < 4; i++) {
    gc();
    await sleep(20);
  }
};

/** The live objects, and the heap in bytes, without garbage. */
const settledHeap = async (): Promise<{ objects: number; bytes: number }> => {
  await collect();
  return { objects: queryObjects(Object, { format: 'count' }), bytes: process.memoryUsage().heapUsed };
};

/** Counts the live buffers of a device, whoever makes them. */
const countBuffers = (device: GPUDevice): { live: () => number } => {
  const live = new Set<GPUBuffer>();
  const create = device.createBuffer.bind(device);
  device.createBuffer = (descriptor) => {
    const buffer = create(descriptor);
    live.add(buffer);
    const destroy = buffer.destroy.bind(buffer);
    buffer.destroy = () => {
      live.delete(buffer);
      destroy();
    };
    return buffer;
  };
  return { live: () => live.size };
};

const sizes = [1, 2, 3, 5, 8, 13, 4, 1, 9, 16];
const tuning = { walkerSlots: 4, walkerThreadsPerWorkgroup: 8, windowBits: 8, cpuBelow: 0 } as const;

test('1,000 MSMs of changing size on one engine leak nothing', { tags: 'long' }, async () => {
  const device = await getDevice({ label: 'leaks' });
  const buffers = countBuffers(device);
  const engine = await createMsmEngine({ curve: smallCurve, device, tuning });
  const cases = sizes.map((n) => smallCase(n));
  const loaded = await Promise.all(cases.map(({ points }) => engine.loadBases(points)));
  const state = () => ({ buffers: buffers.live(), memory: engine.memory });
  let after: ReturnType<typeof state> | null = null;
  let heap = { objects: 0, bytes: 0 };
  for (let run = 0; run < 1000; run++) {
    const index = run % sizes.length;
    const { scalars, expected } = cases[index] as (typeof cases)[number];
    const got = await engine.msm(loaded[index] as (typeof loaded)[number], scalars);
    if (run % 100 === 0) expect(got).toEqual(expected);
    if (run === 9) after = state();
    if (run > 9 && run % 50 === 0) expect(state(), `run ${run}`).toEqual(after);
    if (run === 400) heap = await settledHeap();
  }
  // a closure, a promise or an array that every fourth run leaks is 150 objects; the measured
  // growth is 0, and 48 at once in one of 50 intervals
  const { objects, bytes } = await settledHeap();
  expect(objects - heap.objects).toBeLessThan(150);
  // numbers and strings that grow inside one object; V8's own code and feedback grow by 500 to 850
  // bytes a run until run 2,000, and are flat from there
  expect(bytes - heap.bytes).toBeLessThan(600 * 2000);
  engine.destroy();
  expect(buffers.live()).toBe(0);
  expect(engine.memory).toMatchObject({ bases: 0, scratch: 0 });
});

test('100 engines created and destroyed on one device leak nothing', { tags: 'long' }, async () => {
  const device = await getDevice({ label: 'many engines' });
  const buffers = countBuffers(device);
  const { points, scalars, expected } = makeCase({ points: 'distinct', scalars: 'random', n: 5, seed: 5 });
  // keeps the pipelines
  const first = await createMsmEngine({ curve: 'bn254', device, tuning });
  await first.warmup(5);
  const compiled = first.pipelines.length;
  for (let i = 0; i < 100; i++) {
    const engine = await createMsmEngine({ curve: 'bn254', device, tuning });
    const bases = await engine.loadBases(points.bytes);
    expect(await engine.msm(bases, scalars.bytes)).toEqual(expected);
    engine.destroy();
    expect(buffers.live()).toBe(0);
  }
  expect(first.pipelines).toHaveLength(compiled);
  first.destroy();
});

test('engines share the pipelines on a device of the caller, and the last engine to use them frees them', {
  tags: 'long',
}, async () => {
  const device = await getDevice({ label: 'pipelines' });
  const made: WeakRef<GPUComputePipeline>[] = [];
  const compile = device.createComputePipelineAsync.bind(device);
  device.createComputePipelineAsync = async (descriptor) => {
    const pipeline = await compile(descriptor);
    made.push(new WeakRef(pipeline));
    return pipeline;
  };
  const warm = async (walkerSlots: number): Promise<MsmEngine> => {
    const engine = await createMsmEngine({ curve: smallCurve, device, tuning: { ...tuning, walkerSlots } });
    await engine.warmup(10);
    return engine;
  };
  const alive = async (): Promise<number> => {
    await collect();
    return made.filter((pipeline) => pipeline.deref() !== undefined).length;
  };

  const first = await warm(4);
  const all = made.length;
  const second = await warm(4);
  expect(made).toHaveLength(all);
  // another walk, and all the rest is shared
  const other = await warm(5);
  expect(made).toHaveLength(all + 1);
  first.destroy();
  first.destroy();
  (await warm(4)).destroy();
  expect(made).toHaveLength(all + 1);
  expect(await alive()).toBe(all + 1);
  second.destroy();
  expect(await alive()).toBe(all);
  other.destroy();
  expect(await alive()).toBe(0);
  const { points, scalars, expected } = smallCase(10);
  const last = await warm(4);
  expect(made).toHaveLength(2 * all + 1);
  expect(await last.msm(await last.loadBases(points), scalars)).toEqual(expected);
  last.destroy();
  // they are garbage though the engines are not
  expect([first, second, other, last].map((engine) => engine.memory.bases)).toEqual([0, 0, 0, 0]);
});
