/** Random load on one device, as `npm run soak` has for longer. */
import { expect, test } from 'vitest';
import { soak } from '../dev/soak/soak.js';
import { getDevice } from './support/gpu.js';

test('of both groups, within the memory that was given', { tags: 'long' }, async () => {
  const device = await getDevice();
  try {
    const told = await soak(device, { seed: 1, seconds: 15, concurrency: 20, points: 2 ** 10, deviceBudget: 2 ** 22 });
    expect(told.violations).toEqual([]);
    expect(told.peakBytes).toBeGreaterThan(2 ** 20);
    expect(told.calls).toBeGreaterThan(50);
    expect(told.rejected.aborted).toBeGreaterThan(0);
    expect(told.stats.reduce((sum, { merged }) => sum + merged, 0)).toBeGreaterThan(0);
  } finally {
    Reflect.deleteProperty(device, 'createBuffer');
  }
});
