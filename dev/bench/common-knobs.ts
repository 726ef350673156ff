/**
 * Knobs that several modes share. Each mode says which it uses; knobs of the engine are in
 * settings.ts.
 */
import { defaultCurve, defaultEncoding, defaultGroup } from '../cases/address.js';
import { pointDistributions } from '../cases/point-distributions.js';
import { scalarDistributions } from '../cases/scalar-distributions.js';
import { curveNames, pairNames } from '../oracle/curves.js';
import type { KnobText } from './knob.js';
import { settingKnobs } from './settings.js';

const text = (label: string, help: string, values = '', unset = ''): KnobText => ({ label, help, values, unset });

/** Common knobs, in the order of the form. */
export const commonKnobs = {
  autorun: text('What to run', 'Each mode answers a question. A URL without a mode starts nothing.'),
  curve: text('Curve', 'Curve of the points.', curveNames.join(', '), defaultCurve),
  group: text(
    'Group',
    `Group of the curve: g1, or g2, which ${pairNames.join(', ')} have. With a prefix (a.group), the group of that side of a comparison.`,
    'g1, g2',
    defaultGroup,
  ),
  encoding: text(
    'Point encoding',
    'Encoding of the loaded points: le, or another that the library supports for them. The cross-check also asks for the sum in it.',
    '',
    defaultEncoding,
  ),
  logn: text('Sizes, log₂ n', 'Sizes as powers of two: 10 or 10,12,14 or 10..18.', '0 to 22, or a list'),
  n: text('Other sizes', 'Sizes that are not powers of two: 1000 or 1000,4097.', '0 to 2^22, or a list', 'none'),
  points: text('Points', 'Distribution of the points.', Object.keys(pointDistributions).join(', '), 'distinct'),
  scalars: text('Scalars', 'Distribution of the scalars.', Object.keys(scalarDistributions).join(', '), 'random'),
  case: text(
    'Cases',
    'A case, a filter such as points=*,scalars=random, or a set such as core. May be repeated in the URL.',
    '',
    'the points and scalars above',
  ),
  reps: text('Repetitions', 'Timed repetitions, runs of each case, or passes.', '1 to 1000'),
  seed: text('Seed', 'Seed of all points and scalars.', '', '1'),
} as const satisfies Readonly<Record<string, KnobText>>;

export type CommonKnob = keyof typeof commonKnobs;

/** Knobs of modes that compute the MSMs that the knobs describe. */
export const ofMsm = {
  uses: ['curve', 'group', 'encoding', 'logn', 'n', 'points', 'scalars', 'reps', 'seed'],
  engine: settingKnobs,
} as const satisfies { uses: readonly CommonKnob[]; engine: readonly string[] };
