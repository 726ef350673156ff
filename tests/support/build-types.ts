/**
 * The types of the package, as `npm run build` makes them. That takes 15 s, so test files share
 * what the first of them makes of the same sources.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { inProject } from './run-script.js';

/** Sources of the types; the lock file stands for other packages. */
const SOURCES = ['src', 'tsconfig.json', 'tsconfig.build.json', 'tsconfig.node.json', 'package-lock.json'];
const CONFIG = 'scripts/package/types.config.mjs';

/** Returns the files of a folder and of those in it, or the file. */
const filesIn = (path: string): string[] =>
  statSync(inProject(path)).isDirectory()
    ? readdirSync(inProject(path))
        .sort()
        .flatMap((name) => filesIn(`${path}/${name}`))
    : [path];

const digestOf = (paths: readonly string[]): string => {
  const hash = createHash('sha256');
  for (const path of paths)
    hash
      .update(`${path}\0`)
      .update(readFileSync(inProject(path)))
      .update('\0');
  return hash.digest('hex').slice(0, 16);
};

/**
 * Writes the types into a folder.
 *
 * @throws Error with what rollup writes as an error
 */
export const buildTypes = (outDir: string): void => {
  const shared = inProject('node_modules/.cache/webgpu-msm/types');
  const made = join(shared, digestOf([...SOURCES, CONFIG].flatMap(filesIn)));
  if (!existsSync(made)) {
    const own = `${made}-${process.pid}`;
    const rollup = inProject('node_modules/rollup/dist/bin/rollup');
    const { status, stderr } = spawnSync(process.execPath, [rollup, '-c', CONFIG, '--silent', '--configTo', own], {
      cwd: inProject('.'),
      encoding: 'utf8',
    });
    if (status !== 0 || stderr !== '') throw new Error(`rollup ended with ${status}:\n${stderr}`);
    try {
      renameSync(own, made);
    } catch {
      // another process made them meanwhile
      rmSync(own, { recursive: true });
    }
  }
  cpSync(made, outDir, { recursive: true });
};
