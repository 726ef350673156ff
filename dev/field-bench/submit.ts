/** Measures how long the GPU is busy with a submit, as seen by the host, and reads buffers back. */
import { median } from '../../src/calibrate/statistics.js';
import { bufferUsage, mapModeRead } from '../../src/gpu/device-memory.js';
import { measureWaits, waitForQueue } from '../../src/gpu/device-watch.js';

const EMPTY_SUBMITS = 5;

const emptyMs = new WeakMap<GPUDevice, Promise<number>>();

const timeWhole = async (device: GPUDevice, commands: GPUCommandBuffer[]): Promise<number> => {
  const begun = performance.now();
  device.queue.submit(commands);
  await waitForQueue(device, device.queue.onSubmittedWorkDone());
  return performance.now() - begun;
};

/** Measures an empty submit: from a few to a hundred milliseconds of overhead in a browser. */
const measureEmpty = async (device: GPUDevice): Promise<number> => {
  await measureWaits(device);
  const times: number[] = [];
  for (let i = 0; i < EMPTY_SUBMITS; i++) times.push(await timeWhole(device, []));
  return median(times) as number;
};

/**
 * Returns the milliseconds from a submit until it is done, less those of an empty submit.
 *
 * @param encode encodes the commands, called when the device is idle
 * @returns at least a tenth of the whole time, because less cannot be told from an empty submit
 */
export const timeSubmit = async (device: GPUDevice, encode: () => GPUCommandBuffer): Promise<number> => {
  const empty = emptyMs.get(device) ?? measureEmpty(device);
  emptyMs.set(device, empty);
  const nothing = await empty;
  await waitForQueue(device, device.queue.onSubmittedWorkDone());
  const whole = await timeWhole(device, [encode()]);
  return Math.max(whole - nothing, whole / 10);
};

export const readBack = async (device: GPUDevice, buffer: GPUBuffer): Promise<Uint32Array> => {
  const staging = device.createBuffer({ size: buffer.size, usage: bufferUsage.mapRead | bufferUsage.copyDst });
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(buffer, 0, staging, 0, staging.size);
  device.queue.submit([encoder.finish()]);
  await waitForQueue(device, staging.mapAsync(mapModeRead));
  const words = new Uint32Array(staging.getMappedRange().slice(0));
  staging.destroy();
  return words;
};
