/** Drivers that compile a kernel only when it is first dispatched (lavapipe does, for seconds) are made to do it ahead of time. */

import { addCompileTime } from '../gpu/pipelines.js';
import type { Runner } from '../gpu/runner.js';
import type { Submission } from '../gpu/submission.js';
import type { Slice } from '../shaders/commands.js';
import type { Kernel } from '../shaders/kernel.js';

/** At least one element of whatever a kernel declares. */
const TINY_BYTES = 256;

const NO_GROUPS = 'no groups';

/**
 * Dispatches a kernel with everything bound and no workgroup. The number is in a buffer: a driver that sees a 0 leaves the dispatch out,
 * and no invocation has to be trusted with empty buffers.
 */
const onNothing = (kernel: Kernel): Submission => {
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

/** Pipelines that were dispatched here. */
const dispatched = new WeakSet<GPUComputePipeline>();

/**
 * Compiles kernels, dispatches each on nothing if that was not done before, and counts what that takes as compiling.
 *
 * @param runner the one that is to have them
 * @param apart another on its device, for buffers that are not kept
 * @param goOn called after each step; what it throws ends this
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
    await apart.run(onNothing(kernel), {
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
