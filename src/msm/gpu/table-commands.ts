/** Commands that make tables of bases, for loads with `precompute`. */
import type { DeviceView } from '../../session/operation.js';
import type { Command, Slice } from '../../shaders/commands.js';
import { groupsFor } from '../../shaders/limits.js';
import { additionsPerSubmitOf } from '../plan/tuning.js';
import type { TableShape } from '../plan/workload.js';
import { DoubleConfig, SpreadConfig, TABLES_THREADS } from '../stages/tables.js';
import { limitsOf, type MsmSetup } from './setup.js';

/**
 * Returns the commands that copy `count` points to table 0 of `target` and double each table to the
 * next. No dispatch takes longer than those of an MSM.
 */
export const tableCommands = (
  device: DeviceView<MsmSetup>,
  tables: TableShape,
  count: number,
  points: Slice,
  target: Slice,
): Command[] => {
  const { kernels, tuning } = device.setup;
  const { spread, double } = kernels.tables();
  const most = Math.max(1, Math.floor(additionsPerSubmitOf(limitsOf(device), tuning) / count));
  const groups = groupsFor(count, TABLES_THREADS);
  const commands: Command[] = [
    {
      kind: 'dispatch',
      phase: 'tables',
      kernel: spread,
      config: SpreadConfig.pack({ points: count, tables: tables.count }),
      bindings: { points, tables: target },
      groups,
    },
  ];
  for (let table = 1; table < tables.count; table++) {
    for (let done = 0; done < tables.bits; done += most) {
      commands.push(
        { kind: 'submit' },
        {
          kind: 'dispatch',
          phase: 'tables',
          kernel: double,
          config: DoubleConfig.pack({
            points: count,
            tables: tables.count,
            from_table: done === 0 ? table - 1 : table,
            to_table: table,
            doublings: Math.min(most, tables.bits - done),
          }),
          bindings: { tables: target },
          groups,
        },
      );
    }
  }
  return commands;
};
