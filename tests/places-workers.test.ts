/**
 * The workers of the built package in Chromium: on pages that may share memory and on those that may not, in workers, under policies, and on
 * those where there are none to be had. The pages are in tests/places-workers/.
 *
 * @module-tag long
 */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import type { Browser } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium } from '../scripts/browser/launch.mjs';
import { buildLibrary } from './support/build-library.js';
import { writeLargeCase } from './support/large-case.js';
import { inProject } from './support/run-script.js';

type Headers = Readonly<Record<string, string>>;

const ISOLATED: Headers = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
};

const policy = (workers: string): Headers => ({
  'content-security-policy': `default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src ${workers}`,
});

const TYPES: Headers = { '.html': 'text/html', '.js': 'text/javascript' };

const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-workers-'));
let expected: unknown;
let server: Server;
let browser: Browser;
/** What the server sends with each file, and with worker.js. */
let headers: Headers = {};
let workerHeaders: Headers = {};

beforeAll(async () => {
  // the package as npm would install it
  const installed = join(folder, 'node_modules/webgpu-msm');
  await buildLibrary(join(installed, 'dist'));
  cpSync(inProject('package.json'), join(installed, 'package.json'));
  cpSync(inProject('tests/places-workers'), join(folder, 'pages'), { recursive: true });
  expected = writeLargeCase(join(folder, 'pages/case.js'));
  server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const file = join(folder, pathname);
    const type = TYPES[extname(pathname)];
    if (type === undefined || !existsSync(file)) response.writeHead(404).end();
    else {
      const sent = pathname.endsWith('/worker.js') ? workerHeaders : headers;
      response.writeHead(200, { 'content-type': type, ...sent }).end(readFileSync(file));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ browser } = await launchChromium('software'));
});

afterAll(async () => {
  await browser?.close();
  server?.closeAllConnections();
  server?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** What a page says that computes in a way, and what it did not catch. */
const compute = async (
  way: string,
  sent: Headers,
  sentWithWorker = sent,
): Promise<{ outcome: Readonly<Record<string, unknown>>; uncaught: string[] }> => {
  [headers, workerHeaders] = [sent, sentWithWorker];
  const page = await browser.newPage();
  const uncaught: string[] = [];
  page.on('pageerror', (error) => uncaught.push(error.message));
  try {
    const { port } = server.address() as AddressInfo;
    await page.goto(`http://127.0.0.1:${port}/pages/page.html?way=${way}`);
    const output = page.locator('output', { hasText: /./ });
    await output.waitFor({ timeout: 60_000 }).catch((cause) => {
      throw new Error(`${way} says nothing. ${uncaught.join('\n')}`, { cause });
    });
    return { outcome: JSON.parse((await output.textContent()) ?? ''), uncaught };
  } finally {
    await page.close();
  }
};

/** All that came out was right, and was computed here. */
const right = () => ({ sums: [expected], on: 'cpu', arithmetic: 'wasm-simd' });
const someWorkers = expect.toSatisfy((workers: number) => workers === 1 || workers === 2, 'one worker or two');
/** One failure or two: what a worker does between two calls is nobody's business. */
const notLoaded = expect.toSatisfy(
  (lost: readonly string[]) =>
    lost.length > 0 && lost.every((why) => /^worker [12] died: it could not be loaded$/.test(why)),
  'workers that could not be loaded',
);

describe.each([
  ['that is cross-origin isolated, whose workers share memory', ISOLATED, true],
  ['that is not, whose workers are told what to do by messages', {}, false],
])('a page %s', (_, sent, isIsolated) => {
  it('computes with workers', async () => {
    const { outcome, uncaught } = await compute('asItIs', sent);
    expect(outcome).toEqual({ ...right(), workers: someWorkers, lost: [], isIsolated, scope: 'Window' });
    expect(uncaught).toEqual([]);
  });

  it('computes with workers of a worker', async () => {
    const { outcome, uncaught } = await compute('nested', sent);
    const scope = 'DedicatedWorkerGlobalScope';
    expect(outcome).toEqual({ ...right(), workers: someWorkers, lost: [], isIsolated, scope });
    expect(uncaught).toEqual([]);
  });

  it('computes with workers of a script of its own, which imports that of the package', async () => {
    const { outcome, uncaught } = await compute('ownScript', sent);
    expect(outcome).toMatchObject({ ...right(), workers: someWorkers, lost: [], isIsolated, hasStarted: true });
    expect(uncaught).toEqual([]);
  });

  it('computes again what a worker had that was terminated, and says so', async () => {
    const { outcome, uncaught } = await compute('terminated', sent);
    expect(outcome).toMatchObject({
      ...right(),
      workers: 0,
      lost: ['worker 1 was not heard of any more'],
      isIsolated,
    });
    expect(uncaught).toEqual([]);
  });
});

describe('under a policy', () => {
  it("of worker-src 'self' there are workers", async () => {
    const { outcome, uncaught } = await compute('asItIs', policy("'self'"));
    expect(outcome).toMatchObject({ ...right(), workers: someWorkers, lost: [] });
    expect(uncaught).toEqual([]);
  });

  it("of worker-src 'none' it computes in its own thread", async () => {
    const { outcome, uncaught } = await compute('alone', policy("'none'"));
    expect(outcome).toMatchObject({ ...right(), workers: 0, lost: notLoaded });
    expect(uncaught).toEqual([]);
  });

  it('of isolation that its worker is not served with, it computes in its own thread', async () => {
    const { outcome, uncaught } = await compute('alone', ISOLATED, {});
    expect(outcome).toMatchObject({ ...right(), workers: 0, lost: notLoaded, isIsolated: true });
    expect(uncaught).toEqual([]);
  });
});
