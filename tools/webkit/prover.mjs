/**
 * npm --prefix tools/webkit run prover -- firefox
 *
 * Builds the page examples/prover/ with the library in dist/, and has a browser prove the sample circuit with
 * it, after cancelling at each stage.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { build, preview } from 'vite';
import { runTypeScript } from '../../scripts/typescript.mjs';
import { browserNames, startBrowser } from './browsers.mjs';

/** Milliseconds until a browser that sends nothing counts as failed. */
const SILENT_MS = 180_000;

const [name = 'firefox'] = process.argv.slice(2);
if (!browserNames.includes(name)) throw new Error(`there is no browser ${name}; there are ${browserNames.join(', ')}`);

await runTypeScript('scripts/sample-circuit.ts');
const outDir = mkdtempSync(join(tmpdir(), 'webgpu-msm-prover-'));
const root = join(import.meta.dirname, '../../examples/prover');
const config = /** @type {const} */ ({ root, configFile: join(root, 'vite.config.ts'), logLevel: 'error' });

/** Adds the module that uses the page. @type {import('vite').Plugin} */
const driver = {
  name: 'driver',
  resolveId: (id) => (id === 'virtual:driver' ? join(import.meta.dirname, 'drive-prover.ts') : null),
  transformIndexHtml: {
    order: 'pre',
    handler: (html) => html.replace('</body>', '<script type="module">import \'virtual:driver\';</script></body>'),
  },
};

/** Takes what the page sends. @type {(seen: string) => void} */
let onSeen = () => undefined;
/** @type {import('vite').Plugin} */
const receiver = {
  name: 'receiver',
  configurePreviewServer: ({ middlewares }) => {
    middlewares.use('/seen', async (request, response) => {
      onSeen(await text(request));
      response.end();
    });
  },
};

await build({ ...config, plugins: [driver], build: { outDir, emptyOutDir: true } });
const server = await preview({
  ...config,
  plugins: [receiver],
  build: { outDir },
  preview: { host: '127.0.0.1', port: 0 },
});
const profile = mkdtempSync(join(tmpdir(), `webgpu-msm-${name}-`));
const [url] = server.resolvedUrls?.local ?? [];
const end = startBrowser(name, `${url}?file=sample.wasm&file=sample.zkey&file=sample.json`, profile);
try {
  const sent = await new Promise((resolve) => {
    onSeen = resolve;
    setTimeout(resolve, SILENT_MS, '{ "failed": "the page sent nothing" }').unref();
  });
  const seen = JSON.parse(sent);
  console.log(JSON.stringify(seen, null, 2));
  if (seen.failed !== undefined || seen.cancelled.length !== 4 || seen.uncaught.length > 0) process.exitCode = 1;
} finally {
  end();
  await server.close();
  for (const folder of [outDir, profile]) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
