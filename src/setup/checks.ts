/**
 * Checks of points that verifications share: groups, ratios by pairings, and sums of sections by which
 * random combinations compare them.
 */
import type { MsmEngine } from '../api/engine.js';
import type { AffinePoint, Fp2 } from '../api/values.js';
import type { CurveContext } from '../curves/curve.js';
import { type Affine, addAffine, negated, toAffine } from '../curves/jacobian.js';
import { MsmError } from '../errors.js';
import { mod } from '../field/modulus.js';
import { isFailedRead, numbersOf, type PointSection } from '../formats/source.js';
import { createMsmEngine } from '../index.js';
import { areInGroup, type FewPoints, isProductOne, openFewPoints } from '../proofs/few-points.js';
import { affineOf, type Groups, publicPoint } from './groups.js';
import type { RunOptions } from './run.js';

/** A file breaks a rule. */
export class Refusal extends Error {}

/**
 * Returns the rule that a file breaks; null if an error is about something else.
 *
 * @param file name of the file in errors
 */
export const whyRefused = (error: unknown, file: 'zkey' | 'ptau'): string | null => {
  if (error instanceof Refusal) return error.message;
  if (isFailedRead(error)) return null;
  const isOfFile = error instanceof MsmError && error.code === 'bad-argument' && error.message.startsWith(file);
  return isOfFile ? error.message : null;
};

/** Points of a section that are added up at a time. */
const POINTS_AT_ONCE = 2 ** 18;

/** Returns the bytes of points that are added up at a time: as they are read, and as they are computed with. */
export const partBytes = (points: number, pointBytes: number): number =>
  Math.min(points, POINTS_AT_ONCE) * (3 * pointBytes + 64);

/** Points of a group, side by side. */
interface Points {
  readonly group: 'g1' | 'g2';
  /** As files have them. */
  readonly bytes: Uint8Array;
  /** The section of the points, for errors. */
  readonly name: string;
}

/** Checks of the points of a curve. */
export class PointChecks {
  readonly #groups: Groups;
  readonly #few: FewPoints;
  readonly #options: RunOptions;
  readonly #engines: Partial<Record<'g1' | 'g2', MsmEngine>> = {};

  private constructor(groups: Groups, few: FewPoints, options: RunOptions) {
    this.#groups = groups;
    this.#few = few;
    this.#options = options;
  }

  static async open(groups: Groups, options: RunOptions): Promise<PointChecks> {
    return new PointChecks(groups, await openFewPoints(groups.name), options);
  }

