/** Keys that a folder keeps between visits: right proofs from whole, damaged, foreign and half-written ones. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { open as openOnDisk } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { openProvingKeyWith } from '../../src/groth16/open-proving-key.js';
import { openProvingKey, type ProvingKeyOptions } from '../../src/groth16.js';
import { folderCache, openFile } from '../../src/node.js';
import { version } from '../../src/version.js';
import { floorOf } from '../support/limited-keys.js';
import { endCurves, makeStatement, type Statement, sameDraws } from '../support/proving.js';

const PAGE = 2 ** 18;
const root = mkdtempSync(join(tmpdir(), 'webgpu-msm-cache-'));
let folder = '';
let count = 0;
let statement: Statement;
let other: Statement;
let expected: unknown;
const warnings: string[] = [];

beforeAll(async () => {
  statement = await makeStatement('groth16', 'bn254', 10, 'dense');
  other = await makeStatement('groth16', 'bn254', 7, 'dense');
  using key = await openProvingKeyWith(statement.zkey.data, onCpu, sameDraws());
  expected = await key.prove(statement.circuit.witness);
  expect(await statement.verify(expected as never)).toBe(true);
});
afterAll(async () => {
  await endCurves();
  rmSync(root, { recursive: true });
});
beforeEach(() => {
  folder = join(root, `${++count}`);
  warnings.length = 0;
});

const onCpu = {
  backend: 'cpu',
  maxWorkers: 0,
  onWarning: (message: string) => void (message.startsWith('zkey: γ') || warnings.push(message)),
} as const;

/** A file that is read in parts, and how many bytes were read. */
const fileOf = (bytes: Uint8Array) => {
  const file = {
    byteLength: bytes.length,
    bytesRead: 0,
    read: async (from: number, to: number): Promise<Uint8Array> => {
      file.bytesRead += to - from;
      return bytes.slice(from, to);
    },
  };
  return file;
};

/** Visits with a key: opens it, and proves. @returns bytes that were read of the source */
const visit = async (options: ProvingKeyOptions = {}, bytes = statement.zkey.data): Promise<number> => {
  const file = fileOf(bytes);
  using key = await openProvingKeyWith(file, { ...onCpu, cache: folderCache(folder), ...options }, sameDraws());
  expect(await key.prove(statement.circuit.witness)).toEqual(expected);
  return file.bytesRead;
};

/** Returns a key with a wrong coefficient of the matrices. */
const damaged = (key: Uint8Array): Uint8Array => {
  const wrong = key.slice();
  const view = new DataView(wrong.buffer, wrong.byteOffset);
  let at = 12;
  while (view.getUint32(at, true) !== 4) at += 12 + Number(view.getBigUint64(at + 4, true));
  const place = at + 12 + 4 + 44 * 1000 + 12;
  wrong[place] = (wrong[place] as number) ^ 1;
  return wrong;
};

const keyFile = (): string => {
  const names = readdirSync(folder).filter((name) => name.endsWith('.key'));
  expect(names).toHaveLength(1);
  return join(folder, names[0] as string);
};

const change = (edit: (bytes: Buffer) => Uint8Array): void => {
  const path = keyFile();
  writeFileSync(path, edit(readFileSync(path)));
};

/** Parts of a stored key: its pages, JSON, table and footer. */
const partsOf = (bytes: Buffer) => {
  const footer = bytes.length - 48;
  const json = bytes.readUInt32LE(footer + 12);
  const pages = (footer - json) / (PAGE + 36);
  return { pages, json: pages * PAGE, table: pages * PAGE + json, footer };
};

/** Writes the digests of pages and index anew, as whoever can write the folder may. */
const sign = async (bytes: Buffer): Promise<Buffer> => {
  const sha256 = async (part: Uint8Array) => new Uint8Array(await crypto.subtle.digest('SHA-256', part as never));
  const { pages, json, table, footer } = partsOf(bytes);
  for (let slot = 0; slot < pages; slot++) {
    const at = table + 36 * slot;
    const page = bytes.readUInt32LE(at);
    const { byteLength, preparedBytes } = JSON.parse(bytes.subarray(json, table).toString());
    const pagesOfKey = Math.ceil(byteLength / PAGE);
    const left = page < pagesOfKey ? byteLength - page * PAGE : preparedBytes - (page - pagesOfKey) * PAGE;
    const length = Math.min(PAGE, left);
    bytes.set(await sha256(bytes.subarray(slot * PAGE, slot * PAGE + length)), at + 4);
  }
  bytes.set(await sha256(bytes.subarray(json, footer)), footer + 16);
  return bytes;
};

