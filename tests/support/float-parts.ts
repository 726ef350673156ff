/** Parts of the library that open a kernel on floats, as one entry of a build. */
export { bn254 } from '../../src/curves/bn254.js';
export { curveContext } from '../../src/curves/curve.js';
export { kernelTest } from '../../src/msm/cpu/adder.js';
export { wasmCurve } from '../../src/wasm/arithmetic/kernel-memory.js';
export { isFused } from '../../src/wasm/floats/float-kernel.js';
export { compileKernel } from '../../src/wasm/points/kernel.js';
export { PointAdder } from '../../src/wasm/points/point-adder.js';
