/**
 * Times pages from their opening to the shown proof, by the library and by snarkjs in turns. All files
 * are in the browser's HTTP cache, which a visit to each page fills before.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import type { BrowserContext } from 'playwright';
import { interleave } from '../dev/bench/measure.js';
import { launchChromium } from './browser/launch.js';
import { project } from './builds.mjs';

/** Libraries whose pages are timed. */
export const libraries = ['webgpu-msm', 'snarkjs'] as const;
type Library = (typeof libraries)[number];

/** A proof that a page shows, and the time that it took. */
export interface ShownProof {
  readonly proof: object;
  readonly publicSignals: readonly string[];
  /** From the start of the navigation to the proof, in milliseconds. */
  readonly ms: number;
}

/** A circuit, and inputs in JSON. */
interface PageCircuit {
  readonly wasm: Uint8Array;
  readonly zkey: Uint8Array;
  readonly input: object;
}

/** Programs of the pages; both end with a `result`. */
const programs: Readonly<Record<Library, string>> = {
  'webgpu-msm': `import { openCircuit } from 'webgpu-msm/circom';
    const circuit = await openCircuit({ wasm: '/circuit.wasm', zkey: '/circuit.zkey' }, { onWarning() {} });
    const result = await circuit.prove(input);`,
  snarkjs: `const result = await snarkjs.groth16.fullProve(input, '/circuit.wasm', '/circuit.zkey');`,
};

/** Scripts that a page loads before its program. */
const scripts: Readonly<Record<Library, string>> = {
  'webgpu-msm': '<script type="importmap">{ "imports": { "webgpu-msm/circom": "/webgpu-msm/circom.js" } }</script>',
  snarkjs: '<script src="/snarkjs.min.js"></script>',
};

const pageOf = (library: Library, input: object): string => `<!doctype html>
  <link rel="icon" href="data:,"><output></output>${scripts[library]}
  <script type="module">
    const input = ${JSON.stringify(input)};
    ${programs[library]}
    document.querySelector('output').textContent = JSON.stringify({ ...result, ms: performance.now() });
  </script>`;

const types: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript' };

/** Serves files from memory for a year, and counts the requests. */
const serve = async (files: ReadonlyMap<string, Uint8Array | string>) => {
  const served = { requests: 0 };
  const server = createServer(({ url = '/' }, response) => {
    const file = files.get(url);
    served.requests++;
    if (file === undefined) return response.writeHead(404).end();
    const type = types[extname(url)] ?? 'application/octet-stream';
    return response.writeHead(200, { 'content-type': type, 'cache-control': 'max-age=31536000' }).end(file);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const end = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { served, end, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
};

/** Opens a page, and closes it once it shows a proof. */
const visit = async (context: BrowserContext, url: string): Promise<ShownProof> => {
  const page = await context.newPage();
  const failed = new Promise<never>((_, reject) => page.once('pageerror', reject));
  try {
    await page.goto(url);
    const output = page.locator('output', { hasText: /./ });
    await Promise.race([output.waitFor({ timeout: 120_000 }), failed]);
    return JSON.parse((await output.textContent()) ?? '');
  } finally {
    await page.close();
  }
};

/**
 * Times first proofs of pages.
 *
 * @param reps visits to each page, beside the one that fills the cache
 * @param take gets each proof, also the first ones, which are not timed
 * @returns the browser
 * @throws Error if a page fails, or if its files are not all in the cache
 */
export const timePages = async (
  { wasm, zkey, input }: PageCircuit,
  reps: number,
  take: (library: Library, shown: ShownProof, isTimed: boolean) => Promise<void>,
): Promise<string> => {
  const dist = join(project, 'dist');
  const modules = readdirSync(dist).filter((name) => name.endsWith('.js'));
  const files = new Map<string, Uint8Array | string>([
    ...modules.map((name) => [`/webgpu-msm/${name}`, readFileSync(join(dist, name))] as const),
    ['/snarkjs.min.js', readFileSync(join(project, 'node_modules/snarkjs/build/snarkjs.min.js'))],
    ...libraries.map((library) => [`/${library}.html`, pageOf(library, input)] as const),
    ['/circuit.wasm', wasm],
    ['/circuit.zkey', zkey],
  ]);
  const { served, origin, end } = await serve(files);
  const { browser, source } = await launchChromium('software');
  try {
    const context = await browser.newContext();
    const shown = (library: Library): Promise<ShownProof> => visit(context, `${origin}/${library}.html`);
    for (const library of libraries) await take(library, await shown(library), false);
    const { requests } = served;
    await interleave(libraries, reps, {
      async take(library) {
        await take(library, await shown(library), true);
      },
    });
    if (served.requests > requests) throw new Error(`${served.requests - requests} files were not in the HTTP cache`);
    return source;
  } finally {
    await browser.close();
    end();
  }
};
