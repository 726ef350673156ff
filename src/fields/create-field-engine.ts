/** Creates engines for vectors of field elements. */
import type { FieldEngine } from '../api/fields.js';
import { badArgument, MsmError, show } from '../errors.js';
import { ownOptions } from '../own-options.js';
import { wasmArithmetics } from '../wasm/points/kernel.js';
import { Arena } from './cpu/arena.js';
import { openMemory } from './cpu/open-memory.js';
import { CpuFieldEngine } from './field-engine.js';
import { openField } from './program/open-field.js';
import type { FieldEngineOptions } from './program/options.js';

const DEFAULT_BUDGET = 2 ** 30;

/**
 * Creates an engine for vectors of a field's elements, on the CPU.
 *
 * @throws MsmError `bad-argument`; `unsupported-device` if the platform has no WebAssembly
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
  const { field = 'bn254-fr', arithmetic = 'auto', memoryBudget = DEFAULT_BUDGET } = ownOptions(options);
  if (typeof memoryBudget !== 'number' || !(memoryBudget > 0)) {
    throw badArgument(`memoryBudget must be a positive number of bytes, got ${show(memoryBudget)}`);
  }
  if (arithmetic !== 'auto' && !wasmArithmetics.includes(arithmetic)) {
    throw badArgument(`arithmetic must be 'auto' or one of ${wasmArithmetics.join(', ')}, got ${show(arithmetic)}`);
  }
  const own = await openField(field);
  const memory = await openMemory(own, arithmetic === 'auto' ? undefined : [arithmetic]);
  if (memory === null) {
    if (arithmetic !== 'auto') {
      throw badArgument(
        `arithmetic is '${arithmetic}', which this platform does not have for ${own.name}; leave it out`,
      );
    }
    throw new MsmError(
      'unsupported-device',
      "WebAssembly is missing or forbidden; a content security policy must have 'wasm-unsafe-eval'",
    );
  }
  return new CpuFieldEngine(own, new Arena(own, memory, memoryBudget));
};
