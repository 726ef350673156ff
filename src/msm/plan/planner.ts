import type { CurveContext } from '../../curves/curve.js';
import { badArgument } from '../../errors.js';
import { itemsPerBindingStep, MAX_GROUPS } from '../../shaders/limits.js';
import type { DeviceProfile } from './device-defaults.js';
import { layOut } from './layout.js';
import type { Plan, PlanLimits } from './plan.js';
import { type Knobs, resolveTuning } from './tuning.js';
import { reduceAdditions } from './window-bits.js';
import { oneOf, shareOf, type Workload } from './workload.js';

/**
 * Plans a workload without chunks, whatever it takes.
 *
 * @param mostWindows the most windows in a group
 */
export const planOne = (
  load: Workload,
  curve: CurveContext,
  limits: DeviceProfile,
  overrides: Knobs,
  mostWindows = Number.POSITIVE_INFINITY,
): Plan => layOut(load, curve, resolveTuning(load, curve, limits, overrides), overrides.instrument, mostWindows);

/** Points of bases that a chunk may have to bind beyond its own, because a binding starts only at certain places. */
const spareBases = (curve: CurveContext, tables: number): number => itemsPerBindingStep(tables * curve.pointBytes) - 1;

/** Why a plan does not fit, or null. */
const misfit = (plan: Plan, curve: CurveContext, limits: PlanLimits, budget: number): string | null => {
  const most = Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize);
  for (const [name, bytes] of Object.entries(plan.scratch)) {
    if (bytes > most) return `scratch buffer '${name}' needs ${bytes} bytes, the device binds ${most}`;
  }
  // one row of workgroups a window, and one a window of a group
  const row = Math.max(plan.tiles, plan.windowsPerGroup);
  if (row > MAX_GROUPS) return `the sort needs ${row} workgroups in a row, a device dispatches ${MAX_GROUPS}`;
  const bases = (plan.n + spareBases(curve, plan.tables)) * plan.tables * curve.pointBytes;
  if (bases > limits.maxStorageBufferBindingSize) {
    return `the bases of one chunk take ${bases} bytes, the device binds ${limits.maxStorageBufferBindingSize}`;
  }
  const { additionsPerSubmit } = plan.tuning;
  if (plan.n * plan.blocks > additionsPerSubmit) {
    return `one window takes ${plan.n * plan.blocks} additions, a submit may do ${additionsPerSubmit}`;
  }
  if (plan.vectors > 1 && reduceAdditions(plan.tuning.windowBits, plan.windows) > additionsPerSubmit) {
    return `the reduction of ${plan.vectors} vectors takes more than the ${additionsPerSubmit} additions of a submit`;
  }
  if (plan.peakBytes > budget) return `it takes ${plan.peakBytes} bytes of scratch, the budget is ${budget}`;
  return null;
};

/**
 * Scratch that more groups of windows are made for, though the budget allows more: by then a group has enough to do for every device, and
 * memory of somebody else's page is not for free. Chunks are never made for it.
 */
const enoughScratch = ({ vectors, n }: Workload): number => 2 ** 25 + 60 * vectors * n;

/** The plan with the fewest groups of windows that fits; one that does not, and why, if there is none. */
const fewestGroups = (
  load: Workload,
  curve: CurveContext,
  limits: PlanLimits,
  budget: number,
  overrides: Knobs,
): { plan: Plan; why: string | null } => {
  const { instrument } = overrides;
  const tuning = resolveTuning(load, curve, limits, overrides);
  let plan = layOut(load, curve, tuning, instrument, Number.POSITIVE_INFINITY);
  let why = misfit(plan, curve, limits, budget);
  const isLavish = ({ scratchBytes }: Plan): boolean => {
    if (scratchBytes <= enoughScratch(load)) return false;
    // what does not become less with the groups: scalars, buckets
    const fixed = layOut(load, curve, tuning, instrument, 1).scratchBytes;
    return scratchBytes > WORTH_SAVING * fixed;
  };
  while ((why !== null || isLavish(plan)) && plan.windowsPerGroup > 1) {
    // exact where there are few, and quick where a batch has thousands
    const step = Math.max(1, Math.floor(plan.windowsPerGroup / 64));
    plan = layOut(load, curve, tuning, instrument, plan.windowsPerGroup - step);
    why = misfit(plan, curve, limits, budget);
  }
  return { plan, why };
};

/** More groups save little where scratch is no more than so many times what they cannot save. */
const WORTH_SAVING = 1.1;

/** The option that a budget comes from. */
export type BudgetName = 'memoryBudget' | 'deviceBudget';

/** What else helps, where it is not raised. */
const budgetAdvice: Readonly<Record<BudgetName, string>> = {
  memoryBudget: '',
  deviceBudget: 'destroy what is not needed of its bases and scalars, or ',
};

/**
 * Cuts an MSM into the fewest equal chunks whose buffers fit the device's limits and the budget, and so that one window of a
 * chunk is no more than a submit may do; and each chunk into the fewest groups of windows. More groups cost a few dispatches each,
 * more chunks a reduction each.
 *
 * @param load one vector
 * @param budget bytes of scratch
 * @param name what to call the budget where it is too small
 * @returns the plan of every chunk but perhaps the last, which is shorter
 * @throws MsmError `bad-argument` if not even the smallest chunk fits
 */
export const planMsm = (
  load: Workload,
  curve: CurveContext,
  limits: PlanLimits,
  budget: number,
  overrides: Knobs,
  name: BudgetName = 'memoryBudget',
): Plan => {
  const { n } = load;
  const attempt = (chunks: number) =>
    fewestGroups(shareOf(load, Math.ceil(n / chunks)), curve, limits, budget, overrides);
  let fits = 1;
  let found = attempt(fits);
  while (found.why !== null) {
    if (fits >= n) {
      const { windowBits, ...open } = overrides;
      const isWide =
        windowBits !== undefined && fewestGroups(shareOf(load, 1), curve, limits, budget, open).why === null;
      const [knob, advice] = isWide ? ['tuning.windowBits', 'set fewer or none, or '] : [name, budgetAdvice[name]];
      throw badArgument(`${knob}: not even one scalar at a time fits: ${found.why}; ${advice}raise the budget`);
    }
    fits *= 2;
    found = attempt(fits);
  }
  let tooFew = Math.floor(fits / 2);
  while (fits - tooFew > 1) {
    const middle = Math.floor((fits + tooFew) / 2);
    const tried = attempt(middle);
    if (tried.why !== null) {
      tooFew = middle;
    } else {
      fits = middle;
      found = tried;
    }
  }
  return found.plan;
};

/** A batch in many groups of windows is better done as several batches: so many more than its additions ask for are too many. */
const MANY_GROUPS = 4;

/**
 * Plans several vectors as one, or null where they had better be fewer: they do not fit, or fit only a few windows at a time, or with
 * windows much narrower than one of them would have.
 *
 * @param load more than one vector
 */
export const planTogether = (
  load: Workload,
  curve: CurveContext,
  limits: PlanLimits,
  budget: number,
  overrides: Knobs,
): Plan | null => {
  const { plan, why } = fewestGroups(load, curve, limits, budget, overrides);
  const { windowBits, additionsPerSubmit } = plan.tuning;
  if (why !== null || plan.groups > MANY_GROUPS * Math.ceil(plan.additions / additionsPerSubmit)) return null;
  const alone = resolveTuning(oneOf(load), curve, limits, overrides);
  return windowBits + 1 < alone.windowBits ? null : plan;
};
