/** `decisions`: the pages of docs/contributing/decisions by title. */
import { readdirSync, readFileSync } from 'node:fs';
import type { Blocks } from '../blocks.js';

const folder = new URL('../../../docs/contributing/decisions/', import.meta.url);

const itemOf = (name: string): string => {
  const [, number, title] = /^# (\d+)\. (.+)$/m.exec(readFileSync(new URL(name, folder), 'utf8')) ?? [];
  if (title === undefined) throw new Error(`docs/contributing/decisions/${name} does not begin with "# NUMBER. TITLE"`);
  return `${number}. [${title}](${name})`;
};

export const blocks: Blocks = {
  decisions: () =>
    readdirSync(folder)
      .filter((name) => /^\d\d-.*\.md$/.test(name))
      .sort()
      .map(itemOf)
      .join('\n'),
};
