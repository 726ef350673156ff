import template from '../../../wgsl/msm/partition.wgsl?template';
import { stageKernel } from '../../shaders/hash-chain.js';
import { type Kernel, struct } from '../../shaders/kernel.js';
import { levelWgsl } from './entry.js';

/** Config of partition, which cuts streams into tasks of equal length. */
export const PartitionConfig = struct('PartitionConfig', {
  windows: 'windows of the group',
  row_length: 'the most entries of a window',
  entries_per_task: 'least entries of a task, unless there is one task',
  most_tasks: 'the most tasks',
  levels: 'walks over a sorted stream and its partial sums',
  slots: 'S: the most tasks of one thread',
  least_threads: 'fewer slots rather than fewer threads than this',
  combine_bits: 'each walk over partial sums has fewer tasks by the factor 2^combine_bits',
  split_entries: 'shape of the first walk of the reduction',
  split_tasks: '',
  split_folds: 'walks over its sums',
  bits_entries: 'shape of the walk over these',
  bits_tasks: '',
  bits_folds: 'walks over its sums',
  entries_account: 'account of the number of nonzero digits',
});

/** Returns the threads of a walk. It grows with the number of tasks. */
export const threadsOf = (tasks: number, slots: number, leastThreads: number): number =>
  Math.min(tasks, Math.max(Math.ceil(tasks / slots), leastThreads));

/**
 * Returns the tasks of every walk over a stream that is first cut into `tasks`, down to one task.
 *
 * @param combineBits each walk has fewer tasks by the factor 2^combineBits
 */
export const levelTasks = (tasks: number, combineBits: number): number[] => {
  const all = [tasks];
  for (let rest = tasks; rest > 1; ) {
    rest = Math.ceil(rest / 2 ** combineBits);
    all.push(rest);
  }
  return all;
};

export const partitionKernel = (): Kernel =>
  stageKernel(
    'partition_stream',
    template,
    PartitionConfig,
    [
      { name: 'totals', access: 'read', type: 'array<u32>' },
      { name: 'levels', access: 'write', type: 'array<Level>' },
    ],
    { level: levelWgsl },
  );
