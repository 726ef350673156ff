/** Pools that use all permitted workers, however little they bring on the machine of the tests. */
import { beforeEach, vi } from 'vitest';
import { VectorThreads } from '../../src/fields/cpu/vector-threads.js';
import { Pool } from '../../src/threads/pool.js';

/** Has each test of a file use all permitted workers, where the test is not about their number. */
export const useAllWorkers = (): void => {
  beforeEach(() => {
    vi.spyOn(Pool.prototype, 'choose').mockImplementation((_, workers) => ({ workers, measures: false }));
  });
};

/**
 * Has vectors computed by messages, however short they are, until mocks are restored.
 *
 * @returns a mock that is called for each round of chains
 */
export const sendAllChains = () => {
  vi.stubGlobal('crossOriginIsolated', false);
  vi.spyOn(VectorThreads.prototype, 'isWorthSending').mockReturnValue(true);
  vi.spyOn(VectorThreads.prototype, 'workersFor').mockImplementation(function (this: VectorThreads, ms: number) {
    return ms > 0 ? this.most : 0;
  });
  return vi.spyOn(VectorThreads.prototype, 'computeChains');
};
