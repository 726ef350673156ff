/**
 * The built package in the places that it must run in, in Chromium: what tests/places/ has, copied
 * into a project of its own in which the package is installed.
 */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  bn254G1,
  encodeScalars,
  expectedMsm,
  groupOrder,
  makeKnownBases,
  makeRandomScalars,
} from '../../dev/oracle/known-bases.js';
import { launchChromium } from '../../scripts/browser/launch.js';
import { inWasm } from '../support/arithmetic.js';
import { type BuiltModule, buildLibrary } from '../support/build-library.js';
import { inProject } from '../support/run-script.js';
import { sleep } from '../support/time.js';

const { logs, bytes: pointBytes } = makeKnownBases(bn254G1, 64, 31);
const scalars = [0n, groupOrder(bn254G1) - 1n, 2n ** 256n - 1n, ...makeRandomScalars(bn254G1, 61, 32)];
const expected = (() => {
  const { x, y, infinity } = expectedMsm(bn254G1, logs, scalars);
  return { x: String(x), y: String(y), infinity };
})();

const REPORTS = '/csp-reports';
const POLICY = `default-src 'none'; script-src 'self'; report-uri ${REPORTS}`;
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
};

/** Report of a violation that the browser sends to the server. */
interface Violation {
  readonly 'effective-directive': string;
  readonly 'blocked-uri': string;
  readonly 'document-uri': string;
}

const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-places-'));
const installed = join(folder, 'node_modules/webgpu-msm');
const built = join(installed, 'dist/index.js');
let library: BuiltModule[];
let server: Server;
let origin: string;
/** Another origin that has the package: to a page, what a CDN is. */
let cdn: Server;
let browser: Browser;
let requested: string[] = [];
const violations: Violation[] = [];

/** The project's files; those that vite built, with the policy. */
const serve = (): Promise<Server> => {
  const listening = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    if (pathname === REPORTS) {
      violations.push(JSON.parse(await text(request))['csp-report']);
      response.writeHead(204).end();
      return;
    }
    requested.push(pathname);
    const type = TYPES[extname(pathname)];
    const file = join(folder, pathname);
    if (type === undefined || !existsSync(file)) {
      response.writeHead(404).end();
      return;
    }
    const asked = pathname.startsWith('/bundled/') ? POLICY : searchParams.get('policy');
    const policy = asked === null ? {} : { 'content-security-policy': asked };
    const shared = pathname.startsWith('/node_modules/') ? { 'access-control-allow-origin': '*' } : {};
    response.writeHead(200, { 'content-type': type, ...policy, ...shared }).end(readFileSync(file));
  });
  return new Promise((resolve) => listening.listen(0, '127.0.0.1', () => resolve(listening)));
};

const originOf = (listening: Server): string => `http://127.0.0.1:${(listening.address() as AddressInfo).port}`;

beforeAll(async () => {
  // the package as npm would install it
  library = await buildLibrary(join(installed, 'dist'));
  cpSync(inProject('package.json'), join(installed, 'package.json'));

  cpSync(inProject('tests/package/places'), folder, { recursive: true });
  const asModule = (bytes: Uint8Array): string => `Uint8Array.from([${bytes}])`;
  writeFileSync(
    join(folder, 'case.js'),
    `export const points = ${asModule(pointBytes)};\nexport const scalars = ${asModule(encodeScalars(bn254G1, scalars))};\n`,
  );
  await build({
    configFile: false,
    root: folder,
    // Served from a folder; the rest of the configuration is vite's own.
    base: './',
    build: { outDir: 'bundled', rolldownOptions: { input: join(folder, 'bundled.html') } },
    logLevel: 'error',
  });

  server = await serve();
  origin = originOf(server);
  cdn = await serve();
  ({ browser } = await launchChromium('software'));
});

afterAll(async () => {
  await browser?.close();
  for (const listening of [server, cdn]) {
    listening?.closeAllConnections();
    listening?.close();
  }
  rmSync(folder, { recursive: true, force: true });
});

/** Results of the parts of a page, by name. */
type Outcome = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/**
 * Opens a page and waits for what it leaves in its `output`; also what Chromium had to complain
 * about meanwhile.
 */
