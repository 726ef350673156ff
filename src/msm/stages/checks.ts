/** What the stages know of their checks, `webgpu-msm/checks`: kernels that are made of it here, where fields and templates are. */
import type { Binding, Kernel } from '../../shaders/kernel.js';
import type { Struct } from '../../shaders/struct.js';
import type { Template, TemplateView } from '../../shaders/template.js';

/** What is checked: a permutation, the stream of a walk, what it left, its sums. Before them comes the poison. */
export type CheckName = 'poison' | 'sorted' | 'stream' | 'partials' | 'sums';
export type CheckKernels = Readonly<Record<CheckName, Kernel>>;

/** A part of a kernel that somebody else has. */
export interface KernelPart {
  readonly bindings: readonly Binding[];
  readonly view: TemplateView;
  readonly partials: Readonly<Record<string, Template>>;
}

export interface CheckKernel extends KernelPart {
  readonly name: string;
  readonly template: Template;
  /** A kernel without is in no custody. */
  readonly config?: Pick<Struct<string>, 'name' | 'fields' | 'documented'>;
}

export interface KernelChecks {
  readonly kernels: Readonly<Record<CheckName, CheckKernel>>;
  /** What a walk has besides when it counts what it takes in and who writes. */
  readonly watch: KernelPart;
}
