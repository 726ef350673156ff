/**
 * The adapter for tests in Node. Importing this module is what makes a test file a GPU test: it
 * opens Dawn when it is first asked to, fails (never skips) where there is no adapter, fails a test
 * that left a WebGPU error uncaught, and lets go of everything at the end of the file. Where files
 * share a process (fresh-modules.ts), Dawn and the shared device stay, with the device's pipelines.
 *
 * Nothing is put on globalThis. Node has no GPUBufferUsage, no GPUMapMode and no navigator.gpu, and
 * the library has to do without them there: it is given Dawn's object as `gpu`.
 */
import { afterAll, afterEach } from 'vitest';
import { type Adapter, adapterLine, closeGpu, describeAdapter, openGpu } from '../../scripts/adapter/open-gpu.mjs';

const wanted = process.env.WEBGPU_MSM_ADAPTER_KIND;
const devices = new Set<GPUDevice>();
let uncaught: string[] = [];
let checked: Promise<Adapter> | undefined;

/** GPU objects that the next file of the process takes over. */
interface Retained {
  gpu?: GPU;
  shared?: Promise<GPUDevice> | undefined;
  readonly spares: GPUDevice[];
  /** Pipelines that stay, by device. */
  readonly pipelines: WeakMap<GPUDevice, GPUComputePipeline[]>;
}
const ofProcess = (globalThis as { [key: symbol]: Retained | undefined })[Symbol.for('webgpu-msm tests')];
export const retained: Retained = ofProcess ?? { spares: [], pipelines: new WeakMap() };

const getDawn = (): GPU => {
  retained.gpu ??= openGpu();
  return retained.gpu;
};

/** Dawn's GPU object, once it is known to have the adapter that this run is for. */
export async function getGpu(): Promise<GPU> {
  await getAdapterDescription();
  return getDawn();
}

/**
 * The adapter that this run is on, checked against what `npm test` said it is
 * (scripts/with-adapter.mjs).
 */
export function getAdapterDescription(): Promise<Adapter> {
  checked ??= requestAdapter().then(({ info }) => {
    const adapter = describeAdapter(info);
    const kind = adapter.software ? 'software' : 'hardware';
    if (wanted !== undefined && wanted !== kind) {
      throw new Error(`this run is for a ${wanted} adapter, and Dawn found ${adapterLine(adapter)}`);
    }
    return adapter;
  });
  return checked;
}

/** Has the current test fail for errors of a device that nothing catches. */
export const watchErrors = (device: GPUDevice): GPUDevice => {
  if (!devices.has(device)) device.addEventListener('uncapturederror', onError);
  devices.add(device);
  return device;
};

/** Pipelines that stay on a device: those of some thirty engines. */
const KEPT = 256;

/**
 * Keeps the latest pipelines of a device after the engines that compile them. Dawn shares equal
 * pipelines while one is referenced, so that later engines on the device compile nothing.
 */
export const keepPipelines = (device: GPUDevice): GPUDevice => {
  if (Object.hasOwn(device, 'createComputePipelineAsync')) return device;
  const { pipelines } = retained;
  const create = device.createComputePipelineAsync.bind(device);
  device.createComputePipelineAsync = async (descriptor) => {
    const pipeline = await create(descriptor);
    pipelines.set(device, [...(pipelines.get(device) ?? []).slice(1 - KEPT), pipeline]);
    return pipeline;
  };
  return device;
};

/**
 * A device. Without a descriptor it is one that the file's tests share; with one it is a device of
 * its own, which is destroyed at the end of the file. Destroying the shared one is allowed: the
 * next caller gets another.
 */
export async function getDevice(descriptor?: GPUDeviceDescriptor): Promise<GPUDevice> {
  await getAdapterDescription();
  if (descriptor !== undefined) return requestDevice(descriptor);
  retained.shared ??= requestDevice({ label: 'shared by the tests of a file' }).then((device) => {
    void device.lost.then(() => {
      retained.shared = undefined;
    });
    return device;
  });
  return keepPipelines(watchErrors(await retained.shared));
}

/** An adapter makes one device only, so each device has one of its own. */
async function requestAdapter(): Promise<GPUAdapter> {
  const adapter = await getDawn().requestAdapter({ powerPreference: 'high-performance' });
  if (adapter === null) {
    throw new Error(
      'Dawn found no adapter: start the tests with `npm test`, which brings one (scripts/with-adapter.mjs)',
    );
  }
  return adapter;
}

async function requestDevice(descriptor: GPUDeviceDescriptor): Promise<GPUDevice> {
  const adapter = await requestAdapter();
  return watchErrors(await adapter.requestDevice(descriptor));
}

function onError({ error }: GPUUncapturedErrorEvent): void {
  uncaught.push(error.message);
}

afterEach(() => {
  const messages = uncaught;
  uncaught = [];
  if (messages.length > 0) throw new Error(`WebGPU errors outside any error scope:\n${messages.join('\n')}`);
});

/** Removes the methods that tests put in place of those of the prototype. */
const restoreMethods = (of: object): void => {
  for (const [name, value] of Object.entries(of)) if (typeof value === 'function') Reflect.deleteProperty(of, name);
};

afterAll(async () => {
  const staying = ofProcess === undefined ? [] : [await retained.shared, ...retained.spares];
  for (const device of devices) {
    device.removeEventListener('uncapturederror', onError);
    for (const each of [device, device.queue]) restoreMethods(each);
    if (!staying.includes(device)) device.destroy();
  }
  if (ofProcess === undefined) closeGpu();
});
