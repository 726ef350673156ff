/**
 * Keys from broken sources and from broken caches, drawn from a seed: each proof is right, or there is an
 * error of the source or one with a code; then a whole source proves, and nothing is left in the cache.
 * The environment variable `CHANGES` has the number of draws, `SEED` the seed.
 */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Random } from '../../dev/oracle/known-bases.js';
import { openProvingKeyWith } from '../../src/groth16/open-proving-key.js';
import type { ProvingKeyOptions } from '../../src/groth16.js';
import { MsmError } from '../../src/index.js';
import { folderCache } from '../../src/node.js';
import { floorOf } from '../support/limited-keys.js';
import { ffCurveOf, makeStatement, type Statement, sameDraws } from '../support/proving.js';

const PAGE = 2 ** 18;
const changes = Number(process.env.CHANGES ?? 10);
const seed = Number(process.env.SEED ?? 1);

const root = mkdtempSync(join(tmpdir(), 'webgpu-msm-faults-'));
let statement: Statement;
let other: Statement;
let data: Uint8Array;
let expected: unknown;
let memoryLimit = 0;
let folders = 0;

const onCpu = { backend: 'cpu', maxWorkers: 0, onWarning: () => undefined } as const;

type Origin = Parameters<typeof openProvingKeyWith>[0];
type Key = Awaited<ReturnType<typeof openProvingKeyWith>>;

const open = (origin: Origin, options: ProvingKeyOptions): Promise<Key> =>
  openProvingKeyWith(origin, { ...onCpu, ...options }, sameDraws());

beforeAll(async () => {
  statement = await makeStatement('groth16', 'bn254', 10, 'dense');
  other = await makeStatement('groth16', 'bn254', 7, 'dense');
  data = statement.zkey.data;
  using key = await open(data, {});
  expected = await key.prove(statement.circuit.witness);
  expect(await statement.verify(expected as never)).toBe(true);
  memoryLimit = await floorOf((limit) => open(data, { memoryLimit: limit }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await (await ffCurveOf('bn254')).terminate();
  rmSync(root, { recursive: true });
});

/** An error that a source throws. */
class SourceError extends Error {}

const isTold = (error: unknown): boolean =>
  error instanceof SourceError || (error instanceof MsmError && error.code !== 'internal');

/** Numbers of a round. */
class Draw {
  readonly #random: Random;

  constructor(of: number) {
    this.#random = new Random(of);
  }

  /** Returns an integer from 0. */
  below(limit: number): number {
    return this.#random.u32() % limit;
  }

  isOn(): boolean {
    return this.below(2) === 1;
  }

  of<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item;
  }

  /** Flips bits of a copy. */
  flipped(bytes: Uint8Array): Uint8Array {
    const copy = bytes.slice();
    for (let i = this.below(3); i >= 0 && copy.length > 0; i--) {
      const at = this.below(copy.length);
      copy[at] = (copy[at] as number) ^ (1 << this.below(8));
    }
    return copy;
  }
}

/* A server that breaks. */

/** An answer to a request, with all that it may lie about. */
interface Answer {
  /** The file; all ranges are of it. */
  file: Uint8Array;
  status: number;
  etag: string;
  /** Bytes that are sent of those asked for; more: zeros follow. */
  sent: number;
  /** Differs from the truth by so many bytes. */
  total: number;
  from: number;
  hasRanges: boolean;
  stalls: boolean;
}

/** Makes the answer to the nth request. */
let answerTo: (request: number) => Partial<Answer> = () => ({});
let requests = 0;
let onStall = (): void => undefined;

const server: Server = createServer(({ headers }: IncomingMessage, response: ServerResponse) => {
  const answer: Answer = {
    ...{ file: data, status: 200, etag: '"1"', sent: Number.POSITIVE_INFINITY, total: 0, from: 0 },
    ...{ hasRanges: true, stalls: false, ...answerTo(requests++) },
  };
  const { file, etag, hasRanges } = answer;
  const [, first = '0', last = ''] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? '') ?? [];
  const isPart = hasRanges && headers.range !== undefined;
  const from = isPart ? Number(first) : 0;
  const to = isPart && last !== '' ? Math.min(file.length, Number(last) + 1) : file.length;
  const range = `bytes ${from + answer.from}-${to - 1}/${file.length + answer.total}`;
  response.writeHead(answer.status !== 200 ? answer.status : isPart ? 206 : 200, {
    ...{ etag, 'content-length': Math.max(0, to - from + answer.total) },
    ...(isPart && { 'content-range': range }),
  });
  const body = file.subarray(from, Math.min(to, from + answer.sent));
  if (answer.stalls) response.write(body.subarray(0, 10), () => onStall());
  else if (answer.sent < to - from) response.write(body, () => setTimeout(() => response.destroy(), 5));
  else response.end(body);
});

