/**
 * Memories of instances. A platform limits how many there are at a time (Chromium: 125 a renderer,
 * those of workers included), and their size.
 */
import { NoWasmMemory } from '../../errors.js';
import { PAGE_BYTES } from './module.js';

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
