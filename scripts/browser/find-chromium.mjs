/** Which Chromium the drivers use. Nothing is ever downloaded. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright';
import { npmChromium, npmChromiumIsAvailable } from './npm-chromium.mjs';

/**
 * @typedef {object} ChromiumCandidate
 * @property {string} source where it comes from, for people
 * @property {'new' | 'shell'} headless what `--headless` wants
 * @property {() => Promise<{ executablePath: string, environment: Record<string, string> }>} prepare
 */

/**
 * In the order in which they are tried: PW_EXECUTABLE (which, when set, is the only one), Playwright's own, the
 * system's, and the one that npm brought.
 *
 * @returns {ChromiumCandidate[]}
 */
export function findChromium() {
  const asked = process.env.PW_EXECUTABLE;
  if (asked) return [installed('PW_EXECUTABLE', asked)];
  /** @type {ChromiumCandidate[]} */
  const candidates = [];
  const own = chromium.executablePath();
  if (isExecutable(own)) candidates.push(installed('Playwright’s own', own));
  const system = systemChromium();
  if (system !== null) candidates.push(installed('the system’s', system));
  if (npmChromiumIsAvailable) {
    candidates.push({ source: '@sparticuz/chromium from npm', headless: 'shell', prepare: npmChromium });
  }
  return candidates;
}

/**
 * @param {string} source
 * @param {string} executablePath
 * @returns {ChromiumCandidate}
 */
function installed(source, executablePath) {
  return { source, headless: 'new', prepare: async () => ({ executablePath, environment: {} }) };
}

function systemChromium() {
  const names = ['google-chrome-stable', 'google-chrome', 'chromium', 'chromium-browser', 'chrome'];
  const onPath = (process.env.PATH ?? '')
    .split(delimiter)
    .filter(Boolean)
    .flatMap((folder) => names.map((name) => join(folder, name)));
  const programs = [process.env.PROGRAMFILES, process.env['PROGRAMFILES(X86)'], process.env.LOCALAPPDATA];
  const places = {
    darwin: [
      '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
      '/Applications/Chromium.app/Contents/MacOS/Chromium',
    ],
    win32: programs.flatMap((folder) =>
      folder ? [join(folder, 'Google', 'Chrome', 'Application', 'chrome.exe')] : [],
    ),
  };
  const byPlatform = process.platform === 'darwin' || process.platform === 'win32' ? places[process.platform] : onPath;
  return byPlatform.find(isExecutable) ?? null;
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
