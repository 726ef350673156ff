import type { MsmEngine } from '../../src/api/engine.js';
import type { Coordinate, Fp2 } from '../../src/api/values.js';
import { composeEngine } from '../../src/engine/create-engine.js';
import type { MsmEngineOptions } from '../../src/engine/options.js';
import { stageChecks } from './instrument.js';

/** `checks: false` makes the engine of `createMsmEngine`. Default true. */
interface Checked {
  readonly checks?: boolean;
}

/**
 * Makes an engine that checks its stages on the GPU while they compute, for authors of kernels.
 * Where a stage is broken, calls reject with `internal`, and the message names the stage, the
 * bucket and the task. Checks are slower and take more scratch.
 */
export function createCheckedEngine(options: MsmEngineOptions & Checked): Promise<MsmEngine>;
export function createCheckedEngine(options: MsmEngineOptions<Fp2> & Checked): Promise<MsmEngine<Fp2>>;
export async function createCheckedEngine({
  checks = true,
  ...options
}: (MsmEngineOptions | MsmEngineOptions<Fp2>) & Checked): Promise<MsmEngine<Coordinate>> {
  return composeEngine(options, checks ? stageChecks : undefined);
}
