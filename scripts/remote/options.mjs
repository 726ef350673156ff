/** The options of a run in a remote browser: `npm run bench -- run --connect ws://…`. */
import { integer, json, oneOf, outputFile, pair, repeatable, UsageError, valued } from '../command-line.mjs';

/** @typedef {ReturnType<typeof readRemote>} Options */

export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  adapter: 3,
  stalled: 4,
  noFirstProgress: 5,
  queue: 6,
  lost: 7,
};

const seconds = integer(1, 86_400);

/** @type {(...protocols: string[]) => import('../command-line.mjs').Parse<URL>} */
const address =
  (...protocols) =>
  (text, name) => {
    const url = URL.canParse(text) ? new URL(text) : null;
    if (url === null || !protocols.includes(url.protocol)) {
      throw new UsageError(`--${name}: '${text}' is not an address that begins with ${protocols.join('// or ')}//`);
    }
    return url;
  };

/** Parses the launch options. @param {string} text @returns {Record<string, unknown>} */
function launchOptions(text) {
  const options = json(text, 'launch');
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new UsageError('--launch: not a JSON object');
  }
  return options;
}

/**
 * Runs the page in a browser behind any endpoint of Playwright's protocol: that of a device farm,
 * or `npx playwright run-server` on another machine (both ends need the same minor version).
 */
export const remoteOptions = {
  connect: valued(
    'ws://…',
    'runs the page in a remote browser: an endpoint of Playwright, of a device farm or of npx playwright run-server',
    address('ws:', 'wss:'),
  ),
  header: repeatable('name=value', "a header of the connection, such as a farm's token; may be repeated"),
  browser: valued(
    'chromium',
    'chromium, firefox or webkit',
    oneOf('chromium', 'firefox', 'webkit'),
    /** @type {const} */ ('chromium'),
  ),
  launch: valued(
    'JSON',
    `Playwright's launch options for the endpoint's browser: '{"channel":"chrome","headless":false}'.
    A run-server without --unsafe ignores args, executablePath, firefoxUserPrefs and others`,
    launchOptions,
  ),
  url: valued(
    'https://…',
    `a site with the built bench; without it this machine serves the page through the connection, and the rows
    go to dev/results here (or to the folder WEBGPU_MSM_RESULTS)`,
    address('http:', 'https:'),
  ),
  adapter: valued(
    'any',
    'hardware or software: the run fails at once on an adapter of another kind',
    oneOf('any', 'hardware', 'software'),
    /** @type {const} */ ('any'),
  ),
  'queue-timeout': valued('600', 'time limit in seconds to get a page: farms queue', seconds, 600),
  'first-progress': valued('60', 'time limit in seconds until the first progress', seconds, 60),
  stall: valued('120', 'time limit in seconds between two steps of progress', seconds, 120),
  json: valued('FILE', 'write the environment and every row, also of a failed run', outputFile),
  screenshot: valued('FILE', 'write a picture of the page at the end, as PNG', outputFile),
};

export const remoteNotes = `Exit code with --connect: 0 done · 1 the run failed: a wrong result, or an error of the page · 2 bad usage · 3 no WebGPU, or
another adapter · 4 stalled · 5 no first progress · 6 no page in time · 7 connection refused or lost, or the page crashed`;

/**
 * Reads the options as the connection and the time limits.
 *
 * @param {import('../command-line.mjs').Values<typeof remoteOptions>} values
 * @param {URLSearchParams} query of the page
 * @throws UsageError
 */
export function readRemote(values, query) {
  const {
    connect,
    header,
    url,
    'queue-timeout': queueSeconds,
    'first-progress': firstProgressSeconds,
    ...rest
  } = values;
  if (connect === undefined) throw new UsageError('--connect: missing; give an endpoint, such as ws://127.0.0.1:3000/');
  const { stall: stallSeconds, ...others } = rest;
  return {
    ...others,
    connect: connect.href,
    headers: Object.fromEntries(header.map((text) => pair(text, 'header'))),
    query,
    url: url?.href,
    queueSeconds,
    firstProgressSeconds,
    stallSeconds,
  };
}
