/** Compact keys: the same `.zkey` again, the same proofs, and refusals of what is damaged. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openProvingKeyWith as openFflonk } from '../../src/fflonk/open-proving-key.js';
import { ChunkCodec } from '../../src/formats/compact-chunks.js';
import { packZkey, unpackZkey } from '../../src/formats.js';
import { openProvingKeyWith } from '../../src/groth16/open-proving-key.js';
import { openProvingKey, type ProvingKeyOptions } from '../../src/groth16.js';
import { folderCache, openFile } from '../../src/node.js';
import { openProvingKeyWith as openPlonk } from '../../src/plonk/open-proving-key.js';
import { accelerate } from '../../src/snarkjs.js';
import { quick } from '../support/engines.js';
import { leaseDevice } from '../support/leased-gpu.js';
import {
  describeCurves,
  endCurves,
  makeStatement,
  memoryFile,
  type ProverCurve,
  type Statement,
  type SystemName,
  sameDraws,
  snarkjs,
  systems,
} from '../support/proving.js';

const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-compact-'));
const onCpu = { backend: 'cpu', maxWorkers: 0, onWarning: () => undefined } as const;
const alone = { maxWorkers: 0 } as const;
const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

/** A key, and its compact form. */
interface Packed {
  readonly statement: Statement;
  readonly zkey: Uint8Array;
  readonly compact: Uint8Array;
}
const packed = new Map<string, Packed>();
const packedOf = async (name: SystemName, curve: ProverCurve, kind: 'dense' | 'sparse' = 'sparse'): Promise<Packed> => {
  const key = `${name} ${curve} ${kind}`;
  const found = packed.get(key);
  if (found !== undefined) return found;
  const statement = await makeStatement(name, curve, 7, kind, 'snarkjs');
  const zkey = statement.zkey.data;
  const made = { statement, zkey, compact: (await packZkey(zkey, alone)).bytes as Uint8Array };
  packed.set(key, made);
  return made;
};

let groth16: Packed;
beforeAll(async () => {
  groth16 = await packedOf('groth16', 'bn254');
});
afterAll(async () => {
  await endCurves();
  rmSync(folder, { recursive: true });
});

/** Position and size of a section of a `.zkey`. */
const placeOf = (file: Uint8Array, id: number): { readonly from: number; readonly to: number } => {
  const view = new DataView(file.buffer, file.byteOffset);
  for (let at = 12; ; ) {
    const to = at + 12 + Number(view.getBigUint64(at + 4, true));
    if (view.getUint32(at, true) === id) return { from: at + 12, to };
    at = to;
  }
};

/** Rows of the table, by docs/reference/compact-keys.md. */
const rowsOf = (file: Uint8Array) => {
  const view = new DataView(file.buffer, file.byteOffset, file.length);
  const count = view.getUint32(file.length - 72, true);
  const table = file.length - 80 - 48 * count;
  let at = 8;
  const rows = Array.from({ length: count }, (_, i) => {
    const [kind, items, bytes] = [0, 4, 8].map((k) => view.getUint32(table + 48 * i + k, true)) as [
      number,
      number,
      number,
    ];
    const row = { kind, items, bytes, at, row: table + 48 * i };
    at += bytes;
    return row;
  });
  return { rows, table };
};

/** Writes the digests anew, as whoever sends a file may. */
const sign = (file: Uint8Array): Uint8Array => {
  const { rows, table } = rowsOf(file);
  for (const { at, bytes, row } of rows) file.set(sha256(file.subarray(at, at + bytes)), row + 16);
  file.set(sha256(file.subarray(table, file.length - 32)), file.length - 32);
  return file;
};

