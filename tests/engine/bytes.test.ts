/** Points and scalars as bytes of every kind: views, buffers, pages, and of another realm. */
import { createContext, runInContext } from 'node:vm';
import { beforeAll, describe, expect, test } from 'vitest';
import { makeCase } from '../../dev/cases/msm-case.js';
import { copyBytes } from '../../src/engine/arguments.js';
import type { Bases, BytesLike, MsmEngine } from '../../src/index.js';
import { openEngine } from '../support/engines.js';

/** The bytes, wherever something may have them. */
const forms: Readonly<Record<string, (bytes: Uint8Array<ArrayBuffer>) => BytesLike>> = {
  Uint8Array: (bytes) => bytes,
  'Uint8Array with an offset': (bytes) => {
    const wide = new Uint8Array(bytes.length + 7).fill(0xee);
    wide.set(bytes, 3);
    return wide.subarray(3, 3 + bytes.length);
  },
  'Uint8Array of shared memory': (bytes) => {
    const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
    shared.set(bytes);
    return shared;
  },
  Uint8ClampedArray: ({ buffer }) => new Uint8ClampedArray(buffer),
  Float64Array: ({ buffer }) => new Float64Array(buffer),
  'BigUint64Array with an offset': (bytes) => {
    const wide = new Uint8Array(bytes.length + 16).fill(0xee);
    wide.set(bytes, 8);
    return new BigUint64Array(wide.buffer, 8, bytes.length / 8);
  },
  DataView: (bytes) => {
    const wide = new Uint8Array(bytes.length + 5).fill(0xee);
    wide.set(bytes, 5);
    return new DataView(wide.buffer, 5);
  },
  'Buffer of Node': (bytes) => Buffer.from(bytes),
  ArrayBuffer: ({ buffer }) => buffer,
  SharedArrayBuffer: (bytes) => {
    const shared = new SharedArrayBuffer(bytes.length);
    new Uint8Array(shared).set(bytes);
    return shared;
  },
  'Uint8Array of another realm': (bytes) => fromOtherRealm('Uint8Array.from(given)', bytes),
  'DataView of another realm': (bytes) => fromOtherRealm('new DataView(Uint8Array.from(given).buffer)', bytes),
  'ArrayBuffer of another realm': (bytes) => fromOtherRealm('Uint8Array.from(given).buffer', bytes),
  pages: (bytes) => ({ byteLength: bytes.length, slice: (from: number, to: number) => bytes.slice(from, to) }),
  'pages that are Buffers': (bytes) => {
    const buffer = Buffer.from(bytes);
    return { byteLength: bytes.length, slice: (from: number, to: number) => buffer.subarray(from, to) };
  },
  'pages of another realm': (bytes) =>
    fromOtherRealm(
      '({ byteLength: given.length, slice: (from, to) => Uint8Array.from(given.slice(from, to)) })',
      bytes,
    ),
  'pages of a class, with a getter and a method': (bytes) => new BigBuffer(bytes, 100),
};

/** The value of an expression in another realm; `given` is an array of its numbers. */
const fromOtherRealm = (expression: string, bytes: Uint8Array): BytesLike =>
  runInContext(`const given = ${JSON.stringify([...bytes])}; ${expression}`, createContext());

/** Like ffjavascript's: pages of some size, and slices that are copied together. */
class BigBuffer {
  readonly #pages: Uint8Array[];
  readonly #pageSize: number;

  constructor(bytes: Uint8Array, pageSize: number) {
    this.#pageSize = pageSize;
    this.#pages = Array.from({ length: Math.ceil(bytes.length / pageSize) }, (_, i) =>
      bytes.slice(i * pageSize, (i + 1) * pageSize),
    );
  }

  get byteLength(): number {
    return this.#pages.reduce((sum, page) => sum + page.length, 0);
  }

  slice(from: number, to: number): Uint8Array {
    const taken = new Uint8Array(to - from);
    for (let i = from; i < to; i++)
      taken[i - from] = this.#pages[Math.floor(i / this.#pageSize)]?.[i % this.#pageSize] as number;
    return taken;
  }
}

