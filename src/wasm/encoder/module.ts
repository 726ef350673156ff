/**
 * Writes WebAssembly modules, in the binary format of the core specification, and instantiates them
 * with a memory.
 */

import { NoWasmMemory } from '../../errors.js';
import { Bytes, Code, type Local, type ValueType, valueTypes } from './code.js';

/** Bytes of a page of WebAssembly memory. */
export const PAGE_BYTES = 65_536;

/** Pages that 32 bits can address. */
const MOST_PAGES = 65_536;

const text = (bytes: Bytes, value: string): Bytes =>
  bytes.unsigned(value.length).append([...value].map((character) => character.charCodeAt(0)));

/** Result of writing a module, a function in a step. */
export type Written<Result> = Generator<void, Result, void>;

interface ModuleFunction {
  readonly name: string | null;
  readonly parameters: readonly ValueType[];
  readonly result: ValueType | null;
  readonly code: Code;
  /** Writes the function; null once that is done. */
  write: (() => void) | null;
}

export class WasmModule {
  readonly #functions: ModuleFunction[] = [];
  readonly #isDeferred: boolean;

  /** @param deferred whether `write` writes the functions, which takes long; else `add` does */
  constructor({ deferred = false } = {}) {
    this.#isDeferred = deferred;
  }

  /**
   * Adds a function.
   *
   * @param name exported name; null if it is not exported
   * @param body writes the function, and takes its parameters as locals
   * @returns its index, for `Code.call`
   */
  add<const Types extends readonly ValueType[]>(
    name: string | null,
    { parameters, result = null }: { readonly parameters: Types; readonly result?: ValueType | null },
    body: (code: Code, ...parameters: { readonly [K in keyof Types]: Local }) => void,
  ): number {
    const code = new Code(parameters.length);
    const locals = parameters.map((_, i) => code.parameter(i)) as { readonly [K in keyof Types]: Local };
    const write = (): void => body(code, ...locals);
    // a body may add functions of its own, which then precede this one
    if (!this.#isDeferred) write();
    this.#functions.push({ name, parameters, result, code, write: this.#isDeferred ? write : null });
    return this.#functions.length - 1;
  }

  /** Writes the functions that are left, a step for each. */
  *write(): Written<void> {
    for (const added of this.#functions) {
      const { write } = added;
      if (write === null) continue;
      added.write = null;
      write();
      yield;
    }
  }

  /**
   * Returns the binary module. It imports its memory as `memory` of the module `host`.
   *
   * @param isShared whether the memory is one that threads share
   */
  bytes(isShared = false): Uint8Array<ArrayBuffer> {
    const module = new Bytes().append([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
    const section = (id: number, count: number, write: (bytes: Bytes) => void): void => {
      const content = new Bytes().unsigned(count);
      write(content);
      module.byte(id).sized(content);
    };
    const functions = this.#functions;
    if (functions.some(({ write }) => write !== null)) throw new Error('some functions of the module are not written');
    section(1, functions.length, (bytes) => {
      for (const { parameters, result } of functions) {
        const results = result === null ? [] : [result];
        bytes.byte(0x60);
        for (const types of [parameters, results]) {
          bytes.unsigned(types.length).append(types.map((type) => valueTypes[type]));
        }
      }
    });
    // a memory of at least one page; one that is shared names its most pages as well
    section(2, 1, (bytes) => {
      text(text(bytes, 'host'), 'memory').append(isShared ? [2, 3, 1] : [2, 0, 1]);
      if (isShared) bytes.unsigned(MOST_PAGES);
    });
    section(3, functions.length, (bytes) => {
      for (const i of functions.keys()) bytes.unsigned(i);
    });
    const exported = [...functions.entries()].filter(([, { name }]) => name !== null);
    section(7, exported.length, (bytes) => {
      for (const [i, { name }] of exported)
        text(bytes, name as string)
          .byte(0)
          .unsigned(i);
    });
    section(10, functions.length, (bytes) => {
      for (const { code } of functions) {
        const body = new Bytes().unsigned(code.locals.length);
        for (const type of code.locals) body.append([1, valueTypes[type]]);
        bytes.sized(body.append(code.bytes.written).byte(0x0b));
      }
    });
    return module.written.slice();
  }
}

/*
 * Memories of instances. A platform limits how many there are at a time (Chromium: 125 a renderer,
 * those of workers included), and their size.
 */

/** Returns the error for what the platform threw. */
const asNoMemory = (error: unknown, bytes: number): unknown =>
  error instanceof RangeError ? new NoWasmMemory(bytes, error) : error;

/** Creates a memory of at least some bytes. @throws NoWasmMemory */
export const createMemory = (bytes: number): WebAssembly.Memory => {
  try {
    return new WebAssembly.Memory({ initial: Math.ceil(bytes / PAGE_BYTES) });
  } catch (error) {
    throw asNoMemory(error, bytes);
  }
};

/** Least maximum that a shared memory is tried with, in bytes. */
const LEAST_MAXIMUM = 2 ** 28;

/**
 * Creates a memory that threads can share; null where the platform has none. A shared memory names
 * its most bytes, for which some platforms reserve addresses: less is tried where they refuse.
 */
export const createSharedMemory = (bytes: number, mostBytes: number): WebAssembly.Memory | null => {
  const initial = Math.ceil(bytes / PAGE_BYTES);
  for (let most = mostBytes; most >= Math.max(bytes, LEAST_MAXIMUM); most /= 2) {
    const maximum = Math.min(MOST_PAGES, Math.ceil(most / PAGE_BYTES));
    try {
      return new WebAssembly.Memory({ initial, maximum, shared: true });
    } catch {
      // there is no address space for so much
    }
  }
  return null;
};

/** Adds at least some bytes to a memory. @throws NoWasmMemory */
export const growMemory = (memory: WebAssembly.Memory, bytes: number): void => {
  try {
    memory.grow(Math.ceil(bytes / PAGE_BYTES));
  } catch (error) {
    throw asNoMemory(error, memory.buffer.byteLength + bytes);
  }
};

/**
 * Instantiates code with a memory of its own, of at least some bytes.
 *
 * @throws NoWasmMemory; Error where there is no WebAssembly, or a content security policy forbids it
 */
export const instantiate = async (
  code: WebAssembly.Module | Uint8Array<ArrayBuffer>,
  bytes: number,
): Promise<{ readonly memory: WebAssembly.Memory; readonly instance: WebAssembly.Instance }> => {
  const memory = createMemory(bytes);
  const imports = { host: { memory } };
  try {
    if (!(code instanceof Uint8Array)) return { memory, instance: await WebAssembly.instantiate(code, imports) };
    return { memory, instance: (await WebAssembly.instantiate(code, imports)).instance };
  } catch (error) {
    throw asNoMemory(error, bytes);
  }
};
