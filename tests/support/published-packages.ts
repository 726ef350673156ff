/** Packages that npm installs at pinned versions for a test, in a cache outside of the tree. */
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from './packed-package.js';

/** The folder of the cache; `WEBGPU_MSM_PACKAGES` names another one. */
const cache = process.env.WEBGPU_MSM_PACKAGES ?? join(tmpdir(), 'webgpu-msm-packages');

/** Time for a download, in milliseconds. */
const MOST_MS = 280_000;

/**
 * Installs a package with what it depends on, without its scripts, unless the cache has it.
 *
 * @param pinned name and version, such as `snarkjs@0.7.4`
 * @returns the folder whose `node_modules` has it
 * @throws Error that says so if the registry cannot be reached: the test fails, and is not skipped
 */
export const publishedPackage = async (pinned: string): Promise<string> => {
  const folder = join(cache, pinned.replaceAll('/', '_'));
  if (existsSync(folder)) return folder;
  // a folder that is complete or absent, also after a stopped download or beside another process
  const partial = `${folder}.${process.pid}`;
  mkdirSync(partial, { recursive: true });
  const install = ['npm', 'install', '--prefix', partial, '--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
  try {
    await runProgram([...install, pinned], partial, MOST_MS);
    if (!existsSync(folder)) renameSync(partial, folder);
  } catch (cause) {
    throw new Error(`this test needs ${pinned}, and npm could not install it: is its registry in reach?`, { cause });
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  return folder;
};
