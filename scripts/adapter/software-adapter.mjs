/**
 * A Vulkan driver out of the npm registry, so that Dawn in Node computes where no GPU, no driver and no Vulkan loader
 * is installed: SwiftShader, which `@sparticuz/chromium` ships next to its Chromium.
 *
 * Dawn opens "libvulkan.so.1". SwiftShader's library exports vkGetInstanceProcAddr itself, so a copy of it under that
 * name, in a folder that comes first on LD_LIBRARY_PATH, takes the place of loader and driver at once, and hides
 * whatever drivers the system has. The dynamic linker reads LD_LIBRARY_PATH when a process starts, so only a child
 * process can be given it: see ../with-adapter.mjs.
 */
import { readdirSync, renameSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { unpacked } from './chromium-package.mjs';

/**
 * Additions to the environment of a child process whose Dawn shall find SwiftShader, and nothing else.
 *
 * @returns {Promise<{ LD_LIBRARY_PATH: string }>}
 */
export async function softwareAdapterEnvironment() {
  const folder = await unpacked('swiftshader', ['swiftshader.tar.br'], (unpacking) => {
    const driver = 'libvk_swiftshader.so';
    // its OpenGL is nobody's business
    for (const name of readdirSync(unpacking)) if (name !== driver) rmSync(join(unpacking, name));
    renameSync(join(unpacking, driver), join(unpacking, 'libvulkan.so.1'));
  });
  const rest = (process.env.LD_LIBRARY_PATH ?? '').split(delimiter).filter((entry) => entry && entry !== folder);
  return { LD_LIBRARY_PATH: [folder, ...rest].join(delimiter) };
}
