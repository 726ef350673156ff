/**
 * Parses the knobs of the bench from a URL or a command line: those that modes share, those of each
 * mode, and those of the engine. Unknown names and invalid values are rejected, with suggestions.
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
import { alternatingPlacement, selectCases } from '../cases/select.js';
import type { CurveGroup } from '../oracle/curves.js';
import {
  type AnyKnobs,
  commonKnobs,
  isList,
  type KnobText,
  listItems,
  type Problem,
  Problems,
  parseIntegers,
  problemText,
} from './knob.js';
import type { BenchMode } from './modes/mode.js';
import { benchModes, modeNames, modeOf, pageModeNames } from './modes.js';
import type { Placement } from './rows.js';
import {
  engineKnobs,
  isFlag,
  knobOfTuning,
  makeSetting,
  parseEngineKnob,
  type Setting,
  settingKnobs,
  sideKnobs,
} from './settings.js';

/** Knobs of a run, in the order of the form; a knob of several modes has the texts of the first. */
export const runKnobs: Readonly<Record<string, KnobText>> = {
  // first for the order, and last so that no mode changes them
  ...commonKnobs,
  ...Object.fromEntries(modeNames.toReversed().flatMap((mode) => Object.entries(modeOf(mode).knobs))),
  ...commonKnobs,
};

/** Returns the texts of a knob of a run in a mode: its values, and what holds without it. */
export function knobText(mode: string, name: string): KnobText {
  const { knobs, defaults } = modeOf(mode);
  const text = knobs[name] ?? (runKnobs[name] as KnobText);
  const own = { reps: defaults.reps ?? DEFAULT_REPS, logn: (defaults.logn ?? DEFAULT_LOGN).join(',') };
  return Object.hasOwn(knobs, name) || !Object.hasOwn(own, name)
    ? text
    : { ...text, unset: String(own[name as keyof typeof own]) };
}

/** Repetitions, and sizes, of a mode that has no others. */
const DEFAULT_REPS = 5;
const DEFAULT_LOGN: readonly number[] = [12];

/** Returns the lines about a mode: its purpose, duration, limits, and an example. */
export function modeHelp(mode: string): string[] {
  const { title, about, takes, limits, nodeOnly, example } = modeOf(mode);
  return [
    `${title}: ${about}`,
    `With defaults it takes ${takes} on two cores with a software adapter.`,
    ...(limits === undefined ? [] : [limits]),
    ...(nodeOnly === undefined ? [] : [`In a terminal only: ${nodeOnly}.`]),
    `Example: npm run bench -- ${example}`,
  ];
}

/** Returns the help of a knob, with its values and its default, in one mode or in general. */
export function knobHelp(mode: string | null, name: string): string {
  if (name === 'build') return 'The library in DIR/dist.';
  const engine = engineKnobs[name];
  if (engine !== undefined) {
    const values = 'words' in engine ? Object.keys(engine.words).join(', ') : engine.range.join(' to ');
    return `${engine.help} Values: ${values}.`;
  }
  const { help, values, unset } = mode === null ? (runKnobs[name] as KnobText) : knobText(mode, name);
  return [help, values && `Values: ${values}.`, unset && `Default: ${unset}.`].filter((part) => part !== '').join(' ');
}

/** Matches a knob of one side of a comparison: `a.walkerpriv`. */
const sideKnob = /^([ab])\.(.+)$/;

const isEngineKnob = (name: string): boolean => settingKnobs.includes(name);

/** Returns whether a name is a knob of the engine, or of one side of a comparison. */
export const isSettingKnob = (name: string): boolean =>
  sideKnob.test(name) ? sideKnobs.includes(withoutSide(name)) : isEngineKnob(name);

const isRunKnob = (name: string): boolean => Object.hasOwn(runKnobs, name);

/** Strips the side from a name: `walkerpriv` for `a.walkerpriv`. */
export const withoutSide = (name: string): string => sideKnob.exec(name)?.[2] ?? name;

export const isKnob = (name: string): boolean => isRunKnob(name) || isSettingKnob(name);

const engineNames = ['', 'a.', 'b.'].flatMap((side) => Object.keys(engineKnobs).map((name) => side + name));

const knobNames = [...Object.keys(runKnobs), ...engineNames];

function uses(mode: string, name: string): boolean {
  const { knobs, uses: common, engine, settings } = modeOf(mode);
  if (withoutSide(name) !== name) return settings === 'sides';
  const run: readonly string[] = ['autorun', ...common];
  return run.includes(name) || Object.hasOwn(knobs, name) || engine.includes(name);
}

