/** Where and with what a run was made, for the file of its rows. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { commit } from '../builds.mjs';
import { withoutSecrets } from './open-page.mjs';

/**
 * Headers and the endpoint's query are left out, as farms take their tokens there.
 *
 * @param {import('./options.mjs').Options} options
 * @param {import('./open-page.mjs').RemotePage} opened
 * @param {string} url
 */
export function describeEnvironment(options, { browser, userAgent }, url) {
  return {
    at: new Date().toISOString(),
    commit: commit(),
    endpoint: withoutSecrets(options.connect),
    browser: { name: options.browser, version: browser.version() },
    userAgent,
    // Without the password of a proxy.
    launch: options.launch === undefined ? null : { ...options.launch, proxy: undefined },
    // A page from this machine has another port each time.
    site: options.url ?? 'this machine’s dev server',
    query: new URL(url).search,
    playwright: playwrightVersion(),
    node: process.version,
  };
}

function playwrightVersion() {
  const file = createRequire(import.meta.url).resolve('playwright/package.json');
  return String(JSON.parse(readFileSync(file, 'utf8')).version);
}
