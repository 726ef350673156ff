/**
 * WebGPU in Node: Dawn, as the npm package `webgpu` has it.
 *
 * Dawn's object has to stay reachable for as long as anything runs on it, or the process crashes after a garbage
 * collection; and as long as it is reachable, Node does not exit. So this module owns it: `openGpu` when it begins,
 * `closeGpu` when all is done.
 */
import { create } from 'webgpu';

/**
 * What the library calls AdapterDescription.
 *
 * @typedef {{ vendor: string, architecture: string, device: string, description: string, software: boolean }} Adapter
 */

/** @type {GPU | undefined} */
let opened;

/**
 * @param {string[]} [flags] Dawn's, as `create` of `webgpu` takes them, such as `backend=null` or
 *   `disable-dawn-features=timestamp_quantization`. They count only for the call that opens it.
 * @returns {GPU}
 */
export function openGpu(flags = []) {
  opened ??= create(flags);
  return opened;
}

/** Lets go of Dawn, so that Node can exit. Destroy the devices before; a later `openGpu` starts a new one. */
export function closeGpu() {
  opened = undefined;
}

/**
 * @param {GPUAdapterInfo} info
 * @returns {Adapter}
 */
export function describeAdapter(info) {
  const { vendor, architecture, device, description } = info;
  const software =
    info.isFallbackAdapter ||
    /swiftshader|llvmpipe|lavapipe|basic render/i.test(`${architecture} ${device} ${description}`);
  return { vendor, architecture, device, description, software };
}

/**
 * One line for people.
 *
 * @param {Adapter} adapter
 */
export function adapterLine(adapter) {
  const family = [adapter.vendor, adapter.architecture].filter(Boolean).join(' ');
  const name = adapter.description || adapter.device || family || 'unnamed';
  return `${name}${name === family || !family ? '' : ` (${family})`}, ${adapter.software ? 'software' : 'hardware'}`;
}
