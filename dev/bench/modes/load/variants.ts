/** Kinds of sharing between calls, each switched off in turn. */
import type { Sharing } from '../../../../src/api/sharing.js';
import type { Setting } from '../../settings.js';

/** Label of the engine with all kinds of sharing, and of a second one, whose gain is noise. */
export const ALL_ON = 'all on';
export const AGAIN = 'all on, again';

export interface Variant {
  readonly label: string;
  readonly sharing: Sharing;
}

/** A cap above the cores of any machine. */
const NO_CAP = 1024;

/**
 * Returns the variants, of which the first has all kinds of sharing. A cap on workers has no effect
 * if the GPU computes all, and no sharing has an effect if the CPU does.
 */
export const variantsOf = ({ backend }: Pick<Setting, 'backend'>): readonly [Variant, ...Variant[]] => [
  { label: ALL_ON, sharing: {} },
  { label: AGAIN, sharing: {} },
  ...(backend === 'cpu' ? [] : withGpu(backend)),
];

const withGpu = (backend: Setting['backend']): readonly Variant[] => [
  { label: 'no overlap', sharing: { overlap: false } },
  { label: 'no merging', sharing: { merge: false } },
  { label: 'nothing kept', sharing: { keep: false } },
  ...(backend === null || backend === 'gpu'
    ? []
    : [
        { label: 'no cap on workers', sharing: { sidePool: NO_CAP } },
        { label: 'workers that wait', sharing: { throttle: true } },
        { label: 'no workers meanwhile', sharing: { throttle: true, sidePool: 0 } },
      ]),
];
