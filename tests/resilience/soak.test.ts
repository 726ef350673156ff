/** Random load on one device, as `npm run stress -- soak` has for longer. */
import { expect, test } from 'vitest';
import { soak } from '../../dev/soak/soak.js';
import { getDevice } from '../support/gpu.js';

test('random load of both groups stays within the given memory', { tags: 'long' }, async () => {
  const device = await getDevice();
  try {
    // so little that calls wait for it, and are planned for what others leave
    const deviceBudget = 1.25 * 2 ** 20;
    const told = await soak(device, { seed: 1, seconds: 15, concurrency: 20, points: 2 ** 10, deviceBudget });
    expect(told.violations).toEqual([]);
    expect(told.peakBytes).toBeGreaterThan(0.9 * deviceBudget);
    expect(told.calls).toBeGreaterThan(50);
    expect(told.rejected.aborted).toBeGreaterThan(0);
    expect(told.stats.reduce((sum, { merged }) => sum + merged, 0)).toBeGreaterThan(0);
  } finally {
    Reflect.deleteProperty(device, 'createBuffer');
  }
});
