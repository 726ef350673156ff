/**
 * Parses the knobs of the bench from a URL or a command line. Unknown names and invalid values are
 * rejected.
 */
import {
  type CaseAddress,
  curveGroup,
  defaultCurve,
  defaultEncoding,
  defaultGroup,
  type EncodedGroup,
  maxPoints,
  parseCurve,
  parseEncoding,
  parseGroup,
  parseInteger,
  parsePointDistribution,
  parseScalarDistribution,
  parseSeed,
} from '../cases/address.js';
import { alternatingPlacement } from '../cases/list.js';
import { selectCases } from '../cases/select.js';
import type { CurveGroup } from '../oracle/curves.js';
import { checkHost, checkMeaning, checkNames, checkValues, nearestNames, spelledOut } from './check-knobs.js';
import {
  type AnyKnobs,
  type Knobs,
  listItems,
  type PlacedCase,
  type Problem,
  Problems,
  parseIntegers,
  problemText,
} from './knob.js';
import { type Mode, modeNames, modeOf, modes, pageModeNames } from './modes.js';
import type { Placement } from './rows.js';
import { DEFAULT_LOGN, DEFAULT_REPS, type RunKnobName } from './run-knobs.js';
import { makeSetting, type Setting, settingKnobs, sideKnobs } from './settings.js';

export const MOST_SETTINGS = 64;

/** Returns the settings of the engine's knobs, each of which is valid by itself. */
export function parseSettings(query: URLSearchParams, mode: Mode): Setting[] {
  const given = (prefix: '' | 'a.' | 'b.'): [string, string][] =>
    (prefix === '' ? settingKnobs : sideKnobs).flatMap((name): [string, string][] => {
      const text = query.get(prefix + name);
      // alternating placements are not a setting of one engine
      return text === null || (name === 'walkerpriv' && text === 'turns') ? [] : [[name, text]];
    });
  const common = given('');
  const { settings } = modeOf(mode);
  if (settings === 'sides') {
    const [a, b] = (['a.', 'b.'] as const).map((side) => makeSetting(new Map([...common, ...given(side)]))) as [
      Setting,
      Setting,
    ];
    if (a.name === b.name) {
      throw new RangeError(
        'autorun: A and B are equal; give one of them another knob, such as a.walkerpriv and b.walkerpriv',
      );
    }
    return [a, b];
  }
  if (settings !== 'lists') return [makeSetting(new Map(common))];
  let all: [string, string][][] = [[]];
  for (const [name, text] of common) {
    all = listItems(name, text).flatMap((item) => all.map((some): [string, string][] => [...some, [name, item]]));
    if (all.length > MOST_SETTINGS) {
      throw new RangeError(`${name}: makes more than ${MOST_SETTINGS} settings; sweep fewer knobs at once`);
    }
  }
  return all.map((some) => makeSetting(new Map(some)));
}

/** Returns the placements of prefix products by case. Only the cross-check runs both. */
export function placementsOf(
  query: URLSearchParams,
  mode: Mode,
  [setting]: readonly Setting[],
): (address: CaseAddress) => readonly (Placement | undefined)[] {
  // the CPU has no walker, so there is no scratch to place
  if (!modeOf(mode).checksPlacements || setting?.backend === 'cpu') return () => [undefined];
  const text = query.get('walkerpriv');
  if (text === 'turns') return (address) => [alternatingPlacement(address)];
  return () => (text === null ? ['workgroup', 'private'] : [setting?.tuning.walkerPrefixMemory]);
}

/** Host of a query: a page, which has no folders, or a terminal. */
export type KnobHost = 'page' | 'terminal';

/** Result of reading a query: knobs, or all problems. */
export interface KnobReading {
  readonly knobs: AnyKnobs | null;
  readonly problems: readonly Problem[];
  /** Parameters that were ignored without being a mistake. */
  readonly notes: readonly string[];
}

function parseMode(text: string): Mode {
  if (Object.hasOwn(modes, text)) return text;
  const near = nearestNames(text, modeNames);
  const help = near.length > 0 ? `did you mean ${near.join(' or ')}?` : `there are ${modeNames.join(', ')}`;
  throw new RangeError(`autorun: "${text}" is not a mode; ${help}`);
}

/** Returns whether a run opens a GPU. */
export const needsGpu = ({ opensGpu }: Pick<Knobs, 'opensGpu'>): boolean => opensGpu;

const opensGpu = (mode: Mode, settings: readonly Setting[]): boolean => {
  const { runsOn } = modeOf(mode);
  return runsOn === 'gpu' || (runsOn === 'either' && !settings.every(({ backend }) => backend === 'cpu'));
};

/**
 * Returns the mode for a query that names none: the first one, unless another mode uses more of the
 * knobs.
 */
export function suggestedMode(query: URLSearchParams): Mode {
  const problemsOf = (mode: Mode): number => {
    const asked = new URLSearchParams(query);
    asked.set('autorun', mode);
    return readKnobs(asked).problems.length;
  };
  const counts = pageModeNames.map(problemsOf);
  return pageModeNames[counts.indexOf(Math.min(...counts))] as Mode;
}

