import { renderShader } from './partials.js';
import type { Template, TemplateView } from './template.js';

/** One resource of a kernel. Its index in the list is its binding number in group 0. */
export interface Binding {
  readonly name: string;
  readonly access: 'read' | 'write' | 'uniform';
  /** WGSL type, such as `array<Entry>`. */
  readonly type: string;
}

/** Bindings, variables and partials that a kernel includes for a tool outside the library. */
export interface KernelPart {
  readonly bindings: readonly Binding[];
  readonly view: TemplateView;
  readonly partials: Readonly<Record<string, Template>>;
}

/**
 * A compute shader as data: its source and its bindings, from which the WGSL declarations and the
 * bind group layout are both made.
 */
export interface Kernel {
  /** Name of the kernel and of the shader's entry point. */
  readonly name: string;
  readonly source: string;
  readonly bindings: readonly Binding[];
}

/** The most storage buffers of a kernel (WebGPU's default maxStorageBuffersPerShaderStage). */
const MAX_STORAGE_BUFFERS = 8;

const declaration = ({ name, access, type }: Binding, index: number): string => {
  const space = access === 'uniform' ? 'uniform' : access === 'read' ? 'storage, read' : 'storage, read_write';
  return `@group(0) @binding(${index}) var<${space}> ${name}: ${type};`;
};

/**
 * Renders a kernel. The template has `{{bindings}}` where the declarations go.
 *
 * @param partials partials of the kernel, besides those that all shaders share
 */
export const kernel = (
  name: string,
  template: Template,
  bindings: readonly Binding[],
  view: TemplateView = {},
  partials?: Readonly<Record<string, Template>>,
): Kernel => {
  if (bindings.filter((b) => b.access !== 'uniform').length > MAX_STORAGE_BUFFERS) {
    throw new Error(`${name} binds more than ${MAX_STORAGE_BUFFERS} storage buffers`);
  }
  const source = renderShader(template, { ...view, bindings: bindings.map(declaration).join('\n') }, partials);
  if (!source.includes(`fn ${name}(`)) throw new Error(`the shader of ${name} has no entry point of that name`);
  return { name, source, bindings };
};
