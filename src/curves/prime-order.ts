import { isPrime } from '../field/prime.js';
import type { CurveContext } from './curve.js';

/**
 * Returns whether the order of the group is prime, so that r·P = 0 says that P is in the group. The
 * orders of named curves are known to be.
 */
export const hasPrimeOrder = ({ membership, order }: Pick<CurveContext, 'membership' | 'order'>): boolean =>
  membership !== undefined || isPrime(order);
