/**
 * MSMs of points of noble-curves, computed by this library.
 *
 * @module
 */
export type { MsmEngineOptions } from './index.js';
export {
  type NobleBases,
  type NobleCallOptions,
  type NobleMsm,
  type NobleMsmOptions,
  type NoblePoint,
  type NoblePointClass,
  nobleMsm,
} from './provers/noble.js';
