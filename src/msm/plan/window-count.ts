/** T for windows of c bits: one bit more than a scalar has, because the top window must not lend. */
export const windowCount = (scalarBits: number, windowBits: number): number => Math.ceil((scalarBits + 1) / windowBits);
