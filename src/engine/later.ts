/**
 * What an engine needs only once it works: loading points, running jobs, self-test and verification, what warms up, what is told of times, all that the CPU computes,
 * tables of bases, programs that points go through when they are loaded, why they were refused, Edwards curves, and fields of p² elements. One module
 * (vite.lib.config.ts), as bundlers keep alive what two such modules share with the first.
 */

export { withAdder } from '../cpu/wide.js';
export { originalOf, weierstrassOf } from '../curves/edwards.js';
export { isPrime } from '../field/prime.js';
export { quadraticField } from '../field/quadratic.js';
export { compileAndDispatch } from '../gpu/first-dispatch.js';
export { checkTuning } from '../plan/check-tuning.js';
export { CpuEngine } from './cpu-engine.js';
export { loadOnCpu } from './cpu-load.js';
export { evaluate, submitsOf } from './evaluate.js';
export { areAsLoaded, loadPoints } from './load.js';
export { readOptions } from './options.js';
export { Router } from './router.js';
export { selfTest } from './self-test.js';
export { phasesOf, timelineOf } from './timeline.js';
export { drawCheck, otherwise } from './verify.js';
