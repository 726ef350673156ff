/** Checks of a query before its knobs are read. */
import { isList, listItems, type Problems } from './knob.js';
import type { BenchMode } from './modes/mode.js';
import { type Mode, modeNames, modeOf, notOnPage } from './modes.js';
import { isEngineKnob, isKnob, isRunKnob, isSettingKnob, knobNames, modesOf, withoutSide } from './run-knobs.js';
import { isFlag, knobOfTuning, parseEngineKnob } from './settings.js';

/** Suggests names for a mistyped one. */

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
export function nearestNames(name: string, names: readonly string[]): string[] {
  const distances = names.map((each) => slips(name.toLowerCase(), each.toLowerCase()));
  const least = Math.min(...distances);
  return least > slipsAllowed(name) ? [] : names.filter((_, i) => distances[i] === least);
}

/** Returns the query with each pair changed; pairs for which `change` returns null are dropped. */
export const replaced = (
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
export function checkNames(query: URLSearchParams, problems: Problems): string[] {
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
export function checkHost(query: URLSearchParams, mode: Mode, problems: Problems): void {
  const why = notOnPage(mode);
  if (why !== null) problems.add(`autorun: ${mode} runs in a terminal only, npm run bench -- ${mode}: ${why}`);
  for (const name of query.keys()) {
    if (withoutSide(name) === 'build') problems.add(`${name}: a page has no folders; use npm run bench for builds`);
  }
}

/** Rejects knobs that the mode does not use. */
export function checkMeaning(query: URLSearchParams, mode: Mode, problems: Problems): void {
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
const nameOf = (is: (mode: BenchMode) => boolean | undefined): Mode => modeNames.find((name) => is(modeOf(name))) ?? '';

/**
 * Rejects values that a knob of the engine cannot have. Suggests a sweep for a list.
 *
 * @param isValid returns whether a query has no problems
 */
export function checkValues(
  query: URLSearchParams,
  mode: Mode,
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
