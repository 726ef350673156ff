/** Recorded commands of a device, which faults drop, repeat, delay and replace. */
import { bufferUsage } from '../../src/gpu/device-memory.js';
import type { Random } from '../oracle/known-bases.js';

export interface Dispatch {
  readonly kind: 'dispatch';
  readonly label: string;
  /** Descriptor of the pass, the same object for all its dispatches. */
  readonly pass: GPUComputePassDescriptor;
  readonly pipeline: GPUComputePipeline;
  readonly group: GPUBindGroup;
  readonly entries: readonly GPUBindGroupEntry[];
  readonly groups: readonly [number, number, number] | { readonly buffer: GPUBuffer; readonly offset: number };
}

export interface Plain {
  readonly kind: 'clear' | 'copy' | 'resolve';
  /** Label of the buffer that is cleared or copied from. */
  readonly label: string;
  readonly buffers: readonly GPUBuffer[];
  encode(encoder: GPUCommandEncoder): void;
}

export type Step = Dispatch | Plain;

/** The commands of all command buffers of a submit, in order. */
export interface Submit {
  readonly kind: 'submit';
  readonly label: string;
  readonly steps: readonly Step[];
}

export interface Write {
  readonly kind: 'write';
  readonly label: string;
  readonly buffer: GPUBuffer;
  readonly offset: number;
  readonly data: Uint8Array<ArrayBuffer>;
}

/** Bytes that the host read. */
export interface Mapped {
  readonly kind: 'map';
  readonly label: string;
  readonly buffer: GPUBuffer;
  readonly data: Uint8Array<ArrayBuffer>;
}

export type Command = Submit | Write;

/**
 * Methods whose promises every call awaits. Those of compilers occur only in the first call of a
 * device (tests/resilience/failures-silent.test.ts).
 */
export const awaited = ['mapAsync', 'popErrorScope', 'onSubmittedWorkDone'] as const;
export type Awaited = (typeof awaited)[number];

/** All commands of a call of the engine, in order. */
export type Trace = readonly (Command | Mapped)[];

/** Removes the library's prefix. */
export const plainLabel = (label = ''): string => label.replace(/^webgpu-msm /, '');

/** Returns the buffer of a binding; the library binds nothing else. */
export const bound = ({ resource }: GPUBindGroupEntry): Required<GPUBufferBinding> => {
  const { buffer, offset = 0, size = buffer.size - offset } = resource as GPUBufferBinding;
  return { buffer, offset, size };
};

export const isStorage = ({ usage }: GPUBuffer): boolean => (usage & bufferUsage.storage) !== 0;
export const isUniform = ({ usage }: GPUBuffer): boolean => (usage & bufferUsage.uniform) !== 0;

/** Returns the buffers that must exist for a command to execute. */
export const buffersOf = (command: Command | Mapped | Step): readonly GPUBuffer[] => {
  switch (command.kind) {
    case 'submit':
      return command.steps.flatMap(buffersOf);
    case 'write':
      return [command.buffer];
    case 'map':
      return [];
    case 'dispatch':
      return [
        ...command.entries.map((entry) => bound(entry).buffer),
        ...('buffer' in command.groups ? [command.groups.buffer] : []),
      ];
    default:
      return command.buffers;
  }
};

/** Kinds of commands that a fault can strike. */
export type Target = 'submit' | 'pass' | 'dispatch' | 'copy' | 'clear' | 'write' | 'map';

/** A command of a call: its index in the trace, and its step in the submit if it is part of one. */
export interface Site {
  readonly at: number;
  readonly step: number | null;
  readonly label: string;
}

export const isFirstOfPass = (steps: readonly Step[], i: number): boolean => {
  const [step, last] = [steps[i], steps[i - 1]];
  return step?.kind === 'dispatch' && !(last?.kind === 'dispatch' && last.pass === step.pass);
};

export const sitesOf = (trace: Trace, target: Target): Site[] =>
  trace.flatMap((command, at): Site[] => {
    if (command.kind === target) return [{ at, step: null, label: command.label }];
    if (command.kind !== 'submit') return [];
    return command.steps.flatMap((step, i) =>
      (target === 'pass' ? isFirstOfPass(command.steps, i) : step.kind === target)
        ? [{ at, step: i, label: step.label }]
        : [],
    );
  });

export const pick = <Item>(random: Random, items: readonly Item[]): Item | undefined =>
  items.length === 0 ? undefined : items[random.below(items.length)];

/** @param label of the command to strike; any command if absent */
export const drawSite = (
  { random, before, label }: { readonly random: Random; readonly before: Trace; readonly label?: string | undefined },
  target: Target,
): Site | undefined =>
  pick(
    random,
    sitesOf(before, target).filter((site) => label === undefined || site.label === label),
  );

export const stepAt = (trace: Trace, { at, step }: Site): Step | undefined => {
  const command = trace[at];
  return command?.kind === 'submit' && step !== null ? command.steps[step] : undefined;
};

export const nameOf = ({ at, step, label }: Site): string =>
  `${label} (command ${at}${step === null ? '' : `, step ${step}`})`;
