/** Nothing grows: not the GPU buffers, not their bytes, not the JavaScript heap. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { makeCase } from '../dev/cases/msm-case.js';
import { createMsmEngine } from '../src/index.js';
import { getDevice } from './support/gpu.js';

/** The heap once all garbage is gone; Node collects on demand only behind a flag. */
const settledHeap = async (): Promise<number> => {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  // finalisers run between collections, and what they let go of falls to the next one
  for (let i = 0; i < 4; i++) {
    gc();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return process.memoryUsage().heapUsed;
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

test('1,000 MSMs of changing size on one engine', { tags: 'long' }, async () => {
  const device = await getDevice({ label: 'leaks' });
  const buffers = countBuffers(device);
  const engine = await createMsmEngine({ curve: 'bn254', device, tuning });
  const cases = sizes.map((n) => makeCase({ points: 'distinct', scalars: 'random', n, seed: n }));
  const loaded = await Promise.all(cases.map(({ points }) => engine.loadBases(points.bytes)));
  const state = () => ({ buffers: buffers.live(), memory: engine.memory });
  let after: ReturnType<typeof state> | null = null;
  let heap = 0;
  for (let run = 0; run < 1000; run++) {
    const index = run % sizes.length;
    const { scalars, expected } = cases[index] as (typeof cases)[number];
    const got = await engine.msm(loaded[index] as (typeof loaded)[number], scalars.bytes);
    if (run % 100 === 0) expect(got).toEqual(expected);
    if (run === 9) after = state();
    if (run > 9 && run % 50 === 0) expect(state(), `run ${run}`).toEqual(after);
    if (run === 400) heap = await settledHeap();
  }
  // V8's own figure wanders by some 250 KB, and grows by 350 more while the code gets warm (flat from there to run 4,200); a buffer, a closure
  // or a chain of promises leaked by every run would be more
  expect((await settledHeap()) - heap).toBeLessThan(600 * 700);
  engine.destroy();
  expect(buffers.live()).toBe(0);
  expect(engine.memory).toMatchObject({ bases: 0, scratch: 0 });
});

test('100 engines created and destroyed on one device', async () => {
  const device = await getDevice({ label: 'many engines' });
  const buffers = countBuffers(device);
  const { points, scalars, expected } = makeCase({ points: 'distinct', scalars: 'random', n: 5, seed: 5 });
  for (let i = 0; i < 100; i++) {
    const engine = await createMsmEngine({ curve: 'bn254', device, tuning });
    const bases = await engine.loadBases(points.bytes);
    expect(await engine.msm(bases, scalars.bytes)).toEqual(expected);
    engine.destroy();
    expect(buffers.live()).toBe(0);
  }
});
