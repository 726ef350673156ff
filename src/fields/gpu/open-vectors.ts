/** Opens a device for vectors of a field, and sets up its arithmetic and kernels. */
import { badArgument, show } from '../../errors.js';
import { type OpenDevice, openDevice } from '../../gpu/device.js';
import { Runner } from '../../gpu/runner.js';
// what this module shares with index.js stays in that file only if index.js is loaded before
import '../../index.js';
import { type FieldProduct, type Modulus, modulus } from '../../field/modulus.js';
import { productFor } from '../../msm/plan/device-profiles.js';
import { digestKernel } from '../../msm/stages/entry.js';
import { type Configure, DeviceSource, sourcesOfEngines } from '../../session/current-device.js';
import { Session } from '../../session/session.js';
import { once } from '../../shaders/kernel.js';
import type { FieldEngineOptions, OpenField } from '../program/open-field.js';
import { combineKernel } from './combine.js';
import type { FieldKernels, FieldSetup } from './emitter.js';
import { gatherKernel } from './gather.js';
import { GpuVectors } from './gpu-vectors.js';
import { invertKernel } from './invert.js';
import { rowsKernel } from './rows.js';
import { scalarsKernel } from './scalars.js';
import { scanKernel } from './scan.js';
import { transformKernel } from './transform.js';

/** Repetitions of a run that the GPU did not execute correctly. */
const RETRIES = 1;

/**
 * Opens a device, or joins that of another engine.
 *
 * @returns null if the other engine has no GPU
 * @throws MsmError `bad-argument`, `no-webgpu`, `unsupported-device`
 */
export const openVectors = async (
  field: OpenField,
  { deviceOf, device, gpu }: Pick<FieldEngineOptions, 'deviceOf' | 'device' | 'gpu'>,
  { memoryBudget, retainVectors }: { readonly memoryBudget: number; readonly retainVectors: boolean },
): Promise<GpuVectors | null> => {
  if (deviceOf !== undefined && (typeof deviceOf !== 'object' || deviceOf === null)) {
    throw badArgument(`deviceOf must be an engine of createMsmEngine, got ${show(deviceOf)}`);
  }
  const joined = deviceOf && sourcesOfEngines.get(deviceOf);
  if (deviceOf !== undefined && joined === undefined) return null;
  const source = joined ?? new DeviceSource((again) => openDevice({ device, gpu }, again));
  const open = await source.join();
  const session = new Session(open, {
    source,
    configure: fieldConfigure(field),
    runnerFor: (own, afterLoss) => new Runner(own, memoryBudget, { afterLoss }),
    selfTests: true,
    retries: RETRIES,
    adviceAfterLoss: 'call again',
    hasAlternative: false,
  });
  return new GpuVectors(field, session, retainVectors);
};

/** Threads of a workgroup of transforms on GPUs: WebGPU's default limit. */
const GPU_THREADS = 256;

/** Threads on software adapters, where each waits at barriers one after the other. */
const SOFTWARE_THREADS = 16;

/** Returns how a session sets up devices for a field. */
export const fieldConfigure = (own: OpenField): Configure<FieldSetup> => {
  const make = ({ adapter, device }: OpenDevice, product: FieldProduct): FieldSetup => {
    const field = modulus(own.p, product);
    const most = Math.min(device.limits.maxComputeInvocationsPerWorkgroup, device.limits.maxComputeWorkgroupSizeX);
    const threads = adapter.software ? SOFTWARE_THREADS : Math.min(GPU_THREADS, most);
    // a phone computes some 20 million products a second (docs/reference/chips.md)
    const productsPerMs = adapter.software ? 2_000 : 20_000;
    const kernels = fieldKernels(field, threads);
    return { own, field, kernels, productsPerMs, productsPerSubmit: 50 * productsPerMs };
  };
  return {
    make: (open) => make(open, productFor(open.adapter, open.hasDot4)),
    simpler: ({ field }, open) => (field.product === 'unsigned' ? null : make(open, 'unsigned')),
    nameOf: ({ field }) => field.product,
  };
};

/** @param threads of a workgroup of the transform */
export const fieldKernels = (field: Modulus, threads: number): FieldKernels => ({
  combine: once(() => combineKernel(field)),
  transform: once(() => transformKernel(field, threads)),
  scan: once(() => scanKernel(field)),
  invert: once(() => invertKernel(field)),
  rows: once(() => rowsKernel(field)),
  gather: once(() => gatherKernel(field)),
  scalars: once(() => scalarsKernel(field)),
  digest: once(digestKernel),
});
