/** Keys that `accelerate` takes by URL, as in a page: from a server that counts its answers. */

import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { folderCache } from '../../src/node.js';
import { type Accelerated, type AccelerateOptions, accelerate } from '../../src/snarkjs.js';
import { ffCurveOf, makeStatement, type Statement, snarkjs } from '../support/proving.js';

let one: Statement;
let other: Statement;
let server: Server;
let origin: string;

/** The file that the server has, and the headers by which it tells versions apart. */
let served: { file: Uint8Array; headers: Record<string, string>; hasHead: boolean };
/** Whether it answers requests for ranges with them, or refuses them, and the ranges that it was asked for. */
let hasRanges = false;
let refusesRanges: false | 'by its connection' | 'by an error' = false;
/** Errors whose connection is in use. */
let errors = 0;
const ranges: string[] = [];
/** Methods of the requests for keys. */
const methods: string[] = [];
/** Each test has an address of its own. */
let url: string;
let tests = 0;

let restore: Accelerated;
const begin = async (options: AccelerateOptions = {}): Promise<Accelerated['groth16']> => {
  restore = await accelerate(snarkjs, { backend: 'cpu', measure: false, leastPoints: 8, ...options });
  return restore.groth16;
};

beforeAll(async () => {
  one = await makeStatement('groth16', 'bn254', 6, 'dense');
  other = await makeStatement('groth16', 'bn254', 6, 'sparse');
  server = createServer((request, response) => {
    methods.push(request.method ?? '');
    const isHead = request.method === 'HEAD';
    const { range } = request.headers;
    if (range !== undefined) ranges.push(range);
    if (refusesRanges === 'by its connection' && range !== undefined) {
      request.socket.destroy();
      return;
    }
    if (refusesRanges === 'by an error' && range !== undefined) {
      errors++;
      response.once('close', () => errors--);
      response.writeHead(403);
      response.write('a body that never ends');
      return;
    }
    if (hasRanges && range !== undefined) {
      const [, from, last] = /^bytes=(\d+)-(\d+)$/.exec(range) ?? [];
      const part = served.file.subarray(Number(from), Number(last) + 1);
      const end = Number(from) + part.length - 1;
      response.writeHead(206, { ...served.headers, 'content-range': `bytes ${from}-${end}/${served.file.length}` });
      response.end(part);
      return;
    }
    response.writeHead(isHead && !served.hasHead ? 405 : 200, {
      'content-length': served.file.length,
      ...served.headers,
    });
    response.end(isHead ? undefined : served.file);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await (await ffCurveOf('bn254')).terminate();
});
beforeEach(() => {
  methods.length = 0;
  ranges.length = 0;
  [hasRanges, refusesRanges] = [false, false];
  url = `${origin}/${++tests}.zkey`;
  // a page has no module of files
  vi.spyOn(process, 'getBuiltinModule').mockImplementation((() => undefined) as never);
});
afterEach(() => {
  restore?.();
  vi.restoreAllMocks();
});

const serve = ({ zkey }: Statement, headers: Record<string, string>, hasHead = true): void => {
  served = { file: zkey.data, headers, hasHead };
};

const hourAgo = (): string => new Date(Date.now() - 3_600_000).toUTCString();

const expectProof = async ({ circuit, verify }: Statement, groth16: Accelerated['groth16']): Promise<void> =>
  expect(await verify(await groth16.prove(url, circuit.witness))).toBe(true);

describe('a key by URL', () => {
  test.each([
    ['ETag', () => ({ etag: '"1"' })],
    ['ETag that is weak', () => ({ etag: 'W/"1"', 'last-modified': new Date().toUTCString() })],
    ['Last-Modified, long ago', () => ({ 'last-modified': hourAgo() })],
  ])('is fetched once while its %s stays, and again when that changes', async (_, headers) => {
    const groth16 = await begin();
    serve(one, headers());
    for (let i = 0; i < 3; i++) await expectProof(one, groth16);
    expect(methods).toEqual(['GET', 'HEAD', 'HEAD']);
    serve(other, { etag: '"2"', 'last-modified': hourAgo() });
    await expectProof(other, groth16);
    expect(methods).toEqual(['GET', 'HEAD', 'HEAD', 'HEAD', 'GET']);
    expect(accelerate.stats).toMatchObject({ wholeProofs: 4, snarkjsProofs: 0, keyLoads: 2 });
  });

  test.each([
    ['no validators', () => ({}), true],
    ['a Last-Modified of just now', () => ({ 'last-modified': new Date().toUTCString() }), true],
    ['no answer to HEAD', () => ({ etag: '"1"' }), false],
  ])('is fetched for each proof with %s, and loaded once by its contents', async (_, headers, hasHead) => {
    const groth16 = await begin();
    serve(one, headers(), hasHead);
    for (let i = 0; i < 2; i++) await expectProof(one, groth16);
    expect(methods.filter((method) => method === 'GET')).toHaveLength(2);
    serve(other, headers(), hasHead);
    // the length alone does not tell two keys of one circuit's size apart
    if (hasHead) await expectProof(other, groth16);
    expect(accelerate.stats).toMatchObject({ snarkjsProofs: 0, keyLoads: hasHead ? 2 : 1 });
  });

  test.each([
    ['ETag', () => ({ etag: '"1"' })],
    ['Last-Modified, long ago', () => ({ 'last-modified': hourAgo() })],
  ])('is not hashed with an %s', async (_, headers) => {
    const hash = vi.spyOn(crypto.subtle, 'digest');
    serve(one, headers());
    await expectProof(one, await begin());
    expect(hash).not.toHaveBeenCalled();
  });

  test('is read by ranges under a limit of memory, and loaded again when its ETag changes', async () => {
    const warnings: string[] = [];
    const groth16 = await begin({ memoryLimit: 2 ** 30, onWarning: (each) => void warnings.push(each) });
    hasRanges = true;
    serve(one, { etag: '"1"' });
    for (let i = 0; i < 2; i++) await expectProof(one, groth16);
    expect(ranges).toHaveLength(methods.filter((method) => method === 'GET').length);
    expect(ranges.filter((range) => range === 'bytes=0-65535')).toHaveLength(1);
    serve(other, { etag: '"2"' });
    await expectProof(other, groth16);
    expect(accelerate.stats).toMatchObject({ wholeProofs: 3, snarkjsProofs: 0, keyLoads: 2 });
    hasRanges = false;
    serve(one, { etag: '"1"' });
    await expectProof(one, groth16);
    expect(accelerate.stats).toMatchObject({ wholeProofs: 4, snarkjsProofs: 0 });
  });

  test('is read by ranges without a limit, and asked for its version by each proof', async () => {
    const download = vi.spyOn(Response.prototype, 'blob');
    hasRanges = true;
    serve(one, { etag: '"1"' });
    for (let turn = 0; turn < 2; turn++) {
      const groth16 = await begin();
      const before = methods.length;
      for (let i = 0; i < 3; i++) await expectProof(one, groth16);
      const asked = methods.slice(before);
      expect(asked.filter((method) => method === 'HEAD')).toHaveLength(2 + turn);
      expect(accelerate.stats).toMatchObject({ wholeProofs: 3, snarkjsProofs: 0, keyLoads: 1 });
      restore();
    }
    expect(ranges).toHaveLength(methods.filter((method) => method === 'GET').length);
    expect(download).not.toHaveBeenCalled();
    const groth16 = await begin();
    await expectProof(one, groth16);
    serve(other, { etag: '"2"' });
    await expectProof(other, groth16);
    expect(accelerate.stats).toMatchObject({ wholeProofs: 2, snarkjsProofs: 0, keyLoads: 2 });
  });

  test.each([
    ['that the default limit has no room for', { etag: '"1"' }, 2 ** 15, ['GET', 'GET', 'HEAD']],
    ['without an ETag', { 'last-modified': new Date(Date.now() - 3_600_000).toUTCString() }, 0, ['GET', 'GET', 'HEAD']],
  ])('%s is downloaded whole', async (_, headers, memory, expected) => {
    vi.spyOn(process, 'constrainedMemory').mockReturnValue(memory);
    hasRanges = true;
    serve(one, headers);
    const groth16 = await begin();
    for (let i = 0; i < 2; i++) await expectProof(one, groth16);
    expect(methods).toEqual(expected);
    expect(ranges).toEqual(['bytes=0-65535']);
    expect(accelerate.stats).toMatchObject({ wholeProofs: 2, keyLoads: 1 });
  });

  test.each(['by its connection', 'by an error'] as const)(
    'is downloaded from a server that refuses requests for ranges %s',
    async (how) => {
      refusesRanges = how;
      serve(one, { etag: '"1"' });
      const groth16 = await begin();
      for (let i = 0; i < 2; i++) await expectProof(one, groth16);
      expect(methods.at(-1)).toBe('HEAD');
      // the garbage collector would end it, too, later
      await vi.waitUntil(() => errors === 0, { interval: 1, timeout: 10_000 });
      expect(accelerate.stats).toMatchObject({ wholeProofs: 2, keyLoads: 1 });
    },
  );

  test('is kept in a cache by its ETag, and read from there by the next visit', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-fetched-'));
    const files = vi.mocked(process.getBuiltinModule);
    // the cache has a disk, and keys have none
    files.mockRestore();
    const cache = folderCache(folder);
    expect(await cache.list()).toEqual([]);
    vi.spyOn(process, 'getBuiltinModule').mockImplementation((() => undefined) as never);
    hasRanges = true;
    serve(one, { etag: '"1"' });
    for (let turn = 0; turn < 2; turn++) {
      const groth16 = await begin({ cache });
      ranges.length = 0;
      await expectProof(one, groth16);
      const bytes = ranges.reduce((sum, range) => {
        const [, from, last] = /^bytes=(\d+)-(\d+)$/.exec(range) ?? [];
        return sum + Math.min(served.file.length, Number(last) + 1) - Number(from);
      }, 0);
      // the header, which is in the first range
      if (turn === 0) expect(bytes).toBeGreaterThanOrEqual(served.file.length);
      else expect(bytes).toBeLessThan(70_000);
      restore();
    }
    expect(await cache.list()).toHaveLength(1);
    rmSync(folder, { recursive: true });
  });

  test('is not read again with an ETag where the server does not answer HEAD', async () => {
    const read = vi.spyOn(Response.prototype, 'blob');
    const groth16 = await begin();
    serve(one, { etag: '"1"' }, false);
    for (let i = 0; i < 3; i++) await expectProof(one, groth16);
    expect(read).toHaveBeenCalledTimes(1);
    expect(accelerate.stats).toMatchObject({ wholeProofs: 3, keyLoads: 1 });
  });

  test('that had changed within the minute before is recognised by its headers once it is settled', async () => {
    const groth16 = await begin();
    const now = Date.now();
    const headers = { 'last-modified': new Date(now).toUTCString() };
    serve(one, headers);
    await expectProof(one, groth16);
    // the file of the same length and time may have other contents
    serve(other, headers);
    vi.spyOn(Date, 'now').mockReturnValue(now + 120_000);
    await expectProof(other, groth16);
    expect(methods).toEqual(['GET', 'GET']);
    for (let i = 0; i < 2; i++) await expectProof(other, groth16);
    expect(methods).toEqual(['GET', 'GET', 'HEAD', 'HEAD']);
    expect(accelerate.stats).toMatchObject({ wholeProofs: 4, keyLoads: 2 });
  });

  test('that left memory is fetched again when it is loaded, not before', async () => {
    serve(one, { etag: '"1"' });
    await expectProof(one, await begin());
    restore();
    await expectProof(one, await begin());
    expect(methods).toEqual(['GET', 'HEAD', 'GET']);
    expect(accelerate.stats).toMatchObject({ wholeProofs: 1, keyLoads: 1 });
  });
});
