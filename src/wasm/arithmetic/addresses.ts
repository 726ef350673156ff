/** Addresses as arguments of functions of the module. */
import type { Code, Local } from '../encoder/code.js';

/** A constant, a local, or a local plus a constant number of bytes. */
export type Address = number | Local | readonly [base: Local, offset: number];

/** Leaves an address on the stack. */
export const pushAddress = (code: Code, address: Address): void => {
  if (typeof address === 'number') code.i32(address);
  else if ('index' in address) code.get(address);
  else code.get(address[0]).i32(address[1]).do('i32.add');
};

/** Returns an address `bytes` further on. */
export const addressPlus = (address: Address, bytes: number): Address => {
  if (typeof address === 'number') return address + bytes;
  return 'index' in address ? [address, bytes] : [address[0], address[1] + bytes];
};

/** Calls a function with addresses. */
export const callWith = (code: Code, index: number, addresses: readonly Address[]): void => {
  for (const address of addresses) pushAddress(code, address);
  code.call(index);
};
