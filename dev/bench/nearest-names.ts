/** The names that somebody who mistyped may have meant. */

/** How many letters of a name may be wrong; one or two letters could be anybody's, so that only their case may be. */
const slipsAllowed = ({ length }: string): number => (length < 3 ? 0 : length < 5 ? 1 : length < 9 ? 2 : 3);

/** The fewest letters to put in, leave out or replace on the way from `a` to `b` (Levenshtein 1966), row by row. */
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

/** Those of `names` that are nearest to `name`, whatever the case of its letters; none where all are far. */
export function nearestNames(name: string, names: readonly string[]): string[] {
  const distances = names.map((each) => slips(name.toLowerCase(), each.toLowerCase()));
  const least = Math.min(...distances);
  return least > slipsAllowed(name) ? [] : names.filter((_, i) => distances[i] === least);
}
