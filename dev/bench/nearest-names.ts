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
