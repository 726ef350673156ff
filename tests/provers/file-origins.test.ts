/** Keys by address, response and stream: ranges, connections that break, and files that change. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openProvingKey, type ProvingKeyOptions } from '../../src/groth16.js';
import { ffCurveOf, makeStatement, type Statement } from '../support/proving.js';
import { until } from '../support/time.js';

/** How a server answers. */
interface Manners {
  readonly hasRanges: boolean;
  readonly etag: (request: number) => string | null;
  /** Bytes after which the connection of a request breaks; null: none. */
  readonly breakAfter: (request: number) => number | null;
  /** Status of a request; 200 means as usual. */
  readonly status: (request: number) => number;
  readonly stalls: (request: number) => boolean;
}

const usual: Manners = {
  hasRanges: true,
  etag: () => '"first"',
  breakAfter: () => null,
  status: () => 200,
  stalls: () => false,
};

let manners = usual;
let requests: (string | null)[] = [];
let server: Server;
let address = '';
let statement: Statement;
let memoryLimit = 0;
const onCpu = { backend: 'cpu', maxWorkers: 0, onWarning: () => undefined } as const;

const answer = ({ headers }: IncomingMessage, response: ServerResponse): void => {
  const { data } = statement.zkey;
  const { hasRanges, etag, breakAfter, status, stalls } = manners;
  const number = requests.push(headers.range ?? null) - 1;
  const tag = etag(number);
  const common = tag === null ? {} : { etag: tag };
  if (status(number) !== 200) {
    response.writeHead(status(number)).end();
    return;
  }
  const [, first = '0', last = ''] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? '') ?? [];
  const isPart = hasRanges && headers.range !== undefined;
  const from = isPart ? Number(first) : 0;
  const to = isPart && last !== '' ? Math.min(data.length, Number(last) + 1) : data.length;
  response.writeHead(isPart ? 206 : 200, {
    ...common,
    'content-length': to - from,
    ...(isPart && { 'content-range': `bytes ${from}-${to - 1}/${data.length}` }),
  });
  const most = breakAfter(number);
  if (stalls(number)) response.write(data.subarray(from, from + 10));
  else if (most === null || most >= to - from) response.end(data.subarray(from, to));
  else response.write(data.subarray(from, from + most), () => setTimeout(() => response.destroy(), 20));
};

