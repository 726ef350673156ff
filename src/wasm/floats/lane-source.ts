/** Where two elements, one for each lane, are in memory. */
import type { Address } from '../arithmetic/addresses.js';

/** Address of an element in each lane. */
export interface LaneAddresses {
  readonly kind: 'lanes';
  readonly lanes: readonly [Address, Address];
}

/** Address of two elements side by side: their limbs alternate. */
export interface WideAddress {
  readonly kind: 'wide';
  readonly at: Address;
}

export type LaneSource = LaneAddresses | WideAddress;

export const lanesAt = (first: Address, second: Address): LaneAddresses => ({
  kind: 'lanes',
  lanes: [first, second],
});

export const wideAt = (at: Address): WideAddress => ({ kind: 'wide', at });
