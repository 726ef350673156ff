/** What `npm run bench:targets` measures with, besides the library itself; built by vite.bench.config.ts, as a GPU host has no vite. */
export { roundMaker } from '../ab/compare.js';
export { Contestant } from '../ab/contestant.js';
export { pointDistributions } from '../cases/point-distributions.js';
export { makeCounter } from '../count/count-msm.js';
export * from '../field-bench/index.js';
export { libraryVariant } from '../field-bench/kernels.js';
