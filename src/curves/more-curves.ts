/**
 * Look-ups in the registry. index.js loads this module when a curve other than BN254's G1 is asked
 * for.
 */
import type { AnyCurve, EdwardsCurve } from './curve.js';
import type { Group } from './names.js';
import { registry } from './registry.js';

/** An entry as look-ups see it. */
type Entry = { readonly aliases: readonly string[] } & { readonly [Name in Group]?: AnyCurve | EdwardsCurve | null };

const entries: readonly (readonly [name: string, entry: Entry])[] = /* @__PURE__ */ Object.entries(registry);

/**
 * Returns the constants of a group of a curve; null if there is no such name, or the curve lacks
 * the group.
 */
export const curveNamed = (name: string, group: Group): AnyCurve | EdwardsCurve | null =>
  entries.find(([own, { aliases }]) => own === name || aliases.includes(name))?.[1][group] ?? null;

/**
 * Returns the name of the curve whose group satisfies a condition; null if there is none besides
 * BN254's G1.
 */
export const nameOfCurve = (group: Group, isIt: (curve: AnyCurve | EdwardsCurve) => boolean): string | null => {
  const found = entries.find(([, entry]) => {
    const curve = entry[group] ?? null;
    return curve !== null && isIt(curve);
  });
  return found?.[0] ?? null;
};

/**
 * Lists the curves that have a group, with their aliases: `bn254 (also BN254, bn128, alt_bn128),
 * …`.
 */
export const listNames = (group: Group): string =>
  entries
    .filter(([, entry]) => entry[group] !== undefined)
    .map(([name, { aliases }]) => (aliases.length === 0 ? name : `${name} (also ${aliases.join(', ')})`))
    .join(', ');