type Read = <T>(name: RunKnobName, parse: (text: string) => T) => T | undefined;

/**
 * Returns a function that reads one knob: undefined if it is absent, or invalid, which adds a
 * problem.
 */
const readerOf =
  (query: URLSearchParams, problems: Problems): Read =>
  (name, parse) => {
    const text = query.get(name);
    return text === null ? undefined : problems.attempt(() => parse(text), undefined);
  };

/** Reads `logn` and `n`, and returns the sizes that both give. */
function readSizes(read: Read, query: URLSearchParams, mode: Mode, problems: Problems): number[] {
  const { knobs, defaults, checksPlacements } = modeOf(mode);
  const isOwn = Object.hasOwn(knobs, 'logn');
  const logn = isOwn ? undefined : read('logn', (text) => parseIntegers('logn', text, 0, Math.log2(maxPoints)));
  const n = read('n', (text) => parseIntegers('n', text, 0, maxPoints));
  const defaultLogn = query.has('n') ? [] : (defaults.logn ?? DEFAULT_LOGN);
  const sizes = [...new Set([...(logn ?? defaultLogn).map((log) => 2 ** log), ...(n ?? [])])];
  if (!checksPlacements && sizes.includes(0)) problems.add('n: "0" cannot be timed; use 1 or more');
  return sizes;
}

function readGroup(read: Read, problems: Problems): EncodedGroup {
  const curve = read('curve', parseCurve) ?? defaultCurve;
  const group = problems.attempt(() => curveGroup(curve, read('group', (text) => parseGroup(text)) ?? defaultGroup), {
    curve,
    group: defaultGroup,
  });
  return { ...group, encoding: read('encoding', (text) => parseEncoding(text, group)) ?? defaultEncoding };
}

/** Reads the filters of cases, or makes one of the knobs `points` and `scalars`. */
function readFilters(
  read: Read,
  query: URLSearchParams,
  select: (filters: readonly string[]) => void,
  problems: Problems,
): string[] {
  const points = read('points', parsePointDistribution);
  const scalars = read('scalars', parseScalarDistribution);
  const filters = query.getAll('case');
  if (filters.length === 0) {
    const own = [`points=${points ?? 'distinct'},scalars=${scalars ?? 'random'}`];
    problems.attempt(() => select(own), undefined);
    return own;
  }
  for (const name of ['points', 'scalars'])
    if (query.has(name)) problems.add(`${name}: the case names it already; give one of the two knobs`);
  for (const filter of filters) problems.attempt(() => select([filter]), undefined);
  return filters;
}

const readOwn = (query: URLSearchParams, mode: Mode, of: CurveGroup, problems: Problems): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(modeOf(mode).knobs).map(([name, knob]) => [
      name,
      problems.attempt(() => knob.read(query.get(name), name, of), undefined),
    ]),
  );

/** Reads a whole query, and collects all problems in it. */
export function readKnobs(asked: URLSearchParams, host: KnobHost = 'page'): KnobReading {
  const problems = new Problems();
  const query = spelledOut(asked);
  const notes = checkNames(query, problems);
  const read = readerOf(query, problems);
  const autorun = read('autorun', parseMode);
  const mode = autorun ?? suggestedMode(query);
  checkMeaning(query, mode, problems);
  if (host === 'page') checkHost(query, mode, problems);
  checkValues(query, mode, problems, (sweep) => readKnobs(sweep).problems.length === 0);
  const sizes = readSizes(read, query, mode, problems);
  const problem = modeOf(mode).problemOf?.(query) ?? null;
  if (problem !== null) problems.add(problem);
  const seed = read('seed', parseSeed) ?? 1;
  const of = readGroup(read, problems);
  const { curve, group } = of;
  const select = (filters: readonly string[]): CaseAddress[] => selectCases(filters, sizes, seed, of);
  const filters = readFilters(read, query, select, problems);
  const rest = {
    ...{ mode: autorun ?? null, ...of, seed },
    reps: read('reps', (text) => parseInteger('reps', text, 1, 1000)) ?? modeOf(mode).defaults.reps ?? DEFAULT_REPS,
    ...readOwn(query, mode, { curve, group }, problems),
  };
  const settings = problems.all.length > 0 ? [] : problems.attempt(() => parseSettings(query, mode), []);
  for (const { group: own } of settings)
    if (own !== null) problems.attempt(() => parseEncoding(of.encoding, curveGroup(curve, own)), null);
  if (problems.all.length > 0) return { knobs: null, problems: problems.all, notes };
  const placements = placementsOf(query, mode, settings);
  const cases = select(filters).flatMap((address) => placements(address).map((placement) => ({ address, placement })));
  return { knobs: { ...rest, settings, cases, opensGpu: opensGpu(mode, settings) }, problems: [], notes };
}

/** @throws RangeError with a line for each problem, which begins with the name of its knob */
export function parseKnobs(query: URLSearchParams, host?: KnobHost): AnyKnobs {
  const { knobs, problems } = readKnobs(query, host);
  if (knobs === null) throw new RangeError(problems.map(problemText).join('\n'));
  return knobs;
}
