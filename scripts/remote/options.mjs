/** The command line of `npm run bench:remote`. */
import { parseInteger, parseOutput, UsageError } from '../command-line.mjs';
import { parseWithQuery, splitPair } from '../page-query.mjs';

/**
 * @typedef {'chromium' | 'firefox' | 'webkit'} BrowserName
 * @typedef {Exclude<ReturnType<typeof parseOptions>, 'help'>} Options
 */

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

export const usage = `npm run bench:remote -- --connect ws://… --autorun msm-bench --query logn=12 reps=5 [options]

Runs the bench page in a browser somewhere else, through any endpoint of Playwright's protocol: a device farm's, or
\`npx playwright run-server\` on another machine (both ends need the same version of Playwright, to the minor).

  --connect ws://…       the endpoint; wss:// too
  --header name=value    sent when connecting, such as a farm's token; may be given again
  --browser chromium     chromium, firefox or webkit
  --launch JSON          how the endpoint starts its browser, in Playwright's words: '{"channel":"chrome","headless":false}'.
                         A run-server without --unsafe leaves out args, executablePath, firefoxUserPrefs and others
  --autorun MODE         what the page does
  --query k=v k=v …      the page's knobs; may be given again
  --url https://…        a site that the bench was built for; without it the page comes from this machine, through the
                         connection, and its rows are kept in dev/results here (or the folder WEBGPU_MSM_RESULTS)
  --adapter any          hardware or software: the run ends at once when it is on another
  --queue-timeout 600    seconds until there is a page: farms queue
  --first-progress 60    seconds from there until the run says anything
  --stall 120            seconds without further progress
  --json FILE            write the environment and every row, also of a run that failed
  --screenshot FILE      a picture of the page at the end, png
  --help

Exit code: 0 done · 1 the run failed: a wrong result, or the page says why · 2 bad usage · 3 no WebGPU, or not the adapter
asked for · 4 stalled · 5 no first progress · 6 no page in time · 7 connection refused or lost, or the page crashed`;

/** A day. */
const MOST_SECONDS = 86_400;

/**
 * @param {string[]} args
 * @throws UsageError
 */
export function parseOptions(args) {
  const { values, query } = parseWithQuery(
    {
      connect: { type: 'string' },
      header: { type: 'string', multiple: true, default: [] },
      browser: { type: 'string', default: 'chromium' },
      launch: { type: 'string' },
      url: { type: 'string' },
      adapter: { type: 'string', default: 'any' },
      'queue-timeout': { type: 'string', default: '600' },
      'first-progress': { type: 'string', default: '60' },
      stall: { type: 'string', default: '120' },
      json: { type: 'string' },
      screenshot: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
    args,
  );
  if (values.help) return 'help';
  if (values.connect === undefined) throw new UsageError('--connect: which endpoint? Such as ws://127.0.0.1:3000/');
  const url = values.url === undefined ? undefined : address('url', values.url, ['http:', 'https:']);
  if (!query.has('autorun') && !url?.searchParams.has('autorun')) {
    throw new UsageError('--autorun: which mode? Such as msm-bench; without one the page starts nothing');
  }
  const seconds = (/** @type {'queue-timeout' | 'first-progress' | 'stall'} */ name) =>
    parseInteger(name, values[name], 1, MOST_SECONDS);
  return {
    connect: address('connect', values.connect, ['ws:', 'wss:']).href,
    headers: Object.fromEntries(values.header.map((text) => splitPair('header', text, '='))),
    browser: oneOf('browser', values.browser, /** @type {const} */ (['chromium', 'firefox', 'webkit'])),
    launch: values.launch === undefined ? undefined : launchOptions(values.launch),
    query,
    url: url?.href,
    adapter: oneOf('adapter', values.adapter, /** @type {const} */ (['any', 'hardware', 'software'])),
    queueSeconds: seconds('queue-timeout'),
    firstProgressSeconds: seconds('first-progress'),
    stallSeconds: seconds('stall'),
    json: parseOutput('json', values.json),
    screenshot: parseOutput('screenshot', values.screenshot),
  };
}

/**
 * @param {string} name
 * @param {string} text
 * @param {readonly string[]} protocols
 */
function address(name, text, protocols) {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !protocols.includes(url.protocol)) {
    throw new UsageError(`--${name}: '${text}' is no address that begins with ${protocols.join('// or ')}//`);
  }
  return url;
}

/**
 * @template {string} Word
 * @param {string} name
 * @param {string} text
 * @param {readonly Word[]} words
 */
function oneOf(name, text, words) {
  const word = words.find((each) => each === text);
  if (word === undefined) throw new UsageError(`--${name}: '${text}' is not ${words.join(', ')}`);
  return word;
}

/** @param {string} text */
function launchOptions(text) {
  let options;
  try {
    options = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`--launch is not JSON: ${/** @type {Error} */ (error).message}`);
  }
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new UsageError('--launch: not a JSON object');
  }
  return /** @type {Record<string, unknown>} */ (options);
}
