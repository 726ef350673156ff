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

/** Sizes of what a submit needs besides its scratch, made anew for each one: the result, a uniform a dispatch, two times a pass. */
export const submitBytes = (readBytes: number, dispatches: number, timedPasses: number) => {
  const result = Math.max(LEAST_BUFFER_BYTES, readBytes);
  const times = 16 * timedPasses;
  const uniforms = UNIFORM_ALIGNMENT * Math.max(1, dispatches);
  return { result, times, uniforms, staging: result + times, all: result + 2 * times + uniforms };
};

/** What a storage binding's offset must be a multiple of (WebGPU's default minStorageBufferOffsetAlignment). */
export const STORAGE_ALIGNMENT = 256;

/** How many items of some size there are from one place where a storage binding may start to the next: 4 of 64 bytes, 8 of 96. */
export const itemsPerBindingStep = (bytes: number): number =>
  STORAGE_ALIGNMENT / Math.min(STORAGE_ALIGNMENT, bytes & -bytes);
