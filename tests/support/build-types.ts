import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isFresh } from '../../scripts/builds.mjs';
import { madeOnce } from './made-once.js';
import { inProject } from './run-script.js';

const CONFIG = 'scripts/package/types.config.mjs';

/** Sources of the types. */
export const TYPES_SOURCES = ['src', 'tsconfig.json', 'tsconfig.build.json', 'tsconfig.node.json', CONFIG];

/** Returns whether dist/ has the types of all entries as `npm run build` makes them of these sources. */
const isBuilt = (): boolean => {
  const { exports } = JSON.parse(readFileSync(inProject('package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, { readonly types?: string }>>;
  };
  return (
    isFresh('library') &&
    Object.values(exports).every(({ types }) => types === undefined || existsSync(inProject(types)))
  );
};

/**
 * Writes the types of the package into a folder, as `npm run build` makes them.
 *
 * @throws Error with what rollup writes as an error
 */
export const buildTypes = async (outDir: string): Promise<void> => {
  const folder = await madeOnce('types', TYPES_SOURCES, {}, (made) => {
    if (isBuilt()) {
      for (const name of readdirSync(inProject('dist')).filter((each) => each.endsWith('.d.ts')))
        cpSync(inProject(`dist/${name}`), join(made, name));
      return;
    }
    const rollup = inProject('node_modules/rollup/dist/bin/rollup');
    const { status, stderr } = spawnSync(process.execPath, [rollup, '-c', CONFIG, '--silent', '--configTo', made], {
      cwd: inProject('.'),
      encoding: 'utf8',
    });
    if (status !== 0 || stderr !== '') throw new Error(`rollup ended with ${status}:\n${stderr}`);
  });
  cpSync(folder, outDir, { recursive: true });
};
