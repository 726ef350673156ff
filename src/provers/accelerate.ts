/** `accelerate`: snarkjs computes its MSMs with this library. */
import type { AdapterDescription } from '../api/device.js';
import type { MsmEngine } from '../api/engine.js';
import type { Bases } from '../api/handles.js';
import type { RunRecord } from '../api/run-record.js';
import type { Coordinate } from '../api/values.js';
import type { Group } from '../curves/names.js';
import { assertNotAborted, badArgument, kindOf, MsmError } from '../errors.js';
import type { Groth16Zkey, PlonkZkey } from '../formats/zkey.js';
import { createMsmEngine } from '../index.js';
import { type AccelerateOptions, type ReadAccelerateOptions, readAccelerateOptions } from './accelerate-options.js';
import { defaultBasesBudget } from './bases-budget.js';
import { BasesCache, type ShelfStats } from './bases-shelf.js';
import {
  copyOf,
  curvesOf,
  type FfBytes,
  type FfCurveName,
  type FfGroup,
  type GroupMethods,
  groupClassOf,
  isReplaced,
  type ProofWatch,
  replaceMultiExp,
  type Snarkjs,
} from './ffjavascript.js';
import { ScalarsCache } from './scalars-shelf.js';

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
  /** The most workers that took part in one of them. */
  readonly workers: number;
  /** Milliseconds that pipelines took to compile on the device so far: the sum, though several are compiled at a time. */
  readonly compileMs: number;
  /** Bytes of points that may stay loaded: `basesBudget`, or what it is by default on this device; of that main memory alone counts until one is open. */
  readonly basesBudget: number;
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
  workers: 0,
  compileMs: 0,
  basesBudget: 0,
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

/** An MSM that snarkjs asked for. */
interface Wanted {
  readonly curve: FfCurveName;
  readonly name: Group;
  readonly group: FfGroup;
  /** Points, those at infinity behind the last with them, and those before. */
  readonly given: number;
  readonly n: number;
  readonly scalars: FfBytes;
  /** Has something done with the points. */
  with(engine: Promise<MsmEngine<Coordinate>>, use: (bases: Bases) => Promise<Uint8Array>): Promise<Uint8Array>;
  /** snarkjs's own, of these scalars. */
  original(scalars: FfBytes): Promise<Uint8Array>;
}

/** Warnings, each told once. */
type Warning = 'not ours' | 'not asked' | 'tight';

class Accelerator {
  readonly counts = noCounts();
  readonly #options: ReadAccelerateOptions;
  readonly #shelf: BasesCache;
  readonly #scalars: ScalarsCache;
  readonly #engines = new Map<string, Promise<MsmEngine<Coordinate>>>();
  #isOver = false;
  readonly #warned = new Set<Warning>();
  /** Since a proof was written down. */
  readonly #seen = { msms: 0, transforms: 0 };

