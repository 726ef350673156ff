/** What the benchmarks in Node have of this folder, built by vite.bench.config.ts. */
export { bn254 } from '../../src/curves/bn254.js';
export { modulus } from '../../src/field/modulus.js';
export { hasSlowShifts } from '../../src/gpu/device.js';
export { batchInversions } from './batch-inverse/kernel.js';
export { fieldOperations, libraryOperations, threadsFor } from './kernels.js';
export { ProductMeter, ratesAround } from './product-meter.js';
export { fieldBench } from './run.js';
