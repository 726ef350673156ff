import { bn254 } from '@noble/curves/bn254.js';
import type { Browser } from 'playwright';
import { createServer, type ViteDevServer } from 'vite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchChromium } from '../../scripts/browser/launch.js';
import { builtLibrary } from '../support/build-library.js';
import { inProject } from '../support/run-script.js';

let server: ViteDevServer;
let browser: Browser;

beforeAll(async () => {
  server = await createServer({
    configFile: false,
    root: inProject('examples/page'),
    cacheDir: inProject('node_modules/.vite-example'),
    resolve: { alias: { 'webgpu-msm': `${await builtLibrary()}/index.js` } },
    server: { host: '127.0.0.1', port: 0, hmr: false, watch: null, fs: { allow: [inProject('.')] } },
    logLevel: 'error',
  });
  await server.listen();
  ({ browser } = await launchChromium('software'));
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

it('the example page multiplies with the built package', async () => {
  const page = await browser.newPage();
  const address = server.httpServer?.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port');
  await page.goto(`http://127.0.0.1:${address.port}/`);
  await page.getByRole('button', { name: 'Compute' }).click();
  await page.getByText('ms on').waitFor({ timeout: 60_000 });
  const { x, y } = bn254.G1.Point.BASE.multiply(5n).toAffine();
  expect(await page.getByRole('status').textContent()).toContain(`x = 0x${x.toString(16)}\ny = 0x${y.toString(16)}\n`);
});
