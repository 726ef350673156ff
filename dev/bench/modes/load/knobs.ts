/** Knobs of `load`, and the kinds of sharing that it switches off in turn. */
import type { Sharing } from '../../../../src/api/calls.js';
import { integerKnob, integersKnob, type Values, wordKnob } from '../../knob.js';
import type { Knobs } from '../../knobs.js';
import type { Setting } from '../../settings.js';
import { mixes } from './jobs.js';

const MOST_CALLERS = 1000;

export const callersKnob = (help: string, unset: readonly number[]) =>
  integersKnob(['Callers', help], [1, MOST_CALLERS], unset);

export const loadKnobs = {
  concurrency: callersKnob(
    'Concurrent callers, each of which calls again as soon as it has its result. Runs with one kind of sharing off use the largest number.',
    [1, 2, 5, 10, 15, 20],
  ),
  jobs: integerKnob(['Jobs', 'Sums of a pass, over all callers.'], [1, 10_000], 60),
  mix: wordKnob(
    [
      'Mix',
      'Kind of sums: prover, proof after proof of n constraints over three sets of points; or small, sums of n÷8 to 4n scalars over the same points.',
    ],
    mixes,
    'prover',
  ),
  sidepool: integerKnob(
    ['Side pool', 'Most workers of the CPU while the GPU has work (sharing.sidePool).'],
    [0, 1024],
    'the library’s',
  ),
  throttle: wordKnob(
    ['Throttle', 'Applies the side pool also within a sum: workers beyond it wait (sharing.throttle).'],
    ['default', 'on', 'off'],
    'default',
  ),
};

/** Kinds of sharing that hold for all engines of a run, unless a variant switches them off. */
export const sharingOf = ({ sidepool, throttle }: Pick<LoadKnobs, 'sidepool' | 'throttle'>): Sharing => ({
  ...(sidepool !== undefined && { sidePool: sidepool }),
  ...(throttle !== 'default' && { throttle: throttle === 'on' }),
});

export type LoadKnobs = Knobs & Values<typeof loadKnobs>;

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
