/**
 * What npm's `@sparticuz/chromium` brings for Linux x64, compressed: Chromium, SwiftShader, a font, and the NSS libraries that a bare
 * system lacks. It is made for AWS Lambda and unpacks into /tmp, where a process that starts meanwhile finds half of it; so it is
 * unpacked here, beside its place, and then moved there.
 */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/webgpu-msm/', import.meta.url));

/** The package holds one binary of each, and this is what they run on. */
export const packageRunsHere = process.platform === 'linux' && process.arch === 'x64';

/** Where it is. Its folder is not among its exports, so it is found from the entry point; there are other package.json files on the way. */
function chromiumPackage() {
  const require = createRequire(import.meta.url);
  let folder = dirname(require.resolve('@sparticuz/chromium'));
  while (!existsSync(join(folder, 'bin'))) folder = dirname(folder);
  return { folder, version: String(require(join(folder, 'package.json')).version) };
}

/**
 * Unpacks archives if that has not happened yet. Several processes may start at once: each unpacks beside the place, one of them gets to put
 * its folder there.
 *
 * @param {string} name
 * @param {string[]} archives
 * @param {(folder: string) => void} finish what else has to be done to the folder
 * @returns {Promise<string>} the folder that has them
 */
export async function unpacked(name, archives, finish) {
  const { folder: from, version } = chromiumPackage();
  const folder = join(CACHE, `${name}-${version}`);
  if (existsSync(folder)) return folder;
  // none of its exports: versions that export it ask for Node 22
  const { inflate } = await import(pathToFileURL(join(from, 'build/esm/lambdafs.js')).href);
  mkdirSync(CACHE, { recursive: true });
  const temporary = mkdtempSync(join(CACHE, 'unpacking-'));
  try {
    // `inflate` writes below os.tmpdir() and decides where before it first waits.
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
