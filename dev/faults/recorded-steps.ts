/** Records the commands of an encoder as steps, and encodes steps on a real device. */
import { type Dispatch, plainLabel, type Step } from './commands.js';

/** Entries of bind groups. */
export type BindingsOf = Pick<WeakMap<GPUBindGroup, readonly GPUBindGroupEntry[]>, 'get'>;

export interface RecordedCommandBuffer {
  readonly steps: readonly Step[];
}

type CopyArguments = [GPUBuffer, number, GPUBuffer, number, number];

const encodeDispatch = (pass: GPUComputePassEncoder, { pipeline, group, groups }: Dispatch): void => {
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, group);
  if ('buffer' in groups) pass.dispatchWorkgroupsIndirect(groups.buffer, groups.offset);
  else pass.dispatchWorkgroups(...groups);
};

/** Encodes recorded steps on a real device. */
export function encodeSteps(device: GPUDevice, steps: readonly Step[]): GPUCommandBuffer {
  const encoder = device.createCommandEncoder({ label: 'webgpu-msm' });
  let open: { readonly of: GPUComputePassDescriptor; readonly pass: GPUComputePassEncoder } | null = null;
  for (const step of steps) {
    if (open !== null && (step.kind !== 'dispatch' || step.pass !== open.of)) {
      open.pass.end();
      open = null;
    }
    if (step.kind !== 'dispatch') step.encode(encoder);
    else {
      open ??= { of: step.pass, pass: encoder.beginComputePass(step.pass) };
      encodeDispatch(open.pass, step);
    }
  }
  open?.pass.end();
  return encoder.finish();
}

/** Returns an encoder that records its commands as steps. */
export function recordingEncoder(groups: BindingsOf): GPUCommandEncoder {
  const steps: Step[] = [];
  const encoder: Partial<GPUCommandEncoder> = {
    beginComputePass: (pass = {}) => recordingPass(steps, pass, groups),
    clearBuffer: (buffer: GPUBuffer, ...range: [number?, number?]) => {
      const encode = (to: GPUCommandEncoder): void => to.clearBuffer(buffer, ...range);
      steps.push({ kind: 'clear', label: plainLabel(buffer.label), buffers: [buffer], encode });
    },
    copyBufferToBuffer: (...args: unknown[]) => {
      const [from, , to] = args as [GPUBuffer, number, GPUBuffer];
      const encode = (on: GPUCommandEncoder): void => on.copyBufferToBuffer(...(args as CopyArguments));
      steps.push({ kind: 'copy', label: plainLabel(from.label), buffers: [from, to], encode });
    },
    resolveQuerySet: (...args) => {
      const encode = (to: GPUCommandEncoder): void => to.resolveQuerySet(...args);
      steps.push({ kind: 'resolve', label: 'timestamps', buffers: [args[3]], encode });
    },
    finish: () => ({ steps }) as unknown as GPUCommandBuffer,
  };
  return encoder as GPUCommandEncoder;
}

function recordingPass(steps: Step[], pass: GPUComputePassDescriptor, bindings: BindingsOf): GPUComputePassEncoder {
  let pipeline: GPUComputePipeline;
  let group: GPUBindGroup;
  const dispatch = (groups: Dispatch['groups']): void => {
    const [label, entries] = [plainLabel(pipeline.label), bindings.get(group) ?? []];
    steps.push({ kind: 'dispatch', label, pass, pipeline, group, entries, groups });
  };
  const encoder = {
    setPipeline: (set: GPUComputePipeline) => {
      pipeline = set;
    },
    setBindGroup: (_: number, set: GPUBindGroup) => {
      group = set;
    },
    dispatchWorkgroups: (x: number, y = 1, z = 1) => dispatch([x, y, z]),
    dispatchWorkgroupsIndirect: (buffer: GPUBuffer, offset: number) => dispatch({ buffer, offset }),
    end: () => undefined,
  };
  return encoder as unknown as GPUComputePassEncoder;
}
