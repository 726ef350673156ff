/**
 * The fields of the library's `AdapterDescription`.
 *
 * @typedef {{ vendor: string, architecture: string, device: string, description: string, software: boolean }} Adapter
 */

/**
 * Describes an adapter as `src/gpu/device.ts` does. This copy runs without a build.
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
 * Returns whether no GPU was opened: the library's CPU engine reports this vendor.
 *
 * @param {Pick<Adapter, 'vendor'>} adapter
 */
export const isCpu = ({ vendor }) => vendor === 'cpu';

/**
 * Returns one line that describes the adapter to people.
 *
 * @param {Adapter} adapter
 */
export function adapterLine(adapter) {
  if (isCpu(adapter)) return 'CPU, no GPU opened';
  const family = [adapter.vendor, adapter.architecture].filter(Boolean).join(' ');
  const name = adapter.description || adapter.device || family || 'unnamed';
  return `${name}${name === family || !family ? '' : ` (${family})`}, ${adapter.software ? 'software' : 'hardware'}`;
}
