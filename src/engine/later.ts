/**
 * What an engine needs only once it works: loading points, running jobs, self-test and verification, what warms up, what is told of times, all that the CPU computes,
 * tables of bases, programs that points go through when they are loaded, why they were refused, Edwards curves, and fields of p² elements. One module
 * (vite.lib.config.ts), as bundlers keep alive what two such modules share with the first.
 */

export { originalOf, weierstrassOf } from '../curves/edwards.js';
export { isPrime } from '../field/prime.js';
export { quadraticField } from '../field/quadratic.js';
export { withAdder } from '../msm/cpu/adder.js';
export { loadOnCpu } from '../msm/cpu/load.js';
export { evaluate, submitsOf } from '../msm/gpu/evaluate.js';
export { areAsLoaded, loadPoints } from '../msm/gpu/load.js';
export { checkTuning } from '../msm/plan/check-tuning.js';
export { Router } from '../msm/routing/router.js';
export { selfTest } from '../msm/verify/self-test.js';
export { drawCheck, otherwise } from '../msm/verify/verify.js';
export { compileAndDispatch } from '../session/first-dispatch.js';
export { phasesOf, timelineOf } from '../session/timeline.js';
export { CpuEngine } from './cpu-engine.js';
export { readOptions } from './options.js';
