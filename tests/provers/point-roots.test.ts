/** Second coordinates of the points of compact keys, on the CPU and on a GPU, beside noble's points. */
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { bn254 } from '@noble/curves/bn254.js';
import { expect, test } from 'vitest';
import { createFieldEngine, type FieldEngineOptions } from '../../src/fields.js';
import { ChunkCodec } from '../../src/formats/compact-chunks.js';
import type { RootPlaces } from '../../src/formats/point-roots.js';
import { leaseDevice } from '../support/leased-gpu.js';
import { describeCurves } from '../support/proving.js';

/** Coefficients of a coordinate. */
type Coefficients = readonly bigint[];

/** A curve as noble has it, with coordinates as coefficients. */
const curveOf = (curve: 'bn254' | 'bls12-381') => {
  const { G1, G2, fields } = curve === 'bn254' ? bn254 : bls12_381;
  const bytes = curve === 'bn254' ? 32 : 48;
  const p = fields.Fp.ORDER;
  type Point = { readonly x: Coefficients; readonly y: Coefficients } | null;
  /** Multiples of the generator, every fifth one infinity, every third one negated. */
  const multiplesOf = (group: 'g1' | 'g2', count: number): Point[] =>
    Array.from({ length: count }, (_, i) => {
      if (i % 5 === 4) return null;
      const k = BigInt(i + 1) ** 20n;
      if (group === 'g1') {
        const point = i % 3 === 0 ? G1.Point.BASE.multiply(k).negate() : G1.Point.BASE.multiply(k);
        const { x, y } = point.toAffine();
        return { x: [x], y: [y] };
      }
      const point = i % 3 === 0 ? G2.Point.BASE.multiply(k).negate() : G2.Point.BASE.multiply(k);
      const { x, y } = point.toAffine();
      return { x: [x.c0, x.c1], y: [y.c0, y.c1] };
    });
  const montgomery = (coefficients: Coefficients): Uint8Array => {
    const out = new Uint8Array(coefficients.length * bytes);
    for (const [c, value] of coefficients.entries()) {
      let rest = (value << BigInt(8 * bytes)) % p;
      for (let i = 0; i < bytes; i++, rest >>= 8n) out[c * bytes + i] = Number(rest & 255n);
    }
    return out;
  };
  /** Packs points by docs/reference/compact-keys.md, and returns them as a `.zkey` has them. */
  const packed = (points: readonly Point[]) => {
    const marks = new Uint8Array(Math.ceil(points.length / 4));
    const xs: Uint8Array[] = [];
    const whole: Uint8Array[] = [];
    const size = montgomery(points[0]?.x ?? []).length;
    for (const [i, point] of points.entries()) {
      const y = point && montgomery(point.y);
      const mark = y === null ? 0 : 2 + ((y[0] as number) & 1);
      marks[i >> 2] = (marks[i >> 2] as number) | (mark << (2 * (i & 3)));
      if (point !== null) xs.push(montgomery(point.x));
      whole.push(point === null ? new Uint8Array(2 * size) : Buffer.concat([montgomery(point.x), y as Uint8Array]));
    }
    return { payload: new Uint8Array(Buffer.concat([marks, ...xs])), points: Buffer.concat(whole), size };
  };
  return { multiplesOf, packed };
};

/** A place, and the number of its passes on a GPU so far. */
interface Place {
  readonly places: RootPlaces;
  readonly passes: { count: number };
}

const openGpuOf =
  (options: FieldEngineOptions): RootPlaces['openGpu'] =>
  (p) =>
    createFieldEngine({ ...options, field: { p }, backend: 'gpu', retainVectors: false });

const onGpu = async (): Promise<Place> => {
  const lease = await leaseDevice();
  const passes = { count: 0 };
  lease.tap = (call) => {
    if (call.method === 'beginComputePass') passes.count++;
    return call.proceed();
  };
  return { places: { maxWorkers: 0, openGpu: openGpuOf({ device: lease.device }) }, passes };
};

const places: readonly (readonly [string, () => Promise<Place>])[] = [
  ['the CPU', async () => ({ places: { maxWorkers: 0 }, passes: { count: 0 } })],
  ['two threads', async () => ({ places: { maxWorkers: 1 }, passes: { count: 0 } })],
  ['a GPU', onGpu],
];

describeCurves('roots of %s', (curve) => {
  const { multiplesOf, packed } = curveOf(curve);

  test.each(places)('are those of noble on %s', async (name, placesOf) => {
    const { places: own, passes } = await placesOf();
    const codec = new ChunkCodec(curve, own);
    for (const group of ['g1', 'g2'] as const) {
      const before = passes.count;
      // several chains of the CPU
      const counts = name === 'two threads' ? [1201] : [1, 6, 43];
      const all = multiplesOf(group, 43);
      for (const count of counts) {
        const some = Array.from({ length: count }, (_, i) => all[i % all.length] as (typeof all)[number]);
        const { payload, points } = packed(some);
        const unpacked = await codec.unpack(group, count, payload);
        expect(Buffer.compare(unpacked as Uint8Array, points), `${count} of ${group}`).toBe(0);
      }
      expect(passes.count > before).toBe(name === 'a GPU');
    }
  });

  test.each(places)('refuse an x that is not below p on %s', async (_, placesOf) => {
    const codec = new ChunkCodec(curve, (await placesOf()).places);
    for (const group of ['g1', 'g2'] as const) {
      const { payload } = packed(multiplesOf(group, 4));
      payload.fill(255, payload.length - 8);
      expect(await codec.unpack(group, 4, payload)).toBe(null);
    }
  });
});

test('the CPU computes what a GPU does not', async () => {
  const { multiplesOf, packed } = curveOf('bn254');
  const asked: unknown[] = [];
  const gpu = {
    requestAdapter: async (options: unknown) => {
      asked.push(options);
      return null;
    },
  } as unknown as GPU;
  const codec = new ChunkCodec('bn254', { maxWorkers: 0, openGpu: openGpuOf({ gpu }) });
  const { payload, points } = packed(multiplesOf('g1', 7));
  for (let i = 0; i < 2; i++) {
    expect(Buffer.compare((await codec.unpack('g1', 7, payload)) as Uint8Array, points)).toBe(0);
  }
  expect(asked.length).toBeGreaterThan(0);
  const before = asked.length;
  await codec.unpack('g1', 7, payload);
  expect(asked.length).toBe(before);
});

test('the CPU goes on where a GPU was lost', async () => {
  const { multiplesOf, packed } = curveOf('bn254');
  const lease = await leaseDevice();
  const codec = new ChunkCodec('bn254', { maxWorkers: 0, openGpu: openGpuOf({ device: lease.device }) });
  const { payload, points } = packed(multiplesOf('g1', 7));
  const unpacked = async () => Buffer.compare((await codec.unpack('g1', 7, payload)) as Uint8Array, points);
  expect(await unpacked()).toBe(0);
  let submits = 0;
  lease.tap = (call) => {
    if (call.method === 'submit' && ++submits === 2) lease.takeAway('at once');
    return call.proceed();
  };
  expect(await unpacked()).toBe(0);
  expect(submits).toBeGreaterThan(0);
  expect(await unpacked()).toBe(0);
});
