import { NoAdapterError } from './adapter/choose-adapter.mjs';
import { openGpu } from './adapter/open-gpu.mjs';

/** A plain device of Dawn's. @throws NoAdapterError */
export async function requestDevice() {
  const adapter = await openGpu().requestAdapter({ powerPreference: 'high-performance' });
  if (!adapter) throw new NoAdapterError('Dawn found no adapter');
  return adapter.requestDevice();
}
