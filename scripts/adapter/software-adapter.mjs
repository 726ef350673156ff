/**
 * A Vulkan driver out of the npm registry, so that Dawn in Node computes where no GPU, no driver and no Vulkan loader
 * is installed: SwiftShader, which `@sparticuz/chromium` ships next to its Chromium.
 *
 * Dawn opens "libvulkan.so.1". SwiftShader's library exports vkGetInstanceProcAddr itself, so a copy of it under that
 * name, in a folder that comes first on LD_LIBRARY_PATH, takes the place of loader and driver at once, and hides
 * whatever drivers the system has. The dynamic linker reads LD_LIBRARY_PATH when a process starts, so only a child
 * process can be given it: see ../with-adapter.mjs.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';
import { chromiumPackage } from './chromium-package.mjs';

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/webgpu-msm/', import.meta.url));
const DRIVER = 'libvk_swiftshader.so';
const LOADER = 'libvulkan.so.1';

/** The package holds one binary, and this is what it runs on. */
export const softwareAdapterIsAvailable = process.platform === 'linux' && process.arch === 'x64';

/**
 * Additions to the environment of a child process whose Dawn shall find SwiftShader, and nothing else.
 *
 * @returns {{ LD_LIBRARY_PATH: string }}
 */
export function softwareAdapterEnvironment() {
  const folder = unpackedSwiftShader();
  const rest = (process.env.LD_LIBRARY_PATH ?? '').split(delimiter).filter((entry) => entry && entry !== folder);
  return { LD_LIBRARY_PATH: [folder, ...rest].join(delimiter) };
}

/**
 * Unpacks the driver if that has not happened yet.
 *
 * @returns {string} the folder that holds it as libvulkan.so.1
 */
function unpackedSwiftShader() {
  if (!softwareAdapterIsAvailable) {
    throw new Error(
      `the software adapter from npm is for Linux x64, and this is ${process.platform} ${process.arch}: ` +
        'use a GPU (--adapter hardware), or install a Vulkan driver that runs on the CPU, such as Mesa’s lavapipe',
    );
  }
  const chromium = chromiumPackage();
  const folder = join(CACHE, `swiftshader-${chromium.version}`);
  if (existsSync(join(folder, LOADER))) return folder;

  const tar = brotliDecompressSync(readFileSync(join(chromium.folder, 'bin', 'swiftshader.tar.br')));
  const driver = fileFromTar(tar, DRIVER);
  if (driver === null) throw new Error(`@sparticuz/chromium ${chromium.version} has no ${DRIVER} any more`);

  // Several processes may start at once: each unpacks beside the place, one of them gets to put its folder there.
  mkdirSync(CACHE, { recursive: true });
  const temporary = mkdtempSync(join(CACHE, 'unpacking-'));
  try {
    writeFileSync(join(temporary, LOADER), driver, { mode: 0o755 });
    renameSync(temporary, folder);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    if (!existsSync(join(folder, LOADER))) throw error;
  }
  return folder;
}

/**
 * The least of a tar reader: a 512-byte header (name at 0, size in octal at 124), the contents, padding to 512.
 * Enough for short names, and no dependency of somebody else's dependency.
 *
 * @param {Buffer} tar
 * @param {string} name
 * @returns {Buffer | null}
 */
function fileFromTar(tar, name) {
  for (let at = 0; at + 512 <= tar.length; ) {
    const text = (/** @type {number} */ from, /** @type {number} */ to) =>
      tar.toString('latin1', at + from, at + to).replace(/\0.*$/s, '');
    const size = Number.parseInt(text(124, 136).trim() || '0', 8);
    if (text(0, 100).replace(/^\.\//, '') === name) return tar.subarray(at + 512, at + 512 + size);
    at += 512 + 512 * Math.ceil(size / 512);
  }
  return null;
}
