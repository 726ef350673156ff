/** Tables about the repository: `rooms`, `failures`, `decisions`, `sizes`, and `table:NAME` of figures. */
import { readdirSync, readFileSync } from 'node:fs';
import { failureTables } from '../../../tests/support/failure-table.js';
import { namesIn, rooms, toolRooms } from '../../../tests/support/rooms.js';
import { sizeLimits } from '../../package/size-limits.mjs';
import { Figures } from '../figures.js';
import { code, table } from '../markdown.js';
import type { Blocks } from '../pages.js';
import { tables } from '../tables.js';

const folder = (name: string): string => code(name.endsWith('.ts') ? name : `${name}/`);
const folders = (list: string): string => namesIn(list).map(folder).join(', ');

const decisions = new URL('../../../docs/contributing/decisions/', import.meta.url);

function decisionItem(name: string): string {
  const [, number, title] = /^# (\d+)\. (.+)$/m.exec(readFileSync(new URL(name, decisions), 'utf8')) ?? [];
  if (title === undefined) throw new Error(`docs/contributing/decisions/${name} does not begin with "# NUMBER. TITLE"`);
  return `${number}. [${title}](${name})`;
}

const figures = new Figures();

export const blocks: Blocks = {
  rooms: () =>
    table(
      ['room', 'may import', 'what is known in it'],
      Object.entries(rooms).map(([name, { imports, holds }]) => [folder(name), folders(imports), holds]),
    ),
  'tool-rooms': () =>
    table(
      ['room', 'may import'],
      Object.entries(toolRooms).map(([name, imports]) => [folder(name), folders(imports)]),
    ),
  failures: failureTables,
  decisions: () =>
    readdirSync(decisions)
      .filter((name) => /^\d\d-.*\.md$/.test(name))
      .sort()
      .map(decisionItem)
      .join('\n'),
  sizes: () =>
    table(
      ['module', 'at most, minified and gzip', 'contains', 'loaded'],
      Object.entries(sizeLimits).map(([name, { bytes, holds, loaded }]) => [
        code(`${name}.js`),
        `${Math.ceil((10 * bytes) / 1024) / 10} KiB`,
        holds,
        loaded,
      ]),
    ),
  ...Object.fromEntries(Object.entries(tables).map(([name, make]) => [`table:${name}`, () => make(figures)])),
};
