/**
 * Preparation of powers of tau for the second phase: for each domain up to their size the points
 * L_i(τ)·G, by inverse transforms of points. A layer multiplies half of its points by roots of unity, many
 * by the same one, and adds and subtracts them (Cooley and Tukey, Math. Comp. 19, 1965).
 */
import type { OwnBytes } from '../api/values.js';
import type { CurveContext } from '../curves/curve.js';
import { scalarFieldOf } from '../curves/scalar-field.js';
import { invert } from '../field/modulus.js';
import { power as raised } from '../field/powers.js';
import type { FileSource, PointSection } from '../formats/source.js';
import { readOptions } from '../option-table.js';
import { SectionWriter } from './key-writer.js';
import { lagrangeCount, lagrangeSections, powersHeader, powersSection } from './powers.js';
import { openPowers } from './prepared-powers.js';
import { POINTS_PER_ROUND, type Run, type SetupOptions, setupOptions, writeBy } from './run.js';

/**
 * Prepares powers of tau for the second phase: adds Lagrange points of each domain up to their size.
 * The bytes are those of snarkjs's `powersOfTau.preparePhase2`.
 *
 * @param source a `.ptau`
 * @returns the prepared `.ptau`; undefined if it went to a sink
 * @throws MsmError `bad-argument` naming the section; `aborted`; `unsupported-device` without
 *   WebAssembly; errors of the sink
 * @example
 * ```ts
 * import { newPowers, preparePhase2 } from 'webgpu-msm/setup';
 *
 * const powers = await newPowers({ curve: 'bn254', power: 3 });
 * const prepared = await preparePhase2(powers);
 * console.log(prepared.length > powers.length); // true
 * ```
 */
export function preparePhase2(
  source: FileSource,
  options?: SetupOptions & { readonly sink?: undefined },
): Promise<OwnBytes>;
export function preparePhase2(source: FileSource, options: SetupOptions): Promise<OwnBytes | undefined>;
export async function preparePhase2(source: FileSource, given: SetupOptions = {}): Promise<OwnBytes | undefined> {
  const options = readOptions(setupOptions, given);
  const opened = await openPowers(source, options);
  const { groups, ptau } = opened;
  const { rootOfUnity, twoAdicity } = scalarFieldOf({ order: groups.order });
  const total = lagrangeSections.reduce((sum, { more }) => sum + lagrangeCount(ptau.power + more), 0);
  const { bytes } = await writeBy(options, { phase: 'prepare phase 2', total }, async (run, output) => {
    const writer = await SectionWriter.begin(output, 'ptau', 11);
    // snarkjs writes the power of the file twice, and then refuses powers that were cut before: their
    // contributions were hashed for the ceremony (findings/snarkjs-prepared-truncated-powers.sh)
    await writer.whole(powersSection.header, powersHeader(groups, ptau.power, ptau.ceremonyPower));
    for (let id = powersSection.tauG1; id <= powersSection.contributions; id++) await writer.copy(opened, id, run);
    for (const { id, of, group, more } of lagrangeSections) {
      const curve = groups[group];
      const points = ptau.sections[of];
      await writer.section(id, lagrangeCount(ptau.power + more) * points.pointBytes);
      for (let power = 0; power <= ptau.power + more; power++) {
        const root = raised(rootOfUnity as bigint, 2n ** BigInt(twoAdicity - power), groups.order);
        const transform = new PointTransform(curve, groups.scale, { power, root }, run);
        const words = await transform.lagrange(points);
        await writer.write(new Uint8Array(words.buffer));
        run.progress(2 ** power);
      }
    }
  });
  return bytes;
}

/** An inverse transform of 2^power points. */
class PointTransform {
  readonly #curve: CurveContext;
  readonly #scale: bigint;
  readonly #power: number;
  /** Inverse of a root of unity whose order is the number of points. */
  readonly #inverseRoot: bigint;
  readonly #run: Run;

  constructor(
    curve: CurveContext,
    scale: bigint,
    { power, root }: { readonly power: number; readonly root: bigint },
    run: Run,
  ) {
    this.#curve = curve;
    this.#scale = scale;
    this.#power = power;
    this.#inverseRoot = invert(root, curve.order);
    this.#run = run;
  }

