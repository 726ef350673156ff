import { NoAdapterError } from './adapter/choose-adapter.mjs';
import { describeAdapter, openGpu } from './adapter/open-gpu.mjs';

/**
 * The meter of product equivalents (dev/field-bench/product-meter.ts), on a device of its own.
 *
 * @param {Pick<typeof import('../dev/field-bench/index.js'), 'ProductMeter'>} library as built, or from the sources
 */
export async function openProductMeter({ ProductMeter }) {
  const adapter = await openGpu().requestAdapter({ powerPreference: 'high-performance' });
  if (!adapter) throw new NoAdapterError('Dawn found no adapter');
  const device = await adapter.requestDevice();
  const described = describeAdapter(adapter.info);
  try {
    const meter = await ProductMeter.make(device, { software: described.software });
    return {
      adapter: described,
      /** @returns products a second */
      measure: () => meter.measure(),
      destroy() {
        meter.destroy();
        device.destroy();
      },
    };
  } catch (error) {
    device.destroy();
    throw error;
  }
}
