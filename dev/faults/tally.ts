/** Tallies the outcomes of trials by fault and mode, and compares them with the targets. */

import { modeNames } from './modes.js';
import { faultNames, type Outcome, outcomes, type Trial } from './trial.js';

/** Returns whether a trial of a fault in a mode counts. */
type Covers = (fault: string, mode: string) => boolean;

export class Tally {
  readonly #trials: (Pick<Trial, 'fault' | 'mode'> & { readonly outcome: Outcome })[] = [];

  add({ fault, mode }: Pick<Trial, 'fault' | 'mode'>, outcome: Outcome): void {
    this.#trials.push({ fault, mode, outcome });
  }

  /** Returns the number of covered trials with one of the outcomes. */
  count(among: readonly Outcome[], covers: Covers = () => true): number {
    return this.#trials.filter(({ fault, mode, outcome }) => among.includes(outcome) && covers(fault, mode)).length;
  }
}

const struck = (Object.keys(outcomes) as Outcome[]).filter((outcome) => outcome !== 'none');
/**
 * Silent failures: a wrong point, in this call or the next, and errors without a code, which
 * callers cannot handle.
 */
const bad: readonly Outcome[] = ['wrong', 'untyped', 'wrong after'];
/** All but a correct result at once. */
const noticed: readonly Outcome[] = ['found', 'retried', 'hang', ...bad];

export interface TargetResult {
  readonly title: string;
  readonly faults: number;
  readonly failures: number;
  readonly met: boolean;
}

/** Faults by their names: lost commands, uploads, points, slow devices, and so on. */
const kinds = {
  lost: /^(did not happen|of another call):/,
  upload: /^a bit flipped: in an upload$/,
  points: /^points read back/,
  slow: /^slow/,
  odd: /^settles/,
  misplaced: /^(done twice|late):/,
};
const isOf =
  (...names: (keyof typeof kinds)[]): Covers =>
  (fault) =>
    names.some((name) => kinds[name].test(fault));
const isVerified: Covers = (_, mode) => mode.startsWith('verify');
const isOfVectors: Covers = (_, mode) => mode === 'vectors';
const without =
  (covers: Covers, ...others: readonly Covers[]): Covers =>
  (...trial) =>
    covers(...trial) && !others.some((other) => other(...trial));
const always: Covers = () => true;

interface Target {
  readonly title: string;
  readonly covers: Covers;
  /** Default: silent failures. */
  readonly failures?: readonly Outcome[];
  /** Largest share of trials that may fail. Default: 0. */
  readonly share?: number;
}

const targets: readonly Target[] = [
  {
    title: 'a lost command, or one of another call, never gives a wrong point',
    covers: without(isOf('lost'), isVerified),
  },
  { title: 'a bit flipped in an upload never gives a wrong point', covers: without(isOf('upload'), isVerified) },
  {
    title: 'a misplaced or replaced point read back never gives a wrong point',
    covers: without(isOf('points'), isVerified),
  },
  {
    title: 'all other faults give a wrong point in at most 5 % of trials',
    // numbers that are read have no check of their own, as points have by the curve
    covers: without(always, isOf('lost', 'upload', 'points', 'slow'), isVerified, isOfVectors),
    share: 0.05,
  },
  {
    title: 'a command of vectors that is done twice or late never gives a wrong number',
    covers: (...trial) => isOf('misplaced')(...trial) && isOfVectors(...trial),
  },
  { title: 'with verify, no fault gives a wrong point', covers: isVerified },
  { title: 'a slow device gives the correct result', covers: isOf('slow'), failures: noticed },
  {
    title: 'the next call is correct, or asks to load the bases again',
    covers: always,
    failures: ['wrong after', 'fails after'],
  },
  {
    title: 'a WebGPU promise that settles late, twice or after a later one changes nothing',
    covers: isOf('odd'),
    failures: noticed,
  },
  { title: 'no call hangs', covers: always, failures: ['hang'] },
];

export const judge = (tally: Tally): readonly TargetResult[] =>
  targets
    .map(({ title, covers, failures: failing = bad, share = 0 }) => {
      const [faults, failures] = [tally.count(struck, covers), tally.count(failing, covers)];
      return { title, faults, failures, met: failures <= share * faults };
    })
    .filter(({ faults }) => faults > 0);

/** Columns of a cell; the last two appear only with non-zero counts. */
const columns: readonly (readonly [string, readonly Outcome[]])[] = [
  ['', ['found']],
  ['', ['retried']],
  ['', ['harmless']],
  ['', bad],
  [' hang', ['hang']],
  [' fail after', ['fails after']],
];

const cellOf = (tally: Tally, covers: Covers): string => {
  if (tally.count(struck, covers) === 0) return '';
  return columns
    .map(([word, among]) => ({ word, count: tally.count(among, covers) }))
    .filter(({ word, count }) => word === '' || count > 0)
    .map(({ word, count }) => `${count}${word}`)
    .join(' · ');
};

/**
 * Returns a table with a row for each fault and a column for each mode; the first row is the head.
 */
export const cells = (tally: Tally, faults: readonly string[], modes: readonly string[]): readonly string[][] => [
  ['', ...modes, 'all'],
  ...faults
    .filter((fault) => tally.count(struck, (each) => each === fault) > 0)
    .map((fault) => [
      fault,
      ...modes.map((mode) => cellOf(tally, (each, in_) => each === fault && in_ === mode)),
      cellOf(tally, (each) => each === fault),
    ]),
  ['all', ...modes.map((mode) => cellOf(tally, (_, each) => each === mode)), cellOf(tally, () => true)],
];

/**
 * Returns the report of a campaign for docs/reference/failures.md. @param of description of the
 * trials
 */
export const docsText = (tally: Tally, of: string): string => {
  const [heads = [], ...rows] = cells(tally, faultNames, modeNames);
  const line = (row: readonly string[]): string => `| ${row.join(' | ')} |`;
  return [
    `Of ${tally.count(struck)} faults (${of}):`,
    '',
    '| target | faults | failures |',
    '|---|---|---|',
    ...judge(tally).map(({ title, faults, failures, met }) =>
      line([title, `${faults}`, `${failures}${met ? '' : ' (missed)'}`]),
    ),
    '',
    'In each field: found · retried · harmless · wrong.',
    '',
    line(['fault', ...heads.slice(1)]),
    `|---${'|---'.repeat(modeNames.length + 1)}|`,
    ...rows.map(line),
  ].join('\n');
};
