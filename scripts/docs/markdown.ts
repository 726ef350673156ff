/** Returns a table of Markdown. A `|` in a cell is escaped; its newlines become spaces. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  const text = (cell: string): string => cell.replaceAll(/\s*\n\s*/g, ' ').replaceAll('|', '\\|');
  const line = (cells: readonly string[]): string =>
    `|${cells.map((cell) => (cell === '' ? ' ' : ` ${text(cell)} `)).join('|')}|`;
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
};

/** Returns text as code of Markdown. */
export const code = (text: string): string => `\`${text}\``;

/** Pages that describe types, relative to docs/reference. */
const pagesOfTypes: Readonly<Record<string, string>> = {
  NamedCurve: 'curves.md#curves-by-name',
  Curve: 'curves.md#curves-of-your-own',
  PointEncoding: 'encodings.md#points',
  ScalarEncoding: 'encodings.md#scalars',
  MsmErrorCode: 'errors.md',
  Tuning: 'knobs.md#knobs-of-the-engine',
  Sharing: 'options.md#sharing',
  QueueLimits: 'options.md#maxqueued',
};

/**
 * Returns prose of a docstring as Markdown of a page in docs/reference: paths of pages and names of
 * documented types become links.
 */
export const prose = (text: string): string =>
  text
    .replaceAll(/\bdocs\/([\w/-]+)\.md/g, (_, path: string) => {
      const name = path.split('/').at(-1) as string;
      return `[${name.replaceAll('-', ' ')}](${path.startsWith('reference/') ? '' : '../'}${path.replace('reference/', '')}.md)`;
    })
    .replaceAll(/`(\w+)`/g, (all, name: string) =>
      Object.hasOwn(pagesOfTypes, name) ? `[${all}](${pagesOfTypes[name]})` : all,
    );
