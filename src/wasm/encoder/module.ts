/**
 * Writes WebAssembly modules, in the binary format of the core specification, and instantiates them
 * with a memory.
 */

import { NoWasmMemory } from '../../errors.js';
import { Bytes, Code, type ValueType, valueTypes } from './code.js';

/* Writes WebAssembly modules, in the binary format of the core specification. */

/** Type of a function with at most one result. */
interface Signature {
  readonly parameters: readonly ValueType[];
  readonly result: ValueType | null;
}

/** Bytes of a page of WebAssembly memory. */
export const PAGE_BYTES = 65_536;

const text = (bytes: Bytes, value: string): Bytes =>
  bytes.unsigned(value.length).append([...value].map((character) => character.charCodeAt(0)));

/** Result of writing a module, a function in a step. */
export type Written<Result> = Generator<void, Result, void>;

interface ModuleFunction {
  readonly signature: Signature;
  readonly code: Code;
  readonly name: string | null;
  /** Writes the function; null once that is done. */
  write: ((code: Code) => void) | null;
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
   * @returns its index, for `Code.call`
   */
  add(
    name: string | null,
    signature: Partial<Signature> & Pick<Signature, 'parameters'>,
    write: (code: Code) => void,
  ): number {
    const code = new Code(signature.parameters.length);
    if (!this.#isDeferred) write(code);
    const all = { result: null, ...signature };
    this.#functions.push({ name, signature: all, code, write: this.#isDeferred ? write : null });
    return this.#functions.length - 1;
  }

  /** Writes the functions that are left, a step for each. */
  *write(): Written<void> {
    for (const added of this.#functions) {
      const { write } = added;
      if (write === null) continue;
      added.write = null;
      write(added.code);
      yield;
    }
  }

  /** Returns the binary module. It imports its memory as `memory` of the module `host`. */
  bytes(): Uint8Array<ArrayBuffer> {
    const module = new Bytes().append([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
    const section = (id: number, count: number, write: (bytes: Bytes) => void): void => {
      const content = new Bytes().unsigned(count);
      write(content);
      module.byte(id).sized(content);
    };
    const functions = this.#functions;
    if (functions.some(({ write }) => write !== null)) throw new Error('some functions of the module are not written');
    section(1, functions.length, (bytes) => {
      for (const { signature } of functions) {
        const results = signature.result === null ? [] : [signature.result];
        bytes.byte(0x60);
        for (const types of [signature.parameters, results]) {
          bytes.unsigned(types.length).append(types.map((type) => valueTypes[type]));
        }
      }
    });
    // a memory of at least one page
    section(2, 1, (bytes) => text(text(bytes, 'host'), 'memory').append([2, 0, 1]));
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
