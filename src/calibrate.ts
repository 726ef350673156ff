/**
 * Calibration: finds the fastest tuning for a device and remembers it, for `createMsmEngine({
 * device, calibration })`.
 *
 * @module
 */
export { type CalibrateOptions, calibrate } from './calibrate/calibrate.js';
export { type CalibrationStore, indexedDbStore } from './calibrate/store.js';
export type { Calibration, CalibrationTrial } from './index.js';
