/** The names that somebody who mistyped may have meant. */

/** How many letters of a name may be wrong; one or two letters could be anybody's, so that only their case may be. */
const slipsAllowed = ({ length }: string): number => (length < 3 ? 0 : length < 5 ? 1 : length < 9 ? 2 : 3);

/**
 * The fewest letters to put in, leave out, replace or exchange with the next one on the way from `a` to `b` (optimal string alignment;
 * Damerau, A technique for computer detection and correction of spelling errors, 1964).
 */
function slips(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  const at = (i: number, j: number): number => rows[i]?.[j] ?? Number.POSITIVE_INFINITY;
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      const exchanged = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(
        Math.min(
          at(i - 1, j) + 1,
          at(i, j - 1) + 1,
          at(i - 1, j - 1) + (same ? 0 : 1),
          exchanged ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
  }
  return at(a.length, b.length);
}

/** Those of `names` that are nearest to `name`, whatever the case of its letters; none where all are far. */
export function nearestNames(name: string, names: readonly string[]): string[] {
  const distances = names.map((each) => slips(name.toLowerCase(), each.toLowerCase()));
  const least = Math.min(...distances);
  return least > slipsAllowed(name) ? [] : names.filter((_, i) => distances[i] === least);
}
