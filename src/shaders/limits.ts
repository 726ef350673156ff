/** Limits of WebGPU and of compilers, and the sizes that follow from them. */

/**
 * The most workgroups in one dimension of a dispatch (WebGPU's default
 * maxComputeWorkgroupsPerDimension).
 */
export const MAX_GROUPS = 65535;

/**
 * Distributes workgroups over two dimensions if one has no room for them; kernels compute their
 * index from both.
 */
export const groupsFor = (items: number, perGroup: number): readonly [number, number] => {
  const groups = Math.max(1, Math.ceil(items / perGroup));
  const rows = Math.ceil(groups / MAX_GROUPS);
  return [Math.ceil(groups / rows), rows];
};

/**
 * Least size of a buffer: WebGPU binds whole words, and at least one element of the declared type.
 */
export const LEAST_BUFFER_BYTES = 16;

/** Alignment of uniform slices (WebGPU's default minUniformBufferOffsetAlignment). */
export const UNIFORM_ALIGNMENT = 256;

/** Alignment of storage bindings (WebGPU's default minStorageBufferOffsetAlignment). */
export const STORAGE_ALIGNMENT = 256;

/** Returns the first offset from `bytes` on at which a storage binding may start. */
export const aligned = (bytes: number): number => Math.ceil(bytes / STORAGE_ALIGNMENT) * STORAGE_ALIGNMENT;

/**
 * Returns the sizes of the buffers that a job needs besides its scratch: the buffer that it
 * returns, with the accounts, the links of the chain (one per dispatch, the first link, and one
 * that stays empty) and the result; a mappable copy of it; a uniform slice per dispatch; and two
 * timestamps per timed pass.
 *
 * @param others bytes that are read back from other buffers
 */
export const jobBytes = (accounts: number, result: number, dispatches: number, timedPasses: number, others = 0) => {
  const chain = accounts + 4 * (dispatches + 2);
  const resultAt = aligned(chain);
  const returned = resultAt + result;
  const times = 16 * timedPasses;
  const uniforms = UNIFORM_ALIGNMENT * Math.max(1, dispatches);
  const staging = returned + others + times;
  return { chain, resultAt, returned, times, uniforms, staging, all: returned + staging + times + uniforms };
};

/**
 * Returns the number of items between two offsets at which a storage binding may start: 4 of 64
 * bytes, 8 of 96 bytes.
 */
export const itemsPerBindingStep = (bytes: number): number =>
  STORAGE_ALIGNMENT / Math.min(STORAGE_ALIGNMENT, bytes & -bytes);

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
