/** The record of an engine's last run, where a test knows which backend computed. */
import type { CpuRun, DividedRun, GpuRun, RunRecord } from '../../src/index.js';

interface Engine {
  readonly lastRun: RunRecord | null;
}

/** Returns the record of a run on the GPU. @throws Error if something else computed last */
export const gpuRunOf = ({ lastRun }: Engine): GpuRun => {
  if (lastRun?.on !== 'gpu') throw otherRun(lastRun, 'the GPU');
  return lastRun;
};

/** Returns the record of a run on the CPU. @throws Error if something else computed last */
export const cpuRunOf = ({ lastRun }: Engine): CpuRun => {
  if (lastRun?.on !== 'cpu') throw otherRun(lastRun, 'the CPU');
  return lastRun;
};

/** Returns the record of a run that both backends shared. @throws Error if one computed last, or none */
export const dividedRunOf = ({ lastRun }: Engine): DividedRun => {
  if (lastRun?.on !== 'both') throw otherRun(lastRun, 'both backends');
  return lastRun;
};

const otherRun = (run: RunRecord | null, expected: string): Error =>
  new Error(`the last run was to be on ${expected}: ${run === null ? 'nothing was computed' : JSON.stringify(run)}`);
