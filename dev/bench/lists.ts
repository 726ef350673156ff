/** Lists in a URL: `10,12,14`, `10..18`, or both mixed. */
import { parseInteger } from '../cases/address.js';

/** Longest list. A longer one is a mistake, and would take days. */
const MOST_ITEMS = 64;

/** Returns whether the text is a list rather than one value, valid or not. */
export const isList = (text: string): boolean => /,|\.\./.test(text);

/**
 * Returns the distinct items of a list as texts, with ranges of integers expanded.
 *
 * @throws RangeError that names the knob
 */
export function listItems(name: string, text: string): string[] {
  const items = text.split(',').flatMap((each) => {
    const item = each.trim();
    const range = /^(\d{1,9})\.\.(\d{1,9})$/.exec(item);
    if (range === null) return [item];
    const [first, last] = [Number(range[1]), Number(range[2])];
    if (first > last) throw new RangeError(`${name}: "${item}" runs backwards`);
    if (last - first >= MOST_ITEMS) throw new RangeError(`${name}: "${item}" is more than ${MOST_ITEMS} values`);
    return Array.from({ length: last - first + 1 }, (_, i) => String(first + i));
  });
  const distinct = [...new Set(items)];
  if (distinct.length > MOST_ITEMS) throw new RangeError(`${name}: ${distinct.length} values, at most ${MOST_ITEMS}`);
  return distinct;
}

/** @throws RangeError that names the knob */
export const parseIntegers = (name: string, text: string, least: number, most: number): number[] =>
  listItems(name, text).map((item) => parseInteger(name, item, least, most));
