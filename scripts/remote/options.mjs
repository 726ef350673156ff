/** The command line of `npm run bench:remote`. */
import {
  integer,
  json,
  oneOf,
  outputFile,
  pair,
  readArguments,
  repeatable,
  UsageError,
  valued,
} from '../command-line.mjs';
import { pageOptions, readQuery } from '../page-query.mjs';

/** @typedef {ReturnType<typeof parseOptions>} Options */

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
      throw new UsageError(`--${name}: '${text}' is no address that begins with ${protocols.join('// or ')}//`);
    }
    return url;
  };

/** @param {string} text @returns {Record<string, unknown>} */
function launchOptions(text) {
  const options = json(text, 'launch');
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new UsageError('--launch: not a JSON object');
  }
  return options;
}

export const command = {
  usage: `usage: npm run bench:remote -- --connect ws://… --autorun msm-bench --query logn=12 reps=5 [options]

Runs the bench page in a browser somewhere else, through any endpoint of Playwright's protocol: a device farm's, or
\`npx playwright run-server\` on another machine (both ends need the same version of Playwright, to the minor).`,
  options: {
    connect: valued('ws://…', 'the endpoint; wss:// too', address('ws:', 'wss:')),
    header: repeatable('name=value', "sent when connecting, such as a farm's token; may be given again"),
    browser: valued(
      'chromium',
      'chromium, firefox or webkit',
      oneOf('chromium', 'firefox', 'webkit'),
      /** @type {const} */ ('chromium'),
    ),
    launch: valued(
      'JSON',
      `how the endpoint starts its browser, in Playwright's words: '{"channel":"chrome","headless":false}'.
      A run-server without --unsafe leaves out args, executablePath, firefoxUserPrefs and others`,
      launchOptions,
    ),
    ...pageOptions,
    url: valued(
      'https://…',
      `a site that the bench was built for; without it the page comes from this machine, through the
      connection, and its rows are kept in dev/results here (or the folder WEBGPU_MSM_RESULTS)`,
      address('http:', 'https:'),
    ),
    adapter: valued(
      'any',
      'hardware or software: the run ends at once when it is on another',
      oneOf('any', 'hardware', 'software'),
      /** @type {const} */ ('any'),
    ),
    'queue-timeout': valued('600', 'seconds until there is a page: farms queue', seconds, 600),
    'first-progress': valued('60', 'seconds from there until the run says anything', seconds, 60),
    stall: valued('120', 'seconds without further progress', seconds, 120),
    json: valued('FILE', 'write the environment and every row, also of a run that failed', outputFile),
    screenshot: valued('FILE', 'a picture of the page at the end, png', outputFile),
  },
  notes: `Exit code: 0 done · 1 the run failed: a wrong result, or the page says why · 2 bad usage · 3 no WebGPU, or not the adapter
asked for · 4 stalled · 5 no first progress · 6 no page in time · 7 connection refused or lost, or the page crashed`,
};

/**
 * @param {string[]} args
 * @throws UsageError
 */
export function parseOptions(args) {
  const { values, words } = readArguments(command.options, args);
  const {
    connect,
    header,
    url,
    'queue-timeout': queueSeconds,
    'first-progress': firstProgressSeconds,
    stall,
    ...rest
  } = values;
  if (connect === undefined) throw new UsageError('--connect: which endpoint? Such as ws://127.0.0.1:3000/');
  const query = readQuery(values, words);
  if (!query.has('autorun') && !url?.searchParams.has('autorun')) {
    throw new UsageError('--autorun: which mode? Such as msm-bench; without one the page starts nothing');
  }
  return {
    ...rest,
    connect: connect.href,
    headers: Object.fromEntries(header.map((text) => pair(text, 'header'))),
    query,
    url: url?.href,
    queueSeconds,
    firstProgressSeconds,
    stallSeconds: stall,
  };
}