describe('an engine accepts bytes', () => {
  const { points, scalars, expected } = makeCase({ points: 'distinct', scalars: 'random', n: 9, seed: 5 });
  let engine: MsmEngine;
  let bases: Bases;

  beforeAll(async () => {
    engine = await openEngine();
    bases = await engine.loadBases(points.bytes);
  });

  test.each(Object.entries(forms))('%s', async (_, form) => {
    using own = await engine.loadBases(form(points.bytes.slice()));
    expect(own.length).toBe(9);
    expect(await engine.msm(own, form(scalars.bytes.slice()))).toEqual(expected);
    expect(await engine.msmBatch(bases, [form(scalars.bytes.slice()), []])).toEqual([
      expected,
      { x: 0n, y: 0n, infinity: true },
    ]);
  });

  const refused = { name: 'MsmError', code: 'bad-argument' };
  const shrunk = <View extends ArrayBufferView>(make: (buffer: ArrayBuffer) => View): View => {
    const buffer = new (ArrayBuffer as unknown as ResizableConstructor)(128, { maxByteLength: 128 });
    const view = make(buffer);
    buffer.resize(32);
    return view;
  };
  const paged = (byteLength: unknown, slice: (from: number, to: number) => unknown): BytesLike =>
    ({ byteLength, slice }) as BytesLike;

  test.each<[string, () => unknown, RegExp]>([
    [
      'an odd number of bytes',
      () => new DataView(new ArrayBuffer(33)),
      /33 bytes are not a whole number of .*s of (32|64) bytes/,
    ],
    [
      'an odd number of bytes in pages',
      () => paged(65, (from, to) => new Uint8Array(to - from)),
      /65 bytes are not a whole/,
    ],
    [
      'a view that hangs over a buffer that shrank',
      () => shrunk((buffer) => new Uint8Array(buffer, 64)),
      /cannot be read/,
    ],
    ['words over a buffer that shrank', () => shrunk((buffer) => new BigInt64Array(buffer, 0, 16)), /cannot be read/],
    ['a DataView over a buffer that shrank', () => shrunk((buffer) => new DataView(buffer, 0, 128)), /cannot be read/],
    ['a buffer that was transferred', () => transferred(new ArrayBuffer(64)), /cannot be read .*transferred/],
    [
      'pages that give too little',
      () => paged(128, (_, to) => new Uint8Array(to - 1)),
      /\.slice\(0, 128\) must give 128 bytes, got 127/,
    ],
    [
      'pages that give too much',
      () => paged(64, () => new Uint8Array(65)),
      /\.slice\(0, 64\) must give 64 bytes, got 65/,
    ],
    ['pages that give no bytes', () => paged(64, () => 'bytes'), /\.slice\(0, 64\) must give a Uint8Array, got string/],
    [
      'pages that give promises',
      () => paged(64, async () => new Uint8Array(64)),
      /must give a Uint8Array, got Promise/,
    ],
    ['pages that were transferred', () => paged(64, () => detachedBytes(64)), /cannot be read/],
    [
      'a length that is none',
      () => paged('64', () => new Uint8Array(64)),
      /\.byteLength must be a number of bytes, got '64'/,
    ],
    [
      'a negative length',
      () => paged(-64, () => new Uint8Array(64)),
      /\.byteLength must be a number of bytes, got -64/,
    ],
    ['more than there can be', () => paged(2 ** 52, () => new Uint8Array(64)), /4503599627370496 .*are more than/],
    [
      'a slice without a length',
      () => ({ slice: () => new Uint8Array(64) }),
      /must be bytes \(a Uint8Array, say\) or an array/,
    ],
    ['a string', () => 'ff'.repeat(32), /must be bytes \(a Uint8Array, say\) or an array of .*, got string/],
  ])('but not %s', async (_, make, message) => {
    const given = (): BytesLike => make() as BytesLike;
    for (const [name, call] of [
      ['points', () => engine.loadBases(given())],
      ['scalars', () => engine.msm(bases, given())],
      ['scalars[1]', () => engine.msmBatch(bases, [[], given()])],
    ] as const) {
      const error = await call().catch((caught: unknown) => caught);
      expect(error).toMatchObject({ ...refused, message: expect.stringMatching(message) });
      expect((error as Error).message.startsWith(name), (error as Error).message).toBe(true);
    }
  });
});

interface ResizableConstructor {
  new (length: number, options: { maxByteLength: number }): ArrayBuffer & { resize(length: number): void };
}

const transferred = (buffer: ArrayBuffer): ArrayBuffer => {
  structuredClone(buffer, { transfer: [buffer] });
  return buffer;
};

/** A view of what was transferred. */
const detachedBytes = (length: number): Uint8Array => {
  const bytes = new Uint8Array(length);
  transferred(bytes.buffer);
  return bytes;
};

test('pages are read once, in order, at most 16 MiB at a time', () => {
  const byteLength = 40 * 2 ** 20 + 32;
  const asked: [number, number][] = [];
  const copy = copyBytes(
    'points',
    {
      byteLength,
      slice: (from: number, to: number) => {
        asked.push([from, to]);
        return new Uint8Array(to - from).fill(asked.length);
      },
    },
    32,
    'point',
  );
  const [a, b] = [2 ** 24, 2 ** 25];
  expect(asked).toEqual([
    [0, a],
    [a, b],
    [b, byteLength],
  ]);
  expect([0, a - 1, a, b - 1, b, byteLength - 1].map((at) => copy?.[at])).toEqual([1, 1, 2, 2, 3, 3]);
});
