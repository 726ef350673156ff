import type { ProductVariant } from '../representation.js';
import { dot } from './dot.js';
import { float22 } from './float.js';
import { karatsuba } from './karatsuba.js';
import { lazy } from './plain.js';
import { unsigned14, unsigned15 } from './unsigned.js';

/** Products that the library does not use; docs/performance.md says why. */
export const productVariants: readonly ProductVariant[] = [lazy, karatsuba, unsigned14, unsigned15, dot, float22];
