/**
 * npm --prefix tools/webkit start -- --browsers webkit,firefox --logn 12 --json rows.json
 * npm --prefix tools/webkit start -- --browsers webkit,firefox,chromium --workers --isolated
 *
 * Builds a page with the library, opens it in browsers one after the other, and prints what they
 * send.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { build, preview } from 'vite';
import { browserNames, startBrowser } from './browsers.mjs';

/** @typedef {import('./page.js').Row} Row */

/** Milliseconds until a browser that sends nothing counts as failed. */
const SILENT_MS = 180_000;

const { values } = parseArgs({
  options: {
    browsers: { type: 'string', default: 'webkit,firefox' },
    logn: { type: 'string', default: '12' },
    isolated: { type: 'boolean', default: false },
    workers: { type: 'boolean', default: false },
    json: { type: 'string' },
  },
});
const browsers = values.browsers.split(',');
const unknown = browsers.find((name) => !browserNames.includes(name));
if (unknown !== undefined) throw new Error(`--browsers takes ${browserNames.join(' and ')}, not ${unknown}`);
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
    case 'workers': {
      const last = [row.workersMs, row.noneMs].map((all) => all.slice(row.learning));
      const [withMs = [], noneMs = []] = last;
      const ratio = (median(withMs) / median(noneMs)).toFixed(2);
      const counts = `workers by call ${row.workers.join(' ')}`;
      return `MSM of ${row.n}: workers ${medianText(withMs)}, none ${medianText(noneMs)}, ${ratio}; ${row.isRight ? 'right' : 'WRONG'}; ${counts}`;
    }
    case 'proof': {
      const ratio = median(row.acceleratedMs) / median(row.snarkjsMs);
      const both = `snarkjs ${medianText(row.snarkjsMs)}, accelerated ${medianText(row.acceleratedMs)}`;
      return `proof 2^${row.logn}: ${both}, ${ratio.toFixed(2)}, ${row.verified ? 'verified' : 'NOT VERIFIED'}`;
    }
    case 'failed':
      return `FAILED: ${row.text}`;
    case 'end':
      return null;
  }
};

/** Returns whether a row is of a success. @param {Row} row */
const isGood = (row) =>
  row.event !== 'failed' &&
  !((row.event === 'sum' || row.event === 'workers') && !row.isRight) &&
  !(row.event === 'proof' && !row.verified) &&
  !(row.event === 'readme' && row.printed === '');

/** Receives rows; set while a browser runs. @type {(row: Row) => void} */
let onRow = () => undefined;

/** Serves the page, and takes the rows that it sends. @param {string} folder */
const serve = async (folder) => {
  const configFile = join(import.meta.dirname, 'vite.config.ts');
  const config = /** @type {const} */ ({ configFile, logLevel: 'error' });
  await build({ ...config, build: { outDir: folder, emptyOutDir: true } });
  const headers = values.isolated
    ? { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' }
    : {};
  /** @type {import('vite').Plugin} */
  const receiver = {
    name: 'receiver',
    configurePreviewServer: ({ middlewares }) => {
      middlewares.use('/rows', async (request, response) => {
        onRow(JSON.parse(await text(request)));
        response.end();
      });
    },
  };
  const where = { host: '127.0.0.1', port: 0, headers };
  return preview({ ...config, plugins: [receiver], build: { outDir: folder }, preview: where });
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

const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-webkit-'));
const server = await serve(folder);
try {
  const [url] = server.resolvedUrls?.local ?? [];
  /** @type {object[]} */
  const all = [];
  for (const name of browsers) {
    const rows = await runIn(name, `${url}?logn=${values.logn}${values.workers ? '&only=workers' : ''}`);
    all.push(...rows.map((row) => ({ browser: name, ...row })));
    if (!rows.every(isGood)) process.exitCode = 1;
  }
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(all, null, 2)}\n`);
} finally {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
}
