/** What calls do for each other, switched off in turn. */
import type { Sharing } from '../../../../src/api/sharing.js';
import type { Setting } from '../../settings.js';

/** What the engine is called whose calls share all that they can. */
export const ALL_ON = 'all on';

export interface Variant {
  readonly label: string;
  readonly sharing: Sharing;
}

/** More than any machine has. */
const NO_CAP = 1024;

/** The first has everything. A cap on workers means nothing where the GPU computes all, and no sharing where the CPU does. */
export const variantsOf = ({ backend }: Pick<Setting, 'backend'>): readonly [Variant, ...Variant[]] => [
  { label: ALL_ON, sharing: {} },
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
