import { NoAdapterError } from './adapter/choose-adapter.mjs';
import { describeAdapter, openGpu } from './adapter/open-gpu.mjs';

/**
 * The meter of product equivalents (dev/field-bench/product-meter.ts) on a device of its own, for commands that open the sources.
 * `npm start` cannot: it also runs where there is no Vite.
 *
 * @param {import('vite').ViteDevServer} vite
 */
export async function openProductMeter(vite) {
  const { ProductMeter } = /** @type {typeof import('../dev/field-bench/product-meter.js')} */ (
    await vite.ssrLoadModule('/dev/field-bench/product-meter.ts')
  );
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
