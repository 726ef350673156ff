/** `accelerate`: snarkjs computes its MSMs with this library. */
import type { AdapterDescription, Coordinate, MsmEngine, RunRecord } from '../api.js';
import type { Group } from '../curves/names.js';
import { assertNotAborted, badArgument, kindOf, MsmError } from '../errors.js';
import type { Groth16Zkey, PlonkZkey } from '../formats/zkey.js';
import { createMsmEngine } from '../index.js';
import { type AccelerateOptions, type ReadAccelerateOptions, readAccelerateOptions } from './accelerate-options.js';
import { BasesShelf, type ShelfStats } from './bases-shelf.js';
import {
  assertSnarkjs,
  copyOf,
  type FfBytes,
  type FfCurveName,
  type FfGroup,
  groupClassOf,
  isReplaced,
  type MultiExpAffine,
  replaceMultiExp,
  type Snarkjs,
} from './ffjavascript.js';
import { ScalarsShelf } from './scalars-shelf.js';

/** What was done for snarkjs so far. */
export interface AccelerateStats extends Readonly<ShelfStats> {
  /** MSMs that this library computed. */
  readonly calls: number;
  /** Points of these, those that are multiplied by zero with them, but for infinity behind the last. */
  readonly points: number;
  /** MSMs that were snarkjs's own after all, as this library could not. */
  readonly fallbacks: number;
  /** MSMs that were left to snarkjs, as they have few points. */
  readonly small: number;
  /** Of `calls`, how many the GPU, the CPU and both together computed. */
  readonly on: Readonly<Record<RunRecord['on'], number>>;
  /** What the engines compute on, as `MsmEngine.adapter` has it; null before the first MSM. */
  readonly adapter: AdapterDescription | null;
  /** MSMs whose scalars were there from another one, as those of a witness are. */
  readonly sharedScalars: number;
}

/** Takes everything back: snarkjs is as before, and what was loaded is freed. Calling it twice is harmless. */
export type Restore = () => void;

type Counts = { -readonly [Name in keyof AccelerateStats]: AccelerateStats[Name] } & {
  on: Record<RunRecord['on'], number>;
};

const noCounts = (): Counts => ({
  calls: 0,
  points: 0,
  fallbacks: 0,
  small: 0,
  sharedScalars: 0,
  on: { gpu: 0, cpu: 0, both: 0 },
  adapter: null,
  hits: 0,
  loads: 0,
  evictions: 0,
  bytes: 0,
});

/** A copy of n scalars, in so many bytes each; shorter ones get zeros. Little-endian. */
const widened = (scalars: FfBytes, n: number, from: number, to: number): FfBytes => {
  if (from === to) return copyOf(scalars);
  const wide = new Uint8Array(n * to);
  for (let i = 0; i < n; i++) wide.set(scalars.slice(i * from, (i + 1) * from) as Uint8Array, i * to);
  return wide;
};

/** Points up to the last one that is not infinity, which is zeros: FFLONK's prover has many of these behind the points of its key. */
const filledPoints = (bases: FfBytes, pointBytes: number): number => {
  if (!(bases instanceof Uint8Array)) return bases.byteLength / pointBytes;
  let end = bases.length;
  while (end > 0 && bases[end - 1] === 0) end--;
  return Math.ceil(end / pointBytes);
};

/** Bytes of a scalar, for all of these curves. */
const SCALAR_BYTES = 32;

class Accelerator {
  readonly counts = noCounts();
  readonly #options: ReadAccelerateOptions;
  readonly #shelf: BasesShelf;
  readonly #scalars: ScalarsShelf;
  readonly #engines = new Map<string, Promise<MsmEngine<Coordinate>>>();
  #isOver = false;
  #hasWarned = false;

  constructor(options: ReadAccelerateOptions) {
    this.#options = options;
    this.#shelf = new BasesShelf(options.basesBudget, this.counts, options.signal);
    this.#scalars = new ScalarsShelf(this.counts, options.signal);
  }