describeCurves('on %s', (curve) => {
  test.each(curve === 'bn254' ? systems : systems.slice(0, 2))(
    'gives the key of %s again, and its proofs',
    async (name) => {
      const { zkey, compact, statement } = await packedOf(name, curve);
      expect(compact.length).toBeLessThan((name === 'groth16' ? 0.55 : 1) * zkey.length);
      const unpacked = await unpackZkey(compact, alone);
      expect(Buffer.compare(unpacked.bytes as Uint8Array, zkey)).toBe(0);
      expect(unpacked.sha256).toBe(sha256(zkey).toString('hex'));
      expect(Buffer.from(compact.subarray(-64, -32)).toString('hex')).toBe(unpacked.sha256);
      const open = { groth16: openProvingKeyWith, plonk: openPlonk, fflonk: openFflonk }[name];
      using from = await open(compact, onCpu, sameDraws());
      using whole = await open(zkey, onCpu, sameDraws());
      const { witness } = statement.circuit;
      const proof = await from.prove(witness);
      expect(proof).toEqual(await whole.prove(witness));
      expect(await statement.verify(proof as never)).toBe(true);
    },
  );

  test('has the bytes that its page of the reference says', async () => {
    const { zkey, compact } = await packedOf('groth16', curve);
    const size = curve === 'bn254' ? 32 : 48;
    const numberAt = (bytes: Uint8Array, at: number, length: number): bigint =>
      bytes.subarray(at, at + length).reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
    expect(new TextDecoder().decode(compact.subarray(0, 4))).toBe('zkyc');
    expect(numberAt(compact, 4, 4)).toBe(1n);
    expect(numberAt(compact, compact.length - 80, 8)).toBe(BigInt(zkey.length));
    expect(numberAt(compact, compact.length - 68, 4)).toBe(curve === 'bn254' ? 0n : 1n);
    const { rows } = rowsOf(compact);
    let from = 0;
    const kinds = new Set<number>();
    for (const { kind, items, bytes, at, row } of rows) {
      kinds.add(kind);
      const payload = compact.subarray(at, at + bytes);
      expect(sha256(payload).equals(compact.subarray(row + 16, row + 48))).toBe(true);
      const itemBytes = [1, 2 * size, 4 * size, 44][kind] as number;
      const plain = zkey.subarray(from, from + items * itemBytes);
      from += items * itemBytes;
      if (kind === 0) expect(Buffer.compare(payload, plain)).toBe(0);
      if (kind === 1 || kind === 2) {
        const half = itemBytes / 2;
        let x = Math.ceil(items / 4);
        for (let i = 0; i < items; i++) {
          const point = plain.subarray(i * itemBytes, (i + 1) * itemBytes);
          const mark = ((payload[i >> 2] as number) >> (2 * (i & 3))) & 3;
          expect(mark).toBe(point.every((byte) => byte === 0) ? 0 : 2 + ((point[half] as number) & 1));
          if (mark === 0) continue;
          expect(Buffer.compare(payload.subarray(x, x + half), point.subarray(0, half))).toBe(0);
          x += half;
        }
        expect(x).toBe(payload.length);
      }
      if (kind === 3) {
        const values = Number(numberAt(payload, 0, 4));
        let place = 4 + 32 * values;
        const read = (): number => {
          for (let [number, scale] = [0, 1]; ; scale *= 128) {
            const group = payload[place++] as number;
            number += (group & 127) * scale;
            if (group < 128) return number;
          }
        };
        const signed = (code: number): number => (code % 2 === 0 ? code / 2 : -(code + 1) / 2);
        let [r, c] = [0, 0];
        for (let i = 0; i < items; i++) {
          const code = read();
          r += signed(Math.floor(code / 2));
          c += signed(read());
          const value = payload.subarray(4 + 32 * read());
          const entry = plain.subarray(44 * i, 44 * (i + 1));
          expect([code % 2, r, c].map(BigInt)).toEqual([0, 4, 8].map((k) => numberAt(entry, k, 4)));
          expect(Buffer.compare(value.subarray(0, 32), entry.subarray(12))).toBe(0);
        }
        expect(place).toBe(payload.length);
      }
    }
    expect(from).toBe(zkey.length);
    expect([...kinds].sort()).toEqual([0, 1, 2, 3]);
  });
});

