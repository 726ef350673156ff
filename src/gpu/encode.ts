/** Encoding of submissions into command buffers. */
import { MsmError } from '../errors.js';
import type { Dispatch, Slice } from '../shaders/commands.js';
import { CHAIN } from '../shaders/hash-chain.js';
import type { Kernel } from '../shaders/kernel.js';
import { UNIFORM_ALIGNMENT } from '../shaders/limits.js';
import { bindGroupFor } from './bind-groups.js';
import type { DispatchChain } from './dispatch-chain.js';
import type { Pass, Submission } from './submission.js';

/** Buffers and pipelines of a submission on the GPU. */
export interface Prepared {
  readonly submission: Submission;
  readonly pipelines: ReadonlyMap<Kernel, GPUComputePipeline>;
  resolve(slice: Slice): GPUBufferBinding;
  /** The dispatch chain of this submission and what it returns. */
  readonly returned: Required<Pick<GPUBufferBinding, 'buffer' | 'size'>>;
  readonly uniforms: GPUBuffer;
  readonly staging: GPUBuffer;
  readonly timing: { readonly querySet: GPUQuerySet; readonly resolved: GPUBuffer } | null;
}

/** Dispatches and passes of the segments before. */
export interface Position {
  readonly dispatch: number;
  readonly pass: number;
}

/** Returns the configs of all dispatches, each where a uniform may start. */
export const uniformContents = (configs: DispatchChain['configs']): Uint32Array<ArrayBuffer> => {
  const words = UNIFORM_ALIGNMENT / 4;
  const contents = new Uint32Array(words * Math.max(1, configs.length));
  configs.forEach((config, i) => {
    if (config !== undefined) contents.set(config, words * i);
  });
  return contents;
};

const isSlice = (groups: Dispatch['groups']): groups is Slice => 'buffer' in groups;

const encodeDispatch = (
  device: GPUDevice,
  compute: GPUComputePassEncoder,
  { pipelines, resolve, uniforms }: Prepared,
  { kernel, bindings, groups }: Dispatch,
  index: number,
): void => {
  const pipeline = pipelines.get(kernel) as GPUComputePipeline;
  const resources = kernel.bindings.map(({ name, access }) => {
    if (access === 'uniform') return { buffer: uniforms, offset: UNIFORM_ALIGNMENT * index, size: UNIFORM_ALIGNMENT };
    const slice = bindings[name] ?? (name === CHAIN ? { buffer: CHAIN } : undefined);
    if (slice === undefined) throw new MsmError('internal', `${kernel.name} lacks a buffer for '${name}'`);
    return resolve(slice);
  });
  compute.setPipeline(pipeline);
  compute.setBindGroup(0, bindGroupFor(device, kernel.name, pipeline, resources, uniforms, index));
  if (isSlice(groups)) {
    const { buffer, offset } = resolve(groups);
    compute.dispatchWorkgroupsIndirect(buffer, offset as number);
  } else {
    compute.dispatchWorkgroups(groups[0], groups[1]);
  }
};

/** Encodes the passes of one submit. */
export const encodeSegment = (
  device: GPUDevice,
  encoder: GPUCommandEncoder,
  prepared: Prepared,
  segment: readonly Pass[],
  first: Position,
): void => {
  const { resolve, timing } = prepared;
  let index = first.dispatch;
  segment.forEach((pass, i) => {
    for (const slice of pass.clears) {
      const { buffer, offset, size } = resolve(slice);
      encoder.clearBuffer(buffer, offset, size);
    }
    const query = 2 * (first.pass + i);
    const compute = encoder.beginComputePass({
      label: `webgpu-msm ${pass.phase}`,
      ...(timing && {
        timestampWrites: {
          querySet: timing.querySet,
          beginningOfPassWriteIndex: query,
          endOfPassWriteIndex: query + 1,
        },
      }),
    });
    for (const dispatch of pass.dispatches) encodeDispatch(device, compute, prepared, dispatch, index++);
    compute.end();
  });
};

/**
 * Encodes the copies to where the result can be mapped: the returned buffer, the slices of `read`,
 * and the times.
 */
export const encodeReadBack = (
  encoder: GPUCommandEncoder,
  { submission, resolve, returned, staging, timing }: Prepared,
  passes: number,
  timesAt: number,
): void => {
  encoder.copyBufferToBuffer(returned.buffer, 0, staging, 0, returned.size);
  let at = returned.size;
  for (const slice of submission.read ?? []) {
    const { buffer, offset = 0 } = resolve(slice);
    encoder.copyBufferToBuffer(buffer, offset, staging, at, slice.size);
    at += slice.size;
  }
  if (timing) {
    encoder.resolveQuerySet(timing.querySet, 0, 2 * passes, timing.resolved, 0);
    encoder.copyBufferToBuffer(timing.resolved, 0, staging, timesAt, 16 * passes);
  }
};
