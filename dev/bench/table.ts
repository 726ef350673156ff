/**
 * Formats a table for terminals, with columns as wide as their content.
 *
 * @param lines the heads, then the rows
 * @param words number of columns from the left with text, which is left-aligned; numbers are
 *   right-aligned
 */
export function tableLines(lines: readonly (readonly string[])[], words = 1): string[] {
  const columns = Math.max(0, ...lines.map((line) => line.length));
  const widths = Array.from({ length: columns }, (_, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)));
  const cell = (text: string, i: number): string =>
    i < words ? text.padEnd(widths[i] ?? 0) : text.padStart(widths[i] ?? 0);
  return lines.map((line) => line.map(cell).join('   ').trimEnd());
}

/** Returns the table without columns that are empty in every row. */
export const withoutEmpty = (lines: readonly (readonly string[])[]): string[][] => {
  const [, ...rows] = lines;
  return lines.map((line) => line.filter((_, i) => rows.some((each) => each[i] !== '–')));
};