describe('any file', () => {
  test('comes back, with points and entries that cannot be', async () => {
    const { zkey } = groth16;
    const [entries, a, b2] = [4, 5, 7].map((id) => placeOf(zkey, id)) as [
      ReturnType<typeof placeOf>,
      ReturnType<typeof placeOf>,
      ReturnType<typeof placeOf>,
    ];
    const edits: readonly [at: number, bytes: readonly number[]][] = [
      // matrix 7, a row and a column of 32 bits, a value above the prime
      [entries.from + 4, [7, 0, 0, 0]],
      [entries.from + 8, [255, 255, 255, 255, 255, 255, 255, 255]],
      [entries.from + 16, Array(32).fill(255)],
      // x above p, x without a y, another y, a y without x
      [a.from, Array(32).fill(255)],
      [a.from, [...zkey.subarray(a.from, a.from + 31)].map((byte) => byte ^ 1)],
      [a.from + 33, [(zkey[a.from + 33] as number) ^ 1]],
      [a.to - 64, Array(32).fill(0)],
      [b2.from + 100, [(zkey[b2.from + 100] as number) ^ 1]],
      [b2.from, Array(64).fill(0)],
    ];
    for (const [at, bytes] of edits) {
      const file = zkey.slice();
      file.set(bytes, at);
      const { bytes: compact, sha256: hash } = await packZkey(file, alone);
      expect(hash).toBe(sha256(file).toString('hex'));
      const { bytes: again } = await unpackZkey(compact as Uint8Array, alone);
      expect(Buffer.compare(again as Uint8Array, file)).toBe(0);
    }
    // bytes behind the last section
    const longer = Buffer.concat([zkey, Buffer.from('more')]);
    const options = { ...alone, onWarning: () => undefined };
    const { bytes: compact } = await packZkey(longer, options);
    expect(Buffer.compare((await unpackZkey(compact as Uint8Array, options)).bytes as Uint8Array, longer)).toBe(0);
  });

  test('is written to files and streams, whole or not at all, with progress', async () => {
    const { zkey, compact } = groth16;
    writeFileSync(join(folder, 'a.zkey'), zkey);
    const done: number[] = [];
    const result = await packZkey(await openFile(join(folder, 'a.zkey')), {
      ...alone,
      sink: join(folder, 'a.compact.zkey'),
      onProgress: (progress) => {
        expect(progress).toMatchObject({ phase: 'pack', total: zkey.length });
        done.push(progress.done);
      },
    });
    expect(result).toMatchObject({ bytes: undefined, zkeyBytes: zkey.length, compactBytes: compact.length });
    expect(Buffer.compare(readFileSync(join(folder, 'a.compact.zkey')), compact)).toBe(0);
    expect(done).toEqual([...done].sort((left, right) => left - right));
    expect([done[0], done.at(-1)]).toEqual([0, zkey.length]);
    const ending = new AbortController();
    const aborted = packZkey(zkey, {
      ...alone,
      sink: join(folder, 'none'),
      signal: ending.signal,
      onProgress: ({ done: bytes }) => void (bytes > 0 && ending.abort()),
    });
    await expect(aborted).rejects.toMatchObject({ code: 'aborted' });
    expect(readdirSync(folder).sort()).toEqual(['a.compact.zkey', 'a.zkey']);
  });
});

describe('a compact key', () => {
  test('is taken from files, from streams, under a limit, by accelerate and by workers', async () => {
    const { compact, statement, zkey } = groth16;
    const { witness } = statement.circuit;
    using whole = await openProvingKeyWith(zkey, onCpu, sameDraws());
    const expected = await whole.prove(witness);
    const proveWith = async (
      source: Parameters<typeof openProvingKeyWith>[0],
      options: ProvingKeyOptions = {},
    ): Promise<void> => {
      using key = await openProvingKeyWith(source, { ...onCpu, ...options }, sameDraws());
      expect(await key.prove(witness)).toEqual(expected);
    };
    writeFileSync(join(folder, 'b.zkey'), compact);
    await proveWith(join(folder, 'b.zkey'));
    await proveWith(new Blob([compact as Uint8Array<ArrayBuffer>]));
    await proveWith(new Response(compact as Uint8Array<ArrayBuffer>).body as ReadableStream<Uint8Array>);
    await proveWith(compact, { memoryLimit: 2 ** 27 });
    await proveWith(compact, { maxWorkers: 2 });
    const accelerated = await accelerate(snarkjs, { backend: 'cpu', leastPoints: 8, measure: false });
    try {
      const result = await (accelerated as unknown as typeof snarkjs).groth16.prove(
        memoryFile(compact),
        memoryFile(witness),
      );
      expect(await statement.verify(result)).toBe(true);
      expect(accelerate.stats).toMatchObject({ wholeProofs: 1, snarkjsProofs: 0 });
    } finally {
      accelerated();
    }
  });

  test('is kept in a cache as the .zkey, so that a second visit computes no root', async () => {
    const { compact, statement } = groth16;
    const cache = folderCache(join(folder, 'cache'));
    const warnings: string[] = [];
    let bytesRead = 0;
    const file = {
      byteLength: compact.length,
      read: async (from: number, to: number) => {
        bytesRead += to - from;
        return compact.slice(from, to);
      },
    };
    const visit = async (): Promise<number> => {
      bytesRead = 0;
      const onWarning = (message: string) => void (message.includes('γ equals δ') || warnings.push(message));
      using key = await openProvingKey(file, { ...onCpu, cache, onWarning });
      expect(await statement.verify((await key.prove(statement.circuit.witness)) as never)).toBe(true);
      return bytesRead;
    };
    expect(await visit()).toBeGreaterThan(compact.length / 2);
    // the table, and the chunks with the headers
    expect(await visit()).toBeLessThan(4000);
    expect(warnings).toEqual([]);
    expect(await cache.list()).toMatchObject([{ byteLength: groth16.zkey.length }]);
  });

  test('is unpacked once, with a cache, too, which reads all of a small key again and again', async () => {
    const { compact, statement } = groth16;
    const unpacked = vi.spyOn(ChunkCodec.prototype, 'unpack');
    for (const cache of [undefined, folderCache(join(folder, 'once'))]) {
      unpacked.mockClear();
      using key = await openProvingKey(compact, { ...onCpu, cache });
      const { rows } = rowsOf(compact);
      expect(unpacked.mock.calls.length).toBeGreaterThan(4);
      expect(unpacked.mock.calls.length).toBeLessThanOrEqual(rows.length);
      expect(await statement.verify((await key.prove(statement.circuit.witness)) as never)).toBe(true);
    }
    unpacked.mockRestore();
  });
});

