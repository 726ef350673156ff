import type { AdapterDescription } from '../api.js';
import { badArgument, MsmError, show } from '../errors.js';

/** A device to compute on, and whether it is ours to destroy. */
export interface OpenDevice {
  readonly device: GPUDevice;
  readonly owned: boolean;
  readonly adapter: AdapterDescription;
}

/** What is known of an adapter. */
export const describeAdapter = (info: GPUAdapterInfo | undefined): AdapterDescription => {
  const { vendor = '', architecture = '', device = '', description = '' } = info ?? {};
  const text = `${vendor} ${architecture} ${device} ${description}`;
  return {
    vendor,
    architecture,
    device,
    description,
    software: info?.isFallbackAdapter === true || /swiftshader|llvmpipe|lavapipe|basic render|warp/i.test(text),
  };
};

/** SwiftShader's compiler does a shift of a vector lane by lane (docs/performance.md). */
export const hasSlowShifts = ({ architecture, description }: AdapterDescription): boolean =>
  /swiftshader/i.test(`${architecture} ${description}`);

/** WebGPU as the page or the caller has it. */
const findGpu = (gpu: GPU | undefined): GPU => {
  const found = gpu ?? (globalThis as { navigator?: { gpu?: GPU } }).navigator?.gpu;
  if (found) return found;
  throw new MsmError(
    'no-webgpu',
    'there is no WebGPU here: use a browser that has it (in a secure context), or in Node pass Dawn’s object as `gpu`',
  );
};

/** Limits that are worth more than their defaults; everything else stays at the portable minimum. */
const wanted = ['maxStorageBufferBindingSize', 'maxBufferSize'] as const;

/**
 * The best device first, then what is left when an implementation refuses to be asked: bun-webgpu takes no `requiredLimits` at all. A refusal
 * leaves the adapter as it was (WebGPU, "requestDevice").
 */
const requestDevice = async (adapter: GPUAdapter): Promise<GPUDevice> => {
  const { limits, features } = adapter;
  const label = 'webgpu-msm';
  const requiredFeatures: GPUFeatureName[] = features.has('timestamp-query') ? ['timestamp-query'] : [];
  const requiredLimits = Object.fromEntries(wanted.map((limit) => [limit, limits[limit]]));
  let refusal: unknown;
  for (const descriptor of [{ label, requiredFeatures, requiredLimits }, { label, requiredFeatures }, { label }]) {
    try {
      return await adapter.requestDevice(descriptor);
    } catch (error) {
      // the first says most: the others ask for less
      refusal ??= error;
    }
  }
  throw new MsmError('unsupported-device', `the adapter makes no device: ${(refusal as Error).message}`, {
    cause: refusal,
  });
};

/**
 * Takes the caller's device, or requests one with the largest buffers that the adapter has, and timestamps where it has them.
 *
 * @throws MsmError `bad-argument` for what is no device or GPU, `no-webgpu` without WebGPU or adapter, `unsupported-device` if the adapter makes no device
 */
export const openDevice = async (options: {
  device?: GPUDevice | undefined;
  gpu?: GPU | undefined;
  powerPreference?: GPUPowerPreference | undefined;
}): Promise<OpenDevice> => {
  if (options.device !== undefined) {
    if (typeof options.device?.createBuffer !== 'function') throw badArgument('device must be a GPUDevice');
    return { device: options.device, owned: false, adapter: describeAdapter(options.device.adapterInfo) };
  }
  const { powerPreference = 'high-performance' } = options;
  if (powerPreference !== 'high-performance' && powerPreference !== 'low-power') {
    throw badArgument(`powerPreference must be 'high-performance' or 'low-power', got ${show(powerPreference)}`);
  }
  const gpu = findGpu(options.gpu);
  if (typeof gpu.requestAdapter !== 'function') {
    throw badArgument('gpu must be a GPU object: navigator.gpu, or what Dawn’s create returned');
  }
  let adapter: GPUAdapter | null;
  try {
    adapter = await gpu.requestAdapter({ powerPreference });
  } catch (error) {
    throw new MsmError('no-webgpu', `WebGPU refused an adapter: ${(error as Error).message}`, { cause: error });
  }
  if (!adapter) {
    throw new MsmError(
      'no-webgpu',
      'WebGPU has no adapter here: check the GPU driver (Dawn in Node needs Vulkan, Metal or Direct3D 12) and the browser’s GPU settings',
    );
  }
  return { device: await requestDevice(adapter), owned: true, adapter: describeAdapter(adapter.info) };
};
