/** What the benchmarks in Node have of this folder, built by vite.bench.config.ts. */
export { bn254 } from '../../src/curves/bn254.js';
export { modulus } from '../../src/field/modulus.js';
export { fieldOperations, libraryOperations } from './kernels.js';
export { fieldBench } from './run.js';
