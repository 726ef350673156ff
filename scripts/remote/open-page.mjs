/** Opens a page in the browser of a Playwright endpoint. */
import { inTime } from '../in-time.mjs';

/**
 * @typedef {import('./options.mjs').Options} Options
 *
 * @typedef {object} RemotePage
 * @property {import('playwright').Browser} browser
 * @property {import('playwright').Page} page
 * @property {string} userAgent
 */

/** The endpoint opened no page within the time limit. */
export class QueueTimeoutError extends Error {}

/** The endpoint refuses the connection, or has no such browser. */
export class ConnectionError extends Error {}

/**
 * Connects to the endpoint and opens a page.
 *
 * @param {Pick<Options, 'connect' | 'headers' | 'browser' | 'launch' | 'queueSeconds'>} options
 * @param {string} url the page's address; one of this machine is reached through the connection
 * @returns {Promise<RemotePage>}
 * @throws QueueTimeoutError, ConnectionError
 */
export async function openRemotePage({ connect, headers, browser: name, launch, queueSeconds }, url) {
  const exposed = exposedNetwork(url);
  const late = new QueueTimeoutError(`no page within ${queueSeconds} s from ${withoutSecrets(connect)}`);
  let isLate = false;
  const opening = async () => {
    // imported late: loading Playwright takes a second
    const { [name]: type } = await import('playwright');
    const browser = await type.connect(connect, {
      headers: { ...headers, ...(launch === undefined ? {} : { 'x-playwright-launch-options': inAscii(launch) }) },
      // half a second more than the limit of this function, which therefore always ends first
      timeout: queueSeconds * 1000 + 500,
      ...(exposed === null ? {} : { exposeNetwork: exposed }),
    });
    try {
      if (isLate) throw late;
      const page = await browser.newPage();
      return { browser, page, userAgent: await page.evaluate(() => navigator.userAgent) };
    } catch (error) {
      await browser.close();
      throw error;
    }
  };
  try {
    return await inTime(opening(), queueSeconds * 1000, () => {
      isLate = true;
      return late;
    });
  } catch (error) {
    throw error === late ? late : new ConnectionError(`${withoutSecrets(connect)}: ${inBrief(error)}`);
  }
}

/**
 * Returns the address of this machine that the remote browser may reach: the page's port, no other.
 *
 * @param {string} url
 */
function exposedNetwork(url) {
  const { hostname, port, protocol } = new URL(url);
  if (!/^(localhost|.*\.localhost|127\.0\.0\.1|\[::1\])$/.test(hostname)) return null;
  return `<loopback>:${port || (protocol === 'https:' ? 443 : 80)}`;
}

/**
 * Removes the query of an endpoint: farms take tokens there.
 *
 * @param {string} endpoint
 */
export function withoutSecrets(endpoint) {
  const { protocol, host, pathname } = new URL(endpoint);
  return `${protocol}//${host}${pathname}`;
}

/**
 * Formats JSON for a header, which may hold ASCII only.
 *
 * @param {unknown} value
 */
const inAscii = (value) =>
  JSON.stringify(value).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/**
 * Shortens an error of Playwright: drops its call log and its box-drawing characters.
 *
 * @param {unknown} error
 */
function inBrief(error) {
  const [said = ''] = String(error instanceof Error ? error.message : error).split('\nCall log:');
  return said
    .replace(/^browserType\.connect: /, '')
    .replace(/[╔═╗║╚╝]/g, ' ')
    .replace(/<3 Playwright Team/, '')
    .replace(/\s+/g, ' ')
    .trim();
}
