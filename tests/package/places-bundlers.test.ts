/**
 * Workers of the package in the output of bundlers, in Chromium; also where the bundler leaves out
 * the file of the worker. The page is tests/package/places-workers/bundled.html.
 *
 * @module-tag long
 */
import { cpSync, existsSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { build as esbuild } from 'esbuild';
import type { Browser } from 'playwright';
import { createServer, type ViteDevServer, build as vite } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium } from '../../scripts/browser/launch.js';
import { makePlace, type Place, saidBy, serveFolder } from '../support/worker-place.js';
import { nothingLost, right, someWorkers } from '../support/workers-seen.js';

let place: Place;
let server: Server;
let origin: string;
let browser: Browser;

beforeAll(async () => {
  place = await makePlace();
  ({ server, origin } = await serveFolder(place.folder));
  ({ browser } = await launchChromium('software'));
});

afterAll(async () => {
  await browser?.close();
  server?.closeAllConnections();
  server?.close();
  if (place !== undefined) rmSync(place.folder, { recursive: true, force: true });
});

const hasWorkersAt = async (url: string): Promise<void> => {
  const { outcome, uncaught } = await saidBy(browser, url);
  expect(outcome).toMatchObject({ ...right(place), workers: someWorkers, ...nothingLost });
  expect(uncaught).toEqual([]);
};

describe('the output of vite', () => {
  beforeAll(async () => {
    await vite({
      configFile: false,
      root: join(place.folder, 'pages'),
      // served from a folder; the rest of the configuration is vite's own
      base: './',
      build: { outDir: '../vite', rolldownOptions: { input: join(place.folder, 'pages/bundled.html') } },
      logLevel: 'error',
    });
  });

  it("starts the package's worker", () => hasWorkersAt(`${origin}/vite/bundled.html?way=asItIs`));

  it("starts a worker of the program, which imports the package's worker", () =>
    hasWorkersAt(`${origin}/vite/bundled.html?way=ownScript`));

  it("has the file of the package's worker, which starts where `blob:` may not", async () => {
    const policy = "script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'";
    const strict = await serveFolder(place.folder, () => ({ 'content-security-policy': policy }));
    try {
      await hasWorkersAt(`${strict.origin}/vite/bundled.html?way=asItIs`);
    } finally {
      strict.server.closeAllConnections();
      strict.server.close();
    }
  });
});

describe("vite's development server, which bundles packages beforehand", () => {
  let dev: ViteDevServer;
  let url: string;

  beforeAll(async () => {
    dev = await createServer({
      configFile: false,
      root: place.folder,
      // named, as a dependency that is found late has vite load the page again
      optimizeDeps: { include: ['webgpu-msm', 'webgpu-msm/worker'] },
      server: { host: '127.0.0.1', port: 0, hmr: false },
      logLevel: 'error',
    });
    await dev.listen();
    url = `${dev.resolvedUrls?.local[0]}pages/bundled.html`;
  });
  afterAll(() => dev?.close());

  it("starts the package's worker", async () => {
    await hasWorkersAt(`${url}?way=asItIs`);
    expect(existsSync(join(place.folder, 'node_modules/.vite/deps/webgpu-msm.js'))).toBe(true);
  });

  it("starts a worker of the program, which imports the package's worker", () => hasWorkersAt(`${url}?way=ownScript`));
});

describe('the output of esbuild, which leaves URLs as they are', () => {
  beforeAll(async () => {
    const pages = join(place.folder, 'pages');
    const entryPoints = [join(pages, 'bundled.js'), join(pages, 'bundled-worker.js')];
    const outdir = join(place.folder, 'esbuild');
    await esbuild({ entryPoints, outdir, bundle: true, minify: true, format: 'esm', logLevel: 'error' });
    cpSync(join(pages, 'bundled.html'), join(outdir, 'bundled.html'));
  });

  it("starts the package's worker from its text, as its file is missing", () =>
    hasWorkersAt(`${origin}/esbuild/bundled.html?way=asItIs`));

  it("starts a worker of the program, which imports the package's worker", () =>
    hasWorkersAt(`${origin}/esbuild/bundled.html?way=ownScript`));
});
