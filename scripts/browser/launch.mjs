/** Starts a Chromium that computes on the adapter that was asked for. */
import { chromium } from 'playwright';
import { describeAdapter } from '../adapter/adapter-line.mjs';
import { inTime } from '../in-time.mjs';
import { findChromium } from './find-chromium.mjs';

/**
 * @typedef {import('../adapter/choose-adapter.mjs').AdapterRequest} AdapterRequest
 *
 * @typedef {object} Launched
 * @property {import('playwright').Browser} browser
 * @property {string} source which Chromium it is, for people
 * @property {'software' | 'hardware'} kind of the adapter that it has
 * @property {{ executablePath: string, args: string[], env: Record<string, string> }} launchOptions how to start another
 */

/** No Chromium starts, or none has an adapter of the kind asked for. The message says what to do. */
export class NoBrowserError extends Error {}

const COMMON = ['--no-sandbox', '--enable-unsafe-webgpu'];
const SYSTEM = [
  ...COMMON,
  '--ignore-gpu-blocklist',
  // On Linux WebGPU runs on Vulkan, which Chromium does not yet take up by itself on every driver.
  ...(process.platform === 'linux' ? ['--enable-features=Vulkan', '--use-angle=vulkan'] : []),
];
const FLAGS = {
  software: [...COMMON, '--use-webgpu-adapter=swiftshader'],
  hardware: SYSTEM,
  system: SYSTEM,
};

/** A Chromium that dies at its start is started again: it was seen once in some 300 starts. */
const ATTEMPTS = 2;

/** How long an adapter may take to answer. */
const PROBE_TIMEOUT_MS = 30_000;

/**
 * @param {AdapterRequest} adapter `auto` takes a GPU where Chromium finds one, else the software adapter
 * @returns {Promise<Launched>}
 * @throws NoBrowserError
 */
export async function launchChromium(adapter) {
  /** @type {Set<string>} */
  const reasons = new Set();
  for (const candidate of findChromium()) {
    for (const kind of adapter === 'auto' ? /** @type {const} */ (['hardware', 'software']) : [adapter]) {
      for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
        const outcome = await start(candidate, kind);
        if (outcome.browser !== null) return outcome;
        reasons.add(`${candidate.source}: ${outcome.reason}`);
        if (outcome.hasStarted) break;
      }
    }
  }
  throw new NoBrowserError(
    reasons.size === 0
      ? `no Chromium: set PW_EXECUTABLE to one (the one that npm brings is for Linux x64, and this is ${process.platform} ${process.arch})`
      : `no Chromium with a${adapter === 'auto' ? 'n' : ` ${adapter}`} adapter:\n  ${[...reasons].join('\n  ')}`,
  );
}

/**
 * @param {import('./find-chromium.mjs').ChromiumCandidate} candidate
 * @param {Exclude<AdapterRequest, 'auto'>} kind
 * @returns {Promise<Launched | { browser: null, hasStarted: boolean, reason: string }>}
 */
async function start(candidate, kind) {
  /** @type {import('playwright').Browser | null} */
  let browser = null;
  let reason;
  try {
    const { executablePath, environment } = await candidate.prepare();
    const launchOptions = {
      executablePath,
      args: [`--headless=${candidate.headless}`, ...FLAGS[kind]],
      env: { .../** @type {Record<string, string>} */ (process.env), ...environment },
    };
    browser = await chromium.launch(launchOptions);
    const found = await probe(browser);
    if (found !== null && (found === kind || kind === 'system')) {
      return { browser, source: `${candidate.source}, ${browser.version()}`, kind: found, launchOptions };
    }
    reason = `asked for a ${kind} adapter, and has ${found === null ? 'none' : `only a ${found} one`}`;
  } catch (error) {
    reason = inBrief(error);
  }
  await browser?.close();
  return { browser: null, hasStarted: browser !== null, reason };
}

/**
 * Of what Playwright says when a browser does not start, the first line and the last words of the browser.
 *
 * @param {unknown} error
 */
function inBrief(error) {
  if (!(error instanceof Error)) return String(error);
  const [first = '', ...rest] = error.message.split('\n');
  const words = rest.filter((line) => line.includes('[err]')).map((line) => line.replace(/^.*\[err\]\s*/, ''));
  return [first, ...words.slice(-3)].join('\n    ');
}

/**
 * The kind of adapter that the browser has; null without one.
 *
 * @param {import('playwright').Browser} browser
 * @returns {Promise<'software' | 'hardware' | null>}
 */
async function probe(browser) {
  const page = await browser.newPage();
  try {
    // WebGPU is for secure contexts: an https page, which the browser never fetches.
    await page.route('**/*', (route) => route.fulfill({ contentType: 'text/html', body: '' }));
    await page.goto('https://adapter.invalid/');
    const late = () => new Error('the adapter does not answer');
    const info = await inTime(page.evaluate(adapterInPage), PROBE_TIMEOUT_MS, late);
    return info && (describeAdapter(info).software ? 'software' : 'hardware');
  } finally {
    await page.close();
  }
}

/** Runs in the page. */
async function adapterInPage() {
  const adapter = await navigator.gpu?.requestAdapter();
  if (!adapter) return null;
  // read one by one, as they are no properties of the object itself
  const { vendor, architecture, device, description, isFallbackAdapter } = adapter.info;
  return { vendor, architecture, device, description, isFallbackAdapter };
}
