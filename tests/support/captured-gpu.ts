import { getGpu } from './gpu.js';

/** A GPU object, and the devices that were requested from it. */
export interface CapturedGpu {
  readonly gpu: GPU;
  readonly devices: GPUDevice[];
}

/**
 * Dawn's object, but every device that it makes can be got at.
 *
 * @param spoil may tamper with a device before whoever requested it gets it
 * @param info what the adapter says it is, in place of the truth
 */
export const captureGpu = async (
  spoil: (device: GPUDevice) => void = () => undefined,
  info?: Partial<GPUAdapterInfo>,
): Promise<CapturedGpu> => {
  const real = await getGpu();
  const devices: GPUDevice[] = [];
  const gpu = {
    requestAdapter: async (options?: GPURequestAdapterOptions) => {
      const adapter = (await real.requestAdapter(options)) as GPUAdapter;
      return {
        features: adapter.features,
        limits: adapter.limits,
        info: info ?? adapter.info,
        requestDevice: async (descriptor?: GPUDeviceDescriptor) => {
          const device = await adapter.requestDevice(descriptor);
          spoil(device);
          devices.push(device);
          return device;
        },
      };
    },
  } as unknown as GPU;
  return { gpu, devices };
};
