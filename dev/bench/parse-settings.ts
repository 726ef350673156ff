/** Parses the settings of a query, and the placements of its cases. */
import type { CaseAddress } from '../cases/address.js';
import { alternatingPlacement } from '../cases/list.js';
import { listItems } from './knob.js';
import { type Mode, modeOf } from './modes.js';
import type { Placement } from './rows.js';
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
