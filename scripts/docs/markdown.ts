/** Returns a table of Markdown. A `|` in a cell is escaped; its newlines become spaces. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll(/\s*\n\s*/g, ' ').replaceAll('|', '\\|')).join(' | ')} |`.replaceAll(
      '|  |',
      '| |',
    );
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
};

/** Returns text as code of Markdown. */
export const code = (text: string): string => `\`${text}\``;
