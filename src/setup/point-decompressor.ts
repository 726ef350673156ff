/** Decompresses the points of responses; loaded when one is imported. */
import { badArgument } from '../errors.js';
import { PointRoots } from '../formats/point-roots.js';
import { compressedBytes, FEW, hasLargerY, LARGER } from './compressed-points.js';
import { type Groups, INFINITY } from './groups.js';
import type { Run } from './run.js';

/** Decompresses points on all threads of a call. */
export class PointDecompressor {
  readonly #groups: Groups;
  readonly #run: Run;
  readonly #roots: PointRoots;

  constructor(groups: Groups, run: Run) {
    this.#groups = groups;
    this.#run = run;
    this.#roots = new PointRoots(groups.name, { maxWorkers: run.workers, createWorker: run.options.createWorker });
  }

  /** Ends the workers of the roots. */
  end(): void {
    this.#roots.end();
  }

  /**
   * Decompresses points.
   *
   * @param bytes as `compressPoints` returns them
   * @param what the place of the points, for errors
   * @returns x‖y of each, little-endian: as files have them, and plain; infinity is zeros
   * @throws MsmError `bad-argument` if a coordinate is not below p, or a point is not on the curve; `aborted`
   */
  async whole(
    group: 'g1' | 'g2',
    bytes: Uint8Array,
    what: string,
  ): Promise<readonly [ofFile: Uint32Array<ArrayBuffer>, plain: Uint32Array<ArrayBuffer>]> {
    const curve = this.#groups[group];
    const { pointWords, order } = curve;
    const size = compressedBytes(curve);
    const count = bytes.length / size;
    const xs = bytes.slice();
    const flags = Uint8Array.from({ length: count }, (_, i) => bytes[i * size] as number);
    for (const [i, flag] of flags.entries()) {
      if (i % FEW === 0) await this.#run.pause();
      const x = xs.subarray(i * size, (i + 1) * size);
      x[0] = flag & ~(LARGER | INFINITY);
      x.reverse();
      if ((flag & INFINITY) !== 0) x.fill(0);
    }
    const ys = new Uint8Array(xs.length);
    // an abort waits for the roots of one part: some 0.2 s
    const part = FEW * (this.#run.workers + 1) * size;
    for (let at = 0; at < xs.length; at += part) {
      const some = await this.#roots.ysOf(xs.slice(at, at + part), group, 1n);
      if (some === null) throw badArgument(`${what} has a coordinate that is not below p`);
      ys.set(some, at);
      await this.#run.pause();
    }
    const points = new Uint32Array(count * pointWords);
    const which = new Uint32Array(count);
    const [xWords, yWords] = [xs, ys].map((each) => new Uint32Array(each.buffer)) as [Uint32Array, Uint32Array];
    const half = pointWords / 2;
    for (const [i, flag] of flags.entries()) {
      if (i % FEW === 0) await this.#run.pause();
      if ((flag & INFINITY) !== 0) continue;
      points.set(xWords.subarray(i * half, (i + 1) * half), i * pointWords);
      points.set(yWords.subarray(i * half, (i + 1) * half), i * pointWords + half);
      which[i] = Number(hasLargerY(curve, points, i) !== (flag & LARGER) > 0);
    }
    const starts = Uint32Array.from({ length: count + 1 }, (_, i) => i);
    const input = { points, scale: 1n, starts, which, multipliers: [1n, order - 1n] };
    // what has no root is not on the curve
    const [ofFile, plain] = await this.#run.compute(curve, { ...input, scales: [this.#groups.scale, 1n] }, what);
    return [ofFile as Uint32Array<ArrayBuffer>, plain as Uint32Array<ArrayBuffer>];
  }
}
