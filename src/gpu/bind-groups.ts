/** Bind groups that are made once and used by later submissions with the same pooled buffers. */

/** A bind group, its pipeline, and the resources of its bindings in their order. */
interface Made {
  readonly group: GPUBindGroup;
  readonly pipeline: GPUComputePipeline;
  readonly resources: readonly GPUBufferBinding[];
}

/**
 * Bind groups kept for each dispatch. A proof of PLONK has ten submissions, which share the buffer
 * with the configs, and the next proof repeats them.
 */
const KEPT = 16;

/**
 * Bind groups by the buffer with the configs and the index of the dispatch, the least recently used
 * first. They are dropped with that buffer, which is pooled scratch.
 */
const known = new WeakMap<GPUBuffer, Made[][]>();

const areSame = (some: readonly GPUBufferBinding[], others: readonly GPUBufferBinding[]): boolean =>
  some.every(({ buffer, offset, size }, i) => {
    const other = others[i] as GPUBufferBinding;
    return buffer === other.buffer && offset === other.offset && size === other.size;
  });

/**
 * Returns the bind group of a dispatch. Buffers may be destroyed and never come back, so the groups
 * that were used last are kept.
 *
 * @param name of the kernel
 * @param uniforms buffer with the configs of all dispatches
 * @param index of the dispatch in its submission
 */
export const bindGroupFor = (
  device: GPUDevice,
  name: string,
  pipeline: GPUComputePipeline,
  resources: readonly GPUBufferBinding[],
  uniforms: GPUBuffer,
  index: number,
): GPUBindGroup => {
  const byDispatch = known.get(uniforms) ?? [];
  known.set(uniforms, byDispatch);
  const kept = byDispatch[index] ?? [];
  byDispatch[index] = kept;
  const at = kept.findIndex((made) => made.pipeline === pipeline && areSame(made.resources, resources));
  if (at !== -1) {
    const [found] = kept.splice(at, 1) as [Made];
    kept.push(found);
    return found.group;
  }
  const entries = resources.map((resource, binding) => ({ binding, resource }));
  const layout = pipeline.getBindGroupLayout(0);
  const group = device.createBindGroup({ label: `webgpu-msm ${name}`, layout, entries });
  if (kept.length === KEPT) kept.shift();
  kept.push({ group, pipeline, resources });
  return group;
};