describe('a second visit', () => {
  test('reads the header alone, checks no point again, and makes the same proof', async () => {
    const { data } = statement.zkey;
    expect(await visit()).toBeGreaterThan(data.length / 2);
    const cache = folderCache(folder);
    const [stored, ...none] = await cache.list();
    expect(none).toEqual([]);
    expect(stored).toMatchObject({ protocol: 'groth16', curve: 'bn254', byteLength: data.length });
    expect(stored?.id).toMatch(/^[0-9a-f]{64}$/);
    expect(await visit()).toBeLessThan(20_000);
    expect(warnings).toEqual([]);
    // a point off the curve that has a digest is taken
    const bytes = readFileSync(keyFile());
    const at = bytes.indexOf(data.subarray(-64));
    bytes[at] = (bytes[at] as number) ^ 1;
    writeFileSync(keyFile(), await sign(bytes));
    const open = () => openProvingKey(fileOf(data), { ...onCpu, cache });
    using wrong = await open();
    await expect(wrong.prove(statement.circuit.witness)).rejects.toMatchObject({ code: 'internal' });
    await cache.delete(stored?.id);
    expect(await cache.list()).toEqual([]);
    using right = await open();
    expect(await statement.verify((await right.prove(statement.circuit.witness)) as never)).toBe(true);
  });

  test('follows one that reads no page of the source twice, but for what identifies the key', async () => {
    const { length } = statement.zkey.data;
    const read = await visit();
    expect(length).toBeGreaterThan(2 * PAGE);
    expect(read).toBeGreaterThan(length / 2);
    expect(read).toBeLessThan(length + 20_000);
  });

  test('loses a key that is not that of its source, where nothing checks it, when a proof does not verify', async () => {
    const wrong = damaged(statement.zkey.data);
    const cache = folderCache(folder);
    const proveFrom = async (bytes: Uint8Array) => {
      using key = await openProvingKey(fileOf(bytes), { ...onCpu, cache });
      return await key.prove(statement.circuit.witness, { verifyProof: true });
    };
    // the source has the same damage, so to load it again would bring the same key
    for (let i = 0; i < 2; i++) {
      await expect(proveFrom(wrong)).rejects.toMatchObject({
        code: 'bad-argument',
        message: expect.stringMatching(/does not verify.*a computation was wrong$/),
      });
      expect(await cache.list()).toHaveLength(1);
    }
    await expect(proveFrom(statement.zkey.data)).rejects.toMatchObject({
      code: 'bad-argument',
      message: expect.stringMatching(
        /does not verify.*in the cache was not that of its file and was deleted, so open it again$/,
      ),
    });
    expect(await cache.list()).toEqual([]);
    const proof = await proveFrom(statement.zkey.data);
    expect(await statement.verify(proof as never)).toBe(true);
    expect(await cache.list()).toHaveLength(1);
    expect(warnings).toEqual([]);
  });

  test('needs no source, from what the cache opens', async () => {
    const path = join(root, 'circuit.zkey');
    writeFileSync(path, statement.zkey.data);
    const cache = folderCache(folder);
    (await openProvingKey(await openFile(path), { ...onCpu, cache })).destroy();
    rmSync(path);
    const [stored] = await cache.list();
    const source = await cache.open(stored?.id as string);
    using key = await openProvingKeyWith(source as never, { ...onCpu, cache }, sameDraws());
    expect(await key.prove(statement.circuit.witness)).toEqual(expected);
    expect(await cache.open('0'.repeat(64))).toBeNull();
    change((bytes) => {
      bytes[PAGE + 5] = (bytes[PAGE + 5] as number) ^ 1;
      return bytes;
    });
    await expect(openProvingKey(source as never, { ...onCpu, cache })).rejects.toMatchObject({
      code: 'bad-argument',
      message: expect.stringMatching(/are not in the cache as they were stored; open the key again from its source/),
    });
    expect(await cache.list()).toEqual([]);
  });

  test('under a limit of memory reads pages of points from the cache, and none from the source', async () => {
    const error = await openProvingKey(statement.zkey.data, { ...onCpu, memoryLimit: 1 }).catch((each: Error) => each);
    const memoryLimit = Number(/takes (\d+) bytes/.exec((error as Error).message)?.[1]);
    const file = fileOf(statement.zkey.data);
    const options = { ...onCpu, memoryLimit, cache: folderCache(folder) };
    using key = await openProvingKeyWith(file, options, sameDraws());
    const { bytesRead } = file;
    expect(await key.prove(statement.circuit.witness)).toEqual(expected);
    expect(file.bytesRead).toBe(bytesRead);
    expect(await visit({ memoryLimit })).toBeLessThan(20_000);
    change((bytes) => {
      for (let slot = 0; slot < partsOf(bytes).pages; slot++) bytes[slot * PAGE] = (bytes[slot * PAGE] as number) ^ 1;
      return bytes;
    });
    expect(await statement.verify((await key.prove(statement.circuit.witness)) as never)).toBe(true);
    expect(file.bytesRead).toBeGreaterThan(bytesRead);
  });
});

