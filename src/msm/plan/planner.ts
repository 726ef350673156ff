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
 * Plans a workload without chunks, regardless of limits and budget.
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

/**
 * Returns the bases that a chunk may have to bind beyond its own, because bindings start at aligned
 * offsets.
 */
const spareBases = (curve: CurveContext, tables: number): number => itemsPerBindingStep(tables * curve.pointBytes) - 1;

/** Returns why a plan does not fit, or null if it fits. */
const misfit = (plan: Plan, curve: CurveContext, limits: PlanLimits, budget: number): string | null => {
  const most = Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize);
  for (const [name, bytes] of Object.entries(plan.scratch)) {
    if (bytes > most) return `scratch buffer '${name}' needs ${bytes} bytes, the device binds ${most}`;
  }
  // the sort dispatches a row of workgroups for each window, and one workgroup for each window of a
  // group
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
 * Returns the scratch that suffices, in bytes. Beyond it a plan gets more groups of windows even if
 * the budget allows more, because memory of the page is not free, unless the device is so wide that
 * a group costs it more than its additions. It is no reason for chunks.
 */
const enoughScratch = ({ vectors, n }: Workload): number => 2 ** 25 + 60 * vectors * n;

/**
 * Returns the plan with the fewest groups of windows that fits. If none fits, returns one with the
 * reason.
 */
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
    if (limits.isWide || scratchBytes <= enoughScratch(load)) return false;
    // scratch that more groups do not reduce: scalars, buckets
    const fixed = layOut(load, curve, tuning, instrument, 1).scratchBytes;
    return scratchBytes > WORTH_SAVING * fixed;
  };
  while ((why !== null || isLavish(plan)) && plan.windowsPerGroup > 1) {
    // exact for few groups, and fast for a batch of thousands
    const step = Math.max(1, Math.floor(plan.windowsPerGroup / 64));
    plan = layOut(load, curve, tuning, instrument, plan.windowsPerGroup - step);
    why = misfit(plan, curve, limits, budget);
  }
  return { plan, why };
};

/** More groups are not worth while if scratch is within this factor of what they cannot reduce. */
const WORTH_SAVING = 1.1;

/** The option that a budget comes from. */
export type BudgetName = 'memoryBudget' | 'deviceBudget';

/** Advice besides raising the budget. */
const budgetAdvice: Readonly<Record<BudgetName, string>> = {
  memoryBudget: '',
  deviceBudget: 'destroy what is not needed of its bases and scalars, or ',
};

/**
 * Cuts an MSM into the fewest equal chunks whose buffers fit the limits of the device and the
 * budget, and of which one window fits a submit. Cuts each chunk into the fewest groups of windows.
 * A group costs a few dispatches, a chunk a reduction.
 *
 * @param load one vector
 * @param budget bytes of scratch
 * @param name name of the budget for the error text
 * @returns the plan of every chunk; the last one may be shorter
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

/**
 * A batch with this many times more groups of windows than its additions need is split, as several
 * batches are faster then.
 */
const MANY_GROUPS = 4;

/**
 * Plans several vectors as one. Returns null if fewer vectors at a time are better: together they
 * do not fit, fit only a few windows at a time, or get much narrower windows than one vector alone.
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
  const single = resolveTuning(oneOf(load), curve, limits, overrides);
  return windowBits + 1 < single.windowBits ? null : plan;
};
