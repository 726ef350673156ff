/**
 * A table for terminals: columns as wide as they must be.
 *
 * @param lines the first of them the heads
 * @param words how many columns, from the left, have words, which begin at the left; numbers end at the right
 */
export function tableLines(lines: readonly (readonly string[])[], words = 1): string[] {
  const columns = Math.max(0, ...lines.map((line) => line.length));
  const widths = Array.from({ length: columns }, (_, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)));
  const cell = (text: string, i: number): string =>
    i < words ? text.padEnd(widths[i] ?? 0) : text.padStart(widths[i] ?? 0);
  return lines.map((line) => line.map(cell).join('   ').trimEnd());
}

/** Columns with nothing in any line say nothing. */
export const withoutEmpty = (lines: readonly (readonly string[])[]): string[][] => {
  const [, ...rows] = lines;
  return lines.map((line) => line.filter((_, i) => rows.some((each) => each[i] !== '–')));
};
