import type { StageChecks } from '../../api/tuning.js';
import type { Command } from '../../gpu/commands.js';
import type { groupsFor } from '../../shaders/limits.js';
import type { PlannedChecks } from '../plan/checks.js';
import type { Batch } from '../plan/schedule.js';
import type { KernelChecks } from '../stages/checks.js';
import type { Kernels } from '../stages/kernels.js';

/**
 * What `webgpu-msm/checks` is to an engine. It stands in a bundle of its own and shares no module with this one, so that nothing is there
 * twice: what it needs of the library it is handed, and what it knows it returns.
 */
export interface Checks extends StageChecks, PlannedChecks, KernelChecks {
  /**
   * The commands of a part with checks between them.
   *
   * @param part the only one of its job
   */
  weave(
    house: { readonly kernels: Kernels; readonly groupsFor: typeof groupsFor },
    part: Batch,
    commands: readonly Command[],
  ): Command[];
  /**
   * Reads what the checks left.
   *
   * @param levels walks over the sorted stream and its partial sums; those of the reduction come behind them
   * @returns null where nothing was found, else in which stage, and what: the rule, the bucket and the task
   */
  read(words: Uint32Array, levels: number): readonly [stage: string, found: string] | null;
}