  /** What computes in the place of a group's own. */
  readonly replacement = (
    curve: FfCurveName,
    name: Group,
    group: FfGroup,
    original: MultiExpAffine,
  ): MultiExpAffine => {
    const pointBytes = 2 * group.F.n8;
    return async (bases, scalars, ...told) => {
      const given = bases.byteLength / pointBytes;
      const each = given === 0 ? 0 : scalars.byteLength / given;
      // what is wrong is snarkjs's to say
      const isUsual = Number.isInteger(given) && Number.isInteger(each) && each > 0 && each <= SCALAR_BYTES;
      if (this.#isOver || !isUsual) return original(bases, scalars, ...told);
      const { signal } = this.#options;
      assertNotAborted(signal);
      const n = filledPoints(bases, pointBytes);
      if (n < this.#options.leastPoints) {
        this.counts.small++;
        return original(bases, scalars, ...told);
      }
      const opening = this.#engine(curve, name);
      const filled = n === given ? bases : (bases as Uint8Array).subarray(0, n * pointBytes);
      // as snarkjs's own does: whoever gave them may change them from now on
      const wide = widened(scalars, given, each, SCALAR_BYTES);
      try {
        const sum = await this.#shelf.with(opening, filled, async (loaded) => {
          const engine = await opening;
          return this.#scalars.with(engine, curve, wide, (all) =>
            engine.msm(loaded, all.subarray(0, n), { result: 'le-montgomery', ...(signal && { signal }) }),
          );
        });
        const engine = await opening;
        this.counts.calls++;
        this.counts.on[engine.lastRun?.on ?? 'cpu']++;
        this.counts.adapter = engine.adapter;
        this.counts.points += n;
        return group.toJacobian(sum);
      } catch (error) {
        if (!(error instanceof MsmError)) throw error;
        // taken back meanwhile, which is nobody's failure
        if (this.#isOver) return original(bases, wide, ...told);
        assertNotAborted(signal);
        // an option that shows to be wrong only now
        if (error.code === 'bad-argument') await opening;
        this.#warn(error);
        this.counts.fallbacks++;
        return original(bases, wide, ...told);
      }
    };
  };

  /** @throws MsmError `bad-argument` for what is no key */
  async prepare(zkey: Groth16Zkey | PlonkZkey): Promise<void> {
    if (typeof (zkey as Partial<PlonkZkey> | null | undefined)?.sections !== 'object')
      throw badArgument(`zkey must be what openZkey of webgpu-msm/formats gives, got ${kindOf(zkey)}`);
    const { curve, protocol, sections } = zkey;
    const all =
      protocol === 'groth16' ? [sections.a, sections.b1, sections.b2, sections.c, sections.h] : [sections.ptau];
    try {
      for (const section of all) {
        if (this.#isOver) return;
        await this.#shelf.load(this.#engine(curve, section.group), await section.points());
      }
    } catch (error) {
      if (!(error instanceof MsmError)) throw error;
      // nobody may wait for it, and proofs do without
      if (!this.#isOver && !this.#options.signal?.aborted) this.#warn(error);
    }
  }

  /** One for each group, when it is first needed. One that could not be had is not asked for again. */
  #engine(curve: FfCurveName, group: Group): Promise<MsmEngine<Coordinate>> {
    const key = `${curve} ${group}`;
    const known = this.#engines.get(key);
    if (known !== undefined) return known;
    const { engines } = this.#options;
    const [other] = this.#engines.values();
    const make = async (): Promise<MsmEngine<Coordinate>> => {
      // one device for all, so that a witness is there for both groups, and calls are in one line
      const deviceOf = await other?.catch(() => undefined);
      const own = { ...engines, curve, ...(deviceOf && { deviceOf }) };
      return group === 'g1' ? createMsmEngine(own) : createMsmEngine({ ...own, group });
    };
    const made = make();
    // whoever asks for it hears of it, which may be later
    made.catch(() => undefined);
    this.#engines.set(key, made);
    return made;
  }

  #warn(error: MsmError): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#options.warn(`webgpu-msm: snarkjs computes by itself what this library could not: ${error.message}`);
  }

  end(): void {
    this.#isOver = true;
    this.#shelf.clear();
    this.#scalars.clear();
    for (const engine of this.#engines.values()) {
      engine.then(
        (each) => each.destroy(),
        () => undefined,
      );
    }
    this.#engines.clear();
  }
}

/** The one that is at work: two would replace each other's. */
let current: Accelerator | null = null;

/** The one that is, or was. */
let last: Accelerator | null = null;

/** `accelerate`, and what there is to know and to do while it is at work. */
export interface Accelerate {
  /**
   * Has snarkjs compute its MSMs with this library: `multiExpAffine` in both groups of bn128 and bls12381, also of curves that snarkjs makes later; of those
   * without threads with `singleThread` only. Proofs are what they would be. What this library cannot do snarkjs does, with one warning;
   * an engine that could not be opened is not tried again before the next `accelerate`. Points and scalars are compared or copied before an MSM's call returns;
   * where snarkjs computes after all, it reads the points later.
   *
   * @param snarkjs as it was imported
   * @returns what takes everything back
   * @throws MsmError `bad-argument` for what is not snarkjs or is no such option, and where it is at work already, be it by another copy of this library
   */
  (snarkjs: Snarkjs, options?: AccelerateOptions): Promise<Restore>;
  /** Counts since `accelerate` was last called. */
  readonly stats: AccelerateStats;
  /**
   * Loads the points of a key in the background, so that the first proof finds them: `accelerate.prepare(await openZkey(file))`, with `openZkey` of
   * `webgpu-msm/formats`. It need not be awaited: where this library cannot, there is the one warning, and it resolves, as it does once all is taken back.
   *
   * @throws MsmError `bad-argument` where `accelerate` is not at work or `zkey` is no key; and what reading the file throws
   */
  prepare(zkey: Groth16Zkey | PlonkZkey): Promise<void>;
}

const begin = async (snarkjs: Snarkjs, options: AccelerateOptions = {}): Promise<Restore> => {
  assertSnarkjs(snarkjs);
  const read = await readAccelerateOptions(options);
  const own = new Accelerator(read);
  const type = read.singleThread ? await groupClassOf(snarkjs) : null;
  // two would take back what the other has put there
  if (isReplaced())
    throw badArgument('snarkjs is accelerated already, maybe by another copy of this library; take that back before');
  const takeBack = replaceMultiExp(own.replacement, type);
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
  if (current === null) throw badArgument('nothing is accelerated: call accelerate before');
  await current.prepare(zkey);
};

/** snarkjs computes its MSMs with this library: `const restore = await accelerate(snarkjs)`. */
export const accelerate: Accelerate = /* @__PURE__ */ Object.defineProperties(begin, {
  prepare: { value: prepare },
  stats: { get: (): AccelerateStats => structuredClone(last?.counts ?? noCounts()) },
}) as Accelerate;