beforeAll(async () => {
  statement = await makeStatement('groth16', 'bn254', 9, 'dense');
  server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/circuit.zkey`;
  const error = await openProvingKey(statement.zkey.data, { ...onCpu, memoryLimit: 1 }).catch((each: Error) => each);
  memoryLimit = Number(/takes (\d+) bytes/.exec((error as Error).message)?.[1]);
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await (await ffCurveOf('bn254')).terminate();
});
beforeEach(() => {
  manners = usual;
  requests = [];
});

type Origin = Parameters<typeof openProvingKey>[0];

const proves = async (origin: Origin, options: ProvingKeyOptions = {}): Promise<void> => {
  using key = await openProvingKey(origin, { ...onCpu, ...options });
  expect(await statement.verify((await key.prove(statement.circuit.witness)) as never)).toBe(true);
};

describe('an address', () => {
  test('is downloaded in one request, or in parts under a limit of memory', async () => {
    await proves(address);
    expect(requests).toEqual([null]);
    await proves(new URL(address), { memoryLimit });
    expect(requests.slice(1)).not.toContain(null);
    expect(requests.length).toBeGreaterThan(50);
  });

  test.each([
    ['no ranges', { hasRanges: false }],
    ['no versions', { etag: () => null }],
  ])('of a server with %s is downloaded whole', async (_, other) => {
    manners = { ...usual, ...other };
    await proves(address, { memoryLimit });
    expect(requests).toEqual(['bytes=0-65535', null]);
  });

  test('goes on where the connection broke, whole and in parts', async () => {
    const { length } = statement.zkey.data;
    manners = { ...usual, breakAfter: (request) => (request < 3 ? 50_000 : null) };
    await proves(address);
    expect(requests).toHaveLength(4);
    expect(requests[0]).toBeNull();
    const starts = requests.slice(1).map((range) => Number(/^bytes=(\d+)-$/.exec(range as string)?.[1]));
    expect(starts).toEqual([...starts].sort((left, right) => left - right));
    expect(starts.at(-1)).toBeLessThan(length);
    manners = { ...usual, breakAfter: (request) => (request % 3 === 0 ? 100 : null) };
    await proves(address, { memoryLimit });
  });

  test('is refused when no byte comes in four attempts, or the server has no ranges to go on', async () => {
    manners = { ...usual, breakAfter: () => 0 };
    const failed = { code: 'bad-argument', message: expect.stringContaining('zkey: the server does not send it') };
    await expect(openProvingKey(address, onCpu)).rejects.toMatchObject(failed);
    expect(requests).toHaveLength(4);
    await expect(openProvingKey(address, { ...onCpu, memoryLimit })).rejects.toMatchObject(failed);
    manners = { ...usual, breakAfter: (request) => (request === 0 ? 1000 : null), hasRanges: false };
    requests = [];
    await expect(openProvingKey(address, onCpu)).rejects.toMatchObject({
      code: 'bad-argument',
      message: expect.stringMatching(/the connection ended after \d+ of \d+ bytes, and the server has no ranges/),
    });
    manners = { ...usual, status: () => 404 };
    await expect(openProvingKey(address, onCpu)).rejects.toThrow('zkey: the server answered 404');
  });

  test('survives a server that is overloaded for a while', async () => {
    manners = { ...usual, status: (request) => (request === 5 || request === 6 ? 503 : 200) };
    await proves(address, { memoryLimit });
  });

  test('is refused when the file changes, while it is opened or while a proof reads it', async () => {
    const changed = { code: 'bad-argument', message: 'zkey: it changed on the server while it was read' };
    manners = { ...usual, etag: (request) => (request < 4 ? '"first"' : '"second"') };
    await expect(openProvingKey(address, { ...onCpu, memoryLimit })).rejects.toMatchObject(changed);
    requests = [];
    manners = { ...manners, breakAfter: () => 50_000, etag: (request) => `"${request}"` };
    await expect(openProvingKey(address, onCpu)).rejects.toMatchObject(changed);
    manners = usual;
    using key = await openProvingKey(address, { ...onCpu, memoryLimit });
    manners = { ...usual, etag: () => '"second"' };
    await expect(key.prove(statement.circuit.witness)).rejects.toMatchObject(changed);
    manners = usual;
    expect(await statement.verify((await key.prove(statement.circuit.witness)) as never)).toBe(true);
  });

  test('that stalls is left at once by an abort and by destroy', async () => {
    for (const [stalled, options] of [
      [0, {}],
      [1, { memoryLimit }],
      [4, { memoryLimit }],
    ] as const) {
      requests = [];
      manners = { ...usual, stalls: (request) => request === stalled };
      const ending = new AbortController();
      const opening = openProvingKey(address, { ...onCpu, ...options, signal: ending.signal });
      const ended = expect(opening).rejects.toMatchObject({ code: 'aborted' });
      await until(() => requests.length > stalled);
      ending.abort();
      await ended;
    }
    manners = usual;
    const key = await openProvingKey(address, { ...onCpu, memoryLimit });
    const opened = requests.length;
    manners = { ...usual, stalls: (request) => request === opened };
    const ending = new AbortController();
    const proving = key.prove(statement.circuit.witness, { signal: ending.signal });
    const aborted = expect(proving).rejects.toMatchObject({ code: 'aborted' });
    await until(() => requests.length > opened);
    ending.abort();
    await aborted;
    const again = requests.length;
    manners = { ...usual, stalls: (request) => request >= again };
    const destroyed = expect(key.prove(statement.circuit.witness)).rejects.toMatchObject({ code: 'destroyed' });
    await until(() => requests.length > again);
    key.destroy();
    await destroyed;
  });
});

describe('a response or a stream', () => {
  const parts = (size: number): Uint8Array[] =>
    Array.from({ length: Math.ceil(statement.zkey.data.length / size) }, (_, i) =>
      statement.zkey.data.slice(i * size, (i + 1) * size),
    );

  test('is read to its end', async () => {
    await proves(await fetch(address));
    await proves(new Response(statement.zkey.data as Uint8Array<ArrayBuffer>).body as ReadableStream<Uint8Array>);
    await proves(Readable.from(parts(1000)));
    await proves(
      (async function* () {
        const chunk = new Uint8Array(5000);
        for (const part of parts(5000)) {
          chunk.set(part);
          yield chunk.subarray(0, part.length);
        }
      })(),
    );
  });

  test('of a response that breaks goes on by ranges', async () => {
    manners = { ...usual, breakAfter: (request) => (request === 0 ? 30_000 : null) };
    await proves(await fetch(address));
    expect(requests).toHaveLength(2);
  });

  test('that ends early, has no bytes, fails or was read is refused', async () => {
    await expect(openProvingKey(Readable.from(parts(1000).slice(0, -2)), onCpu)).rejects.toMatchObject({
      code: 'bad-argument',
      message: expect.stringContaining('is it cut off?'),
    });
    await expect(openProvingKey(Readable.from(['text']), onCpu)).rejects.toMatchObject({
      code: 'bad-argument',
      message: expect.stringContaining('zkey: a stream must have bytes, got'),
    });
    const thrown = new Error('of the caller');
    const failing = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(thrown) });
    await expect(openProvingKey(failing, onCpu)).rejects.toBe(thrown);
    const read = await fetch(address);
    await read.arrayBuffer();
    await expect(openProvingKey(read, onCpu)).rejects.toThrow('the body of the response was read already');
    await expect(openProvingKey('/none/circuit.zkey', onCpu)).rejects.toMatchObject({
      code: 'bad-argument',
      message: expect.stringContaining('zkey: it cannot be opened: Error: ENOENT'),
    });
    await expect(openProvingKey(5 as never, onCpu)).rejects.toMatchObject({ code: 'bad-argument' });
  });

  test('that stalls is left at once, and told so', async () => {
    let isCancelled = false;
    const stalled = new ReadableStream<Uint8Array>({
      pull: () => new Promise(() => undefined),
      cancel: () => {
        isCancelled = true;
      },
    });
    const ending = new AbortController();
    const opening = openProvingKey(stalled, { ...onCpu, signal: ending.signal });
    setTimeout(() => ending.abort());
    await expect(opening).rejects.toMatchObject({ code: 'aborted' });
    await until(() => isCancelled);
  });
});
