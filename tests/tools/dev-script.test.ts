import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import jsQR from 'jsqr';
import type { Browser } from 'playwright';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium } from '../../scripts/browser/launch.js';
import { parseOptions } from '../../scripts/dev-server.js';
import { inProject, runScript } from '../support/run-script.js';

/** Address of this machine that a phone would open; undefined without a network. */
const networkAddress = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

let folder: string;
const children: ChildProcess[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dev-script-'));
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** Starts the command on a free port, and resolves with its output once that contains `last`. */
function startDev(last: string, ...args: string[]): Promise<string> {
  const child = spawn(process.execPath, [inProject('scripts/dev.mjs'), '--port', '0', ...args], {
    env: { ...process.env, WEBGPU_MSM_RESULTS: join(folder, 'results'), NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let said = '';
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`dev ended with ${code}: ${said}`)));
    const hear = (data: Buffer) => {
      said += data;
      if (said.includes(last)) resolve(said);
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
  });
}

/**
 * Reads a printed QR code as a camera would. A character is two modules, the upper and the lower
 * one; drawn modules are light.
 */
function scan(code: string): string | undefined {
  const lines = code.split('\n').filter((line) => /^[█▀▄ ]{20,}$/.test(line));
  const rows = lines.flatMap((line) => [
    [...line].map((character) => '█▀'.includes(character)),
    [...line].map((character) => '█▄'.includes(character)),
  ]);
  const scale = 4;
  const margin = 4;
  const size = (Math.max(rows.length, rows[0]?.length ?? 0) + 2 * margin) * scale;
  const pixels = new Uint8ClampedArray(size * size * 4).fill(255);
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const light = rows[Math.floor(y / scale) - margin]?.[Math.floor(x / scale) - margin] ?? true;
      if (!light) pixels.fill(0, (y * size + x) * 4, (y * size + x) * 4 + 3);
    }
  }
  return jsQR(pixels, size, size, { inversionAttempts: 'dontInvert' })?.data;
}

const benchUrl = (said: string): string | undefined => /Bench: +(\S+)/.exec(said)?.[1];

describe('npm run dev', () => {
  it('serves this machine alone by default, over http, and prints the address to open', async () => {
    const said = await startDev('Bench:', '--autorun', 'msm-bench', '--query', 'logn=4', 'reps=1');
    expect(benchUrl(said)).toMatch(/^http:\/\/localhost:\d+\/\?autorun=msm-bench&logn=4&reps=1$/);
    expect(said).not.toContain('█');
    expect((await fetch(benchUrl(said) ?? '')).status).toBe(200);
  });

  it.skipIf(networkAddress === undefined)('prints a QR code with the network address and the query', async () => {
    const said = await startDev('warns once', '--host', '--autorun', 'msm-bench', '--query', 'logn=12,14', 'reps=5');
    expect(benchUrl(said)).toMatch(/^https:\/\/[\d.]+:\d+\/\?autorun=msm-bench&logn=12%2C14&reps=5$/);
    expect(benchUrl(said)).not.toContain('127.0.0.1');
    expect(scan(said)).toBe(benchUrl(said));
  });

  it.skipIf(networkAddress === undefined)('warns that other machines have no WebGPU over http', async () => {
    const said = await startDev('it has no WebGPU there', '--host', String(networkAddress), '--http');
    const url = /Network: +(\S+)/.exec(said)?.[1];
    expect(url).toMatch(`http://${networkAddress}:`);
    expect(scan(said)).toBe(url);
  });

  it('uses https exactly on addresses that a phone can reach', () => {
    const isHttps = (...args: string[]) => parseOptions(args).https;
    expect(
      [[], ['--host', '127.0.0.1'], ['--host', 'localhost'], ['--host', '--http']].map((args) => isHttps(...args)),
    ).toEqual([false, false, false, false]);
    expect(
      [['--host'], ['--host', '0.0.0.0'], ['--host=192.168.1.7', '--open']].map((args) => isHttps(...args)),
    ).toEqual([true, true, true]);
  });

  it.each([
    [['--host', '--query', 'logn'], '--query'],
    [['logn=4'], 'logn=4'],
    [['--port', 'http'], '--port'],
    [['--frobnicate'], '--frobnicate'],
  ])('refuses %j with the name of the option', async (args, named) => {
    const { code, stderr } = await runScript('scripts/dev.mjs', args, 30_000);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(named) });
  });

  it('prints its help', async () => {
    const { code, stdout } = await runScript('scripts/dev.mjs', ['--help'], 30_000);
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('--autorun MODE') });
  });
});

describe('the page over https', () => {
  let browser: Browser;

  beforeAll(async () => {
    ({ browser } = await launchChromium('software'));
  });

  afterAll(() => browser?.close());

  // without a network the test uses a loopback address; vite takes https only for an address that
  // it does not treat as loopback
  it(`computes on ${networkAddress ?? 'no network, so 127.0.0.1'}, and stores its rows`, {
    tags: 'long',
  }, async () => {
    const host = networkAddress ?? '0.0.0.0';
    const said = await startDev('Bench:', '--host', host, '--autorun', 'msm-bench', '--query', 'logn=4', 'reps=1');
    const url = new URL(benchUrl(said) ?? '');
    url.hostname = networkAddress ?? '127.0.0.1';
    const page = await browser.newPage({ ignoreHTTPSErrors: true });
    const errors: string[] = [];
    page.on('pageerror', ({ message }) => errors.push(message));
    await page.goto(url.href);
    await page.waitForFunction(() => ['done', 'failed'].includes(window.msmBench?.status), undefined, {
      timeout: 60_000,
    });
    const { status, error, rows } = await page.evaluate(() => window.msmBench);
    expect({ url: url.protocol, status, error, errors }).toEqual({
      url: 'https:',
      status: 'done',
      error: null,
      errors: [],
    });
    // browsers use HTTP/2 over https, where the header Host has another name
    expect(
      await page.evaluate(() => ({
        isSecureContext,
        crossOriginIsolated,
        protocol: performance.getEntriesByType('navigation').map((entry) => entry.toJSON().nextHopProtocol),
      })),
    ).toEqual({ isSecureContext: true, crossOriginIsolated: true, protocol: ['h2'] });
    await page.close();
    const kept = await readFile(join(folder, 'results', 'progress.jsonl'), 'utf8');
    expect(
      kept
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(rows);
  });
});
