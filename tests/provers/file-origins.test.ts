/** Files by address, path, response and stream: ranges, connections that break, and files that change. */

import { mkdtempSync, openAsBlob, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { openOrigin } from '../../src/formats/file-origin.js';
import type { FileOrigin } from '../../src/formats/source.js';
import { packZkey } from '../../src/formats.js';
import { openProvingKey, type ProvingKeyOptions } from '../../src/groth16.js';
import {
  applyBeacon,
  contribute,
  contributeToChallenge,
  contributeToPowers,
  contributeToPowersChallenge,
  exportChallenge,
  exportPowersChallenge,
  exportVerificationKey,
  importPowersResponse,
  importResponse,
  newKey,
  newPowers,
  truncatePowers,
  verifyKey,
  verifyPowers,
} from '../../src/setup.js';
import { endCurves, ffCurveOf, makeStatement, powersOf, type Statement } from '../support/proving.js';
import { randomCircuit } from '../support/random-circuit.js';
import { expectSame } from '../support/setups.js';
import { sectionsOf } from '../support/snarkjs-files.js';
import { skipWaits, until } from '../support/time.js';

/** How a server answers. */
interface Manners {
  readonly hasRanges: boolean;
  readonly etag: (request: number) => string | null;
  /** Bytes after which the connection of a request breaks; null: none. */
  readonly breakAfter: (request: number) => number | null;
  /** Status of a request; 200 means as usual. */
  readonly status: (request: number) => number;
  readonly stalls: (request: number) => boolean;
  /** The header `Retry-After` of an error. */
  readonly retryAfter?: string;
  /** Whether an error has a body, which never ends. */
  readonly errorsStall?: boolean;
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
/** Answers whose connection is in use. */
const open = new Set<ServerResponse>();
let server: Server;
let address = '';
let statement: Statement;
let memoryLimit = 0;
const onCpu = { backend: 'cpu', maxWorkers: 0, onWarning: () => undefined } as const;

/** Files beside the key, by their paths. */
const others = new Map<string, Uint8Array>();

const answer = ({ headers, url }: IncomingMessage, response: ServerResponse): void => {
  const data = others.get(url as string) ?? statement.zkey.data;
  const { hasRanges, etag, breakAfter, status, stalls, retryAfter, errorsStall = false } = manners;
  open.add(response);
  response.once('close', () => open.delete(response));
  const number = requests.push(headers.range ?? null) - 1;
  const tag = etag(number);
  const common = tag === null ? {} : { etag: tag };
  if (status(number) !== 200) {
    response.writeHead(status(number), retryAfter === undefined ? {} : { 'retry-after': retryAfter });
    if (errorsStall) response.write('not yet');
    else response.end();
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
  await endCurves();
});
beforeEach(() => {
  manners = usual;
  requests = [];
  // pauses between attempts
  skipWaits([100, 200, 400]);
});
afterEach(() => {
  vi.restoreAllMocks();
});

type Origin = Parameters<typeof openProvingKey>[0];

/** Returns whether the next read is whole. */
type Read = () => boolean;

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

  test('tells of its bytes, and an error of who is told is that of the call', async () => {
    const thrown = new Error('of the caller');
    for (const inParts of [false, true]) {
      requests = [];
      const onBytes = (): void => {
        throw thrown;
      };
      await expect(openOrigin('zkey', address, { signal: undefined, inParts, onBytes })).rejects.toBe(thrown);
      expect(requests).toHaveLength(1);
      await until(() => open.size === 0);
    }
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

  test('survives a server that is busy for a while, from the first request on', async () => {
    const answers = [503, 500, 429, 200, 200, 408, 504];
    manners = { ...usual, status: (request) => answers[request] ?? 200, errorsStall: true };
    await proves(address);
    expect(requests).toEqual([null, null, null, null]);
    requests = [];
    await proves(address, { memoryLimit });
    expect(requests).not.toContain(null);
    expect(new Set(requests.slice(0, 4))).toEqual(new Set(['bytes=0-65535']));
  });

  test('is refused after four attempts, whole and in parts, and leaves no connection', async () => {
    manners = { ...usual, status: () => 503, errorsStall: true };
    for (const options of [{}, { memoryLimit }]) {
      requests = [];
      await expect(openProvingKey(address, { ...onCpu, ...options })).rejects.toMatchObject({
        code: 'bad-argument',
        message: 'zkey: the server answered 503',
      });
      expect(requests).toHaveLength(4);
      await until(() => open.size === 0);
    }
  });

  test('is asked for again when the server says, ten seconds later at most', async () => {
    const pauses: number[] = [];
    vi.restoreAllMocks();
    const real = globalThis.setTimeout;
    const timers = vi.spyOn(globalThis, 'setTimeout').mockImplementation(((
      work: () => void,
      ms: number,
      ...more: unknown[]
    ) => {
      if (more.length > 0 || ![100, 200, 7000, 10_000].includes(ms)) return real(work, ms, ...more);
      pauses.push(ms);
      return real(work, 0);
    }) as typeof setTimeout);
    try {
      for (const [retryAfter, expected] of [
        ['7', [7000, 7000]],
        ['3600', [10_000, 10_000]],
        [new Date(Date.now() + 3_600_000).toUTCString(), [10_000, 10_000]],
        [new Date(0).toUTCString(), [100, 200]],
        ['soon', [100, 200]],
      ] as const) {
        [requests, pauses.length] = [[], 0];
        manners = { ...usual, status: (request) => (request < 2 ? 503 : 200), retryAfter };
        await proves(address);
        expect(pauses).toEqual(expected);
      }
    } finally {
      timers.mockRestore();
    }
  });

  test('that is busy is left at once by an abort', async () => {
    manners = { ...usual, status: () => 503, retryAfter: '9' };
    for (const options of [{}, { memoryLimit }]) {
      requests = [];
      const waits = vi.mocked(globalThis.setTimeout).mock.calls;
      waits.length = 0;
      const ending = new AbortController();
      const opening = openProvingKey(address, { ...onCpu, ...options, signal: ending.signal });
      const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
      const before = timers();
      const ended = expect(opening).rejects.toMatchObject({ code: 'aborted' });
      await until(() => waits.some(([, ms]) => ms === 9000));
      ending.abort();
      await ended;
      expect(timers()).toBeLessThanOrEqual(before);
      expect(requests).toHaveLength(1);
    }
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

  test('that is refused leaves no connection', async () => {
    const refused = { code: 'bad-argument' };
    // not there; changed before a range; changed before the rest of a download
    const wrong: readonly (readonly [Partial<Manners>, object])[] = [
      [{ status: () => 404, errorsStall: true }, {}],
      [{ etag: (request) => `"${request}"`, stalls: (request) => request > 0 }, { memoryLimit }],
      [
        {
          breakAfter: (request) => (request === 0 ? 1000 : null),
          etag: (request) => `"${request}"`,
          stalls: (request) => request > 0,
        },
        {},
      ],
    ];
    for (const [other, options] of wrong) {
      requests = [];
      manners = { ...usual, ...other };
      await expect(openProvingKey(address, { ...onCpu, ...options })).rejects.toMatchObject(refused);
      await until(() => open.size === 0);
    }
  });

  test('is one in capital letters, too, and none without a host', async () => {
    await proves(address.replace('http', 'HTTP'));
    await expect(openProvingKey('http://', onCpu)).rejects.toMatchObject({
      code: 'bad-argument',
      message: "zkey: 'http://' is not an address",
    });
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

describe('files of a setup', () => {
  const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-origins-'));
  const beacon = { beacon: '01', iterations: 10 };
  /** Verifications compute on the CPU. */
  const checked = { maxWorkers: 0, onWarning: () => undefined };
  let files: { readonly r1cs: Uint8Array; readonly ptau: Uint8Array; readonly zkey: Uint8Array };
  const at = (name: string): string => new URL(name, address).href;

  beforeAll(async () => {
    const r = BigInt((await ffCurveOf('bn254')).r);
    const { r1cs } = randomCircuit(r, { publicInputs: 2, privateInputs: 20, constraints: 200, seed: 5n });
    const ptau = await powersOf('bn254', 8, 511, true);
    const zkey = await newKey({ system: 'groth16', r1cs, ptau }, onCpu);
    files = { r1cs, ptau, zkey };
    for (const [name, bytes] of Object.entries(files)) {
      others.set(`/${name}`, bytes);
      writeFileSync(join(folder, name), bytes);
    }
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('are read by ranges of a server, on where connections break', async () => {
    const { zkey: expected } = await applyBeacon(files.zkey, beacon, onCpu);
    manners = { ...usual, breakAfter: (request) => (request % 3 === 0 ? 30_000 : null) };
    const first = await newKey({ system: 'groth16', r1cs: at('r1cs'), ptau: new URL(at('ptau')) }, onCpu);
    expectSame(first, files.zkey);
    const { zkey } = await applyBeacon(at('zkey'), beacon, onCpu);
    expectSame(zkey, expected);
    others.set('/last', zkey);
    const input = { zkey: at('last'), initial: at('zkey'), ptau: at('ptau') };
    expect(await verifyKey(input, checked)).toMatchObject({ isValid: true });
    expect(requests.length).toBeGreaterThan(20);
    expect(requests).not.toContain(null);
    manners = usual;
    const challenge = await exportChallenge(at('last'), onCpu);
    expectSame(challenge, await exportChallenge(zkey, onCpu));
    others.set('/challenge', challenge);
    const response = await contributeToChallenge({ challenge: at('challenge'), curve: 'bn254' }, {}, onCpu);
    others.set('/response', response.response);
    const next = await importResponse({ zkey: at('last'), response: at('response') }, onCpu);
    expect(await verifyKey({ zkey: next, r1cs: at('r1cs'), ptau: at('ptau') }, checked)).toMatchObject({
      isValid: true,
    });
  });

  test('of the first phase are read by ranges of a server, and from paths', async () => {
    const first = await newPowers({ curve: 'bn254', power: 6 }, onCpu);
    others.set('/first', first);
    const { challenge } = await exportPowersChallenge(at('first'), onCpu);
    expectSame(challenge, (await exportPowersChallenge(first, onCpu)).challenge);
    others.set('/powers-challenge', challenge);
    requests = [];
    const [sink, last] = [join(folder, 'powers-response'), join(folder, 'imported.ptau')];
    const input = { challenge: at('powers-challenge'), curve: 'bn254' } as const;
    expect(await contributeToPowersChallenge(input, {}, { ...onCpu, sink })).toMatchObject({ response: undefined });
    expect(requests.length).toBeGreaterThan(0);
    expect(requests).not.toContain(null);
    others.set('/powers-response', new Uint8Array(readFileSync(sink)));
    const { ptau } = await importPowersResponse({ ptau: at('first'), response: at('powers-response') }, onCpu);
    await importPowersResponse({ ptau: first, response: sink }, { ...onCpu, sink: last });
    expectSame(new Uint8Array(readFileSync(last)), ptau as Uint8Array);
    expect(await verifyPowers(last, checked)).toMatchObject({ isValid: true });
  });

  test('that a server no longer sends have no verdict', async () => {
    const sources = { zkey: at('zkey'), initial: files.zkey, ptau: files.ptau };
    const wrong: readonly (readonly [Partial<Manners>, RegExp])[] = [
      [{ status: (request) => (request === 0 ? 200 : 500) }, /^(zkey|ptau): the server answered 500/],
      [{ breakAfter: (request) => (request === 0 ? null : 0) }, /^(zkey|ptau): the server does not send it/],
      [{ status: (request) => (request === 0 ? 200 : 410) }, /^(zkey|ptau): the server answered 410/],
      [{ etag: (request) => `"${request}"` }, /^(zkey|ptau): it changed on the server/],
    ];
    for (const [other, message] of wrong) {
      manners = { ...usual, ...other };
      for (const verify of [() => verifyKey(sources, checked), () => verifyPowers(at('ptau'), checked)]) {
        requests = [];
        await expect(verify()).rejects.toMatchObject({ code: 'bad-argument', message: expect.stringMatching(message) });
      }
    }
  });

  test('that can no longer be read have no verdict', async () => {
    const gone = new DOMException('gone', 'NotReadableError');
    /** Files that fail from some read on, of each kind that is read in parts. */
    const failing = {
      blob: (read: Read, bytes: Uint8Array) =>
        ({
          size: bytes.length,
          slice: (from: number, to: number) => ({
            arrayBuffer: async () => {
              if (!read()) throw gone;
              return bytes.slice(from, to).buffer;
            },
          }),
          [Symbol.toStringTag]: 'Blob',
        }) as unknown as Blob,
      source: (read: Read, bytes: Uint8Array) => ({
        byteLength: bytes.length,
        read: (from: number, to: number) => {
          if (!read()) throw gone;
          return bytes.subarray(from, to);
        },
      }),
      short: (read: Read, bytes: Uint8Array) => ({
        byteLength: bytes.length,
        read: (from: number, to: number) => bytes.subarray(from, read() ? to : to - 1),
      }),
    };
    const { zkey } = await contribute(files.zkey, {}, onCpu);
    const powers = await newPowers({ curve: 'bn254', power: 3 }, onCpu);
    const { ptau } = await contributeToPowers(powers, {}, onCpu);
    const sources = { zkey, initial: files.zkey, ptau: files.ptau };
    const verdicts = [
      [zkey, (file: FileOrigin) => verifyKey({ ...sources, zkey: file }, checked)],
      [files.zkey, (file: FileOrigin) => verifyKey({ ...sources, initial: file }, checked)],
      [files.ptau, (file: FileOrigin) => verifyKey({ ...sources, ptau: file }, checked)],
      [ptau, (file: FileOrigin) => verifyPowers(file, checked)],
    ] as const;
    for (const [bytes, verify] of verdicts) {
      let reads = 0;
      const counted = () => {
        reads++;
        return true;
      };
      expect(await verify(failing.source(counted, bytes))).toMatchObject({ isValid: true });
      expect(reads).toBeGreaterThan(10);
      for (const [kind, fileOf] of Object.entries(failing)) {
        for (const whole of kind === 'blob' ? [0, Math.floor(reads / 2), reads - 1] : [reads - 1]) {
          let left = whole;
          const error = await verify(fileOf(() => left-- > 0, bytes)).then(
            (verdict) => expect.fail(`${kind}, ${whole} of ${reads} reads: ${JSON.stringify(verdict)}`),
            (thrown: unknown) => thrown,
          );
          if (kind === 'source') expect(error).toBe(gone);
          else expect(error).toMatchObject({ name: 'MsmError', code: 'bad-argument' });
        }
      }
    }
  });

  test('that other programs write anew, or whose bytes were transferred, have no verdict', async () => {
    const { ptau } = await contributeToPowers(await newPowers({ curve: 'bn254', power: 3 }, onCpu), {}, onCpu);
    const path = join(folder, 'written');
    writeFileSync(path, ptau);
    /** Calls a function at the first progress. */
    const once = (change: () => void) => {
      let isDone = false;
      return {
        ...checked,
        onProgress: () => {
          if (!isDone) change();
          isDone = true;
        },
      };
    };
    const ofBlob = verifyPowers(
      await openAsBlob(path),
      once(() => writeFileSync(path, ptau.subarray(0, 1000))),
    );
    await expect(ofBlob).rejects.toMatchObject({
      code: 'bad-argument',
      message: expect.stringMatching(/^ptau: bytes .* cannot be read$/),
    });
    const bytes = ptau.slice();
    const ofBytes = verifyPowers(
      bytes,
      once(() => structuredClone(bytes, { transfer: [bytes.buffer] })),
    );
    await expect(ofBytes).rejects.toMatchObject({
      code: 'bad-argument',
      message: expect.stringMatching(/^ptau: its bytes cannot be read/),
    });
  });

  test('that are damaged have a verdict where they are the key alone', async () => {
    const { zkey } = await contribute(files.zkey, {}, onCpu);
    const packed = async (file: Uint8Array) => (await packZkey(file, { maxWorkers: 0 })).bytes as Uint8Array;
    const [compact, first] = [await packed(zkey), await packed(files.zkey)];
    const verify = (key: Uint8Array, initial: Uint8Array) =>
      verifyKey({ zkey: key, initial, ptau: files.ptau }, checked);
    expect(await verify(compact, first)).toMatchObject({ isValid: true });
    const damaged = (file: Uint8Array, place: number): Uint8Array => {
      const changed = file.slice();
      changed[place] = (changed[place] as number) ^ 1;
      return changed;
    };
    expect(await verify(damaged(compact, compact.length >> 1), first)).toMatchObject({
      isValid: false,
      why: expect.stringMatching(/^zkey: the compact key is damaged/),
    });
    await expect(verify(compact, damaged(first, first.length >> 1))).rejects.toMatchObject({
      code: 'bad-argument',
      message: expect.stringMatching(/^initial: zkey: the compact key is damaged/),
    });
    const offCurve = files.zkey.slice();
    const points = sectionsOf(offCurve).get(8) as Uint8Array;
    points[0] = (points[0] as number) ^ 1;
    await expect(verify(zkey, offCurve)).rejects.toMatchObject({
      code: 'bad-argument',
      message: expect.stringMatching(/^initial: section C/),
    });
    const powers = files.ptau.slice();
    const tauG1 = sectionsOf(powers).get(2) as Uint8Array;
    tauG1[64] = (tauG1[64] as number) ^ 1;
    const ofPowers = verifyKey({ zkey, initial: files.zkey, ptau: powers }, checked);
    await expect(ofPowers).rejects.toMatchObject({
      code: 'bad-argument',
      message: expect.stringMatching(/^ptau: section tauG1/),
    });
  });

  test('that are not the first key are refused by its name', async () => {
    const sources = { zkey: files.zkey, initial: files.ptau, ptau: files.ptau };
    await expect(verifyKey(sources, checked)).rejects.toMatchObject({
      code: 'bad-argument',
      message: 'initial: zkey: the file must begin with the letters zkey',
    });
  });

  test('are read from paths, addresses of files, responses and streams', async () => {
    const [r1cs, ptau] = [join(folder, 'r1cs'), join(folder, 'ptau')];
    expectSame(await newKey({ system: 'groth16', r1cs, ptau: pathToFileURL(ptau) }, onCpu), files.zkey);
    const streams = { r1cs: new Blob([files.r1cs as BlobPart]).stream(), ptau: await fetch(at('ptau')) };
    expectSame(await newKey({ system: 'groth16', ...streams }, onCpu), files.zkey);
    const expected = await exportVerificationKey(files.zkey, { onWarning: () => undefined });
    const options = { onWarning: () => undefined };
    expect(await exportVerificationKey(join(folder, 'zkey'), options)).toEqual(expected);
    const powers = await truncatePowers(ptau, { power: 3 }, onCpu);
    expectSame(powers, await truncatePowers(files.ptau, { power: 3 }, onCpu));
  });

  test('are named by errors where they are not there, and are not wrong for it', async () => {
    const none = join(folder, 'none');
    const { r1cs, ptau, zkey } = files;
    for (const [what, call] of [
      ['r1cs', () => newKey({ system: 'groth16', r1cs: none, ptau }, onCpu)],
      ['ptau', () => newKey({ system: 'groth16', r1cs, ptau: none }, onCpu)],
      ['zkey', () => contribute(none, {}, onCpu)],
      ['zkey', () => verifyKey({ zkey: none, initial: zkey, ptau }, checked)],
      ['ptau', () => verifyPowers(none, checked)],
      ['challenge', () => contributeToChallenge({ challenge: none, curve: 'bn254' }, {}, onCpu)],
      ['challenge', () => contributeToPowersChallenge({ challenge: none, curve: 'bn254' }, {}, onCpu)],
    ] as const) {
      const message = expect.stringMatching(new RegExp(`^${what}: it cannot be opened`));
      await expect(call()).rejects.toMatchObject({ code: 'bad-argument', message });
    }
    manners = { ...usual, status: () => 404 };
    await expect(verifyPowers(at('ptau'), checked)).rejects.toThrow('ptau: the server answered 404');
  });

  test('that stall are left at once by an abort', async () => {
    manners = { ...usual, stalls: (request) => request === 3 };
    const ending = new AbortController();
    const call = newKey({ system: 'groth16', r1cs: at('r1cs'), ptau: at('ptau') }, { ...onCpu, signal: ending.signal });
    const ended = expect(call).rejects.toMatchObject({ code: 'aborted' });
    await until(() => requests.length > 3);
    ending.abort();
    await ended;
  });
});