  constructor(options: ReadAccelerateOptions) {
    this.#options = options;
    this.counts.basesBudget = options.basesBudget ?? defaultBasesBudget(Number.POSITIVE_INFINITY);
    const budget = { bytes: () => this.counts.basesBudget, onTight: (bytes: number) => this.#warnTight(bytes) };
    this.#shelf = new BasesCache(budget, this.counts, options.signal);
    this.#scalars = new ScalarsCache(this.counts, options.signal);
  }

  /** Told of proofs: one without any MSM that came here is told of. */
  readonly watch: ProofWatch = {
    transforms: () => {
      this.#seen.transforms++;
    },
    writes: () => {
      const { msms, transforms } = this.#seen;
      if (transforms === 0) return;
      Object.assign(this.#seen, { msms: 0, transforms: 0 });
      if (msms === 0)
        this.#warn(
          'not asked',
          'nothing of a proof was accelerated: this snarkjs computes MSMs by functions of its curves that this version of webgpu-msm does not know',
        );
    },
  };

  /** What computes in the place of a group's own. */
  readonly replacement = (
    curve: FfCurveName,
    name: Group,
    group: FfGroup,
    { multiExpAffine, multiExpAffineChunked }: GroupMethods,
  ): GroupMethods => {
    const pointBytes = 2 * group.F.n8;
    return {
      multiExpAffine: (bases, scalars, ...told) => {
        const given = bases.byteLength / pointBytes;
        const n = filledPoints(bases, pointBytes);
        const filled = n === given ? bases : (bases as Uint8Array).subarray(0, n * pointBytes);
        return this.#compute({
          ...{ curve, name, group, given, n, scalars },
          with: (engine, use) => this.#shelf.with(engine, filled, use),
          original: (own) => multiExpAffine(bases, own, ...told),
        });
      },
      ...(multiExpAffineChunked && {
        multiExpAffineChunked: (read, byteLength, scalars, ...told) => {
          const given = typeof read === 'function' ? byteLength / pointBytes : Number.NaN;
          return this.#compute({
            ...{ curve, name, group, given, n: given, scalars },
            with: (engine, use) => this.#shelf.withFile(engine, { byteLength, pointBytes, read }, use),
            original: (own) => multiExpAffineChunked(read, byteLength, own, ...told),
          });
        },
      }),
    };
  };

  async #compute({ curve, name, group, given, n, scalars, original, ...points }: Wanted): Promise<Uint8Array> {
    this.#seen.msms++;
    const each = given === 0 ? 0 : scalars.byteLength / given;
    // what is wrong is snarkjs's to say
    const isUsual = Number.isInteger(given) && Number.isInteger(each) && each > 0 && each <= SCALAR_BYTES;
    if (this.#isOver || !isUsual) return original(scalars);
    const { signal } = this.#options;
    assertNotAborted(signal);
    if (n < this.#options.leastPoints) {
      this.counts.small++;
      return original(scalars);
    }
    const opening = this.#engine(curve, name);
    // as snarkjs's own does: whoever gave them may change them from now on
    const wide = widened(scalars, given, each, SCALAR_BYTES);
    try {
      const sum = await points.with(opening, async (loaded) => {
        const engine = await opening;
        return this.#scalars.with(engine, curve, wide, (all) =>
          engine.msm(loaded, all.subarray(0, n), { result: 'le-montgomery', ...(signal && { signal }) }),
        );
      });
      this.#count(await opening, n);
      return group.toJacobian(sum);
    } catch (error) {
      if (!(error instanceof MsmError)) throw error;
      // taken back meanwhile, which is nobody's failure
      if (this.#isOver) return original(wide);
      assertNotAborted(signal);
      // an option that shows to be wrong only now
      if (error.code === 'bad-argument') await opening;
      this.#warnOf(error);
      this.counts.fallbacks++;
      return original(wide);
    }
  }

  #count(engine: MsmEngine<Coordinate>, n: number): void {
    const { counts } = this;
    const { on = 'cpu', workers = 0 } = engine.lastRun ?? {};
    counts.calls++;
    counts.on[on]++;
    counts.adapter = engine.adapter;
    counts.points += n;
    counts.workers = Math.max(counts.workers, workers);
    this.#countCompiling(engine);
  }

  /** All engines are on one device. */
  #countCompiling({ pipelines }: MsmEngine<Coordinate>): void {
    this.counts.compileMs = Math.max(
      this.counts.compileMs,
      pipelines.reduce((sum, { ms }) => sum + ms, 0),
    );
  }

  /** @throws MsmError `bad-argument` for what is no key */
  async prepare(zkey: Groth16Zkey | PlonkZkey): Promise<void> {
    if (typeof (zkey as Partial<PlonkZkey> | null | undefined)?.sections !== 'object')
      throw badArgument(`zkey must be what openZkey of webgpu-msm/formats gives, got ${kindOf(zkey)}`);
    const { curve, protocol, sections } = zkey;
    const all =
      protocol === 'groth16' ? [sections.a, sections.b1, sections.b2, sections.c, sections.h] : [sections.ptau];
    const load = async (): Promise<void> => {
      for (const section of all) {
        if (this.#isOver) return;
        const { byteLength, pointBytes, group } = section;
        const read = (from: number, length: number): Promise<Uint8Array> =>
          section.points(from / pointBytes, (from + length) / pointBytes);
        await this.#shelf.withFile(this.#engine(curve, group), { byteLength, pointBytes, read }, async () => undefined);
      }
    };
    const warm = async (group: Group): Promise<void> => {
      const engine = await this.#engine(curve, group);
      const counts = all.map((section) => (section.group === group ? section.count : 0));
      if (!this.#isOver) await engine.warmup(Math.max(1, ...counts));
      this.#countCompiling(engine);
    };
    const groups = new Set(all.map(({ group }) => group));
    const settled = await Promise.allSettled([load(), ...[...groups].map(warm)]);
    for (const each of settled) {
      if (each.status === 'fulfilled') continue;
      if (!(each.reason instanceof MsmError)) throw each.reason;
      // nobody may wait for it, and proofs do without
      if (!this.#isOver && !this.#options.signal?.aborted) this.#warnOf(each.reason);
    }
  }

  /** One for each group, when it is first needed. One that could not be had is not asked for again. */
  #engine(curve: FfCurveName, group: Group): Promise<MsmEngine<Coordinate>> {
    const key = `${curve} ${group}`;
    const known = this.#engines.get(key);
    if (known !== undefined) return known;
    const { engines, basesBudget } = this.#options;
    const [other] = this.#engines.values();
    const make = async (): Promise<MsmEngine<Coordinate>> => {
      // one device for all, so that a witness is there for both groups, and calls are in one line
      const deviceOf = await other?.catch(() => undefined);
      const own = { ...engines, curve, ...(deviceOf && { deviceOf }) };
      const engine = await (group === 'g1' ? createMsmEngine(own) : createMsmEngine({ ...own, group }));
      const { maxBufferSize = Number.POSITIVE_INFINITY } = engine as { readonly maxBufferSize?: number };
      this.counts.basesBudget = basesBudget ?? defaultBasesBudget(maxBufferSize);
      return engine;
    };
    const made = make();
    // whoever asks for it hears of it, which may be later
    made.catch(() => undefined);
    this.#engines.set(key, made);
    return made;
  }

  #warn(kind: Warning, message: string): void {
    if (this.#warned.has(kind)) return;
    this.#warned.add(kind);
    this.#options.warn(`webgpu-msm: ${message}`);
  }

  #warnOf({ message }: MsmError): void {
    this.#warn('not ours', `snarkjs computes by itself what this library could not: ${message}`);
  }

  #warnTight(bytes: number): void {
    const { basesBudget } = this.counts;
    this.#warn(
      'tight',
      `points are loaded again for each proof, as basesBudget, ${basesBudget} bytes, has no room for all of them: ${bytes} would do`,
    );
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
   * Has snarkjs compute its MSMs with this library: `multiExpAffine`, and `multiExpAffineChunked` where there is one, in both groups of bn128 and bls12381, also
   * of curves that snarkjs makes later; of those without threads with `singleThread` only. Proofs are what they would be. What this library cannot do snarkjs does, with one warning;
   * an engine that could not be opened is not tried again before the next `accelerate`. Points and scalars are compared or copied before an MSM's call returns,
   * but for points that are read in chunks; where snarkjs computes after all, it reads the points later.
   *
   * @param snarkjs as it was imported
   * @returns what takes everything back
   * @throws MsmError `bad-argument` for what is not snarkjs or is no such option, and where it is at work already, be it by another copy of this library
   */
  (snarkjs: Snarkjs, options?: AccelerateOptions): Promise<Restore>;
  /** Counts since `accelerate` was last called. */
  readonly stats: AccelerateStats;
  /**
   * Loads the points of a key in the background, and compiles, so that the first proof finds both done: `accelerate.prepare(await openZkey(file))`, with `openZkey` of
   * `webgpu-msm/formats`. It need not be awaited: where this library cannot, there is the one warning, and it resolves, as it does once all is taken back.
   *
   * @throws MsmError `bad-argument` where `accelerate` is not at work or `zkey` is no key; and what reading the file throws
   */
  prepare(zkey: Groth16Zkey | PlonkZkey): Promise<void>;
}

const begin = async (snarkjs: Snarkjs, options: AccelerateOptions = {}): Promise<Restore> => {
  const curves = curvesOf(snarkjs);
  const read = await readAccelerateOptions(options);
  const own = new Accelerator(read);
  const type = read.singleThread ? await groupClassOf(curves) : null;
  // two would take back what the other has put there
  if (isReplaced())
    throw badArgument('snarkjs is accelerated already, maybe by another copy of this library; take that back before');
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
  if (current === null) throw badArgument('nothing is accelerated: call accelerate before');
  await current.prepare(zkey);
};

/** snarkjs computes its MSMs with this library: `const restore = await accelerate(snarkjs)`. */
export const accelerate: Accelerate = /* @__PURE__ */ Object.defineProperties(begin, {
  prepare: { value: prepare },
  stats: { get: (): AccelerateStats => structuredClone(last?.counts ?? noCounts()) },
}) as Accelerate;
