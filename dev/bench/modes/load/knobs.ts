/** Knobs of `load`, and those that it shares with `proofs`. */
import type { Sharing } from '../../../../src/api/sharing.js';
import { integerKnob, integersKnob, type Values, wordKnob } from '../../knob.js';
import type { Knobs } from '../../knobs.js';
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
