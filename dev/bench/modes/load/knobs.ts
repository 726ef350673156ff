/** Knobs of `load`, and those that it shares with `proofs`. */
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
};

export type LoadKnobs = Knobs & Values<typeof loadKnobs>;