describe('pages that another visit takes away while a key proves from them come from the source', () => {
  const openings = ['by a path', 'by a Blob', 'by parts'] as const;
  const changes = {
    deleted: () => folderCache(folder).delete(),
    'cut off': () => change((bytes) => bytes.subarray(0, PAGE + 1000)),
    damaged: () =>
      change((bytes) => {
        for (let at = 0; at < bytes.length; at += 1000) bytes[at] = (bytes[at] as number) ^ 1;
        return bytes;
      }),
    'of another key': async () => {
      const path = keyFile();
      rmSync(path);
      (await openProvingKey(fileOf(other.zkey.data), { ...onCpu, cache: folderCache(folder) })).destroy();
      renameSync(keyFile(), path);
    },
  } as const;

  const originOf = (opening: (typeof openings)[number]) => {
    const { data } = statement.zkey;
    if (opening === 'by a Blob') return new Blob([data as Uint8Array<ArrayBuffer>]);
    if (opening === 'by parts') return fileOf(data);
    const path = join(root, 'source.zkey');
    writeFileSync(path, data);
    return path;
  };

  test.each(Object.keys(changes) as (keyof typeof changes)[])('%s', async (what) => {
    const memoryLimit = await floorOf((limit) => openProvingKey(statement.zkey.data, { ...onCpu, memoryLimit: limit }));
    // the cache reads all sources in the same way
    for (const opening of what === 'deleted' ? openings : (['by parts'] as const)) {
      const origin = originOf(opening);
      const open = () => openProvingKeyWith(origin, { ...onCpu, memoryLimit, cache: folderCache(folder) }, sameDraws());
      for (const isFirst of [true, false]) {
        if (!isFirst) (await open()).destroy();
        using key = await open();
        expect(key.memory.pagedPoints).toBeGreaterThan(0);
        await changes[what]();
        expect(await key.prove(statement.circuit.witness)).toEqual(expected);
        expect(await statement.verify((await key.prove(statement.circuit.witness)) as never)).toBe(true);
        expect(warnings.splice(0)).toEqual([expect.stringMatching(/damaged in the cache, so the next visit stores/)]);
        key.destroy();
        await folderCache(folder).delete();
      }
    }
  });
});

describe.each(['plonk', 'fflonk'] as const)('a key of %s', (system) => {
  test('is kept, and proves', async () => {
    const { openProvingKey: open } = await (system === 'plonk'
      ? import('../../src/plonk.js')
      : import('../../src/fflonk.js'));
    const { zkey, circuit, verify } = await makeStatement(system, 'bn254', 8, 'dense');
    const cache = folderCache(folder);
    for (const turn of [0, 1]) {
      const file = fileOf(zkey.data);
      using key = await open(file, { ...onCpu, cache });
      expect(await verify((await key.prove(circuit.witness)) as never)).toBe(true);
      if (turn === 1) expect(file.bytesRead).toBeLessThan(zkey.data.length / 10);
    }
    const [stored] = await cache.list();
    expect(stored).toMatchObject({ protocol: system, byteLength: zkey.data.length });
    expect(warnings).toEqual([]);
  });
});

