/**
 * Files that take long to make: builds of the package, circuits, keys. The first test file that needs them makes
 * them, and others and later runs share them, until a source changes.
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { project } from '../../scripts/builds.mjs';

const cache = join(project, 'node_modules/.cache/webgpu-msm');

/** Sources that all made files depend on: the versions of other packages. */
const LOCK = 'package-lock.json';

/** Age at which files of earlier sources are removed. */
const MOST_AGE_MS = 24 * 3600 * 1000;

/** Returns the files of a folder and of those in it, or the file. */
const filesIn = (path: string): string[] =>
  statSync(join(project, path)).isDirectory()
    ? readdirSync(join(project, path))
        .sort()
        .flatMap((name) => filesIn(`${path}/${name}`))
    : [path];

const digestOf = (sources: readonly string[], parameters: unknown): string => {
  const hash = createHash('sha256').update(JSON.stringify(parameters));
  for (const path of [...sources, LOCK].flatMap(filesIn))
    hash.update(`\0${path}\0`).update(readFileSync(join(project, path)));
  return hash.digest('hex').slice(0, 16);
};

/** Removes what was made of earlier sources a day ago or more. */
const removeOld = (name: string): void => {
  for (const folder of readdirSync(cache).filter((each) => each.startsWith(`${name}-`))) {
    const path = join(cache, folder);
    const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? {};
    if (mtimeMs !== undefined && Date.now() - mtimeMs > MOST_AGE_MS) rmSync(path, { recursive: true, force: true });
  }
};

/** Age at which a process that makes a file counts as gone. */
const MOST_MAKING_MS = 600_000;

const isRunning = (id: number): boolean => {
  try {
    return process.kill(id, 0);
  } catch {
    return false;
  }
};

/** Returns whether this process is the one that makes, which the file `lock` says to others. */
const takes = (lock: string): boolean => {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  try {
    const isOld = Date.now() - statSync(lock).mtimeMs > MOST_MAKING_MS;
    if (isOld || !isRunning(Number(readFileSync(lock, 'utf8')))) rmSync(lock, { force: true });
  } catch {
    // the other process has just removed it
  }
  return false;
};

/**
 * Returns the folder with what `make` writes. `made-of.json` beside it says of what that was made.
 *
 * @param sources files and folders of the repository that it depends on, beside the packages
 * @param parameters all else that it depends on
 */
export const madeOnce = async (
  name: string,
  sources: readonly string[],
  parameters: unknown,
  make: (folder: string) => unknown,
): Promise<string> => {
  const whole = join(cache, `${name}-${digestOf(sources, parameters)}`);
  const folder = join(whole, 'made');
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  removeOld(name);
  const lock = `${whole}.making`;
  while (!takes(lock)) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    if (existsSync(folder)) return folder;
  }
  // complete or absent, also where this process is killed
  const partial = mkdtempSync(`${whole}.`);
  try {
    if (existsSync(folder)) return folder;
    mkdirSync(join(partial, 'made'));
    await make(join(partial, 'made'));
    writeFileSync(join(partial, 'made-of.json'), JSON.stringify({ sources, parameters }, null, 2));
    renameSync(partial, whole);
  } catch (error) {
    // another process was faster
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(partial, { recursive: true, force: true });
    rmSync(lock, { force: true });
  }
  return folder;
};

/** Returns the bytes that `make` makes; parameters as those of `madeOnce`. */
export const bytesMadeOnce = async (
  name: string,
  sources: readonly string[],
  parameters: unknown,
  make: () => Promise<Uint8Array>,
): Promise<Uint8Array<ArrayBuffer>> => {
  const folder = await madeOnce(name, sources, parameters, async (made) =>
    writeFileSync(join(made, 'bytes'), await make()),
  );
  return new Uint8Array(readFileSync(join(folder, 'bytes')));
};
