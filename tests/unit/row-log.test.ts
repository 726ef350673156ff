import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRowLog, maxRowBytes } from '../../dev/server/row-log.js';

const row = { event: 'repetition', runId: 'run-00000001', at: '2026-01-02T03:04:05.678Z', wallMs: 12.5 };

let folder: string;
let server: Server;
let url: string;

beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'row-log-')), 'results');
  const log = createRowLog(folder);
  server = createServer((request, response) => {
    void log(request, response, () => {
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
    ['a large body', { ...row, padding: 'x'.repeat(maxRowBytes) }, 413, 'bytes'],
  ])('refuse %s', async (_, body, status, named) => {
    const response = await post('/results', body);
    expect(response.status).toBe(status);
    expect(await response.text()).toContain(named);
    await expect(stored('results')).rejects.toThrow('ENOENT');
  });

  it('reject requests of another site', async () => {
    expect((await post('/results', row, { origin: 'https://evil.example' })).status).toBe(403);
    expect((await post('/results', row, { origin: 'null' })).status).toBe(403);
    await expect(stored('results')).rejects.toThrow('ENOENT');
  });

  it('accept the page by :authority if there is no Host, as in HTTP/2', async () => {
    const log = createRowLog(folder);
    const http2 = createHttp2Server((request, response) => {
      void log(request as unknown as IncomingMessage, response as unknown as ServerResponse, () => response.end());
    });
    await new Promise<void>((resolve) => {
      http2.listen(0, '127.0.0.1', resolve);
    });
    const authority = `127.0.0.1:${(http2.address() as AddressInfo).port}`;
    const client = connect(`http://${authority}`);
    const statusOf = (origin: string) =>
      new Promise((resolve, reject) => {
        const request = client.request({
          ':method': 'POST',
          ':path': '/results',
          'content-type': 'application/json',
          origin,
        });
        request.on('response', (headers) => resolve(headers[':status']));
        request.on('error', reject);
        request.end(JSON.stringify(row));
      });
    try {
      expect(await statusOf(`https://${authority}`)).toBe(204);
      expect(await statusOf('https://evil.example')).toBe(403);
      expect(await stored('results')).toEqual([row]);
    } finally {
      client.close();
      http2.close();
    }
  });

  it('accept nothing but POST, and leave every other path alone', async () => {
    expect((await fetch(`${url}/progress`)).status).toBe(405);
    expect(await (await fetch(`${url}/progress/x`)).text()).toBe('next');
    expect(await (await fetch(`${url}/`)).text()).toBe('next');
  });
});