test('a key on a GPU makes the same proof, and names a point off the curve', { tags: 'long' }, async () => {
  const { compact, statement, zkey } = groth16;
  const { witness } = statement.circuit;
  const lease = await leaseDevice();
  const passes = new Set<string>();
  lease.tap = (call) => {
    if (call.method === 'beginComputePass') passes.add(call.label);
    return call.proceed();
  };
  const onGpu = { ...onCpu, backend: 'gpu', device: lease.device, tuning: quick } as const;
  {
    // products of vectors, which nothing else of an opening needs
    (await openProvingKeyWith(zkey, onGpu, sameDraws())).destroy();
    expect(passes.has('multiply')).toBe(false);
    using key = await openProvingKeyWith(compact, onGpu, sameDraws());
    expect(passes.has('multiply')).toBe(true);
    using whole = await openProvingKeyWith(zkey, onCpu, sameDraws());
    expect(await key.prove(witness)).toEqual(await whole.prove(witness));
  }
  const points = rowsOf(compact).rows.find(({ kind, items }) => kind === 1 && items > 4) as {
    at: number;
    items: number;
  };
  const first = points.at + Math.ceil(points.items / 4);
  const openWith = (file: Uint8Array, options: ProvingKeyOptions) =>
    openProvingKey(file, options).then(
      (key) => key.destroy(),
      (error: unknown) => error as Error,
    );
  // about every other x has no y
  for (let i = 1; ; i++) {
    const file = compact.slice();
    file[first] = (file[first] as number) ^ i;
    const expected = await openWith(sign(file), onCpu);
    if (expected === undefined) continue;
    expect(expected).toMatchObject({ code: 'not-on-curve', message: expect.stringMatching(/points\[\d+\]/) });
    expect(await openWith(file, onGpu)).toMatchObject({ code: 'not-on-curve', message: expected.message });
    break;
  }
});

test('a cache tells a doctored compact key from the one whose hash it has', async () => {
  const { compact, statement } = groth16;
  const doctored = compact.slice();
  const entries = rowsOf(compact).rows.find(({ kind }) => kind === 3) as { readonly at: number };
  // all values of the matrices, with the digests anew and the SHA-256 of the other .zkey
  const count = new DataView(compact.buffer, compact.byteOffset).getUint32(entries.at, true);
  for (let i = 0; i < count; i++) {
    const at = entries.at + 4 + 32 * i;
    doctored[at] = (doctored[at] as number) ^ 1;
  }
  const cache = folderCache(join(folder, 'doctored'));
  const prove = async (file: Uint8Array): Promise<boolean> => {
    using key = await openProvingKey(file, { ...onCpu, cache });
    return statement.verify((await key.prove(statement.circuit.witness)) as never);
  };
  expect(await prove(sign(doctored))).toBe(false);
  expect(await prove(compact)).toBe(true);
  expect(await cache.list()).toHaveLength(2);
});

