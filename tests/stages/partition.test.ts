/** Partition alone, up to more tasks than any MSM of the other tests has. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Runner } from '../../src/gpu/runner.js';
import { Level } from '../../src/msm/stages/entry.js';
import { levelTasks, PartitionConfig, partitionKernel } from '../../src/msm/stages/partition.js';
import { type PartitionValues, partition } from '../reference/partition.js';
import { getDevice } from '../support/gpu.js';

const counts = [2, 3, 255, 256, 257, 65_535, 65_536, 65_537, 2 ** 20 - 1, 2 ** 20];

let runner: Runner;
beforeAll(async () => {
  runner = new Runner(await getDevice(), Number.POSITIVE_INFINITY);
});
afterAll(() => runner.destroy());
const kernel = partitionKernel();

const onGpu = async (config: PartitionValues, totals: Uint32Array): Promise<Uint32Array> => {
  const size = Level.byteLength * (config.levels + 2 + config.split_folds + config.bits_folds);
  const { data } = await runner.run({
    scratch: { totals: totals.byteLength, levels: size },
    uploads: [
      { to: { buffer: 'totals' }, data: totals },
      { to: { buffer: 'levels' }, data: new Uint32Array(size / 4).fill(0xdeadbeef) },
    ],
    commands: [
      {
        kind: 'dispatch',
        phase: 'partition',
        kernel,
        config: PartitionConfig.pack(config),
        bindings: { totals: { buffer: 'totals' }, levels: { buffer: 'levels' } },
        groups: [1, 1],
      },
    ],
    accounts: 4,
    read: [{ buffer: 'levels', size }],
  });
  return data[0] as Uint32Array;
};

test.each(counts)(
  '%i tasks: all levels equal those of the reference, and their tasks cover the stream',
  async (tasks) => {
    for (const combineBits of [4, 1]) {
      const config: PartitionValues = {
        windows: 2,
        row_length: 7 * tasks + 12345,
        entries_account: 0,
        entries_per_task: 7,
        most_tasks: tasks,
        levels: levelTasks(tasks, combineBits).length,
        slots: 1,
        least_threads: 1,
        // the walks of the reduction are cut by the same rule
        combine_bits: combineBits,
        split_entries: 2 * tasks + 1,
        split_tasks: tasks,
        split_folds: 0,
        bits_entries: tasks,
        bits_tasks: tasks - 1,
        bits_folds: 0,
      };
      const totals = Uint32Array.of(7 * tasks, 12345);
      const words = await onGpu(config, totals);
      expect(words).toEqual(partition(config, totals));
      let [entries, wanted] = [7 * tasks + 12345, tasks];
      for (let i = 0; i < config.levels + 2; i++) {
        if (i === config.levels) [entries, wanted] = [config.split_entries, tasks];
        if (i === config.levels + 1) [entries, wanted] = [config.bits_entries, tasks - 1];
        const level = Level.unpack(words, i);
        expect(level).toMatchObject({ entries, tasks: wanted, threads: wanted });
        expect(level.tasks * level.quotient + level.remainder).toBe(entries);
        expect(level.remainder).toBeLessThan(level.tasks);
        [entries, wanted] = [2 * wanted, Math.ceil(wanted / 2 ** combineBits)];
      }
    }
  },
);

test('walks that fold the sums of the reduction follow the walk that they belong to', async () => {
  const config: PartitionValues = {
    ...{ windows: 1, row_length: 9, entries_account: 0, entries_per_task: 1, most_tasks: 1, levels: 1 },
    ...{ slots: 1, least_threads: 1, combine_bits: 2 },
    ...{ split_entries: 512, split_tasks: 128, split_folds: 2, bits_entries: 96, bits_tasks: 48, bits_folds: 1 },
  };
  const totals = Uint32Array.of(5);
  const words = await onGpu(config, totals);
  expect(words).toEqual(partition(config, totals));
  const shapes = [0, 1, 2, 3, 4, 5].map((i) => {
    const { entries, tasks } = Level.unpack(words, i);
    return [entries, tasks];
  });
  expect(shapes).toEqual([
    [5, 1],
    [512, 128],
    [128, 32],
    [32, 8],
    [96, 48],
    [48, 12],
  ]);
});
