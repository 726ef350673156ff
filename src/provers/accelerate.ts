/** `accelerate`: has snarkjs compute its proofs and MSMs with this library. */
import { badArgument } from '../errors.js';
import type { Groth16Zkey, PlonkZkey } from '../formats/zkey.js';
import { type AccelerateOptions, readAccelerateOptions } from './accelerate-options.js';
import { type AccelerateStats, noCounts } from './accelerate-stats.js';
import { type AcceleratedProvers, hasProverOf, proversOf, replaceProvers } from './accelerated.js';
import { Accelerator } from './accelerator.js';
import { curvesOf, groupClassOf, isReplaced, notSnarkjs, replaceMultiExp, type Snarkjs } from './ffjavascript.js';
import type { SnarkjsFile } from './proof-files.js';

/**
 * Undoes the acceleration: restores the methods of snarkjs and frees what was loaded. Calling it
 * twice is harmless.
 */
export type Restore = () => void;

/** The result of `accelerate`: a function that undoes it, with the accelerated provers. */
export interface Accelerated extends Restore, AcceleratedProvers {}

/** The accelerator at work, if any. A second one would replace the methods of the first. */
let current: Accelerator | null = null;

/** The accelerator at work, or else the last one. */
let last: Accelerator | null = null;

/** The function `accelerate`, with its counts and `prepare`. */
export interface Accelerate {
  /**
   * Makes `groth16`, `plonk` and `fflonk` with `prove` and `fullProve` that compute whole proofs
   * with this library. They also take the place of those members of snarkjs where these can be
   * replaced: in the CommonJS module, in the script for pages, and in a copy `{ ...snarkjs }`. The
   * namespace of the ES module is constant, so there prove with the result of `accelerate`:
   * `const { groth16 } = await accelerate(snarkjs)`. snarkjs before 0.7.5 does not export its
   * curves; whole proofs of Groth16 need none.
   *
   * Has snarkjs compute all other MSMs with this library: `multiExpAffine`, and
   * `multiExpAffineChunked` where snarkjs has it, in G1 and G2 of bn128 and bls12381, on curves
   * that snarkjs has made and on those that it makes later. Curves without threads are included
   * with `singleThread` alone. Proofs stay the same.
   *
   * If this library cannot compute a proof or an MSM, snarkjs computes it, and you get one warning.
   * An engine that failed to open is not opened again before the next `accelerate`. Points and
   * scalars are compared or copied before the call of an MSM returns, except points that are read
   * in chunks; if snarkjs computes the MSM after all, it reads the points later.
   *
   * @param snarkjs the module, as imported
   * @returns a function that undoes the acceleration, with the accelerated provers as members
   * @throws MsmError `bad-argument` if the argument is not snarkjs, an option is invalid, or
   * snarkjs is accelerated already, also by another copy of this library
   */
  (snarkjs: Snarkjs, options?: AccelerateOptions): Promise<Accelerated>;
  /** Counts since `accelerate` was last called. */
  readonly stats: AccelerateStats;
  /**
   * Loads a key in the background and compiles, so that the first proof finds both done. You need
   * not await it: failures of this library are reported by the one warning. It resolves early once
   * the acceleration is undone.
   *
   * @param zkey the key as you pass it to `prove`. A result of `openZkey` of `webgpu-msm/formats`
   *   has its points loaded alone, for MSMs of snarkjs's own provers.
   * @throws MsmError `bad-argument` if `accelerate` is not at work or `zkey` is no key; and errors
   * of reading the file
   * @example
   * ```ts
   * import * as snarkjs from 'snarkjs';
   * import { accelerate } from 'webgpu-msm/snarkjs';
   *
   * const restore = await accelerate(snarkjs);
   * await accelerate.prepare('circuit.zkey');
   * console.log(accelerate.stats.keyLoads); // 1
   * restore();
   * ```
   */
  prepare(zkey: Groth16Zkey | PlonkZkey | SnarkjsFile): Promise<void>;
}

const begin = async (snarkjs: Snarkjs, options: AccelerateOptions = {}): Promise<Accelerated> => {
  const curves = curvesOf(snarkjs);
  const hasProvers = hasProverOf(snarkjs);
  if (curves === null && !hasProvers) throw notSnarkjs(snarkjs);
  const read = await readAccelerateOptions(options);
  if (read.singleThread && curves === null)
    throw badArgument('options.singleThread needs snarkjs.curves, which snarkjs 0.7.5 or later has');
  const own = new Accelerator(read, { hasProvers, hasCurves: curves !== null });
  const type = read.singleThread && curves !== null ? await groupClassOf(curves) : null;
  // two accelerators would restore each other's methods
  if (isReplaced())
    throw badArgument('snarkjs is accelerated already, maybe by another copy of this library; restore it first');
  const takeBack = replaceMultiExp(own.replacement, type, own.watch);
  const provers = proversOf(snarkjs, own.proofs);
  const putBack = replaceProvers(snarkjs, provers);
  current = own;
  last = own;
  const restore = (): void => {
    if (current !== own) return;
    current = null;
    putBack();
    takeBack();
    own.end();
  };
  return Object.assign(restore, provers);
};

const prepare = async (zkey: Groth16Zkey | PlonkZkey | SnarkjsFile): Promise<void> => {
  if (current === null) throw badArgument('snarkjs is not accelerated; call accelerate first');
  await current.prepare(zkey);
};

/**
 * Has snarkjs compute its proofs and MSMs with this library.
 *
 * @example
 * ```ts
 * import * as snarkjs from 'snarkjs';
 * import { accelerate } from 'webgpu-msm/snarkjs';
 *
 * const restore = await accelerate(snarkjs);
 * const { groth16 } = restore;
 * const { proof } = await groth16.prove('circuit.zkey', 'witness.wtns');
 * console.log(proof.protocol, accelerate.stats.snarkjsProofs); // groth16 0
 * restore();
 * ```
 */
export const accelerate: Accelerate = /* @__PURE__ */ Object.defineProperties(begin, {
  prepare: { value: prepare },
  stats: { get: (): AccelerateStats => structuredClone(last?.counts ?? noCounts()) },
}) as Accelerate;
