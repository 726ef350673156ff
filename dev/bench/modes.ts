/** What the bench can run. */
import { isWithoutGpu, modes, seenOn } from '../../scripts/mode-list.mjs';

export { isWithoutGpu, modes, seenOn };

export type Mode = keyof typeof modes;

export const modeNames = Object.keys(modes) as Mode[];

/** Why a mode is none for a page; null where it is one. */
export const notOnPage = (mode: Mode): string | null => {
  const { nodeOnly } = modes[mode] as { readonly nodeOnly?: string };
  return nodeOnly ?? null;
};

export const pageModeNames = modeNames.filter((mode) => notOnPage(mode) === null);

/** Modes that `backend=cpu` runs on the CPU alone. The passes that `msm-trace` shows are those of a GPU. */
export const cpuModes: readonly Mode[] = ['msm-cross-check', 'msm-bench', 'accum-ab', 'sweep', 'load', 'proofs'];

/** Modes that no setting runs without a GPU. */
export const isGpuOnly = (mode: Mode): boolean => !isWithoutGpu(mode) && !cpuModes.includes(mode);

/** Those that multiply what the knobs say, rather than something of their own. */
export const msmModes: readonly Mode[] = ['msm-cross-check', 'msm-bench', 'msm-trace', 'accum-ab', 'sweep'];
