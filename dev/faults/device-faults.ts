/** Faults of the device: a changed pipeline, and slow waits. */
import { type Arm, striking } from './arm.js';
import type { Dispatch, Step } from './commands.js';
import { mutantOf } from './mutant.js';
import { drawSite, pick, type Site, sitesOf, stepAt } from './sites.js';

export const changePipeline: Arm = async (circumstances) => {
  const { device, random } = circumstances;
  const labels = new Set(sitesOf(circumstances.before, 'dispatch').map(({ label }) => label));
  const label = pick(
    random,
    [...labels].filter((each) => circumstances.label === undefined || each === circumstances.label),
  );
  if (label === undefined) return null;
  const site = drawSite({ ...circumstances, label }, 'dispatch') as Site;
  const { pipeline } = stepAt(circumstances.before, site) as Dispatch;
  const mutant = await mutantOf(random, device, pipeline);
  if (mutant === null) return null;
  return striking(`${label}, line ${mutant.change}`, (hit) => {
    const spoil = (step: Step): Step => {
      if (step.kind !== 'dispatch' || step.pipeline !== pipeline) return step;
      hit();
      return { ...step, pipeline: mutant.pipeline };
    };
    return { instead: (each) => [each.kind === 'submit' ? { ...each, steps: each.steps.map(spoil) } : each] };
  });
};

/** Largest total delay of a call, so that a campaign ends, in milliseconds. */
export const MOST_LATE_MS = 3000;

export const slowDown: Arm = () => {
  let left = MOST_LATE_MS;
  return striking('all waits', (hit) => ({
    slowed(ms) {
      const late = Math.min(left, 99 * ms);
      left -= late;
      hit();
      return ms + late;
    },
  }));
};
