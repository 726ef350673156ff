/** Provides the Chromium from npm. */
import { writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { unpacked } from '../adapter/chromium-package.mjs';

const ARCHIVES = ['chromium.br', 'swiftshader.tar.br', 'al2023.tar.br', 'fonts.tar.br'];

/**
 * Font configuration. The package's own one names folders of AWS Lambda, and without any font a
 * page with an input field crashes.
 */
const FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir prefix="relative">fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`;

/** Unpacks Chromium unless that was done before; unpacking takes 2 s and 220 MB. */
export async function npmChromium(): Promise<{ executablePath: string; environment: Record<string, string> }> {
  const folder = await unpacked('chromium', ARCHIVES, (unpacking) =>
    writeFileSync(join(unpacking, 'fonts.conf'), FONTS),
  );
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
