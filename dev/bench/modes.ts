/** The modes of the bench. */
import { isWithoutGpu, modes, seenOn } from '../../scripts/mode-list.mjs';

export { isWithoutGpu, modes, seenOn };

export type Mode = keyof typeof modes;

export const modeNames = Object.keys(modes) as Mode[];

/** Returns why a mode does not run on a page; null if it does. */
export const notOnPage = (mode: Mode): string | null => {
  const { nodeOnly } = modes[mode] as { readonly nodeOnly?: string };
  return nodeOnly ?? null;
};

export const pageModeNames = modeNames.filter((mode) => notOnPage(mode) === null);

/**
 * Modes that `backend=cpu` runs on the CPU alone. `msm-trace` is not one: it shows passes of a GPU.
 */
export const cpuModes: readonly Mode[] = ['msm-cross-check', 'msm-bench', 'accum-ab', 'sweep', 'load', 'proofs'];

/** Returns whether a mode always needs a GPU. */
export const isGpuOnly = (mode: Mode): boolean => !isWithoutGpu(mode) && !cpuModes.includes(mode);

/** Modes that compute the MSMs the knobs describe, not problems of their own. */
export const msmModes: readonly Mode[] = ['msm-cross-check', 'msm-bench', 'msm-trace', 'accum-ab', 'sweep'];
