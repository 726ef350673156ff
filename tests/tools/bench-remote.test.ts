import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer as createHttpServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Launched, launchChromium } from '../../scripts/browser/launch.js';
import { watchPage } from '../../scripts/browser/watch-page.js';
import { readArguments } from '../../scripts/command-line.js';
import { openRemotePage, remoteOptions, runRemotely } from '../../scripts/remote.js';
import { inProject, type Outcome, runScript } from '../support/run-script.js';
import { type RunServer, startRunServer } from '../support/run-server.js';

/** Pages with a scripted `window.msmBench`. */
const idle =
  'const bench = { status: "running", runId: "run-00000001", adapter: null, rows: [], error: null, doing: "working", done: 0, total: 1, ticks: 0 }; window.msmBench = bench;';
const pages: Record<string, string> = {
  '/never': '',
  '/idle': idle,
  '/stops': `${idle} bench.ticks = 1; bench.doing = "the step that hangs";`,
  '/hangs': `${idle} bench.ticks = 1; setTimeout(() => { for (;;); }, 1000);`,
  '/goes-on': `${idle} setInterval(() => bench.ticks++, 50);`,
  '/reloads': `${idle} bench.runId = "run-" + Math.random().toString(16).slice(2); bench.ticks = 1; setTimeout(() => location.reload(), 800);`,
  '/no-gpu': `${idle} bench.status = "failed"; bench.error = "no-webgpu: this browser has no WebGPU";`,
  '/wrong': `${idle} bench.rows = [
    { event: "init", mode: "msm-bench", adapter: { vendor: "", architecture: "", device: "", description: "it", software: true }, environment: {} },
    { event: "repetition", case: "c", n: 8, setting: "defaults", agrees: true, wallMs: 2, gpuMs: 1 },
    { event: "repetition", case: "c", n: 8, setting: "defaults", agrees: false, wallMs: null, gpuMs: null },
    { event: "end", status: "done", error: null, seconds: 1 },
  ]; bench.ticks = 3; bench.status = "done";`,
};

let folder: string;
let launchOptions: Launched['launchOptions'];
let browser: Browser;
let server: RunServer;
let site: Server;
let siteUrl: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bench-remote-'));
  // commands that tests start write their rows here, as those are no results
  process.env.WEBGPU_MSM_RESULTS = join(folder, 'results');
  ({ browser, launchOptions } = await launchChromium('software'));
  server = await startRunServer(launchOptions);
  site = createHttpServer(({ url = '' }, response) => {
    const script = pages[url.replace(/\?.*/, '')];
    if (script === undefined) response.statusCode = 404;
    response.setHeader('content-type', 'text/html');
    response.end(`<!doctype html><link rel="icon" href="data:,"><script>${script}</script>`);
  });
  siteUrl = await listen(site);
});

afterAll(async () => {
  server?.process.kill();
  await browser?.close();
  site?.closeAllConnections();
  site?.close();
  await rm(folder, { recursive: true, force: true });
});

