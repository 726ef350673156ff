/** Finds the Chromium that commands start. It downloads nothing. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright';
import { packageRunsHere } from '../adapter/chromium-package.mjs';
import { npmChromium } from './npm-chromium.js';

export interface ChromiumCandidate {
  readonly source: string;
  /** The value of `--headless` */
  readonly headless: 'new' | 'shell';
  readonly prepare: () => Promise<{ executablePath: string; environment: Record<string, string> }>;
}

/**
 * Lists the candidates in the order in which they are tried: PW_EXECUTABLE (the only one where it
 * is set), Playwright's own, the system's, and the one from npm.
 */
export function findChromium(): ChromiumCandidate[] {
  const asked = process.env.PW_EXECUTABLE;
  if (asked) return [installed('PW_EXECUTABLE', asked)];
  const [own, system] = [[chromium.executablePath()], systemPlaces()].map((places) => places.find(isExecutable));
  return [
    ...(own ? [installed('Playwright’s own', own)] : []),
    ...(system ? [installed('the system’s', system)] : []),
    ...(packageRunsHere ? [fromNpm] : []),
  ];
}

const fromNpm: ChromiumCandidate = { source: '@sparticuz/chromium from npm', headless: 'shell', prepare: npmChromium };

const installed = (source: string, executablePath: string): ChromiumCandidate => ({
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

function isExecutable(path: string) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
