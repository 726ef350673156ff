/**
 * Provides a Vulkan driver from npm: SwiftShader, which `@sparticuz/chromium` ships beside its
 * Chromium. With it Dawn computes on a machine without a GPU, a driver or a Vulkan loader.
 *
 * Dawn opens "libvulkan.so.1". SwiftShader's library exports vkGetInstanceProcAddr itself. So a
 * copy of it under that name replaces both loader and driver, if its folder comes first on
 * LD_LIBRARY_PATH; it also hides the system's drivers. The dynamic linker reads LD_LIBRARY_PATH
 * when a process starts, so only a child process can get it: see ../with-adapter.mjs.
 */
import { readdirSync, renameSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { unpacked } from './chromium-package.mjs';

/**
 * Returns the variables of a child process in which Dawn finds SwiftShader and no other driver.
 *
 * @returns {Promise<{ LD_LIBRARY_PATH: string }>}
 */
export async function softwareAdapterEnvironment() {
  const folder = await unpacked('swiftshader', ['swiftshader.tar.br'], (unpacking) => {
    const driver = 'libvk_swiftshader.so';
    // the archive also holds OpenGL libraries, which nothing here uses
    for (const name of readdirSync(unpacking)) if (name !== driver) rmSync(join(unpacking, name));
    renameSync(join(unpacking, driver), join(unpacking, 'libvulkan.so.1'));
  });
  const rest = (process.env.LD_LIBRARY_PATH ?? '').split(delimiter).filter((entry) => entry && entry !== folder);
  return { LD_LIBRARY_PATH: [folder, ...rest].join(delimiter) };
}