const modesOf = (name: string): readonly string[] => modeNames.filter((mode) => uses(mode, name));

export const knobsOf = (mode: string | null): string[] =>
  [
    ...Object.keys(runKnobs),
    ...settingKnobs,
    ...['a.', 'b.'].flatMap((side) => sideKnobs.map((name) => side + name)),
  ].filter((name) => mode === null || uses(mode, name));

/* Suggests names for a mistyped one. */

/** Edits allowed in a name. Names of one or two letters allow a change of case only. */
const slipsAllowed = ({ length }: string): number => (length < 3 ? 0 : length < 5 ? 1 : length < 9 ? 2 : 3);

/** Returns the edit distance from `a` to `b` (Levenshtein 1966), computed row by row. */
function slips(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (const letter of a) {
    const next = [(row[0] as number) + 1];
    for (const [j, other] of [...b].entries()) {
      const [left, above, before] = [next[j], row[j + 1], row[j]] as [number, number, number];
      next.push(Math.min(left + 1, above + 1, before + (letter === other ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1) as number;
}

/** Returns the names nearest to `name`, ignoring case; none if all are far. */
function nearestNames(name: string, names: readonly string[]): string[] {
  const distances = names.map((each) => slips(name.toLowerCase(), each.toLowerCase()));
  const least = Math.min(...distances);
  return least > slipsAllowed(name) ? [] : names.filter((_, i) => distances[i] === least);
}

/** Returns the query with each pair changed; pairs for which `change` returns null are dropped. */
const replaced = (
  query: URLSearchParams,
  change: (name: string, value: string) => [string, string] | null,
): URLSearchParams =>
  new URLSearchParams([...query].map(([name, value]) => change(name, value)).filter((pair) => pair !== null));

/** Returns the knobs that a mistyped name may mean, or the knob of a property of `Tuning`. */
export function nearestKnobs(name: string): readonly string[] {
  const ofTuning = knobOfTuning(name);
  return ofTuning === null ? nearestNames(name, knobNames) : [ofTuning];
}

/** Rejects names that are nearly those of a knob. Other unknown names are ignored with a note. */
function checkNames(query: URLSearchParams, problems: Problems): string[] {
  const notes: string[] = [];
  for (const name of new Set(query.keys())) {
    if (isKnob(name)) {
      if (name !== 'case' && query.getAll(name).length > 1) problems.add(`${name}: given more than once`);
    } else if (isRunKnob(withoutSide(name))) {
      problems.add(`${name}: A and B share this knob; write it as ${withoutSide(name)}`);
    } else {
      const near = nearestKnobs(name);
      const [knob] = near;
      if (knob !== undefined) problems.add(`${name}: no such knob; did you mean ${near.join(' or ')}?`, { knob });
      else notes.push(`${name} is not a knob of the bench, and was ignored.`);
    }
  }
  return notes;
}

/** Rejects what only a program can do. */
function checkHost(query: URLSearchParams, mode: string, problems: Problems): void {
  const { nodeOnly } = modeOf(mode);
  if (nodeOnly !== undefined)
    problems.add(`autorun: ${mode} runs in a terminal only, npm run bench -- ${mode}: ${nodeOnly}`);
  for (const name of query.keys()) {
    if (withoutSide(name) === 'build') problems.add(`${name}: a page has no folders; use npm run bench for builds`);
  }
}

/** Rejects knobs that the mode does not use. */
function checkMeaning(query: URLSearchParams, mode: string, problems: Problems): void {
  for (const name of query.keys()) {
    const known = isKnob(name) ? modesOf(name) : [mode];
    if (!known.includes(mode)) problems.add(`${name}: not used by autorun=${mode}; it is for ${known.join(', ')}`);
  }
}

/**
 * Spells out knobs of the engine that are given without a value. A flag (`?walkerpriv`) becomes 1.
 * Any other (`?walkertpb`) is the default and is dropped. For one side it overrides the common
 * value, and stays.
 */
export const spelledOut = (query: URLSearchParams): URLSearchParams =>
  replaced(query, (name, value) => {
    const knob = withoutSide(name);
    if (value !== '' || !isEngineKnob(knob)) return [name, value];
    if (isFlag(knob)) return [name, '1'];
    return name !== knob && query.has(knob) ? [name, ''] : null;
  });

/**
 * Returns the knobs that a query names without a value, which leaves them to the engine:
 * `walkertpb` for `?walkertpb`.
 */
export const leftToEngine = (query: URLSearchParams): string[] => [
  ...new Set(
    [...query].flatMap(([name, value]) =>
      value === '' && isSettingKnob(name) && !isFlag(withoutSide(name)) ? [name] : [],
    ),
  ),
];

/** Returns the name of the mode with a property. */
const nameOf = (is: (mode: BenchMode) => boolean | undefined): string =>
  modeNames.find((name) => is(modeOf(name))) ?? '';

/**
 * Rejects values that a knob of the engine cannot have. Suggests a sweep for a list.
 *
 * @param isValid returns whether a query has no problems
 */
function checkValues(
  query: URLSearchParams,
  mode: string,
  problems: Problems,
  isValid: (sweep: URLSearchParams) => boolean,
): void {
  const [sweeping, placing] = [nameOf(({ settings }) => settings === 'lists'), nameOf((each) => each.checksPlacements)];
  for (const [name, text] of query) {
    const knob = withoutSide(name);
    if (!isSettingKnob(name) || text === '') continue;
    if (knob === 'walkerpriv' && text === 'turns') {
      if (!modeOf(mode).checksPlacements) problems.add(`${name}: "turns" is for autorun=${placing} only`);
    } else if (modeOf(mode).settings === 'lists') {
      for (const item of problems.attempt(() => listItems(name, text), []))
        problems.attempt(() => parseEngineKnob(knob, item, name), null);
    } else if (isList(text)) {
      const sweep = replaced(query, (each, value) =>
        each === name ? [knob, text] : isKnob(each) && modesOf(each).includes(sweeping) ? [each, value] : null,
      );
      sweep.set('autorun', sweeping);
      problems.add(`${name}: "${text}" is a list; autorun=${mode} takes one value, autorun=${sweeping} takes lists`, {
        instead: isValid(sweep) ? sweep : null,
      });
    } else {
      problems.attempt(() => parseEngineKnob(knob, text, name), null);
    }
  }
}

const MOST_SETTINGS = 64;

/** Returns the settings of the engine's knobs, each of which is valid by itself. */
function parseSettings(query: URLSearchParams, mode: string): Setting[] {
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
function placementsOf(
  query: URLSearchParams,
  mode: string,
  [setting]: readonly Setting[],
): (address: CaseAddress) => readonly (Placement | undefined)[] {
  // the CPU has no walker, so there is no scratch to place
  if (!modeOf(mode).checksPlacements || setting?.backend === 'cpu') return () => [undefined];
  const text = query.get('walkerpriv');
  if (text === 'turns') return (address) => [alternatingPlacement(address)];
  return () => (text === null ? ['workgroup', 'private'] : [setting?.tuning.walkerPrefixMemory]);
}

/** Host of a query: a page, which has no folders, or a terminal. */
type KnobHost = 'page' | 'terminal';

/** Result of reading a query: knobs, or all problems. */
interface KnobReading {
  readonly knobs: AnyKnobs | null;
  readonly problems: readonly Problem[];
  /** Parameters that were ignored without being a mistake. */
  readonly notes: readonly string[];
}

function parseMode(text: string): string {
  if (Object.hasOwn(benchModes, text)) return text;
  const near = nearestNames(text, modeNames);
  const help = near.length > 0 ? `did you mean ${near.join(' or ')}?` : `there are ${modeNames.join(', ')}`;
  throw new RangeError(`autorun: "${text}" is not a mode; ${help}`);
}

/** Returns whether a run opens a GPU. */
const opensGpu = (mode: string, settings: readonly Setting[]): boolean =>
  modeOf(mode).runsOn === 'gpu' || !settings.every(({ backend }) => backend === 'cpu');

/**
 * Returns the mode for a query that names none: the first one, unless another mode uses more of the
 * knobs.
 */
export function suggestedMode(query: URLSearchParams): string {
  const problemsOf = (mode: string): number => {
    const asked = new URLSearchParams(query);
    asked.set('autorun', mode);
    return readKnobs(asked).problems.length;
  };
  const counts = pageModeNames.map(problemsOf);
  return pageModeNames[counts.indexOf(Math.min(...counts))] as string;
}

type Read = <T>(name: string, parse: (text: string) => T) => T | undefined;

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
function readSizes(read: Read, query: URLSearchParams, mode: string, problems: Problems): number[] {
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

const readOwn = (query: URLSearchParams, mode: string, of: CurveGroup, problems: Problems): Record<string, unknown> =>
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
