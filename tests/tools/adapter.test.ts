import { expect, test } from 'vitest';
import { chooseAdapter, parseAdapterRequest } from '../../scripts/adapter/choose-adapter.mjs';
import { adapterLine } from '../../scripts/adapter/open-gpu.mjs';
import { getAdapterDescription, getDevice, getGpu } from '../support/gpu.js';
import { runScript } from '../support/run-script.js';

test('the suite runs on an adapter of the requested kind', async () => {
  const adapter = await getAdapterDescription();
  console.log(`adapter: ${adapterLine(adapter)}`);
  expect(process.env.WEBGPU_MSM_ADAPTER_KIND).toBeOneOf([adapter.software ? 'software' : 'hardware', undefined]);
  expect(process.env.WEBGPU_MSM_ADAPTER).toBeOneOf(['software', 'hardware', 'system', undefined]);
});

test('the adapter computes', async () => {
  const device = await getDevice();
  const module = device.createShaderModule({
    code: `@group(0) @binding(0) var<storage, read_write> words: array<u32>;
      @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) { words[id.x] = id.x * 3u + 1u; }`,
  });
  const pipeline = await device.createComputePipelineAsync({ layout: 'auto', compute: { module } });
  // Node has no GPUBufferUsage, so usages are numbers: STORAGE | COPY_SRC, then COPY_DST | MAP_READ
  const words = device.createBuffer({ size: 256, usage: 0x80 | 0x04 });
  const staging = device.createBuffer({ size: 256, usage: 0x08 | 0x01 });
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(
    0,
    device.createBindGroup({
      layout: pipeline.getBindGroupLayout(0),
      entries: [{ binding: 0, resource: { buffer: words } }],
    }),
  );
  pass.dispatchWorkgroups(1);
  pass.end();
  encoder.copyBufferToBuffer(words, 0, staging, 0, 256);
  device.queue.submit([encoder.finish()]);
  await staging.mapAsync(1);
  expect([...new Uint32Array(staging.getMappedRange())]).toEqual(Array.from({ length: 64 }, (_, i) => 3 * i + 1));
});

test('a destroyed shared device is replaced', async () => {
  const first = await getDevice();
  expect(await getDevice()).toBe(first);
  first.destroy();
  await first.lost;
  expect(await getDevice()).not.toBe(first);
  expect(await getGpu()).toHaveProperty('requestAdapter');
});

test('the request `system` takes the driver of the environment, including one on the CPU', async () => {
  const { software } = await getAdapterDescription();
  const kind = software ? 'software' : 'hardware';
  // the environment of this process has a driver, from the system or from npm
  expect(await chooseAdapter('system')).toEqual({
    kind,
    environment: { WEBGPU_MSM_ADAPTER: 'system', WEBGPU_MSM_ADAPTER_KIND: kind },
  });
  const script = 'console.log(process.env.WEBGPU_MSM_ADAPTER, process.env.LD_LIBRARY_PATH === process.argv[1])';
  const folders = process.env.LD_LIBRARY_PATH ?? 'none';
  const command = ['--adapter', 'system', '--', 'node', '-e', script, folders];
  const seen = await runScript('scripts/with-adapter.mjs', command, 60_000);
  expect(seen.stderr).toContain(`adapter: ${kind}`);
  expect(seen.stdout.trim()).toBe(`system ${folders !== 'none'}`);
});

test('an unknown request is refused with the name of its option or variable', () => {
  expect(parseAdapterRequest('system')).toBe('system');
  expect(() => parseAdapterRequest('gpu')).toThrow("--adapter is 'gpu': it must be auto, software, hardware or system");
});