test('chunks of a key in shared memory are read', async () => {
  const { compact, zkey } = groth16;
  const shared = new Uint8Array(new SharedArrayBuffer(compact.length));
  shared.set(compact);
  expect(Buffer.compare((await unpackZkey(shared, alone)).bytes as Uint8Array, zkey)).toBe(0);
});

describe('refuses', () => {
  const refusal = (message: RegExp) => ({ code: 'bad-argument', message: expect.stringMatching(message) });

  test('a key with any bit flipped, and one that is cut off, or makes the same proof', async () => {
    const { compact, zkey, statement } = groth16;
    const { rows, table } = rowsOf(compact);
    const places = [
      ...Array.from({ length: 8 }, (_, i) => i),
      ...rows.flatMap(({ at, bytes }) => [at, at + (bytes >> 1), at + bytes - 1]),
      ...Array.from({ length: 80 }, (_, i) => compact.length - 1 - i),
      ...rows.flatMap(({ row }) => [row, row + 4, row + 8, row + 12, row + 16, row + 47]),
      table - 1,
    ];
    for (const [i, at] of places.entries()) {
      const file = compact.slice();
      file[at] = (file[at] as number) ^ (1 << (i % 8));
      await expect(unpackZkey(file, alone), `bit at ${at}`).rejects.toMatchObject({ code: 'bad-argument' });
    }
    for (const length of [0, 3, 4, 7, 8, 87, 88, table - 1, table, compact.length - 80, compact.length - 1]) {
      await expect(unpackZkey(compact.slice(0, length), alone)).rejects.toMatchObject({ code: 'bad-argument' });
      await expect(openProvingKey(compact.slice(0, length), onCpu)).rejects.toMatchObject({ code: 'bad-argument' });
    }
    // the key of the circuit reads no contributions, so a bit there may stay unseen
    for (let i = 0; i < 12; i++) {
      const file = compact.slice();
      const at = Math.floor(((i + 0.5) * compact.length) / 12);
      file[at] = (file[at] as number) ^ 128;
      const opened = await openProvingKeyWith(file, onCpu, sameDraws()).catch((error: unknown) => error);
      if (opened instanceof Error) {
        expect(opened).toMatchObject({ code: 'bad-argument' });
        continue;
      }
      using key = opened as Awaited<ReturnType<typeof openProvingKeyWith>>;
      using whole = await openProvingKeyWith(zkey, onCpu, sameDraws());
      expect(await key.prove(statement.circuit.witness)).toEqual(await whole.prove(statement.circuit.witness));
    }
  });

  test('other formats, other files, and one step too many', async () => {
    const { compact, zkey } = groth16;
    const later = compact.slice();
    later[4] = 2;
    for (const open of [openProvingKey, unpackZkey]) {
      await expect(open(later, { maxWorkers: 0 })).rejects.toMatchObject(refusal(/format 2.*reads format 1; pack/));
    }
    await expect(packZkey(compact, alone)).rejects.toMatchObject(refusal(/is a compact key already/));
    await expect(unpackZkey(zkey, alone)).rejects.toMatchObject(refusal(/is no compact key/));
    await expect(packZkey(new Uint8Array(100), alone)).rejects.toMatchObject(refusal(/letters zkey/));
    await expect(packZkey(zkey, { maxWorkers: -1 })).rejects.toMatchObject({ code: 'bad-argument' });
    await expect(packZkey(zkey, { sink: 7 as never })).rejects.toMatchObject({ code: 'bad-argument' });
  });

  test('sizes that no writer makes, before it reads what has them', async () => {
    /** A file of any size that ends with a table of one chunk of G1. */
    const fileOf = (items: number, packedBytes: number, count = 1) => {
      const end = new Uint8Array(48 * count + 80);
      const view = new DataView(end.buffer);
      [1, items, packedBytes].forEach((word, i) => void view.setUint32(4 * i, word, true));
      view.setBigUint64(48 * count, BigInt(64 * items), true);
      view.setUint32(48 * count + 8, count, true);
      end.set(sha256(end.subarray(0, -32)), end.length - 32);
      const byteLength = 8 + packedBytes + end.length;
      const ranges: number[] = [];
      const read = (from: number, to: number): Uint8Array => {
        ranges.push(to - from);
        const bytes = new Uint8Array(to - from);
        for (let at = from; at < to; at++) bytes[at - from] = end[at - byteLength + end.length] ?? 0;
        bytes.set(from === 0 ? [...Buffer.from('zkyc'), 1, 0, 0, 0].slice(0, to) : []);
        return bytes;
      };
      return { byteLength, read, ranges };
    };
    for (const [items, packedBytes] of [
      [1, 2 ** 32 - 1],
      [1, 64],
      [2 ** 16, 2 ** 22],
      [1, 0],
    ] as const) {
      const file = fileOf(items, packedBytes);
      await expect(unpackZkey(file, alone)).rejects.toMatchObject(refusal(/chunk 0 of its table cannot be/));
      expect(Math.max(...file.ranges)).toBe(128);
    }
    await expect(unpackZkey(fileOf(1, 63), alone)).rejects.toMatchObject(refusal(/bytes \[8, 71\)/));
    const many = fileOf(1, 63, 2 ** 18 + 1);
    await expect(unpackZkey(many, alone)).rejects.toMatchObject(refusal(/its footer says 262145 chunks/));
    expect(Math.max(...many.ranges)).toBe(80);
  });

  test('what has its digests and cannot be a key', async () => {
    const { compact } = groth16;
    const { rows } = rowsOf(compact);
    const view = (file: Uint8Array) => new DataView(file.buffer);
    const entries = rows.find(({ kind }) => kind === 3) as (typeof rows)[number];
    const points = rows.find(({ kind }) => kind === 1) as (typeof rows)[number];
    const odd = rows.find(({ kind, items }) => kind === 1 && items % 4 !== 0) as (typeof rows)[number];
    const changed: readonly (readonly [name: string, edit: (file: Uint8Array) => void])[] = [
      ['an index of a value', (file) => view(file).setUint32(entries.at, 1, true)],
      ['more values than bytes', (file) => view(file).setUint32(entries.at, 2 ** 31, true)],
      [
        'a number without an end',
        (file) => file.fill(255, entries.at + entries.bytes - 40, entries.at + entries.bytes),
      ],
      ['a mark', (file) => file.fill(1, points.at, points.at + 1)],
      ['fewer points than x', (file) => file.fill(0, points.at, points.at + 1)],
      [
        'bits behind the last point',
        (file) => {
          const at = odd.at + (odd.items >> 2);
          file[at] = (file[at] as number) | (1 << (2 * (odd.items % 4)));
        },
      ],
      ['the word without a meaning', (file) => view(file).setUint32(points.row + 12, 1, true)],
      ['x above p', (file) => file.fill(255, points.at + Math.ceil(points.items / 4), points.at + points.bytes)],
      ['a kind', (file) => view(file).setUint32(points.row, 4, true)],
      ['a curve', (file) => view(file).setUint32(file.length - 68, 2, true)],
      ['points of another curve', (file) => view(file).setUint32(file.length - 68, 1, true)],
      ['items', (file) => view(file).setUint32(points.row + 4, 2 ** 16 + 1, true)],
      ['no items', (file) => view(file).setUint32(points.row + 4, 0, true)],
      ['bytes', (file) => view(file).setUint32(points.row + 8, points.bytes + 1, true)],
      ['a length', (file) => view(file).setUint32(file.length - 80, 5, true)],
    ];
    for (const [name, edit] of changed) {
      const file = compact.slice();
      edit(file);
      await expect(unpackZkey(sign(file), alone), name).rejects.toMatchObject({ code: 'bad-argument' });
    }
    const large = compact.slice();
    large.fill(255, points.at + Math.ceil(points.items / 4), points.at + points.bytes);
    await expect(openProvingKey(sign(large), onCpu)).rejects.toMatchObject(
      refusal(new RegExp(`zkey: the compact key is damaged: bytes \\[${points.at}, ${points.at + points.bytes}\\)`)),
    );
    // x without a y: about every other one
    for (let i = 0, found = 0; found < 1; i++) {
      const file = compact.slice();
      const at = points.at + Math.ceil(points.items / 4);
      file[at] = (file[at] as number) ^ (i + 1);
      const outcome = await openProvingKey(sign(file), onCpu).then(
        (key) => key.destroy(),
        (error: unknown) => error,
      );
      if (outcome === undefined) continue;
      expect(outcome).toMatchObject({ code: 'not-on-curve' });
      found++;
    }
    // another key's hash
    const other = compact.slice();
    other[other.length - 64] = (other[other.length - 64] as number) ^ 1;
    await expect(unpackZkey(sign(other), alone)).rejects.toMatchObject(refusal(/does not give the .zkey whose hash/));
  });
});
