/** Tallies the outcomes of trials by fault and mode, and compares them with the targets. */
import { faultNames } from './faults.js';
import { modeNames } from './modes.js';
import { type Outcome, outcomes, type Trial } from './trial.js';

/** Trials by fault, mode and outcome. */
export class Tally {
  readonly #counts = new Map<string, Map<string, Map<Outcome, number>>>();

  add({ fault, mode }: Pick<Trial, 'fault' | 'mode'>, outcome: Outcome): void {
    const modes = this.#counts.get(fault) ?? new Map<string, Map<Outcome, number>>();
    const outcomes = modes.get(mode) ?? new Map<Outcome, number>();
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    modes.set(mode, outcomes);
    this.#counts.set(fault, modes);
  }

  /** Returns the number of covered trials with one of the outcomes. */
  count(among: readonly Outcome[], covers: (fault: string, mode: string) => boolean = () => true): number {
    let sum = 0;
    for (const [fault, modes] of this.#counts)
      for (const [mode, counts] of modes)
        if (covers(fault, mode)) for (const outcome of among) sum += counts.get(outcome) ?? 0;
    return sum;
  }
}

/** Outcomes of faults that struck. */
const struck = (Object.keys(outcomes) as Outcome[]).filter((outcome) => outcome !== 'none');

/**
 * Silent failures: a wrong point, in this call or the next, and errors without a code, which
 * callers cannot handle.
 */
const bad: readonly Outcome[] = ['wrong', 'untyped', 'wrong after'];

export interface TargetResult {
  readonly title: string;
  readonly faults: number;
  readonly failures: number;
  readonly met: boolean;
}

const isLost = (fault: string): boolean => /^(did not happen|of another call):/.test(fault);
const isUpload = (fault: string): boolean => fault === 'a bit flipped: in an upload';
const isOfPoints = (fault: string): boolean => fault.startsWith('points read back');
const isSlow = (fault: string): boolean => fault.startsWith('slow');
const isOdd = (fault: string): boolean => fault.startsWith('settles');
const isVerified = (mode: string): boolean => mode.startsWith('verify');
const isOfVectors = (mode: string): boolean => mode === 'vectors';
const isMisplaced = (fault: string): boolean => /^(done twice|late):/.test(fault);

/** Targets; `share` is the largest share of trials that may fail. */
const targets: readonly {
  readonly title: string;
  readonly covers: (fault: string, mode: string) => boolean;
  readonly failures: readonly Outcome[];
  readonly share: number;
}[] = [
  {
    title: 'a lost command, or one of another call, never gives a wrong point',
    covers: (fault, mode) => isLost(fault) && !isVerified(mode),
    failures: bad,
    share: 0,
  },
  {
    title: 'a bit flipped in an upload never gives a wrong point',
    covers: (fault, mode) => isUpload(fault) && !isVerified(mode),
    failures: bad,
    share: 0,
  },
  {
    title: 'a misplaced or replaced point read back never gives a wrong point',
    covers: (fault, mode) => isOfPoints(fault) && !isVerified(mode),
    failures: bad,
    share: 0,
  },
  {
    title: 'all other faults give a wrong point in at most 5 % of trials',
    // numbers that are read have no check of their own, as points have by the curve
    covers: (fault, mode) =>
      ![isLost, isUpload, isOfPoints, isSlow].some((is) => is(fault)) && !isVerified(mode) && !isOfVectors(mode),
    failures: bad,
    share: 0.05,
  },
  {
    title: 'a command of vectors that is done twice or late never gives a wrong number',
    covers: (fault, mode) => isMisplaced(fault) && isOfVectors(mode),
    failures: bad,
    share: 0,
  },
  {
    title: 'with verify, no fault gives a wrong point',
    covers: (_, mode) => isVerified(mode),
    failures: bad,
    share: 0,
  },
  {
    title: 'a slow device gives the correct result',
    covers: isSlow,
    failures: ['found', 'retried', 'hang', ...bad],
    share: 0,
  },
  {
    title: 'the next call is correct, or asks to load the bases again',
    covers: () => true,
    failures: ['wrong after', 'fails after'],
    share: 0,
  },
  {
    title: 'a WebGPU promise that settles late, twice or after a later one changes nothing',
    covers: isOdd,
    failures: ['found', 'retried', 'hang', ...bad],
    share: 0,
  },
  { title: 'no call hangs', covers: () => true, failures: ['hang'], share: 0 },
];

export const judge = (tally: Tally): readonly TargetResult[] =>
  targets
    .map(({ title, covers, failures: failing, share }) => {
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

const cellOf = (tally: Tally, covers: (fault: string, mode: string) => boolean): string => {
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
