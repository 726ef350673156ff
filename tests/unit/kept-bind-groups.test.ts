/** Bind groups and pooled buffers of submissions that repeat. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BufferPool, type PooledBuffer } from '../../src/gpu/device-memory.js';
import { bindGroupFor } from '../../src/gpu/submission.js';

const buffer = (size: number): GPUBuffer => ({ size }) as GPUBuffer;
const pipeline = (): GPUComputePipeline => ({ getBindGroupLayout: () => ({}) }) as unknown as GPUComputePipeline;

/** Returns a function that binds one buffer, and how often it has made a group. */
const binding = () => {
  let made = 0;
  const device = { createBindGroup: () => ({ number: made++ }) } as unknown as GPUDevice;
  const uniforms = buffer(256);
  const bind = (own: GPUComputePipeline, bound: GPUBuffer, offset = 0): GPUBindGroup =>
    bindGroupFor(device, 'stage', {
      pipeline: own,
      resources: [{ buffer: bound, offset, size: 4 }],
      uniforms,
      index: 0,
    });
  return { bind, made: () => made };
};

test('groups of ten submissions that share a buffer of configs are made once', () => {
  const { bind, made } = binding();
  const [own, buffers] = [pipeline(), Array.from({ length: 10 }, () => buffer(4))];
  const first = buffers.map((each) => bind(own, each));
  for (let proof = 0; proof < 3; proof++) {
    // vectors of one proof that no other proof has
    for (let i = 0; i < 6; i++) bind(own, buffer(4));
    expect(buffers.map((each) => bind(own, each))).toEqual(first);
  }
  expect(made()).toBe(10 + 3 * 6);
});

test('another pipeline, buffer or offset is another group', () => {
  const { bind, made } = binding();
  const [own, bound] = [pipeline(), buffer(8)];
  const first = bind(own, bound);
  for (const other of [bind(pipeline(), bound), bind(own, buffer(8)), bind(own, bound, 4)])
    expect(other).not.toBe(first);
  expect(bind(own, bound)).toBe(first);
  expect(made()).toBe(4);
});

test('the same wants get the same buffers, in whatever order these came back', () => {
  const usage = 1;
  const sizes = fc.array(fc.constantFrom(4, 8, 16), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(sizes, fc.gen(), (own, gen) => {
      const pool = new BufferPool();
      const ledger = { transfer: () => undefined } as unknown as PooledBuffer['ledger'];
      for (const size of own) pool.keep({ buffer: buffer(size), usage, ledger, usedBy: 0, isRetired: false });
      const wants = own.map((bytes, i) => ({ name: `${i}`, bytes, usage }));
      const found = pool.match(wants);
      const taken = gen(fc.shuffledSubarray, [...found.values()]);
      pool.take(new Set(taken), ledger);
      for (const each of taken) pool.keep(each);
      const again = pool.match(wants);
      for (const { name, bytes } of wants) {
        expect(again.get(name)?.buffer).toBe(found.get(name)?.buffer);
        expect(again.get(name)?.buffer.size).toBe(bytes);
      }
    }),
    { seed: 43 },
  );
});
