/** What untyped JavaScript may pass: typed errors that name the argument, and an engine that goes on. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCase } from '../dev/cases/msm-case.js';
import { type Bases, createMsmEngine, type MsmEngine, type MsmEngineOptions } from '../src/index.js';
import { getDevice } from './support/gpu.js';

const { points, scalars, expected } = makeCase({ points: 'distinct', scalars: 'random', n: 9, seed: 3 });
const tuning = { walkerSlots: 4, walkerThreadsPerWorkgroup: 8, windowBits: 8 } as const;
let engine: MsmEngine;
let bases: Bases;

beforeAll(async () => {
  engine = await createMsmEngine({ curve: 'bn254', device: await getDevice(), tuning });
  bases = await engine.loadBases(points.bytes);
});
afterAll(() => engine.destroy());

const detached = (bytes: Uint8Array<ArrayBuffer>): Uint8Array => {
  const copy = bytes.slice();
  structuredClone(copy.buffer, { transfer: [copy.buffer] });
  return copy;
};

test.each<[string, () => Promise<unknown>, RegExp]>([
  ['msm options null', () => engine.msm(bases, scalars.bytes, null as never), /options must be an object, got null/],
  ['msm options 5', () => engine.msm(bases, scalars.bytes, 5 as never), /options must be an object, got number/],
  ['msm signal {}', () => engine.msm(bases, scalars.bytes, { signal: {} as never }), /options\.signal/],
  ['msm onProgress 1', () => engine.msm(bases, scalars.bytes, { onProgress: 1 as never }), /options\.onProgress/],
  ['msm detached scalars', () => engine.msm(bases, detached(scalars.bytes)), /scalars.*transferred/],
  ['load options null', () => engine.loadBases(points.bytes, null as never), /options must be an object, got null/],
  ['load signal true', () => engine.loadBases(points.bytes, { signal: true as never }), /options\.signal/],
  ['load detached points', () => engine.loadBases(detached(points.bytes)), /points.*transferred/],
])('%s', async (_, call, message) => {
  await expect(call()).rejects.toMatchObject({ code: 'bad-argument', message: expect.stringMatching(message) });
  expect(await engine.msm(bases, scalars.bytes)).toEqual(expected);
});

test.each<[string, object, string, RegExp]>([
  ['tuning null', { tuning: null }, 'bad-argument', /tuning must be an object/],
  ['tuning 5', { tuning: 5 }, 'bad-argument', /tuning must be an object/],
  ['retainBases yes', { retainBases: 'yes' }, 'bad-argument', /retainBases must be true or false/],
  ['device {}', { device: {} }, 'bad-argument', /device must be a GPUDevice/],
  ['device null', { device: null }, 'bad-argument', /device must be a GPUDevice/],
  ['gpu {}', { gpu: {} }, 'bad-argument', /gpu must be a GPU object/],
  [
    'gpu that refuses',
    { gpu: { requestAdapter: () => Promise.reject(new Error('blocked by policy')) } },
    'no-webgpu',
    /blocked by policy/,
  ],
])('createMsmEngine: %s', async (_, options, code, message) => {
  await expect(createMsmEngine({ curve: 'bn254', ...options } as MsmEngineOptions)).rejects.toMatchObject({
    name: 'MsmError',
    code,
    message: expect.stringMatching(message),
  });
});

test('a view of a SharedArrayBuffer is as good as any', async () => {
  const shared = new Uint8Array(new SharedArrayBuffer(scalars.bytes.length));
  shared.set(scalars.bytes);
  expect(await engine.msm(bases, shared)).toEqual(expected);
});