describe('a wrong witness leaves a right key in the cache', () => {
  const wrongWitness = (): Uint8Array => {
    const wrong = statement.circuit.witness.slice();
    wrong[wrong.length - 32] = (wrong[wrong.length - 32] as number) ^ 1;
    return wrong;
  };
  const unverified = { code: 'bad-argument', message: expect.stringMatching(/a computation was wrong$/) };

  test('in the visit that stored it and in later ones, which compare it with the source once', async () => {
    const { data } = statement.zkey;
    const cache = folderCache(folder);
    for (let i = 0; i < 2; i++) {
      const file = fileOf(data);
      using key = await openProvingKeyWith(file, { ...onCpu, cache }, sameDraws());
      const { bytesRead } = file;
      expect(await key.prove(statement.circuit.witness, { verifyProof: true })).toEqual(expected);
      expect(file.bytesRead).toBe(bytesRead);
      await expect(key.prove(wrongWitness(), { verifyProof: true })).rejects.toMatchObject(unverified);
      const compared = file.bytesRead;
      expect(compared).toBeGreaterThan(bytesRead + data.length / 2);
      await expect(key.prove(wrongWitness(), { verifyProof: true })).rejects.toMatchObject(unverified);
      expect(file.bytesRead).toBe(compared);
      expect(await cache.list()).toHaveLength(1);
    }
    expect(warnings).toEqual([]);
  });

  test('also where the source cannot be read any more, or the caller aborts the comparison', async () => {
    const { data } = statement.zkey;
    const cache = folderCache(folder);
    const file = fileOf(data);
    using key = await openProvingKeyWith(file, { ...onCpu, cache }, sameDraws());
    const { read } = file;
    const ending = new AbortController();
    file.read = (from, to) => {
      ending.abort();
      return read(from, to);
    };
    const aborted = key.prove(wrongWitness(), { verifyProof: true, signal: ending.signal });
    await expect(aborted).rejects.toMatchObject({ code: 'aborted' });
    file.read = async () => {
      throw new Error('of a closed file');
    };
    await expect(key.prove(wrongWitness(), { verifyProof: true })).rejects.toMatchObject(unverified);
    expect(await key.prove(statement.circuit.witness, { verifyProof: true })).toBeTruthy();
    expect(await cache.list()).toHaveLength(1);
  });
});

test('the first bytes of a key are read once', async () => {
  for (const options of [{}, { cache: folderCache(folder) }]) {
    const file = fileOf(statement.zkey.data);
    const starts: number[] = [];
    const { read } = file;
    file.read = (from, to) => {
      if (to <= 12) starts.push(from);
      return read(from, to);
    };
    (await openProvingKey(file, { ...onCpu, ...options })).destroy();
    expect(starts).toEqual([0]);
  }
});

