/**
 * A project that has the package installed, with the pages of tests/places-workers/ in pages/; and
 * what these pages say in a browser.
 */
import { cpSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import type { Browser } from 'playwright';
import {
  bn254G1,
  encodeScalars,
  expectedMsm,
  makeKnownBases,
  makeRandomScalars,
} from '../../dev/oracle/known-bases.js';
import { buildLibrary } from './build-library.js';
import { inProject } from './run-script.js';

/** Enough for three workers (src/msm/plan/cost.ts). */
const N = 8192;

export interface Place {
  readonly folder: string;
  /** Sum that the pages compute, as in JSON. */
  readonly expected: { readonly x: string; readonly y: string; readonly infinity: boolean };
}

/** Makes a folder, which the caller removes. */
export const makePlace = async (): Promise<Place> => {
  const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-workers-'));
  // the package as npm would install it
  const installed = join(folder, 'node_modules/webgpu-msm');
  await buildLibrary(join(installed, 'dist'));
  cpSync(inProject('package.json'), join(installed, 'package.json'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  cpSync(inProject('tests/package/places-workers'), join(folder, 'pages'), { recursive: true });
  return { folder, expected: writeCase(join(folder, 'pages/case.js')) };
};

const writeCase = (path: string): Place['expected'] => {
  const { logs, bytes } = makeKnownBases(bn254G1, N, 41);
  const scalars = makeRandomScalars(bn254G1, N, 42);
  const decoded = (of: Uint8Array): string =>
    `Uint8Array.from(atob('${Buffer.from(of).toString('base64')}'), (letter) => letter.charCodeAt(0))`;
  const lines = [
    `export const points = ${decoded(bytes)};`,
    `export const scalars = ${decoded(encodeScalars(bn254G1, scalars))};`,
  ];
  writeFileSync(path, `${lines.join('\n')}\n`);
  const { x, y, infinity } = expectedMsm(bn254G1, logs, scalars);
  return { x: String(x), y: String(y), infinity };
};

export type Headers = Readonly<Record<string, string>>;

const TYPES: Headers = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.wasm': 'application/wasm',
  '.zkey': 'application/octet-stream',
};

/**
 * Serves a folder.
 *
 * @param headersOf what is sent with a file
 */
export const serveFolder = async (
  folder: string,
  headersOf: (pathname: string) => Headers = () => ({}),
): Promise<{ readonly server: Server; readonly origin: string }> => {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const file = join(folder, pathname);
    const type = TYPES[extname(pathname)];
    if (type === undefined || !existsSync(file)) response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': type, ...headersOf(pathname) }).end(readFileSync(file));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
};

/** Output of a page, and the errors that it did not catch. */
export interface Said {
  readonly outcome: Readonly<Record<string, unknown>>;
  readonly uncaught: readonly string[];
}

/** Opens a page and waits for what it leaves in its `output`. */
export const saidBy = async (browser: Browser, url: string): Promise<Said> => {
  const page = await browser.newPage();
  const uncaught: string[] = [];
  page.on('pageerror', (error) => uncaught.push(error.message));
  try {
    await page.goto(url);
    const output = page.locator('output', { hasText: /./ });
    await output.waitFor({ timeout: 60_000 }).catch((cause) => {
      throw new Error(`${url} says nothing. ${uncaught.join('\n')}`, { cause });
    });
    return { outcome: JSON.parse((await output.textContent()) ?? ''), uncaught };
  } finally {
    await page.close();
  }
};
