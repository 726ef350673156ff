/**
 * Makes drivers compile kernels ahead of time. Some drivers compile a kernel only at its first
 * dispatch, lavapipe for seconds.
 */

import { addCompileTime } from '../gpu/pipelines.js';
import type { Runner } from '../gpu/runner.js';
import type { Submission } from '../gpu/submission.js';
import type { Slice } from '../shaders/commands.js';
import type { Kernel } from '../shaders/kernel.js';

/** Size of every buffer, in bytes: at least one element of any binding. */
const TINY_BYTES = 256;

const NO_GROUPS = 'no groups';

/**
 * Returns a submission that dispatches a kernel with all bindings and no workgroup. The dispatch is
 * indirect, because a driver may skip a dispatch whose count it knows to be 0. Without workgroups
 * no invocation reads the empty buffers.
 */
const emptyDispatch = (kernel: Kernel): Submission => {
  const bindings: Record<string, Slice> = {};
  const scratch: Record<string, number> = { [NO_GROUPS]: TINY_BYTES };
  kernel.bindings.forEach(({ name }, i) => {
    bindings[name] = { buffer: `nothing ${i}` };
    scratch[`nothing ${i}`] = TINY_BYTES;
  });
  return {
    scratch,
    uploads: [{ to: { buffer: NO_GROUPS }, data: new Uint32Array(3) }],
    commands: [{ kind: 'dispatch', phase: 'first dispatch', kernel, bindings, groups: { buffer: NO_GROUPS } }],
    read: [{ buffer: NO_GROUPS, size: 4 }],
  };
};

/** Pipelines that were dispatched before. */
const dispatched = new WeakSet<GPUComputePipeline>();

/**
 * Compiles kernels and dispatches each without workgroups, once for each pipeline. The time of the
 * dispatch counts as compile time.
 *
 * @param runner runner that gets the pipelines
 * @param apart another runner on the same device, whose buffers are not pooled
 * @param checkpoint called after each step; throws to end the work
 */
export const compileAndDispatch = async (
  runner: Runner,
  apart: Runner,
  kernels: readonly Kernel[],
  checkpoint: () => void,
): Promise<void> => {
  for (const [kernel, pipeline] of await runner.compile(kernels)) {
    checkpoint();
    if (dispatched.has(pipeline)) continue;
    let [submitted, done] = [0, 0];
    await apart.run(emptyDispatch(kernel), {
      enter: (part) => {
        if (part === 'submitToResultMs') submitted = performance.now();
        else done = performance.now();
      },
    });
    dispatched.add(pipeline);
    addCompileTime(pipeline, done - submitted);
  }
  checkpoint();
};
