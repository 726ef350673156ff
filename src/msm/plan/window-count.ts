/**
 * Returns T, the windows of c bits of a scalar. They cover one bit more than the scalar has,
 * because the top window must not lend.
 */
export const windowCount = (scalarBits: number, windowBits: number): number => Math.ceil((scalarBits + 1) / windowBits);
