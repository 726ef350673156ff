/**
 * Drivers that compile at the first dispatch: `warmup` makes it, on nothing, and counts what it
 * takes as compiling.
 */
import { expect, test } from 'vitest';
import { createCheckedEngine } from '../../dev/checks/engine.js';
import { createMsmEngine, type Tuning } from '../../src/index.js';
import { type LeasedDevice, leaseDevice } from '../support/leased-gpu.js';
import { smallCase, smallCurve } from '../support/small-curve.js';
import { sleep } from '../support/time.js';

const knobs: Partial<Tuning> = { walkerSlots: 4, walkerThreadsPerWorkgroup: 8, cpuBelow: 0 };

/** Leases a device on which no kernel was dispatched before. */
const leaseCold = async (): Promise<LeasedDevice> => Object.assign(await leaseDevice(), { cold: true });

/** Records the kernel of each bind group, and each dispatch. */
const watch = (leased: LeasedDevice) => {
  const kernels: string[] = [];
  const dispatches: string[] = [];
  leased.tap = ({ method, label, proceed }) => {
    if (method === 'createBindGroup') kernels.push(label);
    if (method.startsWith('dispatchWorkgroups')) dispatches.push(method);
    return proceed();
  };
  return { kernels, dispatches };
};

const dispatchesEach = async (_: string, tuning: Partial<Tuning>, checks = false): Promise<void> => {
  const leased = await leaseCold();
  const warm = watch(leased);
  const engine = await createCheckedEngine({
    curve: smallCurve,
    device: leased.device,
    tuning,
    checks,
    selfTest: false,
  });
  await engine.warmup(40);
  expect(warm.kernels).toHaveLength(engine.pipelines.length);
  expect(warm.dispatches).toEqual(warm.kernels.map(() => 'dispatchWorkgroupsIndirect'));
  expect(engine.memory).toEqual({ bases: 0, scalars: 0, scratch: 0, peak: 0 });
  expect(leased.live).toBe(0);

  const used = watch(leased);
  const { points, scalars, expected } = smallCase(40);
  expect(await engine.msm(await engine.loadBases(points), scalars)).toEqual(expected);
  expect([...new Set(used.kernels)].sort()).toEqual([...warm.kernels].sort());

  const again = watch(leased);
  const before = engine.pipelines;
  await engine.warmup(40);
  expect(again.kernels).toEqual([]);
  expect(engine.pipelines).toEqual(before);
  engine.destroy();
};
const title = 'every kernel of loadBases and msm is dispatched once, without a workgroup: %s';
test.each<[string, Partial<Tuning>, boolean]>([['with checks', knobs, true]])(title, dispatchesEach);
test.each<[string, Partial<Tuning>]>([
  ['as they are', knobs],
  ['with workgroup memory', { ...knobs, walkerPrefixMemory: 'workgroup' }],
])(title, { tags: 'long' }, dispatchesEach);

test('compile times include the time of the first dispatch', async () => {
  const LATE_MS = 150;
  const leased = await leaseCold();
  const engine = await createMsmEngine({ curve: smallCurve, device: leased.device, tuning: knobs, selfTest: false });
  let made: readonly { readonly name: string; readonly ms: number }[] = [];
  leased.tap = ({ method, proceed }) => {
    if (method !== 'mapAsync') return proceed();
    if (made.length === 0) made = engine.pipelines;
    return (proceed() as Promise<undefined>).then(() => sleep(LATE_MS));
  };
  await engine.warmup(40);
  expect(made.length).toBeGreaterThan(5);
  expect(engine.pipelines.map(({ name }) => name)).toEqual(made.map(({ name }) => name));
  engine.pipelines.forEach(({ ms }, i) => {
    expect(ms - (made[i]?.ms ?? 0)).toBeGreaterThan(0.9 * LATE_MS);
  });
  engine.destroy();
});

test('an engine that is destroyed during warmup rejects, and keeps no memory', async () => {
  const leased = await leaseCold();
  const engine = await createMsmEngine({ curve: smallCurve, device: leased.device, tuning: knobs, selfTest: false });
  leased.tap = ({ method, proceed }) => {
    if (method === 'dispatchWorkgroupsIndirect') engine.destroy();
    return proceed();
  };
  await expect(engine.warmup(40)).rejects.toMatchObject({ code: 'destroyed' });
  expect(leased.live).toBe(0);
});
