/** Writes WebAssembly modules, in the binary format of the core specification. */
import { Bytes } from './bytes.js';
import { Code, type ValueType, valueTypes } from './code.js';

/** Type of a function with at most one result. */
interface Signature {
  readonly parameters: readonly ValueType[];
  readonly result: ValueType | null;
}

/** Bytes of a page of WebAssembly memory. */
export const PAGE_BYTES = 65_536;

const text = (bytes: Bytes, value: string): Bytes =>
  bytes.unsigned(value.length).push(...[...value].map((character) => character.charCodeAt(0)));

export class WasmModule {
  readonly #functions: { readonly signature: Signature; readonly code: Code; readonly name: string | null }[] = [];

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
    write(code);
    this.#functions.push({ name, signature: { result: null, ...signature }, code });
    return this.#functions.length - 1;
  }

  /** Returns the binary module. It imports its memory as `memory` of the module `host`. */
  bytes(): Uint8Array<ArrayBuffer> {
    const module = new Bytes().push(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);
    const section = (id: number, count: number, write: (bytes: Bytes) => void): void => {
      const content = new Bytes().unsigned(count);
      write(content);
      module.push(id).sized(content);
    };
    const functions = this.#functions;
    section(1, functions.length, (bytes) => {
      for (const { signature } of functions) {
        const results = signature.result === null ? [] : [signature.result];
        bytes.push(0x60);
        for (const types of [signature.parameters, results]) {
          bytes.unsigned(types.length).push(...types.map((type) => valueTypes[type]));
        }
      }
    });
    // a memory of at least one page
    section(2, 1, (bytes) => text(text(bytes, 'host'), 'memory').push(2, 0, 1));
    section(3, functions.length, (bytes) => {
      for (const i of functions.keys()) bytes.unsigned(i);
    });
    const exported = [...functions.entries()].filter(([, { name }]) => name !== null);
    section(7, exported.length, (bytes) => {
      for (const [i, { name }] of exported)
        text(bytes, name as string)
          .push(0)
          .unsigned(i);
    });
    section(10, functions.length, (bytes) => {
      for (const { code } of functions) {
        const body = new Bytes().unsigned(code.locals.length);
        for (const type of code.locals) body.push(1, valueTypes[type]);
        bytes.sized(body.append(code.bytes.written).push(0x0b));
      }
    });
    return module.written.slice();
  }
}
