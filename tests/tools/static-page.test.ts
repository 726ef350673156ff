/** `vite build`: the bench as files on any static host, below any path, with nobody to post to. */
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import type { Browser } from 'playwright';
import { build } from 'vite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchChromium } from '../../scripts/browser/launch.js';
import { inProject } from '../support/run-script.js';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};

/** As some project's page on a shared host is: not at the root. */
const BELOW = '/some/where/';

let folder: string;
let server: Server;
let origin: string;
let browser: Browser;
const missing: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'webgpu-msm-page-'));
  await build({ configFile: inProject('vite.config.ts'), logLevel: 'warn', build: { outDir: folder } });
  server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://host');
    const file = pathname.endsWith('/') ? `${pathname}index.html` : pathname;
    try {
      if (request.method !== 'GET' || !file.startsWith(BELOW)) throw new Error('not here');
      const contents = readFileSync(join(folder, file.slice(BELOW.length)));
      response.setHeader('content-type', TYPES[extname(file)] ?? 'application/octet-stream').end(contents);
    } catch {
      missing.push(`${request.method} ${pathname}`);
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  ({ browser } = await launchChromium('software'));
});

afterAll(async () => {
  await browser?.close();
  server?.close();
  await rm(folder, { recursive: true, force: true });
});

it('the static page runs, draws, keeps its results, and requests only its files from its host', {
  tags: 'long',
}, async () => {
  const page = await browser.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  const requested: string[] = [];
  page.on('request', (request) => requested.push(request.url()));
  await page.goto(`${origin}${BELOW}?autorun=msm-bench&logn=4,5&reps=2`);
  await page.waitForFunction(() => ['done', 'failed'].includes(window.msmBench?.status), undefined, {
    timeout: 60_000,
  });
  const { status, error, rows } = await page.evaluate(() => window.msmBench);
  expect({ status, error }).toEqual({ status: 'done', error: null });
  await page.getByText('No dev server stored the rows').waitFor();
  await page.getByRole('figure', { name: 'Total time by number of points' }).locator('.chart-point').first().waitFor();
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download JSON' }).click(),
  ]);
  expect(JSON.parse(await readFile(await file.path(), 'utf8'))).toEqual(rows);
  expect(errors).toEqual([]);
  // the first row that nobody takes ends the posting
  expect(missing).toEqual([`POST ${BELOW}progress`]);
  expect(requested.filter((url) => !url.startsWith(origin) && !url.startsWith('blob:'))).toEqual([]);
  await page.close();
});
