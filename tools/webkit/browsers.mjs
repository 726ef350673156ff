/** Starts browsers with an address, under a display of their own. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';

const LIBRARIES = '/usr/lib/x86_64-linux-gnu';

/** Returns the first of some programs that exists. @param {readonly string[]} paths */
const firstOf = (...paths) => {
  const found = paths.find((path) => existsSync(path));
  if (found === undefined) throw new Error(`none of ${paths.join(', ')} is installed; see tools/webkit/README.md`);
  return found;
};

/**
 * Commands by name of the browser.
 *
 * @type {Readonly<Record<string, (url: string, profile: string) => readonly string[]>>}
 */
const commands = {
  webkit: (url) => [
    'xvfb-run',
    '-a',
    firstOf(
      `${LIBRARIES}/webkitgtk-6.0/MiniBrowser`,
      `${LIBRARIES}/webkit2gtk-4.1/MiniBrowser`,
      `${LIBRARIES}/webkit2gtk-4.0/MiniBrowser`,
    ),
    url,
  ],
  firefox: (url, profile) => [
    firstOf('/usr/bin/firefox-esr', '/usr/bin/firefox'),
    '--headless',
    '--no-remote',
    '--profile',
    profile,
    url,
  ],
  chromium: (url, profile) => [
    firstOf(process.env.CHROMIUM ?? '', '/usr/bin/chromium', '/usr/bin/google-chrome'),
    '--headless',
    '--no-sandbox',
    `--user-data-dir=${profile}`,
    url,
  ],
};

export const browserNames = Object.keys(commands);

/**
 * Starts a browser.
 *
 * @param {string} name
 * @param {string} url
 * @param {string} profile an empty folder of its own
 * @returns {() => void} ends it with all its processes
 */
export const startBrowser = (name, url, profile) => {
  const [program = '', ...args] = commands[name]?.(url, profile) ?? [];
  const env = {
    ...process.env,
    HOME: profile,
    XDG_RUNTIME_DIR: profile,
    // neither has an effect outside containers without user namespaces
    WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1',
    MOZ_DISABLE_CONTENT_SANDBOX: '1',
  };
  const child = spawn(program, args, { env, stdio: 'ignore', detached: true });
  return () => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  };
};