describe('matrices that the first visit prepared', () => {
  /** Slot of the first prepared page, and the bytes. */
  const preparedIn = (bytes: Buffer): { readonly at: number; readonly length: number } => {
    const { pages, json, table } = partsOf(bytes);
    const { byteLength, preparedBytes } = JSON.parse(bytes.subarray(json, table).toString());
    const first = Array.from({ length: pages }, (_, slot) => bytes.readUInt32LE(table + 36 * slot)).indexOf(
      Math.ceil(byteLength / PAGE),
    );
    return { at: first * PAGE, length: preparedBytes };
  };

  /** Start of the section of coefficients, and their number. */
  const coefficients = (): { readonly at: number; readonly count: number } => {
    const { data } = statement.zkey;
    const view = new DataView(data.buffer, data.byteOffset);
    let at = 12;
    while (view.getUint32(at, true) !== 4) at += 12 + Number(view.getBigUint64(at + 4, true));
    return { at, count: view.getUint32(at + 12, true) };
  };

  /** Changes the coefficients in the pages of the key. */
  const changeCoefficients = async (): Promise<void> => {
    const bytes = readFileSync(keyFile());
    const { data } = statement.zkey;
    const { at } = coefficients();
    const place = bytes.indexOf(data.subarray(at + 12, at + 12 + 200));
    expect(place).toBeGreaterThan(0);
    // column and value of the first entry
    bytes.fill(1, place + 12, place + 4 + 44 - 1);
    writeFileSync(keyFile(), await sign(bytes));
  };

  test('are what the second visit loads, instead of the coefficients', async () => {
    await visit();
    const { at, length } = preparedIn(readFileSync(keyFile()));
    expect(at).toBeGreaterThan(0);
    expect(length).toBeGreaterThan(12 * coefficients().count);
    await changeCoefficients();
    expect(await visit()).toBeLessThan(20_000);
    expect(warnings).toEqual([]);
  });

  const areRefused = async (isEach: boolean): Promise<void> => {
    await visit();
    const whole = readFileSync(keyFile());
    const path = keyFile();
    const { at, length } = preparedIn(whole);
    for (const damaged of isEach ? [at, at + 20, at + 5000, at + length - 1] : [at + 5000]) {
      const bytes = Buffer.from(whole);
      bytes[damaged] = (bytes[damaged] as number) ^ 1;
      writeFileSync(path, bytes);
      await visit();
      expect(warnings.splice(0)).toEqual([expect.stringContaining('what was prepared of it is damaged in the cache')]);
      // the visit deleted it, and the next one stores it anew
      await visit();
      expect(preparedIn(readFileSync(keyFile())).length).toBe(length);
      rmSync(keyFile());
    }
    const forms = [
      [0, 2],
      [2, 2 ** 31],
      [5, 2 ** 20],
      // the first row of A, and what follows its rows: a column
      [8, 2 ** 31],
      [8 + whole.readUInt32LE(at + 8), 2 ** 31],
      [8 + 2 * whole.readUInt32LE(at + 8), 2 ** 31],
    ] as const;
    for (const [word, value] of isEach ? forms : [forms[0], forms[4]]) {
      const bytes = Buffer.from(whole);
      bytes.writeUInt32LE(value, at + 4 * word);
      writeFileSync(path, await sign(bytes));
      expect(await visit()).toBeLessThan(20_000);
      expect(warnings).toEqual([]);
    }
  };
  test('are refused where they are damaged, and where they have another form', () => areRefused(false));
  test('are refused wherever they are damaged, and in any other form', { tags: 'long' }, () => areRefused(true));

  test('are left out where they have no room, and of a key with a limit', async () => {
    const maxBytes = statement.zkey.data.length + 2 * PAGE + 1000;
    const cache = folderCache(folder, { maxBytes });
    await visit({ cache });
    const bytes = readFileSync(keyFile());
    const { json, table } = partsOf(bytes);
    expect(JSON.parse(bytes.subarray(json, table).toString())).toMatchObject({ preparedBytes: 0 });
    expect(await visit({ cache })).toBeLessThan(20_000);
    await cache.delete();
    const error = await openProvingKey(statement.zkey.data, { ...onCpu, memoryLimit: 1 }).catch((each: Error) => each);
    const memoryLimit = Number(/takes (\d+) bytes/.exec((error as Error).message)?.[1]);
    for (const limit of [memoryLimit, undefined, memoryLimit]) await visit({ memoryLimit: limit });
    expect(warnings).toEqual([]);
  });
});