  /** Returns the Lagrange points of a domain, by the first powers; what is missing counts as infinity. */
  async lagrange(section: PointSection): Promise<Uint32Array<ArrayBuffer>> {
    const { pointWords } = this.#curve;
    const n = 2 ** this.#power;
    // aligned
    const powers = new Uint32Array((await section.points(0, Math.min(n, section.count))).slice().buffer);
    const words = new Uint32Array(n * pointWords);
    for (let i = 0; i < powers.length / pointWords; i++) {
      const to = reversed(i, this.#power) * pointWords;
      words.set(powers.subarray(i * pointWords, (i + 1) * pointWords), to);
    }
    for (let layer = 1; layer <= this.#power; layer++) {
      for (let from = 0; from < n / 2; from += POINTS_PER_ROUND) {
        await this.#combine(words, layer, from, Math.min(n / 2, from + POINTS_PER_ROUND), section.name);
      }
    }
    return words;
  }

  /**
   * Computes a ± w^−k·b for pairs of a layer: pair j has the place k = j mod 2^(layer − 1) in its block
   * of twice as many points. The last layer divides by the size, too.
   */
  async #combine(words: Uint32Array, layer: number, from: number, to: number, name: string): Promise<void> {
    const { pointWords, order } = this.#curve;
    const half = 2 ** (layer - 1);
    const count = to - from;
    const isLast = layer === this.#power;
    const factor = isLast ? invert(BigInt(2 ** this.#power), order) : 1n;
    // pairs of a round have all places, or consecutive ones
    const places = Math.min(half, count);
    const roots = this.#roots(2 * half, from % half, places, factor);
    const place = (j: number): number => Math.floor(j / half) * 2 * half + (j % half);
    const factors = isLast ? 2 * count : count;
    const points = new Uint32Array(factors * pointWords);
    const which = new Uint32Array(factors);
    const copy = (index: number, at: number): void => {
      points.set(words.subarray(at * pointWords, (at + 1) * pointWords), index * pointWords);
    };
    for (let i = 0; i < count; i++) {
      copy(i, place(from + i) + half);
      which[i] = i % places;
      if (!isLast) continue;
      copy(count + i, place(from + i));
      which[count + i] = places;
    }
    const starts = Uint32Array.from({ length: factors + 1 }, (_, i) => i);
    const multipliers = isLast ? [...roots, factor] : roots;
    const products = await this.#sums(points, starts, which, multipliers, name);
    const terms = new Uint32Array(4 * count * pointWords);
    const put = (index: number, from: Uint32Array, at: number): void => {
      terms.set(from.subarray(at * pointWords, (at + 1) * pointWords), index * pointWords);
    };
    for (let i = 0; i < count; i++) {
      for (const first of [4 * i, 4 * i + 2]) {
        if (isLast) put(first, products, count + i);
        else put(first, words, place(from + i));
        put(first + 1, products, i);
      }
    }
    const pairs = Uint32Array.from({ length: 2 * count + 1 }, (_, i) => 2 * i);
    const signs = Uint32Array.from({ length: 4 * count }, (_, i) => (i % 4 === 3 ? 1 : 0));
    const sums = await this.#sums(terms, pairs, signs, [1n, order - 1n], name);
    for (let i = 0; i < count; i++) {
      const at = place(from + i);
      words.set(sums.subarray(2 * i * pointWords, (2 * i + 1) * pointWords), at * pointWords);
      words.set(sums.subarray((2 * i + 1) * pointWords, (2 * i + 2) * pointWords), (at + half) * pointWords);
    }
  }

  /** Returns factor·w^−k for consecutive k, with a root w of an order. */
  #roots(size: number, first: number, count: number, factor: bigint): bigint[] {
    const { order } = this.#curve;
    const root = raised(this.#inverseRoot, BigInt(2 ** this.#power / size), order);
    let value = (factor * raised(root, BigInt(first), order)) % order;
    return Array.from({ length: count }, () => {
      const each = value;
      value = (value * root) % order;
      return each;
    });
  }

  async #sums(
    points: Uint32Array,
    starts: Uint32Array,
    which: Uint32Array,
    multipliers: readonly bigint[],
    name: string,
  ): Promise<Uint32Array> {
    const sums = { points, scale: this.#scale, starts, which, multipliers, scales: [this.#scale] };
    const [words] = await this.#run.compute(this.#curve, sums, `ptau: section ${name}`);
    return words as Uint32Array;
  }
}

/** Returns an index with its bits reversed. */
const reversed = (index: number, bits: number): number => {
  let result = 0;
  for (let bit = 0; bit < bits; bit++) result = 2 * result + (Math.floor(index / 2 ** bit) % 2);
  return result;
};
