/**
 * The workers of the built package in Chromium: on pages that may share memory and on those that
 * may not, in workers, under policies, and on those where there are none to be had. The pages are
 * in tests/places-workers/.
 *
 * @module-tag long
 */
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import type { Browser } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium } from '../../scripts/browser/launch.js';
import { type Headers, makePlace, type Place, type Said, saidBy, serveFolder } from '../support/worker-place.js';
import { nothingLost, notLoaded, right, someWorkers } from '../support/workers-seen.js';

const ISOLATED: Headers = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
};

const policy = (workers: string): Headers => ({
  'content-security-policy': `default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src ${workers}`,
});

let place: Place;
let server: Server;
let origin: string;
/** Another origin that has the package: to a page, what a CDN is. */
let cdn: Server;
let elsewhere: string;
let browser: Browser;
/** Headers that the server sends with each file, and with the package's worker. */
let headers: Headers = {};
let workerHeaders: Headers = {};

beforeAll(async () => {
  place = await makePlace();
  const headersOf = (pathname: string): Headers =>
    pathname.endsWith('/webgpu-msm-worker.js') ? workerHeaders : headers;
  ({ server, origin } = await serveFolder(place.folder, headersOf));
  ({ server: cdn, origin: elsewhere } = await serveFolder(place.folder, () => ({
    'access-control-allow-origin': '*',
  })));
  ({ browser } = await launchChromium('software'));
});

afterAll(async () => {
  await browser?.close();
  for (const listening of [server, cdn]) {
    listening?.closeAllConnections();
    listening?.close();
  }
  if (place !== undefined) rmSync(place.folder, { recursive: true, force: true });
});

/** Opens a page that computes in one of the ways, and returns its output. */
const compute = (way: string, sent: Headers, sentWithWorker = sent): Promise<Said> => {
  [headers, workerHeaders] = [sent, sentWithWorker];
  return saidBy(browser, `${origin}/pages/page.html?way=${way}`);
};

describe.each([
  ['that is cross-origin isolated, whose workers share memory', ISOLATED, true],
  ['that is not, whose workers are told what to do by messages', {}, false],
])('a page %s', (_, sent, isIsolated) => {
  it('computes with workers', async () => {
    const { outcome, uncaught } = await compute('asItIs', sent);
    expect(outcome).toEqual({ ...right(place), workers: someWorkers, ...nothingLost, isIsolated, scope: 'Window' });
    expect(uncaught).toEqual([]);
  });

  it('computes with workers of a worker', async () => {
    const { outcome, uncaught } = await compute('nested', sent);
    const scope = 'DedicatedWorkerGlobalScope';
    expect(outcome).toEqual({ ...right(place), workers: someWorkers, ...nothingLost, isIsolated, scope });
    expect(uncaught).toEqual([]);
  });

  it("computes with workers of its own script, which imports the package's worker", async () => {
    const { outcome, uncaught } = await compute('ownScript', sent);
    expect(outcome).toMatchObject({
      ...right(place),
      workers: someWorkers,
      ...nothingLost,
      isIsolated,
      hasStarted: true,
    });
    expect(uncaught).toEqual([]);
  });

  it('recomputes the part of a terminated worker, and reports it', async () => {
    const { outcome, uncaught } = await compute('terminated', sent);
    expect(outcome).toMatchObject({
      ...right(place),
      workers: 0,
      lost: ['worker 1 was not heard of any more'],
      isIsolated,
    });
    expect(uncaught).toEqual([]);
  });
});

describe('a page under a policy', () => {
  it("with worker-src 'self' has workers", async () => {
    const { outcome, uncaught } = await compute('asItIs', policy("'self'"));
    expect(outcome).toMatchObject({ ...right(place), workers: someWorkers, ...nothingLost });
    expect(uncaught).toEqual([]);
  });

  it("with worker-src 'none' computes in its own thread, and warns once", async () => {
    const { outcome, uncaught } = await compute('alone', policy("'none'"));
    const noWorkers = 'worker 2 died: it could not be loaded';
    const warnings = [expect.stringContaining(noWorkers)];
    expect(outcome).toMatchObject({ ...right(place), workers: 0, lost: notLoaded, noWorkers, warnings });
    expect(uncaught).toEqual([]);
  });

  it('that forbids compiling in a worker computes there with a module that the page compiled', async () => {
    const { outcome, uncaught } = await compute('asItIs', {}, { 'content-security-policy': "script-src 'self'" });
    expect(outcome).toMatchObject({ ...right(place), workers: someWorkers, ...nothingLost });
    expect(uncaught).toEqual([]);
  });

  it('of isolation has the worker from its text if its file lacks the header', async () => {
    const { outcome, uncaught } = await compute('asItIs', ISOLATED, {});
    expect(outcome).toMatchObject({ ...right(place), workers: someWorkers, ...nothingLost, isIsolated: true });
    expect(uncaught).toEqual([]);
  });
});

it('a page with the package from another origin, whose file it may not start, has the worker from its text', async () => {
  const library = `${elsewhere}/node_modules/webgpu-msm/dist/index.js`;
  const { outcome, uncaught } = await compute(`elsewhere&${new URLSearchParams({ library })}`, {});
  expect(outcome).toMatchObject({ ...right(place), workers: someWorkers, ...nothingLost });
  expect(uncaught).toEqual([]);
});

it('a page that gets another script for the worker, which never reports ready, has the worker from its text', async () => {
  cpSync(join(place.folder, 'node_modules/webgpu-msm/dist'), join(place.folder, 'other'), { recursive: true });
  writeFileSync(join(place.folder, 'other/webgpu-msm-worker.js'), 'postMessage(null); postMessage({ say: 1 });');
  const { outcome, uncaught } = await compute('elsewhere&library=/other/index.js', {});
  expect(outcome).toMatchObject({ ...right(place), workers: someWorkers, ...nothingLost });
  expect(uncaught).toEqual([]);
});
