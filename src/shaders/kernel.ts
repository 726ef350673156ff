/** Shaders as data: a kernel with its bindings, its commands, and the structs that it shares with the host. */
import { renderShader, type Template, type TemplateView } from './template.js';

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

/**
 * Name of the buffer of a job's result; the runner makes a new one, with the dispatch chain, for
 * each job.
 */
export const RESULT = 'result';

/** Part of a named buffer, in bytes. Default: all of it. */
export interface Slice {
  readonly buffer: string;
  readonly offset?: number;
  readonly size?: number;
}

/** One dispatch of a kernel. */
export interface Dispatch {
  /** Stage to which the time of the dispatch counts. */
  readonly phase: string;
  readonly kernel: Kernel;
  /**
   * A slice for each binding of the kernel. The runner binds the uniform and the dispatch chain
   * itself; a dispatch that binds a chain of its own is not a link of the job's chain.
   */
  readonly bindings: Readonly<Record<string, Slice>>;
  /** Contents of the kernel's uniform. */
  readonly config?: Uint32Array;
  /** Number of workgroups, or the slice from which the GPU reads it. */
  readonly groups: readonly [number, number] | Slice;
}

export type Command =
  | ({ readonly kind: 'dispatch' } & Dispatch)
  | { readonly kind: 'clear'; readonly slice: Slice }
  /** Submits the commands before it; those after it wait until the GPU is done. */
  | { readonly kind: 'submit' };

/** Returns the kernels of commands, each once. */
export const kernelsOf = (commands: readonly Command[]): Kernel[] => [
  ...new Set(commands.flatMap((command) => (command.kind === 'dispatch' ? [command.kernel] : []))),
];

/**
 * A struct of u32 fields that host and shader share. The WGSL declaration and the packer come from
 * one description, so that they always agree.
 */
export interface Struct<Field extends string> {
  readonly name: string;
  readonly fields: readonly Field[];
  /** Description of each field. */
  readonly documented: Readonly<Record<Field, string>>;
  readonly byteLength: number;
  /** The WGSL declaration. */
  readonly wgsl: string;
  pack(values: Readonly<Record<Field, number>>): Uint32Array<ArrayBuffer>;
  unpack(words: Uint32Array, index: number): Record<Field, number>;
}

/** @param documented descriptions by field name, which become comments in WGSL */
export const struct = <Field extends string>(
  name: string,
  documented: Readonly<Record<Field, string>>,
): Struct<Field> => {
  const fields = Object.keys(documented) as Field[];
  const lines = fields.map((field) => `  ${field}: u32, // ${documented[field]}`);
  return {
    name,
    fields,
    documented,
    byteLength: fields.length * 4,
    wgsl: `struct ${name} {\n${lines.join('\n')}\n}\n`,
    pack: (values) => {
      const words = new Uint32Array(fields.length);
      fields.forEach((field, i) => {
        const value = values[field];
        if (!Number.isInteger(value) || value < 0 || value > 0xffffffff) {
          throw new RangeError(`${name}.${field} must be a u32, got ${value}`);
        }
        words[i] = value;
      });
      return words;
    },
    unpack: (words, index) =>
      Object.fromEntries(fields.map((field, i) => [field, words[index * fields.length + i] as number])) as Record<
        Field,
        number
      >,
  };
};

/** Memoises a function by its arguments. */
export const once = <Argument extends unknown[], Result>(make: (...argument: Argument) => Result) => {
  const made = new Map<string, Result>();
  return (...argument: Argument): Result => {
    const name = JSON.stringify(argument);
    const result = made.get(name) ?? make(...argument);
    made.set(name, result);
    return result;
  };
};