describe('a damaged cache makes no wrong proof', () => {
  const isFound = async (isEach: boolean): Promise<void> => {
    await visit();
    const path = keyFile();
    const whole = readFileSync(path);
    const { pages, json, table, footer } = partsOf(whole);
    expect(pages).toBeGreaterThan(2);
    expect(pages).toBeGreaterThan(Math.ceil(statement.zkey.data.length / PAGE));
    const inPages = Array.from({ length: pages }, (_, slot) => slot * PAGE + 1000);
    const inTable = [table, table + 3, table + 4, table + 36 * pages - 1];
    const places = [...inPages, json + 20, ...inTable, footer, footer + 12, footer + 47];
    // a page of the key, the last one, which was prepared, and each part of the index
    const some = [PAGE + 1000, inPages.at(-1) as number, json + 20, table + 4, footer + 12];
    for (const at of isEach ? places : some) {
      change((bytes) => {
        bytes[at] = (bytes[at] as number) ^ 4;
        return bytes;
      });
      await visit();
      if (at < json) expect(warnings.splice(0).join()).toContain('damaged in the cache');
      rmSync(folder, { recursive: true });
      mkdirSync(folder);
      writeFileSync(path, whole);
    }
    expect(await visit()).toBeLessThan(20_000);
    expect(warnings).toEqual([]);
  };
  test('with a bit flipped in a page of each kind or a part of the index', () => isFound(false));
  test('with a bit flipped in any page or part of the index', { tags: 'long' }, () => isFound(true));

  test('cut off anywhere, empty, or longer', { tags: 'long' }, async () => {
    await visit();
    const whole = readFileSync(keyFile());
    const { json, table, footer } = partsOf(whole);
    const path = keyFile();
    for (const end of [0, 47, PAGE, json, table + 1, footer, whole.length - 1]) {
      rmSync(folder, { recursive: true });
      mkdirSync(folder);
      writeFileSync(path, whole.subarray(0, end));
      expect(await folderCache(folder).list()).toEqual([]);
      expect(await visit()).toBeGreaterThan(statement.zkey.data.length / 2);
    }
    writeFileSync(path, Buffer.concat([whole, Buffer.alloc(10)]));
    await visit();
    expect(warnings).toEqual([]);
  });

  test('of another version of the library or of the form, or with the contents of another key', async () => {
    await visit();
    const path = keyFile();
    const whole = readFileSync(path);
    const { json, table, footer } = partsOf(whole);
    const text = whole.subarray(json, table).toString().replace(`"library":"${version}"`, '"library":"9.9.9"');
    const older = Buffer.from(whole);
    older.write(text, json);
    writeFileSync(path, await sign(older));
    expect(await visit()).toBeGreaterThan(statement.zkey.data.length / 2);
    rmSync(folder, { recursive: true });
    await visit();
    renameSync(keyFile(), path);
    const form = Buffer.from(whole);
    form.writeUInt32LE(1, footer + 8);
    writeFileSync(path, form);
    expect(await visit()).toBeGreaterThan(statement.zkey.data.length / 2);
    rmSync(folder, { recursive: true });
    (await openProvingKey(other.zkey.data, { ...onCpu, cache: folderCache(folder) })).destroy();
    renameSync(keyFile(), path);
    expect(await visit()).toBeGreaterThan(statement.zkey.data.length / 2);
  });

  test('of a writer that was killed at any time', { tags: 'long' }, async () => {
    const { data } = statement.zkey;
    const copies: string[] = [];
    const copy = (): void => {
      copies.push(join(root, `killed-${count}-${copies.length}`));
      cpSync(folder, copies.at(-1) as string, { recursive: true });
    };
    const real = process.getBuiltinModule;
    const writing = vi.spyOn(process, 'getBuiltinModule').mockImplementation(((name: string) => {
      const found = real.call(process, name as never) as object;
      if (name !== 'node:fs/promises') return found;
      const open = async (path: string, flags: string) => {
        const handle = await openOnDisk(path, flags);
        const write = handle.write.bind(handle);
        handle.write = (async (...given: Parameters<typeof write>) => {
          copy();
          return write(...given);
        }) as never;
        return handle;
      };
      return { ...found, open };
    }) as never);
    (await openProvingKey(fileOf(data), { ...onCpu, cache: folderCache(folder) })).destroy();
    writing.mockRestore();
    // before each page, the index, and the times of use
    expect(copies.length).toBeGreaterThan(4);
    copies.pop();
    for (const each of copies) {
      folder = each;
      expect(await folderCache(folder).list()).toEqual([]);
      expect(await visit()).toBeGreaterThan(data.length / 2);
      expect(await visit()).toBeLessThan(20_000);
    }
  });

  test('of two writers at once, one of whose files stays', async () => {
    await Promise.all([visit(), visit()]);
    expect(await folderCache(folder).list()).toHaveLength(1);
    expect(await visit()).toBeLessThan(20_000);
    keyFile();
  });

  test('after a load that failed, was aborted, or read a file that changed', async () => {
    const { data } = statement.zkey;
    const cache = folderCache(folder);
    const bytes = data.slice();
    bytes[data.length - 60] = (bytes[data.length - 60] as number) ^ 1;
    await expect(openProvingKey(fileOf(bytes), { ...onCpu, cache })).rejects.toMatchObject({ code: 'not-on-curve' });
    const thrown = new Error('of the caller');
    const file = fileOf(data);
    const broken = {
      byteLength: data.length,
      read: (from: number, to: number) => (from > data.length / 2 ? Promise.reject(thrown) : file.read(from, to)),
    };
    await expect(openProvingKey(broken, { ...onCpu, cache })).rejects.toBe(thrown);
    const ending = new AbortController();
    const onProgress = (): void => ending.abort();
    await expect(
      openProvingKey(fileOf(data), { ...onCpu, cache, onProgress, signal: ending.signal }),
    ).rejects.toMatchObject({ code: 'aborted' });
    let reads = 0;
    const changing = {
      byteLength: data.length,
      read: async (from: number, to: number) => {
        const part = data.slice(from, to);
        // a byte of the page of the header that no reader looks at
        if (++reads > 40 && from === 0) part[part.length - 1] = (part.at(-1) as number) ^ 1;
        return part;
      },
    };
    await openProvingKey(changing, { ...onCpu, cache }).then(
      (key) => key.destroy(),
      (error) => expect(error).toMatchObject({ code: 'bad-argument' }),
    );
    await cache.delete();
    expect(readdirSync(folder)).toEqual([]);
    await visit();
    expect(await visit()).toBeLessThan(20_000);
  });
});

