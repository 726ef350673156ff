/** Keys that arrive as streams and responses, and are written to a cache as they arrive. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { openCircuit } from '../../src/circom.js';
import { packZkey } from '../../src/formats.js';
import { openProvingKeyWith } from '../../src/groth16/open-proving-key.js';
import type { ProvingKeyOptions } from '../../src/groth16.js';
import { folderCache } from '../../src/node.js';
import { compileCircuit, shapes } from '../support/circom.js';
import { makeZkey } from '../support/circom-keys.js';
import { floorOf } from '../support/limited-keys.js';
import { endCurves, makeStatement, type Statement, sameDraws } from '../support/proving.js';
import { skipWaits, until } from '../support/time.js';

const PAGE = 2 ** 18;
const root = mkdtempSync(join(tmpdir(), 'webgpu-msm-streams-'));
let folder = '';
let count = 0;
let statement: Statement;
let data: Uint8Array;
let expected: unknown;
const warnings: string[] = [];

const onCpu = {
  backend: 'cpu',
  maxWorkers: 0,
  onWarning: (message: string) => void (message.startsWith('zkey: γ') || warnings.push(message)),
} as const;

/** Bytes after which the connection of the next requests breaks. */
let breaks: number[] = [];
let requests = 0;
let server: Server;
let address = '';

