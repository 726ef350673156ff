/**
 * Acceleration of snarkjs: its MSMs computed by this library.
 *
 * @module
 */
export type { Group, MsmEngineOptions, NamedCurve } from './index.js';
export { type Accelerate, accelerate, type Restore } from './provers/accelerate.js';
export type { AccelerateOptions } from './provers/accelerate-options.js';
export type { AccelerateStats } from './provers/accelerate-stats.js';
export type { Snarkjs } from './provers/ffjavascript.js';
