/**
 * Unpacks the npm package `@sparticuz/chromium`. For Linux x64 it holds, compressed: Chromium,
 * SwiftShader, a font, and the NSS libraries that a bare system lacks.
 *
 * The package is made for AWS Lambda. Its own function unpacks into /tmp, where a second process
 * would find half of the files. This module unpacks into a temporary folder and then renames it.
 */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/webgpu-msm/', import.meta.url));

/** True on the only platform that the package's binaries run on. */
export const packageRunsHere = process.platform === 'linux' && process.arch === 'x64';

/**
 * Finds the package's folder and version. The folder is not among its exports, so the search begins
 * at the entry point and goes up to the folder with `bin`; other package.json files lie between.
 */
function chromiumPackage() {
  const require = createRequire(import.meta.url);
  let folder = dirname(require.resolve('@sparticuz/chromium'));
  while (!existsSync(join(folder, 'bin'))) folder = dirname(folder);
  return { folder, version: String(require(join(folder, 'package.json')).version) };
}

/**
 * Unpacks archives unless that was done before. Several processes may do so at once: each unpacks
 * into a folder of its own, and the first one renames its folder to the final name.
 *
 * @param {string} name
 * @param {string[]} archives
 * @param {(folder: string) => void} finish completes the folder before it gets its final name
 * @returns {Promise<string>} the folder with the files
 */
export async function unpacked(name, archives, finish) {
  const { folder: from, version } = chromiumPackage();
  const folder = join(CACHE, `${name}-${version}`);
  if (existsSync(folder)) return folder;
  // `inflate` is not exported; versions that export it need Node 22
  const { inflate } = await import(pathToFileURL(join(from, 'build/esm/lambdafs.js')).href);
  mkdirSync(CACHE, { recursive: true });
  const temporary = mkdtempSync(join(CACHE, 'unpacking-'));
  try {
    // `inflate` writes below os.tmpdir(), which it reads before its first await
    const before = process.env.TMPDIR;
    process.env.TMPDIR = temporary;
    const unpacking = archives.map((archive) => inflate(join(from, 'bin', archive)));
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    await Promise.all(unpacking);
    finish(temporary);
    renameSync(temporary, folder);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
  return folder;
}