/* Sources that break. */

/** A broken source. */
interface Broken {
  open(): Origin | Promise<Origin>;
  /** Whether it may return other bytes than those of the key, so that a proof may not verify. */
  readonly lies: boolean;
}

type Fault = (draw: Draw) => Broken;

/** A file in parts. @param read returns what the nth read of a range returns */
const partsOf = (
  read: (count: number, from: number, to: number) => Uint8Array | Promise<Uint8Array>,
  byteLength = data.length,
): Origin => {
  let count = 0;
  return { byteLength, read: async (from: number, to: number) => read(count++, from, to) };
};

/** A stream of some bytes. @param last called before the end */
async function* streamOf(
  bytes: Uint8Array,
  size: number,
  last: () => void | Promise<void> = () => undefined,
): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.slice(from, from + size);
  await last();
}

const longer = (draw: Draw): Uint8Array => {
  const bytes = new Uint8Array(data.length + 1 + draw.below(3 * PAGE));
  bytes.set(data);
  return bytes;
};

/** Returns after how many reads or requests a source breaks: often at once, or while a proof reads. */
const turnOf = (draw: Draw): number => (draw.isOn() ? draw.below(8) : draw.below(200));

const sourceFaults: Readonly<Record<string, Fault>> = {
  'parts: a read fails': (draw) => {
    const turn = turnOf(draw);
    const fail = (): never => {
      throw new SourceError();
    };
    return { lies: false, open: () => partsOf((i, from, to) => (i === turn ? fail() : data.slice(from, to))) };
  },
  'parts: a read is short or long': (draw) => {
    const [turn, by] = [turnOf(draw), draw.of([-1, 1, -20, 4096])];
    const lengthOf = (from: number, to: number) => Math.max(0, to - from + by);
    return {
      lies: false,
      open: () => partsOf((i, from, to) => (i === turn ? new Uint8Array(lengthOf(from, to)) : data.slice(from, to))),
    };
  },
  'parts: bits are wrong': (draw) => {
    const wrong = draw.flipped(data);
    return { lies: true, open: () => partsOf((_, from, to) => wrong.slice(from, to)) };
  },
  'parts: the file changes': (draw) => {
    const [turn, wrong] = [turnOf(draw), draw.flipped(data)];
    return { lies: true, open: () => partsOf((i, from, to) => (i < turn ? data : wrong).slice(from, to)) };
  },
  'parts: the length is wrong': (draw) => {
    const byteLength = draw.isOn() ? draw.below(data.length) : data.length + 1 + draw.below(PAGE);
    return {
      lies: true,
      open: () =>
        partsOf((_, from, to) => Uint8Array.from({ length: to - from }, (_, i) => data[from + i] ?? 0), byteLength),
    };
  },
  'a read stalls': (draw) => {
    const turn = turnOf(draw);
    return {
      lies: false,
      open: () =>
        partsOf((i, from, to) => {
          if (i !== turn) return data.slice(from, to);
          onStall();
          return new Promise(() => undefined);
        }),
    };
  },
  'bytes: bits are wrong': (draw) => ({ lies: true, open: () => draw.flipped(data) }),
  'a Blob is cut off': (draw) => {
    const end = draw.below(data.length);
    return { lies: false, open: () => new Blob([data.slice(0, end)]) };
  },
  'a stream ends early': (draw) => {
    const [end, size] = [draw.below(data.length), 1 + draw.below(2 * PAGE)];
    return { lies: false, open: () => streamOf(data.subarray(0, end), size) };
  },
  'a stream goes on': (draw) => {
    const [bytes, size] = [longer(draw), 1 + draw.below(2 * PAGE)];
    return { lies: false, open: () => streamOf(bytes, size) };
  },
  'a stream has wrong bits': (draw) => {
    const [wrong, size] = [draw.flipped(data), 1 + draw.below(2 * PAGE)];
    return { lies: true, open: () => streamOf(wrong, size) };
  },
  'a stream fails': (draw) => {
    const [end, size] = [draw.below(data.length), 1 + draw.below(2 * PAGE)];
    const fail = (): never => {
      throw new SourceError();
    };
    return { lies: false, open: () => streamOf(data.subarray(0, end), size, fail) };
  },
  'a stream stalls': (draw) => {
    const [end, size] = [draw.below(data.length), 1 + draw.below(2 * PAGE)];
    const stall = () => {
      onStall();
      return new Promise<void>(() => undefined);
    };
    return { lies: false, open: () => streamOf(data.subarray(0, end), size, stall) };
  },
  'a server breaks': (draw) => {
    const [turn, isForGood] = [turnOf(draw), draw.isOn()];
    const lie: Partial<Answer> = draw.of([
      { status: 500 },
      { status: 404 },
      { status: 416 },
      { etag: '"2"' },
      { sent: draw.below(PAGE) },
      { total: 1 + draw.below(1000) },
      { total: -1 - draw.below(1000) },
      { from: 1 },
      { hasRanges: false },
      { stalls: true },
    ]);
    const isHit = (request: number): boolean => (isForGood ? request >= turn : request === turn);
    return { lies: false, open: () => openAddress(draw, (request) => (isHit(request) ? lie : {})) };
  },
  'a server has another file under the same name': (draw) => {
    const [turn, wrong] = [turnOf(draw), draw.flipped(data)];
    return { lies: true, open: () => openAddress(draw, (request) => (request >= turn ? { file: wrong } : {})) };
  },
};

