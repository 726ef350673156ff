/** Creates engines for vectors of field elements. */
import type { FieldEngine } from '../api/fields.js';
import { badArgument, MsmError, notLoaded } from '../errors.js';
import { bare, type OptionTable, readOptions } from '../option-table.js';
import { wasmArithmetics } from '../wasm/points/kernel.js';
import { Arena } from './cpu/arena.js';
import { CpuVectors } from './cpu/cpu-vectors.js';
import { openMemory } from './cpu/open-memory.js';
import { type OpenField, openField } from './program/open-field.js';
import type { FieldEngineOptions } from './program/options.js';
import type { VectorBackend } from './program/vector-backend.js';
import { VectorEngine } from './vector-engine.js';

/** `createFieldEngine`. */
export const fieldEngineOptions = {
  of: 'createFieldEngine',
  rows: {
    field: { kind: 'any', default: 'bn254-fr' },
    backend: { kind: 'choice', range: ['cpu', 'gpu'] },
    deviceOf: { kind: 'any' },
    device: { kind: 'any' },
    gpu: { kind: 'any' },
    arithmetic: { kind: 'choice', range: ['auto', ...wasmArithmetics], default: 'auto' },
    verify: { kind: 'share', default: false },
    retainVectors: { kind: 'flag', default: true },
    memoryBudget: {
      kind: 'number',
      range: [Number.MIN_VALUE, Number.POSITIVE_INFINITY],
      default: 2 ** 30,
      says: 'a positive number of bytes',
    },
  },
} as const satisfies OptionTable<FieldEngineOptions>;

/** Opens vectors on the CPU. @throws MsmError `bad-argument`, `unsupported-device` */
const openCpu = async (
  own: OpenField,
  arithmetic: NonNullable<FieldEngineOptions['arithmetic']>,
  memoryBudget: number,
): Promise<VectorBackend> => {
  const memory = await openMemory(own, arithmetic === 'auto' ? undefined : [arithmetic]);
  if (memory !== null) return new CpuVectors(new Arena(own, memory, memoryBudget));
  if (arithmetic !== 'auto') {
    throw badArgument(`arithmetic is '${arithmetic}', which this platform does not have for ${own.name}; leave it out`);
  }
  throw new MsmError(
    'unsupported-device',
    "WebAssembly is missing or forbidden; a content security policy must have 'wasm-unsafe-eval'",
  );
};

/**
 * Opens vectors on the GPU that the options name.
 *
 * @returns null if the CPU computes
 * @throws MsmError of `openVectors`; `bad-argument` if a GPU is wanted and the other engine has
 *   none
 */
const openGpu = async (
  own: OpenField,
  options: Omit<FieldEngineOptions, 'verify'>,
  memory: { readonly memoryBudget: number; readonly retainVectors: boolean },
): Promise<VectorBackend | null> => {
  const { backend, deviceOf, device, gpu } = options;
  const isMeant = deviceOf !== undefined || device !== undefined || gpu !== undefined;
  if (backend === 'cpu' || (backend === undefined && !isMeant)) return null;
  const { openVectors } = await import('./gpu/open-vectors.js').catch(notLoaded('open-vectors'));
  const opened = await openVectors(own, { deviceOf, device, gpu }, memory);
  if (opened === null && backend === 'gpu') {
    throw badArgument("deviceOf is an engine without a GPU, and backend is 'gpu'; leave one of them out");
  }
  return opened;
};

/**
 * Creates an engine for vectors of a field's elements, on the CPU or on a GPU.
 *
 * @throws MsmError `bad-argument`; `unsupported-device` if the platform has no WebAssembly or the
 *   GPU makes no device; `no-webgpu` if a GPU is wanted and there is none
 * @example
 * ```ts
 * import { createFieldEngine } from 'webgpu-msm/fields';
 *
 * const fr = await createFieldEngine({ field: 'bls12-381-fr' });
 * const values = await fr.load([1n, 1n, 1n, 1n]);
 * const coefficients = await fr.run((ops) => ops.keep(ops.intt(values)));
 * console.log((await fr.read(coefficients))[0]); // 1
 * fr.destroy();
 * ```
 */
export const createFieldEngine = async (options: FieldEngineOptions = {}): Promise<FieldEngine> => {
  const settings = readOptions(fieldEngineOptions, options, bare);
  const { field, arithmetic, memoryBudget, retainVectors, verify } = settings;
  const own = await openField(field);
  const onGpu = await openGpu(own, settings, { memoryBudget, retainVectors });
  const vectors = onGpu ?? (await openCpu(own, arithmetic, memoryBudget));
  return new VectorEngine(own, vectors, verify);
};
