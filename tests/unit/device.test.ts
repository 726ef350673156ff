/** Adapters that reject requested limits or features: a device opens with as much as they grant. */
import { expect, test } from 'vitest';
import { openDevice } from '../../src/gpu/device.js';

const NAMES = ['maxStorageBufferBindingSize', 'maxBufferSize'];

/**
 * An adapter whose limits are getters of a prototype, as in browsers, and which refuses what
 * `refuses` says.
 */
const fakeGpu = (refuses: (descriptor: GPUDeviceDescriptor) => string | null) => {
  class Limits {
    get maxStorageBufferBindingSize(): number {
      return 2 ** 30;
    }
    get maxBufferSize(): number {
      return 2 ** 31;
    }
  }
  const asked: GPUDeviceDescriptor[] = [];
  const adapter = {
    info: { vendor: 'a vendor' },
    limits: new Limits(),
    features: new Set(['timestamp-query', 'shader-f16']),
    requestDevice: async (descriptor: GPUDeviceDescriptor) => {
      asked.push(descriptor);
      const refusal = refuses(descriptor);
      if (refusal !== null) throw new DOMException(refusal, 'OperationError');
      return { createBuffer: () => undefined };
    },
  };
  return { gpu: { requestAdapter: async () => adapter } as unknown as GPU, asked };
};

test('a device has the largest buffers, and timestamps, if the adapter grants them', async () => {
  const { gpu, asked } = fakeGpu(() => null);
  expect(await openDevice({ gpu })).toMatchObject({ owned: true, adapter: { vendor: 'a vendor' } });
  expect(asked).toEqual([
    {
      label: 'webgpu-msm',
      requiredFeatures: ['timestamp-query'],
      requiredLimits: { maxStorageBufferBindingSize: 2 ** 30, maxBufferSize: 2 ** 31 },
    },
  ]);
});

test('an adapter that accepts no limits, as bun-webgpu, is asked without; it may still have timestamps', async () => {
  const { gpu, asked } = fakeGpu(({ requiredLimits }) =>
    requiredLimits ? `Invalid limit required: ${NAMES[0]}` : null,
  );
  expect((await openDevice({ gpu })).owned).toBe(true);
  expect(asked).toHaveLength(2);
  expect(asked[1]).toEqual({ label: 'webgpu-msm', requiredFeatures: ['timestamp-query'] });
});

test('an adapter that accepts no features either is asked for a default device', async () => {
  const { gpu, asked } = fakeGpu(({ requiredFeatures }) => (requiredFeatures ? 'no features' : null));
  expect((await openDevice({ gpu })).owned).toBe(true);
  expect(asked.at(-1)).toEqual({ label: 'webgpu-msm' });
});

test('an adapter that makes no device reports its first reason', async () => {
  let times = 0;
  const { gpu, asked } = fakeGpu(() => `refusal ${++times}`);
  await expect(openDevice({ gpu })).rejects.toMatchObject({
    code: 'unsupported-device',
    message: 'the adapter makes no device: refusal 1',
    cause: { message: 'refusal 1' },
  });
  expect(asked).toHaveLength(3);
});
