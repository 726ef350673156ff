import { bufferUsage, mapModeRead } from '../../src/gpu/device-memory.js';

/**
 * Compiles one entry point; a shader that does not compile fails with the compiler's message and
 * the line it points at.
 */
export const compileKernel = async (
  device: GPUDevice,
  code: string,
  entryPoint: string,
): Promise<GPUComputePipeline> => {
  const module = device.createShaderModule({ code });
  const { messages } = await module.getCompilationInfo();
  const errors = messages.filter((message) => message.type === 'error');
  if (errors.length > 0) {
    const lines = code.split('\n');
    throw new Error(errors.map((e) => `${e.lineNum}: ${e.message}\n  ${lines[e.lineNum - 1]}`).join('\n'));
  }
  return device.createComputePipelineAsync({ layout: 'auto', compute: { module, entryPoint } });
};

/** A storage buffer for a kernel: `data` goes in, and what the kernel leaves in it comes out. */
export interface KernelBuffer {
  readonly data: Uint32Array;
  readonly usage?: 'storage' | 'uniform';
}

/** Runs a kernel once over buffers bound as 0, 1, 2 … of group 0, and reads all of them back. */
export const runKernel = async (
  device: GPUDevice,
  pipeline: GPUComputePipeline,
  buffers: readonly KernelBuffer[],
  workgroups: readonly [number, number?, number?],
): Promise<Uint32Array[]> => {
  const gpuBuffers = buffers.map(({ data, usage = 'storage' }) => {
    const buffer = device.createBuffer({
      size: Math.max(16, data.byteLength),
      usage: bufferUsage[usage] | bufferUsage.copyDst | bufferUsage.copySrc,
    });
    device.queue.writeBuffer(buffer, 0, data as Uint32Array<ArrayBuffer>);
    return buffer;
  });
  const staging = gpuBuffers.map((buffer) =>
    device.createBuffer({ size: buffer.size, usage: bufferUsage.mapRead | bufferUsage.copyDst }),
  );
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(
    0,
    device.createBindGroup({
      layout: pipeline.getBindGroupLayout(0),
      entries: gpuBuffers.map((buffer, binding) => ({ binding, resource: { buffer } })),
    }),
  );
  pass.dispatchWorkgroups(...workgroups);
  pass.end();
  gpuBuffers.forEach((buffer, i) => {
    encoder.copyBufferToBuffer(buffer, 0, staging[i] as GPUBuffer, 0, buffer.size);
  });
  device.queue.submit([encoder.finish()]);
  const results = await Promise.all(
    staging.map(async (buffer, i) => {
      await buffer.mapAsync(mapModeRead);
      return new Uint32Array(buffer.getMappedRange().slice(0)).subarray(0, (buffers[i] as KernelBuffer).data.length);
    }),
  );
  for (const buffer of [...gpuBuffers, ...staging]) buffer.destroy();
  return results;
};
