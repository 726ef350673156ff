/**
 * What the library calls AdapterDescription.
 *
 * @typedef {{ vendor: string, architecture: string, device: string, description: string, software: boolean }} Adapter
 */

/**
 * As src/gpu/device.ts does it, which has to be built first.
 *
 * @param {Pick<GPUAdapterInfo, 'vendor' | 'architecture' | 'device' | 'description' | 'isFallbackAdapter'>} info
 * @returns {Adapter}
 */
export function describeAdapter({ vendor, architecture, device, description, isFallbackAdapter }) {
  const text = `${vendor} ${architecture} ${device} ${description}`;
  const software = isFallbackAdapter || /swiftshader|llvmpipe|lavapipe|basic render|warp/i.test(text);
  return { vendor, architecture, device, description, software };
}

/**
 * Whether no GPU was opened: so the library's CPU engine calls its adapter.
 *
 * @param {Pick<Adapter, 'vendor'>} adapter
 */
export const isCpu = ({ vendor }) => vendor === 'cpu';

/**
 * One line for people.
 *
 * @param {Adapter} adapter
 */
export function adapterLine(adapter) {
  if (isCpu(adapter)) return 'CPU, no GPU opened';
  const family = [adapter.vendor, adapter.architecture].filter(Boolean).join(' ');
  const name = adapter.description || adapter.device || family || 'unnamed';
  return `${name}${name === family || !family ? '' : ` (${family})`}, ${adapter.software ? 'software' : 'hardware'}`;
}