/** Opens the address of the server, or a response of it. */
const openAddress = async (draw: Draw, answer: typeof answerTo): Promise<Origin> => {
  [requests, answerTo] = [0, answer];
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/circuit.zkey`;
  if (draw.isOn()) return address;
  return fetch(address).catch(() => {
    throw new SourceError();
  });
};

/* Caches that break. */

/** The files of a cache that has the key. */
type CacheFault = (folder: string, draw: Draw) => void;

const filesIn = (folder: string): string[] => readdirSync(folder).filter((name) => !name.endsWith('.use'));

const keyIn = (folder: string): string => join(folder, filesIn(folder).find((name) => name.endsWith('.key')) as string);

const rewrite = (path: string, edit: (bytes: Uint8Array) => Uint8Array): void =>
  writeFileSync(path, edit(new Uint8Array(readFileSync(path))));

/** Returns a place at which a file may be cut: between pages, in its index, or anywhere. */
const cutOf = (draw: Draw, length: number): number =>
  draw.of([
    PAGE * draw.below(Math.ceil(length / PAGE)),
    Math.max(0, length - 1 - draw.below(2000)),
    draw.below(length),
  ]);

let ofOther: Uint8Array;

const cacheFaults: Readonly<Record<string, CacheFault>> = {
  'bits of a file': (folder, draw) => rewrite(join(folder, draw.of(filesIn(folder))), (bytes) => draw.flipped(bytes)),
  'a file that is cut off': (folder, draw) =>
    rewrite(join(folder, draw.of(filesIn(folder))), (bytes) => bytes.subarray(0, cutOf(draw, bytes.length))),
  'a file that is longer': (folder, draw) =>
    rewrite(keyIn(folder), (bytes) => Buffer.concat([bytes, new Uint8Array(1 + draw.below(2 * PAGE))])),
  'a part that was not written': (folder, draw) =>
    rewrite(keyIn(folder), (bytes) => {
      const from = draw.below(bytes.length);
      return bytes.fill(0, from, from + 1 + draw.below(2 * PAGE));
    }),
  'pages in another order': (folder, draw) =>
    rewrite(keyIn(folder), (bytes) => {
      const pages = Math.floor(bytes.length / PAGE);
      const [first, second] = [draw.below(pages), draw.below(pages)];
      const page = bytes.slice(first * PAGE, (first + 1) * PAGE);
      bytes.copyWithin(first * PAGE, second * PAGE, (second + 1) * PAGE);
      bytes.set(page, second * PAGE);
      return bytes;
    }),
  'the file of another key': (folder) => writeFileSync(keyIn(folder), ofOther),
  'the end of another version': (folder, draw) =>
    rewrite(keyIn(folder), (bytes) => {
      // the number of the form, or the version of the library in the JSON
      const at = draw.isOn() ? bytes.length - 40 : Buffer.from(bytes).lastIndexOf('"library":"') + 11;
      bytes[at] = (bytes[at] as number) ^ 1;
      return bytes;
    }),
  'a key that was deleted': (folder) => rmSync(keyIn(folder)),
  'all keys deleted': (folder) => {
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
  },
  'a second file, which is damaged': (folder, draw) => {
    const path = keyIn(folder);
    const [id] = (path.split('/').at(-1) as string).split('.');
    writeFileSync(join(folder, `${id}.${crypto.randomUUID()}.key`), draw.flipped(new Uint8Array(readFileSync(path))));
  },
  'a writer that was killed': (folder, draw) => {
    const path = keyIn(folder);
    const bytes = readFileSync(path);
    const ending = draw.of(['key', 'received']);
    if (draw.isOn()) rmSync(path);
    const [id] = (path.split('/').at(-1) as string).split('.');
    writeFileSync(join(folder, `${id}.${crypto.randomUUID()}.${ending}`), bytes.subarray(0, cutOf(draw, bytes.length)));
  },
};

/* Rounds. */

const newFolder = (): string => join(root, `${++folders}`);

/** Proves, or says why not. @throws errors that nobody is told of, and wrong proofs */
const attempt = async (work: () => Promise<unknown>): Promise<string> => {
  try {
    expect(await work()).toEqual(expected);
    return 'proof';
  } catch (error) {
    if (isTold(error)) return String(error);
    throw error;
  }
};

/** Expects that a whole source proves, and that nothing but the key is left in the folder. */
const expectRecovery = async (folder: string, killed: readonly string[] = []): Promise<void> => {
  const prove = async (): Promise<unknown> => {
    using key = await open(new Blob([data as Uint8Array<ArrayBuffer>]), { cache: folderCache(folder) });
    return await key.prove(statement.circuit.witness, { verifyProof: true });
  };
  // a coefficient that was wrong at the source is found by the first proof that does not verify
  const first = await attempt(prove);
  if (first !== 'proof') expect(await prove()).toEqual(expected);
  const left = readdirSync(folder).filter((name) => !/\.key$|^times\.json$/.test(name) && !killed.includes(name));
  expect(left).toEqual([]);
};

const breakSource = async (of: number): Promise<string> => {
  const draw = new Draw(of);
  const what = draw.of(Object.keys(sourceFaults));
  const fault = (sourceFaults[what] as Fault)(draw);
  const folder = newFolder();
  const [isKept, isWarm, isLimited] = [draw.isOn(), draw.isOn(), draw.isOn()];
  if (isKept && isWarm) (await open(data, { cache: folderCache(folder) })).destroy();
  const ending = new AbortController();
  onStall = () => void setTimeout(() => ending.abort());
  const { signal } = ending;
  const options = { signal, ...(isKept && { cache: folderCache(folder) }), ...(isLimited && { memoryLimit }) };
  const outcome = await attempt(async () => {
    using key = await open(await fault.open(), options);
    return await key.prove(statement.circuit.witness, { signal, verifyProof: fault.lies });
  });
  answerTo = () => ({});
  if (isKept) await expectRecovery(folder);
  return `${what}${isKept ? `, ${isWarm ? 'cached' : 'with a cache'}` : ''}${isLimited ? ', in pages' : ''}: ${outcome}`;
};

/** The folder of a cache that has the key, of a source in memory or of a stream. */
let warm = '';

const breakCache = async (of: number): Promise<string> => {
  const draw = new Draw(of);
  const what = draw.of(Object.keys(cacheFaults));
  const folder = newFolder();
  cpSync(warm, folder, { recursive: true });
  const cache = folderCache(folder);
  const [isOpen, isLimited, isStream] = [draw.isOn(), draw.isOn(), draw.isOn()];
  const before = new Set(readdirSync(folder));
  const breakIt = (): void => (cacheFaults[what] as CacheFault)(folder, draw);
  const options = { cache, ...((isOpen || isLimited) && { memoryLimit }) };
  const originOf = (): Origin => (isStream ? streamOf(data, 100_000) : new Blob([data as Uint8Array<ArrayBuffer>]));
  let killed: string[] = [];
  const breakAndSee = (): void => {
    breakIt();
    killed = readdirSync(folder).filter((name) => !before.has(name) && name.endsWith('.received'));
  };
  if (!isOpen) breakAndSee();
  const outcome = await attempt(async () => {
    using key = await open(originOf(), options);
    if (isOpen) breakAndSee();
    if (!draw.isOn()) return await key.prove(statement.circuit.witness);
    // two visits at once
    const second = open(originOf(), options).then((each) => each.destroy());
    const results = await Promise.allSettled([key.prove(statement.circuit.witness), second]);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
    return (results[0] as PromiseFulfilledResult<unknown>).value;
  });
  // all but a stream can be read again
  if (!(isOpen && isStream)) expect(outcome).toBe('proof');
  await expectRecovery(folder, killed);
  return `${what}${isOpen ? ', while open' : ''}${isStream ? ', a stream' : ''}: ${outcome}`;
};

const campaigns = [
  ['broken sources', breakSource],
  ['broken caches', breakCache],
] as const;

describe.each(campaigns)('%s make no wrong proof', (_, round) => {
  beforeAll(async () => {
    if (warm !== '') return;
    warm = newFolder();
    (await open(data, { cache: folderCache(warm) })).destroy();
    const folder = newFolder();
    mkdirSync(folder);
    (await open(other.zkey.data, { cache: folderCache(folder) })).destroy();
    ofOther = readFileSync(keyIn(folder));
    expect(statSync(keyIn(warm)).size).toBeGreaterThan(3 * PAGE);
  });

  const run = async (first: number, count: number): Promise<void> => {
    for (let i = first; i < first + count; i++) {
      const outcome = await round(i).catch((cause: unknown) => {
        throw new Error(`seed ${i}: ${String(cause)}`, { cause });
      });
      if (process.env.CHANGES !== undefined) console.log(i, outcome);
    }
  };
  test('first draws', () => run(seed, changes));
  test('further draws', { tags: 'long', timeout: 1_200_000 }, () => run(seed + changes, 20 * changes));
});
