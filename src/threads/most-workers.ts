import type { ComputeWorker } from '../api/sharing.js';
import { nodeModule } from './node-module.js';
import { threadsHere } from './platform.js';

/** True where threads can be started. */
const hasThreads = (): boolean => typeof Worker === 'function' || nodeModule('node:worker_threads') !== null;

/** Returns how many workers may compute beside the caller's thread. */
export const mostWorkers = ({
  maxWorkers = threadsHere() - 1,
  createWorker,
}: {
  readonly maxWorkers?: number | undefined;
  readonly createWorker?: (() => ComputeWorker) | undefined;
}): number => (createWorker !== undefined || hasThreads() ? maxWorkers : 0);
