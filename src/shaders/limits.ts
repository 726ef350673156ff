/** Workgroups in one dimension of a dispatch, as every device allows. */
export const MAX_GROUPS = 65535;

/** Splits a number of workgroups over two dimensions where one would be too many; the kernel computes its index from both. */
export const groupsFor = (items: number, perGroup: number): readonly [number, number] => {
  const groups = Math.max(1, Math.ceil(items / perGroup));
  const rows = Math.ceil(groups / MAX_GROUPS);
  return [Math.ceil(groups / rows), rows];
};

/** No buffer is made smaller: WebGPU binds whole words, and at least one element of what the shader declares. */
export const LEAST_BUFFER_BYTES = 16;

/** Uniform slices start at multiples of this (WebGPU's default minUniformBufferOffsetAlignment). */
export const UNIFORM_ALIGNMENT = 256;

/** What a storage binding's offset must be a multiple of (WebGPU's default minStorageBufferOffsetAlignment). */
export const STORAGE_ALIGNMENT = 256;

/**
 * Sizes of what a job needs besides its scratch: what it gives back, which begins with accounts and a stamp a dispatch, one in front and one behind that stays empty, and where
 * that can be mapped; a uniform a dispatch, two times a pass.
 *
 * @param others what is read back from other buffers
 */
export const jobBytes = (accounts: number, result: number, dispatches: number, timedPasses: number, others = 0) => {
  const chain = accounts + 4 * (dispatches + 2);
  const resultAt = Math.ceil(chain / STORAGE_ALIGNMENT) * STORAGE_ALIGNMENT;
  const returned = resultAt + result;
  const times = 16 * timedPasses;
  const uniforms = UNIFORM_ALIGNMENT * Math.max(1, dispatches);
  const staging = returned + others + times;
  return { chain, resultAt, returned, times, uniforms, staging, all: returned + staging + times + uniforms };
};

/** How many items of some size there are from one place where a storage binding may start to the next: 4 of 64 bytes, 8 of 96. */
export const itemsPerBindingStep = (bytes: number): number =>
  STORAGE_ALIGNMENT / Math.min(STORAGE_ALIGNMENT, bytes & -bytes);
