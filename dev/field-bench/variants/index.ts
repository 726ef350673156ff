import type { ProductVariant } from '../representation.js';
import { lazy } from './plain.js';

/** Products that the library does not use; docs/performance.md says why. */
export const productVariants: readonly ProductVariant[] = [lazy];