  destroy(): void {
    for (const engine of [this.#few.few1, this.#few.few2, ...Object.values(this.#engines)]) engine.destroy();
  }

  /** Returns the engine of sums in a group. */
  async engine(group: 'g1' | 'g2'): Promise<MsmEngine> {
    const { maxWorkers, createWorker } = this.#options;
    const settings = {
      curve: this.#groups.name,
      backend: 'cpu',
      ...(maxWorkers === undefined ? {} : { maxWorkers }),
      ...(createWorker === undefined ? {} : { createWorker }),
    } as const;
    const engine =
      this.#engines[group] ??
      ((await (group === 'g1' ? createMsmEngine(settings) : createMsmEngine({ ...settings, group }))) as MsmEngine);
    this.#engines[group] = engine;
    return engine;
  }

  /**
   * Multiplies points of a section by scalars of 32 bytes, and adds them up, some at a time.
   *
   * @throws Refusal if a point is not in the group of order r
   */
  async sum(section: PointSection, from: number, to: number, scalars: Uint8Array): Promise<Affine> {
    const { group, name } = section;
    let sum: Affine = null;
    for (let start = from; start < to; start += POINTS_AT_ONCE) {
      const end = Math.min(to, start + POINTS_AT_ONCE);
      const some = scalars.subarray(32 * (start - from), 32 * (end - from));
      const [part] = await this.sums({ group, name, bytes: await section.points(start, end) }, [some]);
      sum = sumOf(this.#groups[group], sum, part as Affine);
    }
    return sum;
  }

  /** Likewise, by several lists of scalars. */
  async sums({ group, bytes, name }: Points, lists: readonly Parameters<MsmEngine['msm']>[1][]): Promise<Affine[]> {
    const { signal } = this.#options;
    const engine = await this.engine(group);
    try {
      const bases = await engine.loadBases(bytes, {
        ...{ encoding: 'le-montgomery', checkSubgroup: true },
        ...(signal && { signal }),
      });
      try {
        const sums: Affine[] = [];
        for (const scalars of lists) sums.push(affineOf(await engine.msm(bases, scalars, signal && { signal })));
        return sums;
      } finally {
        bases.destroy();
      }
    } catch (error) {
      const isOfPoints =
        error instanceof MsmError && ['bad-argument', 'not-on-curve', 'not-in-subgroup'].includes(error.code);
      if (isOfPoints) throw new Refusal(`section ${name}: ${error.message}`);
      throw error;
    }
  }

  /** Returns whether all points are in the groups of order r. */
  async areInGroup(first: readonly Affine[], second: readonly Affine[]): Promise<boolean> {
    const { few1, few2 } = this.#few;
    const { g1, g2 } = this.#groups;
    return (
      (await areInGroup(
        few1,
        first.map((point) => publicPoint<bigint>(g1, point)),
      )) &&
      (await areInGroup(
        few2,
        second.map((point) => publicPoint<Fp2>(g2, point)),
      ))
    );
  }

  /**
   * Returns whether Q is as many times P as V is U, and none of them is infinity.
   *
   * @param rule where P and Q may both be infinity, the rule is kept
   */
  async haveSameRatio(
    [P, Q]: readonly [Affine, Affine],
    [U, V]: readonly [Affine, Affine],
    rule?: string,
  ): Promise<boolean> {
    if (rule !== undefined && P === null && Q === null) return true;
    if (P === null || Q === null || U === null || V === null) return false;
    const { g1, g2, name } = this.#groups;
    const one = (point: Affine): AffinePoint => publicPoint<bigint>(g1, point);
    const two = (point: Affine): AffinePoint<Fp2> => publicPoint<Fp2>(g2, point);
    const { x, y, infinity } = one(Q);
    return isProductOne(
      name,
      [
        [one(P), two(V)],
        [{ x, y: mod(-y, g1.p), infinity }, two(U)],
      ],
      this.#options.signal,
    );
  }
}

/** Returns P + Q. */
export const sumOf = (curve: CurveContext, P: Affine, Q: Affine): Affine => {
  if (P === null) return Q;
  const { one } = curve.coordinates;
  return toAffine(curve, addAffine(curve, { ...P, z: one }, Q));
};

/** Returns P − Q. */
export const differenceOf = (curve: CurveContext, P: Affine, Q: Affine): Affine =>
  sumOf(curve, P, Q && negated(curve, Q));

/** Returns a random number of 256 bits. */
export const randomNumber = (): bigint => {
  const view = numbersOf(crypto.getRandomValues(new Uint8Array(32)));
  return [0, 8, 16, 24].reduce((sum, at) => (sum << 64n) | view.getBigUint64(at), 0n);
};

/** Most bytes that a platform draws at once. */
const DRAWN_BYTES = 2 ** 16;

/** Returns random scalars below 2^128. */
export const randomFactors = (count: number): Uint8Array => {
  const scalars = new Uint8Array(32 * count);
  const bytes = new Uint8Array(16 * count);
  for (let at = 0; at < bytes.length; at += DRAWN_BYTES) {
    crypto.getRandomValues(bytes.subarray(at, at + DRAWN_BYTES));
  }
  for (let i = 0; i < count; i++) scalars.set(bytes.subarray(16 * i, 16 * i + 16), 32 * i);
  return scalars;
};

/** Returns whether bytes are equal. */
export const sameBytes = (left: Uint8Array, right: Uint8Array): boolean =>
  left.length === right.length && left.every((byte, i) => byte === right[i]);
