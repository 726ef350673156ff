/** Opens the vectors of a proving key. */
import type { MsmEngine } from '../api/engine.js';
import type { FieldEngine } from '../api/fields.js';
// From the entry, so that the build leaves in fields.js what both share.
import { createFieldEngine } from '../fields.js';
import type { CircuitFacts } from './api.js';
import type { EngineOptions } from './engine-options.js';

/** Most bytes of vectors in WebAssembly's memory, whose addresses have 32 bits. */
const VECTOR_BYTES = 2 ** 32;

/** Creates an engine for vectors of a curve's scalars. @param isOnGpu on the GPU of `g1` */
export const openVectorsOf = (
  curve: CircuitFacts['curve'],
  g1: MsmEngine,
  { backend, verify }: EngineOptions,
  isOnGpu: boolean = backend === 'gpu',
): Promise<FieldEngine> =>
  createFieldEngine({
    ...{ field: `${curve}-fr`, memoryBudget: VECTOR_BYTES },
    ...(verify === undefined ? {} : { verify }),
    ...(isOnGpu ? { backend: 'gpu', deviceOf: g1 } : { backend: 'cpu' }),
  });
