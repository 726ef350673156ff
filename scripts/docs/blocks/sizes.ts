/**
 * `size:MODULE`, the limit of a module's compressed size, and `sizes`, the table of all modules.
 */
import { sizeLimits } from '../../package/size-limits.mjs';
import type { Blocks } from '../blocks.js';
import { code, table } from '../markdown.js';

/** Returns bytes in KiB, rounded up to a tenth. */
const kib = (bytes: number): string => `${Math.ceil((10 * bytes) / 1024) / 10} KiB`;

const modules = Object.entries(sizeLimits);

export const blocks: Blocks = {
  ...Object.fromEntries(modules.map(([name, { bytes }]) => [`size:${name}`, kib(bytes)])),
  sizes: table(
    ['module', 'at most, minified and gzip', 'contains', 'loaded'],
    modules.map(([name, { bytes, holds, loaded }]) => [code(`${name}.js`), kib(bytes), holds, loaded]),
  ),
};
