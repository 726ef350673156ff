/** A page in the browser of a Playwright endpoint. */
import { inTime } from '../in-time.mjs';

/**
 * @typedef {import('./options.mjs').Options} Options
 *
 * @typedef {object} RemotePage
 * @property {import('playwright').Browser} browser
 * @property {import('playwright').Page} page
 * @property {string} userAgent
 */

/** No page in the time that was given. */
export class QueueTimeoutError extends Error {}

/** The endpoint refuses, or has no such browser. */
export class ConnectionError extends Error {}

/**
 * @param {Pick<Options, 'connect' | 'headers' | 'browser' | 'launch' | 'queueSeconds'>} options
 * @param {string} url of the page; one of this machine is let through the connection
 * @returns {Promise<RemotePage>}
 * @throws QueueTimeoutError, ConnectionError
 */
export async function openRemotePage({ connect, headers, browser: name, launch, queueSeconds }, url) {
  const exposed = exposedNetwork(url);
  const late = new QueueTimeoutError(`no page within ${queueSeconds} s from ${withoutSecrets(connect)}`);
  let isLate = false;
  const opening = async () => {
    // late, as it takes a second to be there
    const { [name]: type } = await import('playwright');
    const browser = await type.connect(connect, {
      headers: { ...headers, ...(launch === undefined ? {} : { 'x-playwright-launch-options': inAscii(launch) }) },
      // A little more, so that it is always this function that gives up; and Playwright then ends what is under way.
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
 * Of this machine, the far browser may reach the one port that the page comes from.
 *
 * @param {string} url
 */
function exposedNetwork(url) {
  const { hostname, port, protocol } = new URL(url);
  if (!/^(localhost|.*\.localhost|127\.0\.0\.1|\[::1\])$/.test(hostname)) return null;
  return `<loopback>:${port || (protocol === 'https:' ? 443 : 80)}`;
}

/**
 * Farms take their tokens in the query, too.
 *
 * @param {string} endpoint
 */
export function withoutSecrets(endpoint) {
  const { protocol, host, pathname } = new URL(endpoint);
  return `${protocol}//${host}${pathname}`;
}

/**
 * JSON for a header, which holds nothing but ASCII.
 *
 * @param {unknown} value
 */
const inAscii = (value) =>
  JSON.stringify(value).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/**
 * What Playwright says, without its log and the frames that it draws.
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
