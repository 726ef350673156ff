import { NoAdapterError } from './adapter/choose-adapter.mjs';
import { adapterLine, closeGpu, describeAdapter, openGpu } from './adapter/open-gpu.mjs';
import { onAdapter } from './command-line.mjs';

/** Requests a device from Dawn, with default limits and features. @throws NoAdapterError */
export async function requestDevice() {
  const adapter = await openGpu().requestAdapter({ powerPreference: 'high-performance' });
  if (!adapter) throw new NoAdapterError('Dawn found no adapter');
  return adapter.requestDevice();
}

/**
 * Runs work on a new device, in a process that is prepared for the requested adapter.
 *
 * @param {string | undefined} request
 * @param {string} about text that is printed beside the adapter
 * @param {(device: GPUDevice) => Promise<void>} work
 */
export const onDevice = (request, about, work) =>
  onAdapter(request, async () => {
    /** @type {GPUDevice | undefined} */
    let device;
    try {
      device = await requestDevice();
      console.log(`adapter: ${adapterLine(describeAdapter(device.adapterInfo))}; ${about}`);
      await work(device);
    } finally {
      device?.destroy();
      closeGpu();
    }
  });
