/** Converts a report to Markdown, for an issue, a chat or a notebook. */

const plain = ({ innerText }: HTMLElement): string => innerText.trim().replace(/\s+/g, ' ');

const line = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;

function tableOf(table: HTMLTableElement): string {
  const [heads = [], ...body] = [...table.rows].map(({ cells }) => [...cells].map(plain));
  const sides = heads.map((_, i) => (i === 0 ? '---' : '---:'));
  return [`**${table.ariaLabel}**`, '', line(heads), line(sides), ...body.map(line)].join('\n');
}

const tilesOf = (tiles: HTMLElement): string =>
  [...tiles.children]
    .map((tile) => {
      const [label = '', value = '', note] = [...(tile.children as HTMLCollectionOf<HTMLElement>)].map(plain);
      return `- ${label}: **${value}**${note === undefined ? '' : ` (${note})`}`;
    })
    .join('\n');

/** Returns the visible headings, figures and tables in order; collapsed ones are left out. */
export const markdownOf = (root: HTMLElement): string =>
  [...root.querySelectorAll<HTMLElement>('h3, .headline, .tiles, table')]
    .filter((part) => part.closest('details:not([open]), [hidden]') === null)
    .map((part) => {
      if (part instanceof HTMLTableElement) return tableOf(part);
      if (part.matches('.tiles')) return tilesOf(part);
      if (part.matches('.headline')) return `**${plain(part)}**`;
      return `#### ${plain(part)}`;
    })
    .join('\n\n');
