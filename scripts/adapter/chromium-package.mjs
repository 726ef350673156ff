import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/**
 * Where `@sparticuz/chromium` is, which brings Chromium and SwiftShader. Its folder is not among its exports, so it is found from the entry
 * point, which is; there are other package.json files on the way.
 */
export function chromiumPackage() {
  let folder = dirname(createRequire(import.meta.url).resolve('@sparticuz/chromium'));
  while (!existsSync(join(folder, 'bin'))) folder = dirname(folder);
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return { folder, version: String(version) };
}
