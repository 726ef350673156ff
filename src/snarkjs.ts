/**
 * MSMs of snarkjs, computed by this library.
 *
 * @module
 */
export type { Group, MsmEngineOptions, NamedCurve } from './index.js';
export { type AccelerateStats, accelerate } from './provers/accelerate.js';
export type { AccelerateOptions } from './provers/accelerate-options.js';
export type { Snarkjs } from './provers/ffjavascript.js';