beforeAll(async () => {
  statement = await makeStatement('groth16', 'bn254', 11, 'sparse');
  data = statement.zkey.data;
  using key = await openProvingKeyWith(data, onCpu, sameDraws());
  expected = await key.prove(statement.circuit.witness);
  expect(await statement.verify(expected as never)).toBe(true);
  server = createServer(({ headers }, response) => {
    requests++;
    const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0);
    response.writeHead(from > 0 ? 206 : 200, {
      etag: '"first"',
      'content-length': data.length - from,
      ...(from > 0 && { 'content-range': `bytes ${from}-${data.length - 1}/${data.length}` }),
    });
    const most = breaks.shift();
    if (most === undefined) response.end(data.subarray(from));
    else response.write(data.subarray(from, from + most), () => setTimeout(() => response.destroy(), 20));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/circuit.zkey`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await endCurves();
  rmSync(root, { recursive: true });
});
beforeEach(() => {
  folder = join(root, `${++count}`);
  [warnings.length, requests, breaks] = [0, 0, []];
  // pauses between attempts
  skipWaits([100, 200, 400]);
});
afterEach(() => {
  vi.restoreAllMocks();
});

type Origin = Parameters<typeof openProvingKeyWith>[0];

const open = (origin: Origin, options: ProvingKeyOptions = {}) =>
  openProvingKeyWith(origin, { ...onCpu, cache: folderCache(folder), ...options }, sameDraws());

/** Returns the least limit of memory that the key opens with. */
const leastLimit = (): Promise<number> =>
  floorOf((memoryLimit) => openProvingKeyWith(data, { ...onCpu, memoryLimit }, sameDraws()));

/** Opens a key, and proves. */
const visit = async (origin: Origin, options?: ProvingKeyOptions): Promise<void> => {
  using key = await open(origin, options);
  expect(await key.prove(statement.circuit.witness)).toEqual(expected);
};

/** Files of keys, without the marks of those in use. */
const names = (): string[] =>
  existsSync(folder) ? readdirSync(folder).filter((name) => name !== 'times.json' && !name.endsWith('.use')) : [];

/** The bytes as a stream whose chunks share memory. @param onChunk called before each chunk */
async function* streamOf(
  bytes: Uint8Array,
  size: number,
  onChunk: (from: number) => void = () => undefined,
): AsyncGenerator<Uint8Array> {
  const chunk = new Uint8Array(size);
  for (let from = 0; from < bytes.length; from += size) {
    onChunk(from);
    const part = bytes.subarray(from, from + size);
    chunk.set(part);
    yield chunk.subarray(0, part.length);
    chunk.fill(0xff);
  }
}

describe('a stream', () => {
  const isKept = async (size: number): Promise<void> => {
    await visit(streamOf(data, size));
    expect(names()).toEqual([expect.stringMatching(/^[0-9a-f]{64}\..*\.key$/)]);
    const [stored] = await folderCache(folder).list();
    expect(stored).toMatchObject({ protocol: 'groth16', byteLength: data.length });
    // the second visit needs no source
    await visit((await folderCache(folder).open(stored?.id as string)) as never);
    expect(warnings).toEqual([]);
  };
  test.each([1000, PAGE])('in chunks of %i is kept', isKept);
  test.each([PAGE - 1, PAGE + 1, 3 * PAGE + 7, 2 ** 24])('in chunks of %i is kept', { tags: 'long' }, isKept);

  test('is on the disk as it arrives, and never in a Blob', async () => {
    const made = vi.spyOn(globalThis, 'Blob');
    const size = 100_000;
    let most = 0;
    await visit(
      streamOf(data, size, (from) => {
        const [name] = names();
        const written = name === undefined ? 0 : statSync(join(folder, name)).size;
        most = Math.max(most, from - written);
      }),
    );
    expect(made).not.toHaveBeenCalled();
    made.mockRestore();
    // a page that is being filled, and a chunk
    expect(most).toBeLessThanOrEqual(PAGE + size);
  });

  test('of a key that the cache has is not stored again, whatever brought it there', async () => {
    await visit(new Blob([data as Uint8Array<ArrayBuffer>]));
    const [name] = names();
    await visit(streamOf(data, 50_000));
    expect(names()).toEqual([name]);
    rmSync(folder, { recursive: true });
    await visit(streamOf(data, 50_000));
    const [streamed] = names();
    await visit(Readable.from([data]));
    await visit(new Blob([data as Uint8Array<ArrayBuffer>]));
    expect(names()).toEqual([streamed]);
    expect(warnings).toEqual([]);
  });

  test('replaces a key of the cache that is damaged, and proves on from the pages that arrived', async () => {
    const memoryLimit = await leastLimit();
    await visit(streamOf(data, 50_000));
    const [name = ''] = names();
    const path = join(folder, name);
    const whole = readFileSync(path);
    for (const page of [1, 3, Math.floor(whole.length / PAGE) - 1]) {
      const bytes = Buffer.from(whole);
      bytes[page * PAGE + 77] = (bytes[page * PAGE + 77] as number) ^ 1;
      for (const each of names()) rmSync(join(folder, each));
      writeFileSync(path, bytes);
      await visit(streamOf(data, 50_000), { memoryLimit });
      expect(names()).toHaveLength(1);
      expect(names()).not.toContain(name);
    }
    expect(warnings).toEqual([]);
  });

  test('replaces a key with the same header and other pages', async () => {
    const wrong = data.slice();
    // a coefficient, which nothing checks
    let at = 12;
    const view = new DataView(wrong.buffer, wrong.byteOffset);
    while (view.getUint32(at, true) !== 4) at += 12 + Number(view.getBigUint64(at + 4, true));
    wrong[at + 12 + 4 + 44 * 1000 + 12] = (wrong[at + 12 + 4 + 44 * 1000 + 12] as number) ^ 1;
    (await open(streamOf(wrong, 70_000))).destroy();
    const [name] = names();
    await visit(streamOf(data, 70_000));
    expect(names()).toHaveLength(1);
    expect(names()).not.toContain(name);
    await visit(new Blob([data as Uint8Array<ArrayBuffer>]));
  });

  test('under a limit of memory proves from the pages in the cache', async () => {
    const memoryLimit = await leastLimit();
    using key = await open(streamOf(data, 90_000), { memoryLimit });
    expect(key.memory.points).toBe(0);
    expect(await key.prove(statement.circuit.witness)).toEqual(expected);
    // a damaged page is refused, as there is no source, and the key leaves the cache
    const path = join(folder, names()[0] as string);
    const bytes = readFileSync(path);
    for (let from = 0; from < data.length; from += PAGE) bytes[from] = (bytes[from] as number) ^ 1;
    writeFileSync(path, bytes);
    await expect(key.prove(statement.circuit.witness)).rejects.toMatchObject({
      code: 'bad-argument',
      message: expect.stringContaining('are not in the cache as they were stored; open the key again from its source'),
    });
    expect(await folderCache(folder).list()).toEqual([]);
    await visit(streamOf(data, 90_000), { memoryLimit });
  });

  test('that two visits store at the same time proves on, after a later visit removed one of the two files', async () => {
    const memoryLimit = await leastLimit();
    const keys = await Promise.all([1, 2].map(() => open(streamOf(data, 90_000), { memoryLimit })));
    expect(names()).toHaveLength(2);
    await visit(streamOf(data, 90_000), { memoryLimit });
    const left = names();
    expect(left).toHaveLength(1);
    for (const key of keys) {
      expect(await key.prove(statement.circuit.witness)).toEqual(expected);
      key.destroy();
    }
    expect(names()).toEqual(left);
    expect(warnings).toEqual([]);
  });

  test('that another visit deletes proves no more, and says that it must be opened again', async () => {
    const memoryLimit = await leastLimit();
    using key = await open(streamOf(data, 90_000), { memoryLimit });
    await folderCache(folder).delete();
    for (let turn = 0; turn < 2; turn++) {
      await expect(key.prove(statement.circuit.witness)).rejects.toMatchObject({
        code: 'bad-argument',
        message: expect.stringMatching(/^zkey: bytes .* are not in the cache .*; open the key again from its source$/),
      });
    }
    await visit(streamOf(data, 90_000), { memoryLimit });
  });

  test.each(['0', 'f'])('goes on with the file of another visit, %s, where its own is damaged', async (letter) => {
    const memoryLimit = await leastLimit();
    using key = await open(streamOf(data, 90_000), { memoryLimit });
    const [name = ''] = names();
    // before the other in a listing, or behind it
    const other = name.replace(/\..*\./, `.${letter.repeat(40)}.`);
    const path = join(folder, name);
    const bytes = readFileSync(path);
    writeFileSync(join(folder, other), bytes);
    // the index is whole
    for (let at = 0; at < data.length; at += 1000) bytes[at] = (bytes[at] as number) ^ 1;
    writeFileSync(path, bytes);
    expect(await key.prove(statement.circuit.witness)).toEqual(expected);
    expect(names()).toEqual([other]);
    expect(warnings).toEqual([]);
  });

  test('is not evicted while a key proves from it, and is afterwards', async () => {
    const memoryLimit = await leastLimit();
    const cache = folderCache(folder, { maxBytes: data.length + 3 * PAGE });
    const other = await makeStatement('groth16', 'bn254', 10, 'dense');
    const openOther = async (): Promise<void> => (await open(streamOf(other.zkey.data, 50_000), { cache })).destroy();
    const keys = [await open(streamOf(data, 90_000), { memoryLimit, cache })];
    keys.push(await open(new Blob([data as Uint8Array<ArrayBuffer>]), { memoryLimit, cache }));
    const [name] = names();
    for (const key of keys) {
      await openOther();
      expect(warnings.splice(0)).toEqual([expect.stringContaining('finds no room, so it is not kept')]);
      expect(names()).toEqual([name]);
      expect(await key.prove(statement.circuit.witness)).toEqual(expected);
      key.destroy();
    }
    expect(readdirSync(folder).filter((each) => each.endsWith('.use'))).toEqual([]);
    await openOther();
    expect((await cache.list()).map(({ byteLength }) => byteLength)).toEqual([other.zkey.data.length]);
    expect(warnings).toEqual([]);
  });

  test('of a compact key is stored as its zkey', async () => {
    const { bytes } = await packZkey(data);
    await visit(streamOf(bytes as Uint8Array, 40_000));
    expect((await folderCache(folder).list())[0]).toMatchObject({ byteLength: data.length });
    expect(names()).toHaveLength(1);
  });
});

describe('a stream that is no whole key leaves nothing, and the next one is kept', () => {
  const refused = async (origin: Origin, error: object, options?: ProvingKeyOptions): Promise<void> => {
    await expect(open(origin, options)).rejects.toMatchObject(error);
    expect(names()).toEqual([]);
    await visit(streamOf(data, 60_000));
    expect(names()).toHaveLength(1);
    expect(warnings).toEqual([]);
  };

  test('because it breaks', async () => {
    const thrown = new Error('of the stream');
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield data.slice(0, 3 * PAGE);
      throw thrown;
    }
    await refused(broken(), thrown);
  });

  const isRefused = (length: number): Promise<void> =>
    refused(streamOf(data.subarray(0, length), 30_000), { code: 'bad-argument' });
  test.each([0, 2 * PAGE + 1])('because it ends after %i bytes', isRefused);
  test.each([5, 100, PAGE])('because it ends after %i bytes', { tags: 'long' }, isRefused);

  test('because it is another file', async () => {
    await refused(streamOf(new Uint8Array(3 * PAGE).fill(7), 30_000), {
      code: 'bad-argument',
      message: 'zkey: the file must begin with the letters zkey',
    });
  });

  test('because it has text', async () => {
    await refused(Readable.from([data.slice(0, 2 * PAGE), 'text']) as never, {
      code: 'bad-argument',
      message: expect.stringContaining('a stream must have bytes'),
    });
  });

  test('because a point is wrong', async () => {
    const wrong = data.slice();
    wrong[data.length - 60] = (wrong[data.length - 60] as number) ^ 1;
    await refused(streamOf(wrong, 30_000), { code: 'not-on-curve' });
  });

  test('because it is aborted in the middle, also where it stalls, and then its source is told', async () => {
    const ending = new AbortController();
    const aborting = streamOf(data, 100_000, (from) => from > data.length / 2 && ending.abort());
    await refused(aborting, { code: 'aborted' }, { signal: ending.signal });
    rmSync(folder, { recursive: true });
    const later = new AbortController();
    let isCancelled = false;
    let pulls = 0;
    const stalled = new ReadableStream<Uint8Array>({
      pull: (controller) => (pulls++ < 4 ? controller.enqueue(data.slice(0, PAGE)) : new Promise(() => undefined)),
      cancel: () => {
        isCancelled = true;
      },
    });
    setTimeout(() => later.abort(), 50);
    await refused(stalled, { code: 'aborted' }, { signal: later.signal });
    await until(() => isCancelled);
  });
});

describe('a response', () => {
  test('is kept as it arrives, also from an address without ranges, and goes on where it broke', async () => {
    const made = vi.spyOn(globalThis, 'Blob');
    await visit(await fetch(address));
    rmSync(folder, { recursive: true });
    [requests, breaks] = [0, [PAGE + 1000, 3 * PAGE]];
    await visit(await fetch(address));
    expect(requests).toBe(3);
    expect(names()).toHaveLength(1);
    expect(made).not.toHaveBeenCalled();
    made.mockRestore();
  });

  test('that the server ends for good is refused, and leaves nothing', async () => {
    breaks = [2 * PAGE, 0, 0, 0, 0, 0];
    await expect(open(await fetch(address))).rejects.toMatchObject({
      code: 'bad-argument',
      message: expect.stringContaining('zkey: the server does not send it'),
    });
    expect(names()).toEqual([]);
  });
});

test('a file that another visit deletes while it arrives is refused, and the next one is kept', async () => {
  const gone = streamOf(data, 100_000, (from) => {
    for (const name of from > data.length - 200_000 ? names() : []) rmSync(join(folder, name));
  });
  await expect(open(gone)).rejects.toMatchObject({
    code: 'bad-argument',
    message: expect.stringContaining('zkey: the cache lost it as it arrived'),
  });
  expect(names()).toEqual([]);
  await visit(streamOf(data, 100_000));
  expect(names()).toHaveLength(1);
});

test('openCircuit without workers takes a key as it arrives, and leaves nothing of one that is none', async () => {
  const compiled = await compileCircuit(shapes);
  const zkey = await makeZkey('groth16', 'bn254', compiled.r1cs);
  const made = vi.spyOn(globalThis, 'Blob');
  const openWith = (key: Uint8Array) =>
    openCircuit(
      { wasm: compiled.wasm, zkey: streamOf(key, 1000) },
      { ...onCpu, worker: false, cache: folderCache(folder) },
    );
  await expect(openWith(zkey.subarray(0, 5000))).rejects.toMatchObject({ code: 'bad-argument' });
  await until(() => names().length === 0);
  for (let turn = 0; turn < 2; turn++) {
    const circuit = await openWith(zkey);
    const { publicSignals } = await circuit.prove({ a: [1, 2, 3, 4, 5, 6], k: 4, turns: 2 }, { verifyProof: true });
    expect(publicSignals).toEqual(['116', '4']);
    expect(names()).toHaveLength(1);
    circuit.destroy();
  }
  expect(made).not.toHaveBeenCalled();
  made.mockRestore();
});

describe('without room', () => {
  test('a stream or a response is opened from memory, with a warning', async () => {
    const cache = folderCache(folder, { maxBytes: 3 * PAGE });
    for (const origin of [streamOf(data, 30_000), await fetch(address)]) {
      await visit(origin, { cache });
      expect(names()).toEqual([]);
      expect(warnings.splice(0)).toEqual([expect.stringContaining('finds no room, so it is not kept')]);
    }
  });

  test('a folder that cannot be written is left out, with a warning', async () => {
    writeFileSync(folder, 'a file');
    await visit(streamOf(data, 30_000));
    expect(warnings).toEqual([expect.stringContaining('cache: it cannot be used: ')]);
    rmSync(folder);
  });

  /** Has the third page of an arriving key fail, and its file not open again where `isGone`. @returns pages tried */
  const withFailingDisk = async (isGone: boolean, work: () => Promise<void>): Promise<number> => {
    const { open: openFile } = await import('node:fs/promises');
    let writes = 0;
    const real = process.getBuiltinModule;
    const failing = vi.spyOn(process, 'getBuiltinModule').mockImplementation(((name: string) => {
      const found = real.call(process, name as never) as object;
      if (name !== 'node:fs/promises') return found;
      return {
        ...found,
        open: async (path: string, flags: string) => {
          if (isGone && flags === 'r' && path.endsWith('.received')) throw new Error('the disk is gone');
          const handle = await openFile(path, flags);
          if (flags !== 'w' || !path.endsWith('.received')) return handle;
          const write = handle.write.bind(handle);
          handle.write = (async (...given: Parameters<typeof write>) => {
            if (++writes > 2) throw new Error('the disk is full');
            return write(...given);
          }) as never;
          return handle;
        },
      };
    }) as never);
    try {
      await work();
    } finally {
      failing.mockRestore();
    }
    return writes;
  };

  test('bytes that were written come back from the folder, when it fails in the middle', async () => {
    expect(await withFailingDisk(false, () => visit(streamOf(data, 100_000)))).toBe(3);
    // stored anew from memory
    expect(names()).toHaveLength(1);
  });

  test('the source is told where these bytes do not come back', async () => {
    let isCancelled = false;
    let at = 0;
    const source = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        controller.enqueue(data.slice(at, at + 100_000));
        at += 100_000;
      },
      cancel: () => {
        isCancelled = true;
      },
    });
    await withFailingDisk(true, () => expect(open(source)).rejects.toThrow('the disk is gone'));
    await until(() => isCancelled);
    expect(at).toBeLessThan(data.length);
    expect(names()).toEqual([]);
  });
});

test('two streams of a key at once leave one file', async () => {
  await Promise.all([visit(streamOf(data, 30_000)), visit(streamOf(data, 50_000))]);
  expect(await folderCache(folder).list()).toHaveLength(1);
  await visit(streamOf(data, 30_000));
  expect(names()).toHaveLength(1);
});

test('what a visit left that was killed goes with all keys, and hinders none', async () => {
  await visit(streamOf(data, 30_000));
  writeFileSync(join(folder, 'of-a-dead-process.received'), data.subarray(0, 3 * PAGE));
  expect(await folderCache(folder).list()).toHaveLength(1);
  await visit(streamOf(data, 30_000));
  await folderCache(folder).delete();
  expect(names()).toEqual([]);
});
