/** Pools that use all permitted workers, however little they bring on the machine of the tests. */
import { beforeEach, vi } from 'vitest';
import { Pool } from '../../src/threads/pool.js';

/** Has each test of a file use all permitted workers, where the test is not about their number. */
export const useAllWorkers = (): void => {
  beforeEach(() => {
    vi.spyOn(Pool.prototype, 'choose').mockImplementation((_, workers) => ({ workers, measures: false }));
  });
};