describe('room', () => {
  test('keys make room by last use, and a key without room is not kept', async () => {
    const bytes = statement.zkey.data.length;
    const cache = folderCache(folder, { maxBytes: bytes + 3 * PAGE });
    const open = async (source: Uint8Array) => (await openProvingKey(fileOf(source), { ...onCpu, cache })).destroy();
    await open(other.zkey.data);
    expect(await cache.list()).toHaveLength(1);
    await open(statement.zkey.data);
    expect((await cache.list()).map(({ byteLength }) => byteLength)).toEqual([bytes]);
    await open(other.zkey.data);
    expect((await cache.list()).map(({ byteLength }) => byteLength)).toEqual([other.zkey.data.length]);
    expect(warnings).toEqual([]);
    const small = folderCache(folder, { maxBytes: 1000 });
    (await openProvingKey(fileOf(statement.zkey.data), { ...onCpu, cache: small })).destroy();
    expect(warnings).toEqual([`webgpu-msm: cache: a key of ${bytes} bytes finds no room, so it is not kept`]);
  });

  test('is not made of a key in use, unless its visit has not been seen for minutes', async () => {
    const cache = folderCache(folder, { maxBytes: statement.zkey.data.length + 3 * PAGE });
    const open = (source: Uint8Array) => openProvingKey(fileOf(source), { ...onCpu, cache });
    using _key = await open(statement.zkey.data);
    const marks = readdirSync(folder).filter((name) => name.endsWith('.use'));
    expect(marks).toHaveLength(1);
    (await open(other.zkey.data)).destroy();
    expect(warnings.splice(0)).toEqual([expect.stringContaining('finds no room, so it is not kept')]);
    // as if the process of the visit had been killed
    const longAgo = new Date(Date.now() - 600_000);
    for (const name of marks) utimesSync(join(folder, name), longAgo, longAgo);
    (await open(other.zkey.data)).destroy();
    expect((await cache.list()).map(({ byteLength }) => byteLength)).toEqual([other.zkey.data.length]);
    expect(warnings).toEqual([]);
  });
  test('is not made of a file that arrived and gets its name, unless its visit ended', async () => {
    const cache = folderCache(folder, { maxBytes: statement.zkey.data.length + 3 * PAGE });
    const open = async (source: Uint8Array) => (await openProvingKey(fileOf(source), { ...onCpu, cache })).destroy();
    await open(statement.zkey.data);
    const arrived = join(folder, 'arrived.received');
    renameSync(keyFile(), arrived);
    await open(other.zkey.data);
    expect(warnings.splice(0)).toEqual([expect.stringContaining('finds no room, so it is not kept')]);
    expect(existsSync(arrived)).toBe(true);
    const longAgo = new Date(Date.now() - 7_200_000);
    utimesSync(arrived, longAgo, longAgo);
    await open(other.zkey.data);
    expect(warnings).toEqual([]);
    expect(existsSync(arrived)).toBe(false);
  });

  test('a folder that cannot be written is left out, with a warning', async () => {
    writeFileSync(folder, 'a file');
    await visit();
    expect(warnings).toEqual([expect.stringContaining('cache: it cannot be used: ')]);
    await expect(folderCache(folder).list()).rejects.toMatchObject({ code: 'EEXIST' });
  });
});

test('wrong arguments are refused', async () => {
  expect(() => folderCache('')).toThrow('folderCache: path must be a path');
  expect(() => folderCache('keys', { maxBytes: -1 })).toThrow('options.maxBytes must be a non-negative integer');
  await expect(openProvingKey(statement.zkey.data, { ...onCpu, cache: {} as never })).rejects.toMatchObject({
    code: 'bad-argument',
    message: expect.stringContaining('options.cache must be the result of opfsCache or folderCache'),
  });
});
