/**
 * Bytes from which compilers leave a private array in memory. They hold smaller ones in registers
 * and select among them at every index: the array of a program on BN254 takes 243 registers of 255
 * on NVIDIA, and 71 with the array in memory. NVIDIA's threshold is between 1,088 and 1,600 bytes
 * and depends on the kernel.
 */
const LOCAL_BYTES = 1600;

/** Kernels with small private arrays that are indexed dynamically. */
export type KernelWithArray = 'program' | 'tables';

/**
 * Returns the length of a private array that is indexed dynamically.
 *
 * @param needed elements that are used
 * @param bytes size of an element
 * @param pads true on devices where a small array would take registers
 */
export const localLength = (needed: number, bytes: number, pads: boolean): number =>
  pads ? Math.max(needed, Math.ceil(LOCAL_BYTES / bytes)) : needed;
