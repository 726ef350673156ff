/** Finds the Chromium that commands start. It downloads nothing. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright';
import { packageRunsHere } from '../adapter/chromium-package.mjs';
import { npmChromium } from './npm-chromium.mjs';

/**
 * @typedef {object} ChromiumCandidate
 * @property {string} source its origin, for messages
 * @property {'new' | 'shell'} headless the value of `--headless`
 * @property {() => Promise<{ executablePath: string, environment: Record<string, string> }>} prepare
 */

/**
 * Lists the candidates in the order in which they are tried: PW_EXECUTABLE (the only one where it
 * is set), Playwright's own, the system's, and the one from npm.
 *
 * @returns {ChromiumCandidate[]}
 */
export function findChromium() {
  const asked = process.env.PW_EXECUTABLE;
  if (asked) return [installed('PW_EXECUTABLE', asked)];
  const [own, system] = [[chromium.executablePath()], systemPlaces()].map((places) => places.find(isExecutable));
  return [
    ...(own ? [installed('Playwright’s own', own)] : []),
    ...(system ? [installed('the system’s', system)] : []),
    ...(packageRunsHere ? [fromNpm] : []),
  ];
}

/** @type {ChromiumCandidate} */
const fromNpm = { source: '@sparticuz/chromium from npm', headless: 'shell', prepare: npmChromium };

/** @type {(source: string, executablePath: string) => ChromiumCandidate} */
const installed = (source, executablePath) => ({
  source,
  headless: 'new',
  prepare: async () => ({ executablePath, environment: {} }),
});

function systemPlaces() {
  const { platform, env } = process;
  if (platform === 'darwin') {
    return ['Google Chrome', 'Chromium'].map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`);
  }
  const folders =
    platform === 'win32'
      ? [env.PROGRAMFILES, env['PROGRAMFILES(X86)'], env.LOCALAPPDATA]
      : (env.PATH ?? '').split(delimiter);
  const names =
    platform === 'win32'
      ? ['Google/Chrome/Application/chrome.exe']
      : ['google-chrome-stable', 'google-chrome', 'chromium', 'chromium-browser', 'chrome'];
  return folders.flatMap((folder) => (folder ? names.map((name) => join(folder, name)) : []));
}

/** @param {string} path */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
