import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRowLog, maxRowBytes } from '../dev/server/row-log.js';

const row = { event: 'repetition', runId: 'run-00000001', at: '2026-01-02T03:04:05.678Z', wallMs: 12.5 };

let folder: string;
let server: Server;
let url: string;

beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'row-log-')), 'results');
  const log = createRowLog(folder);
  server = createServer((request, response) => {
    log(request, response, () => {
      response.statusCode = 404;
      response.end('next');
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => {
    server.close(resolve);
  });
  await rm(join(folder, '..'), { recursive: true, force: true });
});

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

const stored = async (name: string) =>
  (await readFile(join(folder, `${name}.jsonl`), 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);

describe('POST /progress and /results', () => {
  it('append one line for each row, in order', async () => {
    for (const wallMs of [1, 2, 3]) expect((await post('/progress', { ...row, wallMs })).status).toBe(204);
    expect((await post('/results?x=1', row, { origin: url })).status).toBe(204);
    expect(await stored('progress')).toEqual([1, 2, 3].map((wallMs) => ({ ...row, wallMs })));
    expect(await stored('results')).toEqual([row]);
  });

  it('keep rows apart that come at the same time', async () => {
    const rows = Array.from({ length: 20 }, (_, wallMs) => ({ ...row, wallMs, padding: 'x'.repeat(5000) }));
    await Promise.all(rows.map((each) => post('/results', each)));
    expect(await stored('results')).toHaveLength(20);
  });

  it.each([
    ['no JSON', '{', 400, 'JSON'],
    ['no object', '[1]', 400, 'object'],
    ['no run', { ...row, runId: undefined }, 400, 'runId'],
    ['a run id with a path in it', { ...row, runId: '../../etc' }, 400, 'runId'],
    ['an unknown event', { ...row, event: 'hacked' }, 400, 'event'],
    ['no date', { ...row, at: 'yesterday' }, 400, 'at'],
    ['a large body', { ...row, padding: 'x'.repeat(maxRowBytes) }, 413, 'bytes'],
  ])('refuse %s', async (_, body, status, named) => {
    const response = await post('/results', body);
    expect(response.status).toBe(status);
    expect(await response.text()).toContain(named);
    await expect(stored('results')).rejects.toThrow('ENOENT');
  });

  it('refuse what another site sends', async () => {
    expect((await post('/results', row, { origin: 'https://evil.example' })).status).toBe(403);
    expect((await post('/results', row, { origin: 'null' })).status).toBe(403);
    expect((await post('/results', row, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await post('/results', row, { 'content-type': 'text/plain' })).status).toBe(415);
    await expect(stored('results')).rejects.toThrow('ENOENT');
  });

  it('take nothing but POST, and leave every other path alone', async () => {
    expect((await fetch(`${url}/progress`)).status).toBe(405);
    expect(await (await fetch(`${url}/progress/x`)).text()).toBe('next');
    expect(await (await fetch(`${url}/`)).text()).toBe('next');
  });
});
