import type { FieldOperation } from '../operation.js';
import { float22 } from './float.js';
import { lazy, unsigned14, unsigned15 } from './unsigned.js';

/** Products that the library does not use; docs/reference/performance.md gives the reasons. */
export const productVariants: readonly FieldOperation[] = [lazy, unsigned14, unsigned15, float22];