const listen = (on: Server | ReturnType<typeof createTcpServer>): Promise<string> =>
  new Promise((resolve) => {
    on.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(on.address() as AddressInfo).port}`));
  });

const launch = (): string[] => [
  '--launch',
  JSON.stringify({ executablePath: launchOptions.executablePath, args: launchOptions.args }),
];

const remote = (...args: string[]): Promise<Outcome> => runScript('scripts/bench.mjs', ['run', ...args], 45_000);

/**
 * Runs against the server of all tests. The server takes one client at a time, so each run shows
 * that the one before has disconnected.
 */
const onServer = (...args: string[]): Promise<Outcome> => remote('--connect', server.endpoint, ...launch(), ...args);

/** Runs one of the pages above. */
const onPage = (path: string, ...args: string[]): Promise<Outcome> =>
  onServer('--url', `${siteUrl}${path}`, '--stall', '20', ...args);

/** Opens a page of the same server in this process: a process for each test would take a minute. */
const openHere = (queueSeconds: number) =>
  openRemotePage(
    {
      connect: server.endpoint,
      header: {},
      browser: 'chromium',
      launch: { executablePath: launchOptions.executablePath, args: launchOptions.args },
    },
    siteUrl,
    1000 * queueSeconds,
  );

/** Starts a run of the page that never ends, and resolves when it has started. */
function startEndless(endpoint: string): Promise<{ child: ChildProcess; ended: Promise<Outcome> }> {
  const child = spawn(
    process.execPath,
    [inProject('scripts/bench.mjs'), ...['run', '--connect', endpoint, ...launch(), '--url', `${siteUrl}/goes-on`]],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const said = { stdout: '', stderr: '' };
  child.stderr.on('data', (data) => (said.stderr += data));
  const ended = new Promise<Outcome>((resolve) => {
    child.once('close', (code) => resolve({ code, ...said }));
  });
  return new Promise((resolve) => {
    child.stdout.on('data', (data) => {
      said.stdout += data;
      // printed once there is a page, which then takes a moment to open
      if (said.stdout.includes('chromium ')) setTimeout(() => resolve({ child, ended }), 1000);
    });
  });
}

describe('npm run bench -- run --connect', () => {
  it('runs the bench through the endpoint, prints medians and writes every row', { tags: 'long' }, async () => {
    const json = join(folder, 'run.json');
    const { code, stdout, stderr } = await onServer(
      ...['--logn', '6', '--reps', '2', '--peers', 'none', '--adapter', 'software'],
      ...['--json', json],
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/adapter: .*swiftshader.*, software/i);
    expect(stdout).toMatch(/\n2⁶ +correct +\d/);

    const rows = JSON.parse(await readFile(json, 'utf8'));
    expect(rows[0]).toMatchObject({
      adapter: { software: true },
      environment: { userAgent: expect.stringContaining('Chrome') },
      query: 'autorun=msm-bench&logn=6&reps=2&peers=none',
    });
    expect(rows.map(({ event }: { event: string }) => event)).toEqual([
      'init',
      'warm-up',
      'repetition',
      'repetition',
      'bound',
      'end',
    ]);
    // the remote page posts to this machine through the connection
    const posted = await readFile(join(folder, 'results', 'progress.jsonl'), 'utf8');
    const lines = posted.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(rows);
  });

  it('ends with 3 when the run has an adapter of another kind', { tags: 'long' }, async () => {
    const { code, stderr } = await onServer('--adapter', 'hardware');
    expect({ code, stderr }).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('asked for a hardware adapter'),
    });
  });

  it.each([
    ['/stops', 4, 'no progress for 1 s while: the step that hangs', ['--stall', '1']],
    ['/never', 4, 'no progress for 1 s', ['--stall', '1']],
  ])('ends the run of the page %s with %i', { tags: 'long' }, async (path, expected, message, patience) => {
    const { code, stderr } = await onPage(path, ...patience);
    expect({ code, stderr }).toMatchObject({ code: expected, stderr: expect.stringContaining(message) });
  });

  it.each([
    ['/wrong', 1, 'WRONG: 1 check failed', {}],
    ['/no-gpu', 3, 'this browser has no WebGPU', {}],
    ['/hangs', 4, 'no progress for 1 s while: working', { stall: 1 }],
    // long enough for a page to open on a busy machine
    ['/idle', 4, 'no progress for 6 s while: working', { stall: 6 }],
    ['/reloads', 7, 'loaded anew', {}],
    ['/missing', 7, '404', {}],
  ])('takes the run of the page %s for %i', { tags: 'long' }, async (path, code, message, patience) => {
    const { browser: far, page } = await openHere(20);
    try {
      const limits = { adapter: 'any', stall: 20, ...patience } as const;
      const run = runRemotely(page, `${siteUrl}${path}`, limits, { adapter: null, rows: [] });
      await expect(run).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
    } finally {
      await far.close();
    }
  });

  it('ends with 7 when the endpoint is busy until the time limit', { tags: 'long' }, async () => {
    const { browser: busy } = await openHere(20);
    try {
      const message = expect.stringContaining('1000ms');
      await expect(openHere(1)).rejects.toMatchObject({ code: 7, message });
    } finally {
      await busy.close();
    }
  });

  it('ends with 7 when the connection is refused, and prints no secrets', async () => {
    const nobody = createTcpServer();
    const url = await listen(nobody);
    await new Promise((resolve) => nobody.close(resolve));
    const endpoint = `${url.replace('http', 'ws')}/?token=secret`;
    const { code, stdout, stderr } = await remote('--connect', endpoint, '--header', 'authorization=secret');
    expect({ code, stderr }).toMatchObject({ code: 7, stderr: expect.stringContaining('ECONNREFUSED') });
    expect(stdout + stderr).not.toContain('secret');
  });

  it('ends with 7 when the endpoint disconnects during a run', { tags: 'long' }, async () => {
    const short = await startRunServer(launchOptions);
    const { ended } = await startEndless(short.endpoint);
    short.process.kill('SIGKILL');
    const { code, stderr } = await ended;
    expect({ code, stderr }).toMatchObject({ code: 7, stderr: expect.stringContaining('while: working') });
  });

  it('disconnects from the endpoint on Ctrl-C', { tags: 'long' }, async () => {
    const { child, ended } = await startEndless(server.endpoint);
    child.kill('SIGINT');
    expect(await ended).toMatchObject({ code: null, stderr: '' });
    const { code, stdout } = await onPage('/wrong');
    expect(code).toBe(1);
    expect(stdout).toMatch(/\n2³ +WRONG\n/);
  });

  it('reports a crash of the page', { tags: 'long' }, async () => {
    const page = await browser.newPage();
    const session = await page.context().newCDPSession(page);
    const watched = watchPage(page, `${siteUrl}/goes-on`, {
      stallSeconds: 20,
      onRow() {},
      onProgress: ({ ticks }) => {
        if (ticks > 0) void session.send('Page.crash').catch(() => {});
      },
    });
    await expect(watched).rejects.toThrow('the page crashed while: working');
    await page.close();
  });

  it('ends with 2 when the command line is wrong, before it connects', async () => {
    const knob = await remote('--connect', 'ws://127.0.0.1:1/', '--c', '99');
    expect(knob).toMatchObject({ code: 2, stderr: expect.stringContaining('--c: "99"') });
    const { code, stderr } = await remote('--connect', 'ws://127.0.0.1:1/', '--stall', 'soon');
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining("--stall: 'soon'") });
  });
});

describe('the options of a remote run', () => {
  const parse = (...args: string[]) => readArguments(remoteOptions, args).values;
  const connect = ['--connect', 'ws://farm.example/'];

  it('have defaults', () => {
    expect(parse(...connect, '--url', 'https://bench.example/?logn=8')).toMatchObject({
      ...{ browser: 'chromium', adapter: 'any', stall: 120, header: {} },
      url: 'https://bench.example/?logn=8',
    });
  });

  it.each([
    [['--header', 'token'], '--header'],
    [['--browser', 'opera'], '--browser'],
    [['--adapter', 'auto'], '--adapter'],
    [['--launch', '{'], '--launch'],
    [['--launch', '[]'], '--launch'],
    [['--url', 'ftp://bench.example'], '--url'],
    [['--connect', 'farm.example'], '--connect'],
    [['--json', '/no/such/folder/x.json'], '--json'],
    [['--frobnicate'], '--frobnicate'],
  ])('refuse %j with the name of the option', (args, named) => {
    expect(() => parse(...connect, ...args)).toThrow(named);
  });
});
