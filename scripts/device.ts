import { NoAdapterError } from './adapter/choose-adapter.mjs';
import { adapterLine, closeGpu, describeAdapter, openGpu } from './adapter/open-gpu.mjs';
import { onAdapter } from './command-line.js';

/** Requests a device from Dawn, with default limits and features. @throws NoAdapterError */
export async function requestDevice() {
  const adapter = await openGpu().requestAdapter({ powerPreference: 'high-performance' });
  if (!adapter) throw new NoAdapterError('Dawn found no adapter');
  return adapter.requestDevice();
}

/**
 * Runs work on a new device, in a process that is prepared for the requested adapter.
 *
 * @param about text that is printed beside the adapter
 */
export const onDevice = (request: string | undefined, about: string, work: (device: GPUDevice) => Promise<void>) =>
  onAdapter(request, async () => {
    let device: GPUDevice | undefined;
    try {
      device = await requestDevice();
      console.log(`adapter: ${adapterLine(describeAdapter(device.adapterInfo))}; ${about}`);
      await work(device);
    } finally {
      device?.destroy();
      closeGpu();
    }
  });
