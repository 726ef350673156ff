/**
 * npm --prefix tools/webkit start -- --browsers webkit,firefox --logn 12 --json rows.json
 * npm --prefix tools/webkit run prover -- --browsers firefox
 *
 * Builds a page with the library in dist/, opens it in browsers one after the other, and prints what it
 * sends: page.ts here, or with --prover examples/prover/, used as drive-prover.ts does.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { build, preview } from 'vite';
import { runTypeScript } from '../../scripts/typescript.mjs';

/** @typedef {import('./page.js').Row | import('./drive-prover.js').Row} Row */

/** Milliseconds until a browser that sends nothing counts as failed. */
const SILENT_MS = 180_000;

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

/**
 * Starts a browser.
 *
 * @param {string} name
 * @param {string} url
 * @param {string} profile an empty folder of its own
 * @returns {() => void} ends it with all its processes
 */
const startBrowser = (name, url, profile) => {
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

const { values } = parseArgs({
  options: {
    browsers: { type: 'string', default: 'webkit,firefox' },
    logn: { type: 'string', default: '12' },
    prover: { type: 'boolean', default: false },
    json: { type: 'string' },
  },
});
const browsers = values.browsers.split(',');
const unknown = browsers.find((name) => !Object.hasOwn(commands, name));
if (unknown !== undefined) throw new Error(`--browsers takes ${Object.keys(commands).join(', ')}, not ${unknown}`);
if (!/^[1-9]\d?$/.test(values.logn)) throw new Error('--logn takes a number from 1');

/** @param {readonly number[]} all */
const median = (all) => all.toSorted((a, b) => a - b)[all.length >> 1] ?? Number.NaN;
/** @param {readonly number[]} all */
const medianText = (all) => `${median(all).toFixed(0)} ms`;

/** Returns a row as a line; null if there is nothing to say. @param {Row} row */
const lineOf = (row) => {
  switch (row.event) {
    case 'browser':
      return `${row.userAgent}, ${row.cores} cores${row.isolated ? ', isolated' : ''}`;
    case 'readme':
      return `README ${row.ms.toFixed(0)} ms: ${row.printed}`;
    case 'sum': {
      const how = `${row.arithmetic}, ${row.workers} workers, first call ${row.firstMs.toFixed(0)} ms`;
      return `MSM ${row.group} of ${row.n}: ${medianText(row.ms)}, ${row.isRight ? 'right' : 'WRONG'}; ${how}`;
    }
    case 'proof': {
      const ratio = median(row.acceleratedMs) / median(row.snarkjsMs);
      const both = `snarkjs ${medianText(row.snarkjsMs)}, accelerated ${medianText(row.acceleratedMs)}`;
      return `proof 2^${row.logn}: ${both}, ${ratio.toFixed(2)}, ${row.verified ? 'verified' : 'NOT VERIFIED'}`;
    }
    case 'prover':
      return JSON.stringify(row, null, 2);
    case 'failed':
      return `FAILED: ${row.text}`;
    case 'end':
      return null;
  }
};

/** Returns whether a row is of a success. @param {Row} row */
const isGood = (row) =>
  row.event !== 'failed' &&
  !(row.event === 'sum' && !row.isRight) &&
  !(row.event === 'proof' && !row.verified) &&
  !(row.event === 'readme' && row.printed === '') &&
  !(row.event === 'prover' && (row.cancelled.length !== 4 || row.uncaught.length > 0));

/** Receives rows; set while a browser runs. @type {(row: Row) => void} */
let onRow = () => undefined;

/** Takes the rows that the page sends. @type {import('vite').Plugin} */
const receiver = {
  name: 'receiver',
  configurePreviewServer: ({ middlewares }) => {
    middlewares.use('/rows', async (request, response) => {
      onRow(JSON.parse(await text(request)));
      response.end();
    });
  },
};

/** Adds the module that uses the page. @type {import('vite').Plugin} */
const driver = {
  name: 'driver',
  resolveId: (id) => (id === 'virtual:driver' ? join(import.meta.dirname, 'drive-prover.ts') : null),
  transformIndexHtml: {
    order: 'pre',
    handler: (html) => html.replace('</body>', '<script type="module">import \'virtual:driver\';</script></body>'),
  },
};

/** Builds and serves the page. @param {string} outDir */
const serve = async (outDir) => {
  const root = values.prover ? join(import.meta.dirname, '../../examples/prover') : import.meta.dirname;
  const config = /** @type {const} */ ({ root, configFile: join(root, 'vite.config.ts'), logLevel: 'error' });
  await build({ ...config, plugins: values.prover ? [driver] : [], build: { outDir, emptyOutDir: true } });
  return preview({ ...config, plugins: [receiver], build: { outDir }, preview: { host: '127.0.0.1', port: 0 } });
};

/** Opens the page in a browser. @param {string} name @param {string} url @returns {Promise<Row[]>} its rows */
const runIn = async (name, url) => {
  const profile = mkdtempSync(join(tmpdir(), `webgpu-msm-${name}-`));
  /** @type {Row[]} */
  const rows = [];
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let silence;
  /** @type {Promise<void>} */
  const ended = new Promise((resolve) => {
    onRow = (row) => {
      rows.push(row);
      const line = lineOf(row);
      if (line !== null) console.log(`${name}: ${line}`);
      if (row.event === 'end') resolve();
      else silence?.refresh();
    };
    silence = setTimeout(() => {
      onRow({ event: 'failed', text: `the page sent nothing for ${SILENT_MS / 1000} s` });
      resolve();
    }, SILENT_MS);
  });
  const end = startBrowser(name, url, profile);
  try {
    await ended;
  } finally {
    clearTimeout(silence);
    end();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
  return rows;
};

if (values.prover) await runTypeScript('scripts/sample-circuit.ts');
const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-webkit-'));
const server = await serve(folder);
const query = values.prover ? 'file=sample.wasm&file=sample.zkey&file=sample.json' : `logn=${values.logn}`;
try {
  /** @type {object[]} */
  const all = [];
  for (const name of browsers) {
    const rows = await runIn(name, `${server.resolvedUrls?.local[0]}?${query}`);
    all.push(...rows.map((row) => ({ browser: name, ...row })));
    if (!rows.every(isGood)) process.exitCode = 1;
  }
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(all, null, 2)}\n`);
} finally {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
}
