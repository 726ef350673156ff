/** Finds a Chromium, downloading nothing, and starts it with an adapter of the requested kind. */
import { accessSync, constants, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright';
import { describeAdapter } from '../adapter/adapter-line.mjs';
import type { AdapterRequest } from '../adapter/choose-adapter.mjs';
import { packageRunsHere, unpacked } from '../adapter/chromium-package.mjs';
import { CommandError } from '../command-line.js';
import { inTime } from './watch-page.js';

const ARCHIVES = ['chromium.br', 'swiftshader.tar.br', 'al2023.tar.br', 'fonts.tar.br'];

/**
 * Font configuration. The package's own one names folders of AWS Lambda, and without any font a
 * page with an input field crashes.
 */
const FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir prefix="relative">fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`;

/** Unpacks Chromium unless that was done before; unpacking takes 2 s and 220 MB. */
async function npmChromium(): Promise<{ executablePath: string; environment: Record<string, string> }> {
  const folder = await unpacked('chromium', ARCHIVES, (unpacking) =>
    writeFileSync(join(unpacking, 'fonts.conf'), FONTS),
  );
  const libraries = join(folder, 'al2023', 'lib');
  const inherited = process.env.LD_LIBRARY_PATH;
  return {
    executablePath: join(folder, 'chromium'),
    environment: {
      LD_LIBRARY_PATH: inherited ? `${libraries}${delimiter}${inherited}` : libraries,
      FONTCONFIG_FILE: process.env.FONTCONFIG_FILE ?? join(folder, 'fonts.conf'),
    },
  };
}

interface ChromiumCandidate {
  readonly source: string;
  /** The value of `--headless` */
  readonly headless: 'new' | 'shell';
  readonly prepare: () => Promise<{ executablePath: string; environment: Record<string, string> }>;
}

/**
 * Lists the candidates in the order in which they are tried: PW_EXECUTABLE (the only one where it
 * is set), Playwright's own, the system's, and the one from npm.
 */
function findChromium(): ChromiumCandidate[] {
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

export interface Launched {
  readonly browser: Browser;
  /** Origin and version of the Chromium, for messages */
  readonly source: string;
  readonly kind: 'software' | 'hardware';
  readonly launchOptions: { executablePath: string; args: string[]; env: Record<string, string> };
}

const COMMON = ['--no-sandbox', '--enable-unsafe-webgpu'];
const SYSTEM = [
  ...COMMON,
  '--ignore-gpu-blocklist',
  // On Linux, WebGPU runs on Vulkan, which Chromium does not enable by itself on every driver.
  ...(process.platform === 'linux' ? ['--enable-features=Vulkan', '--use-angle=vulkan'] : []),
];
const FLAGS = {
  software: [...COMMON, '--use-webgpu-adapter=swiftshader'],
  hardware: SYSTEM,
  system: SYSTEM,
};

/** Starts of one Chromium. About one start in 300 ends with a crash, and the next one succeeds. */
const ATTEMPTS = 2;

/** Time in which an adapter has to answer. */
const PROBE_TIMEOUT_MS = 30_000;

/**
 * Starts the first Chromium that has a suitable adapter.
 *
 * @param adapter `auto` takes a GPU where Chromium finds one, else the software adapter
 * @throws CommandError 3 if no Chromium starts, or none has a requested adapter
 */
export async function launchChromium(adapter: AdapterRequest): Promise<Launched> {
  const reasons = new Set<string>();
  for (const candidate of findChromium()) {
    for (const kind of adapter === 'auto' ? (['hardware', 'software'] as const) : [adapter]) {
      for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
        const outcome = await start(candidate, kind);
        if (outcome.browser !== null) return outcome;
        reasons.add(`${candidate.source}: ${outcome.reason}`);
        if (outcome.hasStarted) break;
      }
    }
  }
  throw new CommandError(
    3,
    reasons.size === 0
      ? `no Chromium found: set PW_EXECUTABLE to one (the one from npm runs on Linux x64 only, and this is ${process.platform} ${process.arch})`
      : `no Chromium with a${adapter === 'auto' ? 'n' : ` ${adapter}`} adapter:\n  ${[...reasons].join('\n  ')}`,
  );
}

/** Starts one candidate, and closes it again if its adapter is of another kind. */
async function start(
  candidate: ChromiumCandidate,
  kind: Exclude<AdapterRequest, 'auto'>,
): Promise<Launched | { browser: null; hasStarted: boolean; reason: string }> {
  let browser: Browser | null = null;
  let reason: string;
  try {
    const { executablePath, environment } = await candidate.prepare();
    const launchOptions = {
      executablePath,
      args: [`--headless=${candidate.headless}`, ...FLAGS[kind]],
      env: { ...(process.env as Record<string, string>), ...environment },
    };
    browser = await chromium.launch(launchOptions);
    const found = await probe(browser);
    if (found !== null && (found === kind || kind === 'system')) {
      return { browser, source: `${candidate.source}, ${browser.version()}`, kind: found, launchOptions };
    }
    reason = `was asked for a ${kind} adapter and has ${found === null ? 'none' : `only a ${found} one`}`;
  } catch (error) {
    reason = inBrief(error);
  }
  await browser?.close();
  return { browser: null, hasStarted: browser !== null, reason };
}

/**
 * Shortens Playwright's report of a failed start to its first line and the browser's last output.
 */
function inBrief(error: unknown) {
  if (!(error instanceof Error)) return String(error);
  const [first = '', ...rest] = error.message.split('\n');
  const words = rest.filter((line) => line.includes('[err]')).map((line) => line.replace(/^.*\[err\]\s*/, ''));
  return [first, ...words.slice(-3)].join('\n    ');
}

async function probe(browser: Browser): Promise<'software' | 'hardware' | null> {
  const page = await browser.newPage();
  try {
    // WebGPU needs a secure context: an https address, which the route answers without a network
    await page.route('**/*', (route) => route.fulfill({ contentType: 'text/html', body: '' }));
    await page.goto('https://adapter.invalid/');
    const late = () => new Error(`the adapter does not answer within ${PROBE_TIMEOUT_MS / 1000} s`);
    const info = await inTime(page.evaluate(adapterInPage), PROBE_TIMEOUT_MS, late);
    return info && (describeAdapter(info).software ? 'software' : 'hardware');
  } finally {
    await page.close();
  }
}

/** Returns the adapter's description. This function runs in the page. */
async function adapterInPage() {
  const adapter = await navigator.gpu?.requestAdapter();
  if (!adapter) return null;
  // these are getters of the prototype, so a spread would miss them
  const { vendor, architecture, device, description, isFallbackAdapter } = adapter.info;
  return { vendor, architecture, device, description, isFallbackAdapter };
}
