import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { madeOnce } from './made-once.js';
import { inProject } from './run-script.js';

const CONFIG = 'scripts/package/types.config.mjs';

/** Sources of the types. */
export const TYPES_SOURCES = ['src', 'tsconfig.json', 'tsconfig.build.json', 'tsconfig.node.json', CONFIG];

/**
 * Writes the types of the package into a folder, as `npm run build` makes them.
 *
 * @throws Error with what rollup writes as an error
 */
export const buildTypes = async (outDir: string): Promise<void> => {
  const folder = await madeOnce('types', TYPES_SOURCES, {}, (made) => {
    const rollup = inProject('node_modules/rollup/dist/bin/rollup');
    const { status, stderr } = spawnSync(process.execPath, [rollup, '-c', CONFIG, '--silent', '--configTo', made], {
      cwd: inProject('.'),
      encoding: 'utf8',
    });
    if (status !== 0 || stderr !== '') throw new Error(`rollup ended with ${status}:\n${stderr}`);
  });
  cpSync(folder, outDir, { recursive: true });
};
