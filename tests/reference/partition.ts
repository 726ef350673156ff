import { Level, packLevel } from '../../src/msm/stages/entry.js';
import type { PartitionConfig } from '../../src/msm/stages/partition.js';

export type PartitionValues = Parameters<typeof PartitionConfig.pack>[0];

const level = (config: PartitionValues, entries: number, tasks: number): Uint32Array => {
  const quotient = tasks === 0 ? 0 : Math.floor(entries / tasks);
  const threads = Math.min(tasks, Math.max(Math.ceil(tasks / config.slots), config.least_threads));
  return packLevel({
    entries: tasks === 0 ? 0 : entries,
    tasks,
    quotient,
    remainder: tasks === 0 ? 0 : entries % tasks,
    threads,
  });
};

/** CPU reference of wgsl/msm/partition.wgsl. Returns all levels. */
export const partition = (config: PartitionValues, totals: Uint32Array): Uint32Array => {
  let entries = totals.reduce((sum, total) => sum + Math.min(total, config.row_length), 0);
  let tasks = Math.min(config.most_tasks, Math.max(1, Math.ceil(entries / config.entries_per_task)));
  const levels: Uint32Array[] = [];
  for (let i = 0; i < config.levels; i++) {
    levels.push(level(config, entries, tasks));
    entries = 2 * tasks;
    tasks = tasks <= 1 ? 0 : Math.ceil(tasks / 2 ** config.combine_bits);
  }
  const foldAll = (read: number, sums: number, folds: number): void => {
    levels.push(level(config, read, sums));
    if (folds > 0) foldAll(sums, sums / 2 ** config.combine_bits, folds - 1);
  };
  foldAll(config.split_entries, config.split_tasks, config.split_folds);
  foldAll(config.bits_entries, config.bits_tasks, config.bits_folds);
  const words = Level.fields.length;
  const all = new Uint32Array(levels.length * words);
  levels.forEach((values, i) => {
    all.set(values, i * words);
  });
  return all;
};

/** Returns the first entry of task `t` of a level. */
export const taskStart = ({ quotient, remainder }: { quotient: number; remainder: number }, t: number): number =>
  t * quotient + Math.min(t, remainder);
