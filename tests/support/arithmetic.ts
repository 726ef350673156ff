/** Expected `arithmetic` of a record. */
import { expect } from 'vitest';

/** Any form of WebAssembly: the platform's fastest. */
export const inWasm = expect.stringMatching(/^wasm(-fma|-wide|-simd)?$/);