const open = async (path: string): Promise<{ outcome: Outcome; complaints: string[] }> => {
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  requested = [];
  try {
    await page.goto(`${origin}${path}`);
    const output = page.locator('output', { hasText: /./ });
    await output.waitFor({ timeout: 60_000 }).catch((cause) => {
      throw new Error(`${path} says nothing. ${complaints.join('\n')}`, { cause });
    });
    return { outcome: JSON.parse((await output.textContent()) ?? ''), complaints };
  } finally {
    await page.close();
  }
};

describe('the built package', () => {
  it('makes no code from text, and imports only its own modules', () => {
    for (const { code } of library) {
      expect(code.match(/\beval\s*\(|\bnew\s+Function\b|\bFunction\s*\(/g)).toBeNull();
    }
    const files = library.map(({ fileName, imports, dynamicImports }) => [
      fileName,
      ...[...imports, ...dynamicImports].sort(),
    ]);
    expect(files).toEqual([
      ['calibrate.js', 'index.js'],
      ['circom.js', 'circuit.js', 'constraints.js', 'formats.js', 'index.js', 'proofs.js'],
      ['circuit-worker.js', 'circuit.js', 'formats.js', 'index.js'],
      // bundled with commander into command.js afterwards
      [
        'command-entry.js',
        './circom.js',
        'circuit.js',
        'commander',
        'exported-key.js',
        'formats.js',
        'index.js',
        'node.js',
        'node:crypto',
        'node:fs/promises',
        'node:module',
        'node:path',
        'node:readline/promises',
        'node:stream',
        'node:url',
        'setup.js',
        'verifiers.js',
      ],
      ['fflonk.js', 'index.js', 'plonkish.js', 'proofs.js', 'vectors.js'],
      ['fields.js', 'arithmetic.js', 'index.js', 'open-vectors.js', 'vectors.js'],
      ['formats.js', 'compact-key.js', 'compact-writer.js', 'index.js', 'remote-file.js', 'stored-keys.js'],
      [
        ...['groth16.js', 'formats.js', 'index.js', 'prepared-matrices.js', 'proofs.js', 'streamed-quotient.js'],
        'vectors.js',
      ],
      ['index.js', 'cpu-backend.js', 'encodings.js', 'more-curves.js'],
      ['noble.js', 'index.js', 'more-curves.js'],
      ['node.js', 'disk-file.js', 'formats.js', 'index.js', 'node:fs/promises', 'node:path'],
      ['plonk.js', 'index.js', 'plonkish.js', 'proofs.js', 'vectors.js'],
      [
        ...['setup.js', 'arithmetic.js', 'exported-key.js', 'fields.js', 'formats.js', 'index.js'],
        ...['open-scaler.js', 'proofs.js', 'r1cs.js', 'sink.js', 'threads.js'],
      ],
      [
        ...['snarkjs-drop-in.js', 'circom.js', 'constraints.js', 'exported-key.js', 'fflonk.js', 'formats.js'],
        ...['groth16.js', 'index.js', 'plonk.js', 'proofs.js', 'provers.js', 'verifiers.js'],
      ],
      ['snarkjs.js', 'formats.js', 'index.js', 'provers.js', 'setup.js'],
      ['arithmetic.js', 'index.js'],
      ['circuit.js', 'fflonk.js', 'formats.js', 'groth16.js', 'index.js', 'plonk.js'],
      ['compact-chunks.js', 'arithmetic.js', 'index.js', 'sha256.js', 'threads.js', 'vectors.js'],
      ['compact-key.js', 'compact-chunks.js', 'index.js', 'sha256.js'],
      ['compact-writer.js', 'compact-chunks.js', 'index.js', 'sha256.js', 'sink.js'],
      ['constraints.js', 'formats.js', 'index.js', 'proofs.js', 'r1cs.js'],
      ['cpu-backend.js', 'arithmetic.js', 'index.js', 'threads.js'],
      ['disk-file.js', 'index.js'],
      ['encodings.js'],
      ['exported-key.js', 'formats.js', 'index.js', 'pairing.js', 'plonkish.js', 'proofs.js'],
      ['more-curves.js'],
      ['open-scaler.js', 'index.js', 'setup.js'],
      ['open-vectors.js', 'index.js', 'vectors.js'],
      ['pairing.js', 'index.js'],
      ['plonkish.js', 'formats.js', 'index.js', 'proofs.js'],
      ['prepared-matrices.js', 'formats.js', 'groth16.js'],
      ['proofs.js', 'fields.js', 'formats.js', 'index.js', 'pairing.js'],
      [
        ...['provers.js', 'circuit.js', 'disk-file.js', 'fflonk.js', 'formats.js', 'groth16.js'],
        ...['index.js', 'plonk.js', 'remote-file.js', 'sha256.js'],
      ],
      ['r1cs.js', 'formats.js', 'index.js'],
      ['remote-file.js', 'disk-file.js', 'index.js'],
      ['sha256.js'],
      ['sink.js', 'index.js'],
      ['stored-keys.js', 'disk-file.js', 'formats.js', 'index.js', 'sha256.js'],
      ['streamed-quotient.js', 'groth16.js', 'index.js', 'vectors.js'],
      ['threads.js', 'arithmetic.js', 'index.js', 'worker-text.js'],
      ['vectors.js', 'arithmetic.js', 'index.js'],
      ['verifiers.js', 'fflonk.js', 'formats.js', 'groth16.js', 'index.js', 'plonk.js', 'plonkish.js', 'proofs.js'],
      ['worker-text.js'],
    ]);
  });

  it('can be imported without WebGPU, and leaves nothing on globalThis', async () => {
    const before = Reflect.ownKeys(globalThis);
    const exported = await import(/* @vite-ignore */ pathToFileURL(built).href);
    const calibration = await import(/* @vite-ignore */ pathToFileURL(join(built, '../calibrate.js')).href);
    const formats = await import(/* @vite-ignore */ pathToFileURL(join(built, '../formats.js')).href);
    expect(Reflect.ownKeys(globalThis)).toEqual(before);
    // one letter or two: for the other modules of the package
    expect(
      Object.keys(exported)
        .filter((name) => name.length > 2)
        .sort(),
    ).toEqual(['MsmError', 'addPoints', 'createMsmEngine', 'version']);
    expect(Object.keys(calibration).sort()).toEqual(['calibrate', 'indexedDbStore']);
    expect(
      Object.keys(formats)
        .filter((name) => name.length > 2)
        .sort(),
    ).toEqual([
      'openAztecCrs',
      'openGnarkSrs',
      'openHalo2Params',
      'openPtau',
      'openZkey',
      'opfsCache',
      'packZkey',
      'unpackZkey',
    ]);
    expect((await exported.createMsmEngine({ curve: 'bn254' })).backends).toEqual(['cpu']);
  });
});

const MODULE = '/node_modules/webgpu-msm/dist/index.js';

it('continues after a page stood still while calls were under way', { tags: 'long' }, async () => {
  const page = await browser.newPage();
  try {
    await page.goto(`${origin}/standstill.html`);
    await page.waitForFunction(() => document.title === 'calling', undefined, { timeout: 60_000 });
    // as a page is that the browser froze: this Chromium freezes none that playwright shows
    const session = await page.context().newCDPSession(page);
    await session.send('Debugger.enable');
    const paused = new Promise((resolve) => session.once('Debugger.paused', resolve));
    await session.send('Debugger.pause');
    await paused;
    await sleep(1500);
    await session.send('Debugger.resume');
    await session.send('Debugger.disable');
    const output = page.locator('output', { hasText: /./ });
    await output.waitFor({ timeout: 120_000 });
    expect(JSON.parse((await output.textContent()) ?? '')).toEqual({
      manyCalls: { points: [expected], uncounted: 0, failed: 0, stoodStill: true },
    });
  } finally {
    await page.close();
  }
});

const worksUnbundled = (_: string, library: () => string): void => {
  let outcome: Outcome;

  beforeAll(async () => {
    let complaints: string[];
    ({ outcome, complaints } = await open(`/plain.html?${new URLSearchParams({ library: library() })}`));
    expect(complaints).toEqual([]);
  });

  it('fetches the module, what it loads later, calibrate on request, and nothing else', () => {
    const own = ['/plain.html', '/before.js', '/plain.js', '/plain-worker.js', '/multiply.js', '/case.js'];
    // a GPU takes its last step from the file of the CPU backend
    const later = ['cpu-backend.js', 'arithmetic.js', 'threads.js'].map((name) => MODULE.replace('index.js', name));
    const calibrate = MODULE.replace('index.js', 'calibrate.js');
    expect([...new Set(requested)].filter((path) => !own.includes(path))).toEqual([MODULE, calibrate, ...later]);
  });

  it('has no side effect when imported: no global, no request to WebGPU', () => {
    expect(outcome.sideEffects).toEqual({ newGlobals: [], requests: 0 });
  });

  it('computes', () => {
    const { asItIs } = outcome;
    expect(asItIs).toMatchObject({ point: expected });
    expect(asItIs?.phases !== null).toBe(asItIs?.hasTimestamps);
  });

  it('computes in a bare module worker', () => {
    expect(outcome.bareWorker).toMatchObject({ point: expected, scope: 'DedicatedWorkerGlobalScope' });
  });

  it('computes on a device of the caller with the default limits', () => {
    expect(outcome.defaultDevice).toEqual({
      point: expected,
      phases: null,
      limits: { maxStorageBufferBindingSize: 2 ** 27, maxBufferSize: 2 ** 28 },
      errors: [],
    });
  });

  it('stores calibrations in IndexedDB, and misses those it never stored', () => {
    expect(outcome.indexedDb).toEqual({ first: null, later: 'two' });
  });

  it('shares one engine and one error class between both modules', () => {
    expect(outcome.oneEngine).toEqual({ isMine: true, code: 'bad-argument' });
  });

  it('computes on an adapter without optional features, and requests none', () => {
    expect(outcome.bareAdapter).toEqual({ point: expected, phases: null, asked: [] });
  });
};

describe('a page without WebGPU computes', () => {
  const strict = "default-src 'none'; script-src 'self'";
  it.each([
    ['in WebAssembly', '', inWasm],
    ['so too under a policy that allows it', `${strict} 'wasm-unsafe-eval'`, inWasm],
    ['on BigInts under one that does not', strict, 'bigint'],
  ])('%s', async (_, policy, arithmetic) => {
    const query = policy === '' ? '' : `?${new URLSearchParams({ policy })}`;
    const { outcome } = await open(`/without/without.html${query}`);
    expect(outcome.page).toEqual({
      ...{ backends: ['cpu'], on: 'cpu', arithmetic },
      fiveTimes: String(bn254G1.Point.BASE.multiply(5n).x),
      point: expected,
    });
  });
});

const title = 'a page without a bundler that has the modules from %s';
describe.each([['another server, as a CDN is', () => `${originOf(cdn)}${MODULE}`] as const])(title, worksUnbundled);
describe.each([['its own server', () => MODULE] as const])(title, { tags: 'long' }, worksUnbundled);

describe('a page that vite built, under a policy without unsafe-eval and inline scripts', () => {
  let outcome: Outcome;

  beforeAll(async () => {
    ({ outcome } = await open('/bundled/bundled.html'));
  });

  it('computes', () => {
    expect(outcome.page).toMatchObject({ point: expected });
  });

  it('computes in a dedicated module worker', () => {
    expect(outcome.worker).toMatchObject({ point: expected, scope: 'DedicatedWorkerGlobalScope' });
  });

  it('violates the policy on purpose, to show that it is in force, and once in a thread by WebAssembly', async () => {
    expect([outcome.page?.codeFromText, outcome.worker?.codeFromText]).toEqual(['EvalError', 'EvalError']);
    await expect.poll(() => violations.length).toBeGreaterThanOrEqual(4);
    expect(
      violations.map((violation) => [violation['effective-directive'], violation['blocked-uri']]).sort(),
      JSON.stringify(violations, null, 2),
    ).toEqual([
      ['script-src', 'eval'],
      ['script-src', 'eval'],
      ['script-src', 'wasm-eval'],
      ['script-src', 'wasm-eval'],
    ]);
  });
});
