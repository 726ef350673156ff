/** `accelerate`: has snarkjs compute its MSMs with this library. */
import { badArgument } from '../errors.js';
import type { Groth16Zkey, PlonkZkey } from '../formats/zkey.js';
import { type AccelerateOptions, readAccelerateOptions } from './accelerate-options.js';
import { type AccelerateStats, noCounts } from './accelerate-stats.js';
import { Accelerator } from './accelerator.js';
import { curvesOf, groupClassOf, isReplaced, replaceMultiExp, type Snarkjs } from './ffjavascript.js';

/**
 * Undoes the acceleration: restores the methods of snarkjs and frees what was loaded. Calling it
 * twice is harmless.
 */
export type Restore = () => void;

/** The accelerator at work, if any. A second one would replace the methods of the first. */
let current: Accelerator | null = null;

/** The accelerator at work, or else the last one. */
let last: Accelerator | null = null;

/** The function `accelerate`, with its counts and `prepare`. */
export interface Accelerate {
  /**
   * Has snarkjs compute its MSMs with this library: `multiExpAffine`, and `multiExpAffineChunked`
   * where snarkjs has it, in G1 and G2 of bn128 and bls12381, on curves that snarkjs has made and
   * on those that it makes later. Curves without threads are included with `singleThread` alone.
   * Proofs stay the same.
   *
   * If this library cannot compute an MSM, snarkjs computes it, and you get one warning. An engine
   * that failed to open is not opened again before the next `accelerate`. Points and scalars are
   * compared or copied before the call of an MSM returns, except points that are read in chunks; if
   * snarkjs computes the MSM after all, it reads the points later.
   *
   * @param snarkjs the module, as imported
   * @returns a function that undoes the acceleration
   * @throws MsmError `bad-argument` if the argument is not snarkjs, an option is invalid, or
   * snarkjs is accelerated already, also by another copy of this library
   */
  (snarkjs: Snarkjs, options?: AccelerateOptions): Promise<Restore>;
  /** Counts since `accelerate` was last called. */
  readonly stats: AccelerateStats;
  /**
   * Loads the points of a key in the background and compiles, so that the first proof finds both
   * done: `accelerate.prepare(await openZkey(file))`, with `openZkey` of `webgpu-msm/formats`. You
   * need not await it: failures of this library are reported by the one warning. It resolves early
   * once the acceleration is undone.
   *
   * @throws MsmError `bad-argument` if `accelerate` is not at work or `zkey` is no key; and errors
   * of reading the file
   * @example
   * ```ts
   * import { openAsBlob } from 'node:fs';
   * import * as snarkjs from 'snarkjs';
   * import { openZkey } from 'webgpu-msm/formats';
   * import { accelerate } from 'webgpu-msm/snarkjs';
   *
   * const restore = await accelerate(snarkjs);
   * await accelerate.prepare(await openZkey(await openAsBlob('circuit.zkey')));
   * console.log(accelerate.stats.loads > 0); // true
   * restore();
   * ```
   */
  prepare(zkey: Groth16Zkey | PlonkZkey): Promise<void>;
}

const begin = async (snarkjs: Snarkjs, options: AccelerateOptions = {}): Promise<Restore> => {
  const curves = curvesOf(snarkjs);
  const read = await readAccelerateOptions(options);
  const own = new Accelerator(read);
  const type = read.singleThread ? await groupClassOf(curves) : null;
  // two accelerators would restore each other's methods
  if (isReplaced())
    throw badArgument('snarkjs is accelerated already, maybe by another copy of this library; restore it first');
  const takeBack = replaceMultiExp(own.replacement, type, own.watch);
  current = own;
  last = own;
  return () => {
    if (current !== own) return;
    current = null;
    takeBack();
    own.end();
  };
};

const prepare = async (zkey: Groth16Zkey | PlonkZkey): Promise<void> => {
  if (current === null) throw badArgument('snarkjs is not accelerated; call accelerate first');
  await current.prepare(zkey);
};

/**
 * Has snarkjs compute its MSMs with this library: `const restore = await accelerate(snarkjs)`.
 *
 * @example
 * ```ts
 * import * as snarkjs from 'snarkjs';
 * import { accelerate } from 'webgpu-msm/snarkjs';
 *
 * const restore = await accelerate(snarkjs);
 * const { proof } = await snarkjs.groth16.prove('circuit.zkey', 'witness.wtns');
 * console.log(proof.protocol, accelerate.stats.fallbacks); // groth16 0
 * restore();
 * ```
 */
export const accelerate: Accelerate = /* @__PURE__ */ Object.defineProperties(begin, {
  prepare: { value: prepare },
  stats: { get: (): AccelerateStats => structuredClone(last?.counts ?? noCounts()) },
}) as Accelerate;
