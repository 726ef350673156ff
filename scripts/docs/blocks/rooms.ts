/** `rooms` and `tool-rooms`: the tables of tests/support/rooms.ts. */
import { namesIn, rooms, toolRooms } from '../../../tests/support/rooms.js';
import type { Blocks } from '../blocks.js';
import { code, table } from '../markdown.js';

const folder = (name: string): string => code(name.endsWith('.ts') ? name : `${name}/`);
const folders = (list: string): string => namesIn(list).map(folder).join(', ');

export const blocks: Blocks = {
  rooms: table(
    ['room', 'may import', 'what is known in it'],
    Object.entries(rooms).map(([name, { imports, holds }]) => [folder(name), folders(imports), holds]),
  ),
  'tool-rooms': table(
    ['room', 'may import'],
    Object.entries(toolRooms).map(([name, imports]) => [folder(name), folders(imports)]),
  ),
};
