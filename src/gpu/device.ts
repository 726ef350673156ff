import type { AdapterDescription } from '../api/device.js';
import { badArgument, MsmError } from '../errors.js';
import { Stuck, waitForRequest } from './device-watch.js';

/** A device, and true in `owned` if the engine destroys it. */
export interface OpenDevice {
  readonly device: GPUDevice;
  readonly owned: boolean;
  readonly adapter: AdapterDescription;
  /** True if shaders may use dot4U8Packed; false if unknown. */
  readonly hasDot4: boolean;
}

/** Describes an adapter. */
export const describeAdapter = (info: GPUAdapterInfo | undefined, isFallback = false): AdapterDescription => {
  const { vendor = '', architecture = '', device = '', description = '' } = info ?? {};
  const text = `${vendor} ${architecture} ${device} ${description}`;
  return {
    vendor,
    architecture,
    device,
    description,
    software:
      isFallback || info?.isFallbackAdapter === true || /swiftshader|llvmpipe|lavapipe|basic render|warp/i.test(text),
  };
};

/** Language feature of dot4U8Packed. */
const DOT4 = 'packed_4x8_integer_dot_product';

const gpuHere = (): GPU | undefined => (globalThis as { navigator?: { gpu?: GPU } }).navigator?.gpu;

const hasDot4 = (gpu: GPU | undefined): boolean => (gpu ?? gpuHere())?.wgslLanguageFeatures?.has(DOT4) === true;

/** Returns WebGPU of the caller or of the page. @throws MsmError `no-webgpu` */
const findGpu = (gpu: GPU | undefined): GPU => {
  const found = gpu ?? gpuHere();
  if (found) return found;
  throw new MsmError(
    'no-webgpu',
    'there is no WebGPU here: use a browser that has it (in a secure context), or in Node pass Dawn’s object as `gpu`; without `backend` the CPU computes',
  );
};

/** Refuses a software adapter: the CPU computes on the same cores, and faster. */
export class SoftwareAdapterError extends MsmError {
  constructor() {
    super('no-webgpu', "the only adapter is software; take backend 'gpu' or 'both' to compute on it all the same");
  }
}

/** Limits to raise to those of the adapter; all others stay at the portable minimum. */
const wanted = ['maxStorageBufferBindingSize', 'maxBufferSize'] as const;

/**
 * Requests the best device first and then simpler ones, because bun-webgpu refuses
 * `requiredLimits`. An adapter can be asked again after a refusal (WebGPU, "requestDevice").
 */
const requestDevice = async (adapter: GPUAdapter): Promise<GPUDevice> => {
  const { limits, features } = adapter;
  const label = 'webgpu-msm';
  const requiredFeatures: GPUFeatureName[] = features.has('timestamp-query') ? ['timestamp-query'] : [];
  const requiredLimits = Object.fromEntries(wanted.map((limit) => [limit, limits[limit]]));
  let refusal: unknown;
  for (const descriptor of [{ label, requiredFeatures, requiredLimits }, { label, requiredFeatures }, { label }]) {
    try {
      return await waitForRequest(adapter.requestDevice(descriptor), 'a device', (late) => late.destroy());
    } catch (error) {
      // the first refusal says most, because later requests ask for less
      refusal ??= error;
      if (error instanceof Stuck) break;
    }
  }
  throw new MsmError('unsupported-device', `the adapter makes no device: ${(refusal as Error).message}`, {
    cause: refusal,
  });
};

/**
 * Takes the caller's device, or requests one with the adapter's largest buffers, and with
 * timestamps if the adapter has them.
 *
 * @param again true after a loss: browsers switch the GPU off for a page after a few losses in a
 *   row
 * @throws MsmError `bad-argument` for a wrong device or GPU, `no-webgpu` without WebGPU or adapter,
 *   `unsupported-device` if the adapter makes no device
 * @throws SoftwareAdapterError with `hardwareOnly`
 */
export const openDevice = async (
  options: {
    device?: GPUDevice | undefined;
    gpu?: GPU | undefined;
    powerPreference?: GPUPowerPreference | undefined;
    /** True where no device is to be made on a software adapter. */
    hardwareOnly?: boolean;
  },
  again = false,
): Promise<OpenDevice> => {
  const { hardwareOnly = false } = options;
  const assertWanted = (adapter: AdapterDescription): AdapterDescription => {
    if (hardwareOnly && adapter.software) throw new SoftwareAdapterError();
    return adapter;
  };
  if (options.device !== undefined) {
    if (typeof options.device?.createBuffer !== 'function') throw badArgument('device must be a GPUDevice');
    return {
      device: options.device,
      owned: false,
      adapter: assertWanted(describeAdapter(options.device.adapterInfo)),
      hasDot4: hasDot4(options.gpu),
    };
  }
  const { powerPreference = 'high-performance' } = options;
  const gpu = findGpu(options.gpu);
  if (typeof gpu.requestAdapter !== 'function') {
    throw badArgument('gpu must be a GPU object: navigator.gpu, or what Dawn’s create returned');
  }
  let adapter: GPUAdapter | null;
  try {
    adapter = await waitForRequest(gpu.requestAdapter({ powerPreference }), 'an adapter');
  } catch (error) {
    throw new MsmError('no-webgpu', `WebGPU refused an adapter: ${(error as Error).message}`, { cause: error });
  }
  if (!adapter) {
    throw new MsmError(
      'no-webgpu',
      again
        ? 'WebGPU has no adapter any more: the device was lost, and the browser has switched the GPU off for this page; reload the page (in Node, check the GPU driver)'
        : 'WebGPU has no adapter here: check the GPU driver (Dawn in Node needs Vulkan, Metal or Direct3D 12) and the browser’s GPU settings',
    );
  }
  // older browsers have the flag on the adapter and not in `info`
  const isFallback = (adapter as { readonly isFallbackAdapter?: unknown }).isFallbackAdapter === true;
  const description = assertWanted(describeAdapter(adapter.info, isFallback));
  return { device: await requestDevice(adapter), owned: true, adapter: description, hasDot4: hasDot4(gpu) };
};
