/** Memory of circom's witness programs, which are modules of WebAssembly. */

/** Id of the section of imports; before it are the types, 1, and custom sections, 0. */
const IMPORTS = 2;

/** Bytes of the letters and the version with which a module begins. */
const HEADER_BYTES = 8;

/**
 * Returns a module without the sections behind its imports: it compiles at once, however large the
 * program is.
 */
const importsOf = (program: Uint8Array): Uint8Array<ArrayBuffer> => {
  let end = HEADER_BYTES;
  while ((program[end] ?? IMPORTS + 1) <= IMPORTS) {
    // LEB128, WebAssembly Core Specification, section 5.2.2
    let [at, bytes, factor] = [end + 1, 0, 1];
    for (; ; factor *= 128) {
      const byte = program[at++] ?? 0;
      bytes += (byte & 127) * factor;
      if (byte < 128) break;
    }
    end = at + bytes;
  }
  return program.slice(0, end);
};

/**
 * Returns whether a program brings its memory along. Programs of circom 1 import it; rejects for
 * what is no module.
 */
export const hasItsMemory = async (program: Uint8Array): Promise<boolean> => {
  const imports = WebAssembly.Module.imports(await WebAssembly.compile(importsOf(program)));
  return imports.every(({ kind }) => kind !== 'memory');
};
