/** The MSMs of snarkjs, computed by this library. */
import type { Bases, MsmEngine } from '../api/engine.js';
import type { Coordinate } from '../api/values.js';
import type { Group } from '../curves/more-curves.js';
import { assertNotAborted, badArgument, kindOf, MsmError, untilAborted } from '../errors.js';
import type { PointSection } from '../formats/source.js';
import type { Zkey } from '../formats/zkey.js';
import { openZkey } from '../formats.js';
import { noCounts, type ReadAccelerateOptions, tightWarning } from './accelerate-options.js';
import { BasesCache, isLeftToSnarkjs, leftToSnarkjs, type PointFile, ScalarsCache } from './caches.js';
import {
  copyOf,
  type FfBytes,
  type FfCurveName,
  type FfGroup,
  type GroupMethods,
  globalOf,
  type ProofWatch,
  threadedGroup,
} from './ffjavascript.js';
import { type KeySource, openKeySource, type SnarkjsFile } from './proof-files.js';
import { type OriginalGroup, ProverEngines } from './prover-engines.js';
import type { SetupsHost } from './setups.js';
import { WholeProofs } from './whole-proofs.js';

/** Kinds of warnings. Each kind is given once. */
type Warning = 'fallback' | 'proof' | 'setup' | 'bypassed' | 'sums' | 'budget';

/** Returns whether an error says that bytes are no point. */
const isOfPoints = (error: unknown): boolean =>
  error instanceof MsmError && (error.code === 'not-on-curve' || /^points\[/.test(error.message));

/** Returns the points of a key. @throws MsmError `bad-argument` if it is no result of `openZkey` */
const sectionsOf = ({ curve, protocol, sections }: Zkey): readonly PointSection[] => {
  const names = protocol === 'groth16' ? ['a', 'b1', 'b2', 'c', 'h'] : ['ptau'];
  const all = names.map((name) => (sections as Readonly<Record<string, PointSection>> | null)?.[name]);
  const areSections = all.every((section) => typeof section?.points === 'function');
  if (!areSections || !Object.hasOwn(globalOf, curve)) {
    throw badArgument('zkey must be a result of openZkey, or a key as snarkjs takes it');
  }
  return all as readonly PointSection[];
};

/** Computes the MSMs and proofs of one snarkjs module until it is ended. */
export class Accelerator {
  readonly counts = noCounts();
  readonly proofs: WholeProofs;
  readonly #options: ReadAccelerateOptions;
  readonly #engines: ProverEngines;
  readonly #bases: BasesCache;
  readonly #scalars: ScalarsCache;
  /** Groups G1 with their own MSMs. */
  readonly #originals = new WeakMap<FfGroup, OriginalGroup>();
  #isOver = false;
  readonly #warned = new Set<Warning>();
  /** Counts since a proof was last written. */
  readonly #seen = { msms: 0, computed: 0, draws: 0, transforms: 0 };
  readonly #hasProvers: boolean;

  /** @param snarkjs whether it has provers, and exports its curves */
  constructor(options: ReadAccelerateOptions, snarkjs: { readonly hasProvers: boolean; readonly hasCurves: boolean }) {
    const { hasProvers, hasCurves } = snarkjs;
    this.#hasProvers = hasProvers;
    this.#options = options;
    this.#engines = new ProverEngines(options, this.counts);
    const { counts } = this;
    // keys come first: points of the same key are loaded for MSMs only where the key has no room
    const bytes = (): number => Math.max(0, counts.basesBudget - counts.keyBytes);
    const warnTight = (enough: number): void => this.#warnTight(enough);
    const budget = { bytes, onTight: (enough: number) => warnTight(enough + counts.keyBytes) };
    this.#bases = new BasesCache(budget, this.counts, options.signal);
    this.#scalars = new ScalarsCache(this.counts, options.signal);
    this.proofs = new WholeProofs({
      ...{ options, counts, warnTight, hasCurves },
      engine: (curve) => this.#engines.get(curve, 'g1'),
      isSlower: (curve) => this.#isSlower(curve),
      warnOf: (error) => this.#warnOfProof(error),
    });
  }

  /** Returns whether snarkjs computes a curve faster. */
  #isSlower(curve: FfCurveName): Promise<boolean> {
    const group = threadedGroup(curve);
    return this.#engines.isSlower(curve, (group && this.#originals.get(group)) ?? null);
  }

  /** Warns of proofs of which this library computed nothing, or sums alone. */
  readonly watch: ProofWatch = {
    draws: () => {
      this.#seen.draws++;
    },
    transforms: () => {
      this.#seen.transforms++;
    },
    writes: () => {
      const { msms, computed, draws, transforms } = this.#seen;
      if (transforms === 0) return;
      Object.assign(this.#seen, { msms: 0, computed: 0, draws: 0, transforms: 0 });
      if (msms === 0)
        this.#warn(
          'bypassed',
          'the proof was not accelerated: this snarkjs computes MSMs by methods of its curves that this version of webgpu-msm does not replace',
        );
      if (computed > 0 && draws > 0 && this.#hasProvers && !this.proofs.isSnarkjsProving)
        this.#warn(
          'sums',
          'only the MSMs of this proof were accelerated, because it was computed by a prove of snarkjs that accelerate cannot replace, such as that of an ES module; whole proofs are faster: const { groth16 } = await accelerate(snarkjs), then groth16.prove, or likewise plonk and fflonk',
        );
    },
  };

  /** Makes the methods that replace the MSM methods of a group. */
  readonly replacement = (
    curve: FfCurveName,
    name: Group,
    group: FfGroup,
    { multiExpAffine, multiExpAffineChunked }: GroupMethods,
  ): GroupMethods => {
    const pointBytes = 2 * group.F.n8;
    if (name === 'g1' && typeof multiExpAffine === 'function') this.#originals.set(group, { group, multiExpAffine });
    return {
      multiExpAffine: (bases, scalars, ...more) => {
        const given = bases.byteLength / pointBytes;
        const n = filledPoints(bases, pointBytes);
        const filled = n === given ? bases : (bases as Uint8Array).subarray(0, n * pointBytes);
        return this.#compute({
          ...{ curve, name, group, given, n, scalars },
          file: {
            ...{ byteLength: n * pointBytes, pointBytes },
            read: async (offset, length) => bases.slice(offset, offset + length) as Uint8Array,
          },
          with: (engine, use) => this.#bases.with(engine, filled, use),
          original: (copied) => multiExpAffine(bases, copied, ...more),
        });
      },
      ...(multiExpAffineChunked && {
        multiExpAffineChunked: (read, byteLength, scalars, ...more) => {
          const given = typeof read === 'function' ? byteLength / pointBytes : Number.NaN;
          const file = { byteLength, pointBytes, read };
          return this.#compute({
            ...{ curve, name, group, given, n: given, scalars, file },
            with: (engine, use) => this.#bases.withFile(engine, file, use),
            original: (copied) => multiExpAffineChunked(read, byteLength, copied, ...more),
          });
        },
      }),
    };
  };

  async #compute(msm: MsmForSnarkjs): Promise<Uint8Array> {
    const { curve, name, group, given, n, scalars, original } = msm;
    this.#seen.msms++;
    const each = given === 0 ? 0 : scalars.byteLength / given;
    // snarkjs reports invalid arguments itself
    const isUsual = Number.isInteger(given) && Number.isInteger(each) && each > 0 && each <= SCALAR_BYTES;
    if (this.#isOver || !isUsual) return original(scalars);
    const { signal } = this.#options;
    assertNotAborted(signal);
    if (n < this.#options.leastPoints) {
      this.counts.small++;
      return original(scalars);
    }
    if (this.counts.leftToSnarkjs.includes(curve)) {
      this.counts.slower++;
      return original(scalars);
    }
    const opening = this.#engines.get(curve, name);
    // snarkjs's own method copies too: the caller may change the scalars from now on
    const copied = zeroExtended(scalars, given, each, SCALAR_BYTES);
    try {
      const use = async (loaded: Bases) => {
        const engine = await opening;
        if (await this.#isSlower(curve)) throw leftToSnarkjs('snarkjs is faster');
        return this.#scalars.with(engine, curve, copied, (all) =>
          engine.msm(loaded, all.subarray(0, n), { result: 'le-montgomery', ...(signal && { signal }) }),
        );
      };
      const multiply = async () => {
        try {
          return await msm.with(opening, use);
        } catch (error) {
          const file = isOfPoints(error) ? withoutUnused(msm.file, copied) : null;
          if (file === null) throw error;
          return this.#bases.withFile(opening, file, use);
        }
      };
      const sum = await untilAborted(multiply(), signal);
      this.#count(await opening, n);
      return group.toJacobian(sum);
    } catch (error) {
      if (isLeftToSnarkjs(error)) {
        this.counts.slower++;
        return original(copied);
      }
      if (!(error instanceof MsmError)) throw error;
      // the acceleration was undone meanwhile, which is no failure
      if (this.#isOver) return original(copied);
      assertNotAborted(signal);
      // throws if an option proved invalid when the engine opened
      if (error.code === 'bad-argument') await opening;
      this.#warnOf(error);
      this.counts.fallbacks++;
      return original(copied);
    }
  }

  #count(engine: MsmEngine<Coordinate>, n: number): void {
    const { counts } = this;
    const run = engine.lastRun;
    const onCpu = run?.on === 'both' ? run.cpu : run;
    this.#seen.computed++;
    counts.calls++;
    counts.on[run?.on ?? 'cpu']++;
    counts.adapter = engine.adapter;
    counts.points += n;
    if (onCpu?.on === 'cpu') counts.workers = Math.max(counts.workers, onCpu.workers);
    this.#engines.countCompiling(engine);
  }

  /** @throws MsmError `bad-argument` if the argument is no key; and errors of reading it */
  async prepare(given: Zkey | SnarkjsFile): Promise<void> {
    const isOpen = (given as Partial<Zkey> | null | undefined)?.sections !== undefined;
    const file = isOpen ? null : await openKeySource(given, this.#options.readsInParts);
    const zkey =
      file === null ? (given as Zkey) : await openZkey(file.source, { onWarning: this.#options.engines.onWarning });
    const { curve } = zkey;
    const all = sectionsOf(zkey);
    const groups = new Set(all.map(({ group }) => group));
    const settled = await Promise.allSettled([
      file === null ? this.#load(curve, all) : this.#loadWhole(zkey, file, all),
      ...[...groups].map((group) => this.#warmUp(curve, group, all)),
    ]);
    for (const each of settled) {
      if (each.status === 'fulfilled') continue;
      if (!(each.reason instanceof MsmError)) throw each.reason;
      // a warning instead of a rejection: nobody may await the promise, and proofs work without
      if (!this.#isOver && !this.#options.signal?.aborted) this.#warnOf(each.reason);
    }
  }

  /** Loads a key for whole proofs, or else its points. */
  async #loadWhole({ curve, protocol }: Zkey, file: KeySource, sections: readonly PointSection[]): Promise<void> {
    const isLoaded = await this.proofs.prepare(protocol, file);
    if (!isLoaded) await this.#load(curve, sections);
  }

  async #load(curve: FfCurveName, sections: readonly PointSection[]): Promise<void> {
    for (const section of sections) {
      if (this.#isOver || (await this.#isSlower(curve))) return;
      const { byteLength, pointBytes, group } = section;
      const read = (from: number, length: number): Promise<Uint8Array> =>
        section.points(from / pointBytes, (from + length) / pointBytes);
      await this.#bases.withFile(
        this.#engines.get(curve, group),
        { byteLength, pointBytes, read },
        async () => undefined,
      );
    }
  }

  /** Compiles for the largest MSM over the sections of a group. */
  async #warmUp(curve: FfCurveName, group: Group, sections: readonly PointSection[]): Promise<void> {
    const engine = await this.#engines.get(curve, group);
    const counts = sections.map((section) => (section.group === group ? section.count : 0));
    if (!this.#isOver) await engine.warmup(Math.max(1, ...counts));
    this.#engines.countCompiling(engine);
  }

  #warn(kind: Warning, message: string): void {
    if (this.#warned.has(kind)) return;
    this.#warned.add(kind);
    this.#options.warn(`webgpu-msm: ${message}`);
  }

  #warnOf({ message }: MsmError): void {
    this.#warn('fallback', `snarkjs computes this MSM itself, because the acceleration failed: ${message}`);
  }

  #warnOfProof(error: unknown): void {
    const message = error instanceof Error ? error.message : kindOf(error);
    this.#warn('proof', `snarkjs computes this proof itself, because the library cannot: ${message}`);
  }

  /** Parts of it that setups use. */
  get forSetups(): SetupsHost {
    return {
      options: this.#options,
      isOver: () => this.#isOver,
      warnOf: (error) => {
        const message = error instanceof Error ? error.message : kindOf(error);
        this.#warn('setup', `snarkjs computes this setup itself, because the library cannot: ${message}`);
      },
    };
  }

  #warnTight(bytes: number): void {
    this.#warn('budget', tightWarning(this.counts.basesBudget, bytes));
  }

  /** Destroys the engines with all that they hold. Later MSMs are snarkjs's own. */
  end(): void {
    this.#isOver = true;
    this.proofs.end();
    this.#bases.clear();
    this.#scalars.clear();
    this.#engines.destroy();
  }
}

/** Returns a copy of n little-endian scalars of `from` bytes each, zero-extended to `to` bytes. */
const zeroExtended = (scalars: FfBytes, n: number, from: number, to: number): FfBytes => {
  if (from === to) return copyOf(scalars);
  const extended = new Uint8Array(n * to);
  for (let i = 0; i < n; i++) extended.set(scalars.slice(i * from, (i + 1) * from) as Uint8Array, i * to);
  return extended;
};

/**
 * Returns the number of points without trailing points at infinity, which are zeros. FFLONK's
 * prover appends many of them to the points of its key.
 */
const filledPoints = (bases: FfBytes, pointBytes: number): number => {
  if (!(bases instanceof Uint8Array)) return bases.byteLength / pointBytes;
  let end = bases.length;
  while (end > 0 && bases[end - 1] === 0) end--;
  return Math.ceil(end / pointBytes);
};

/** Bytes of a scalar on every curve of snarkjs. */
const SCALAR_BYTES = 32;

/** An MSM that snarkjs asked for. */
interface MsmForSnarkjs {
  readonly curve: FfCurveName;
  readonly name: Group;
  readonly group: FfGroup;
  /** Points as snarkjs passed them. */
  readonly given: number;
  /** Points without trailing points at infinity. */
  readonly n: number;
  readonly scalars: FfBytes;
  /** The points, to be read again. */
  readonly file: PointFile;
  /** Calls `use` with the points loaded on an engine. */
  with(engine: Promise<MsmEngine<Coordinate>>, use: (bases: Bases) => Promise<Uint8Array>): Promise<Uint8Array>;
  /** Computes the MSM by snarkjs's own method. */
  original(scalars: FfBytes): Promise<Uint8Array>;
}

/**
 * Returns the same points, but infinity wherever the scalar is zero; null if no scalar is. snarkjs
 * multiplies bytes that are no point by zero: `zKey.verifyFromInit` reads one place past a section
 * if the `.ptau` has exactly the power of the circuit.
 *
 * @param scalars `SCALAR_BYTES` each
 */
const withoutUnused = ({ byteLength, pointBytes, read }: PointFile, scalars: FfBytes): PointFile | null => {
  const scalar = (i: number): Uint8Array => scalars.slice(i * SCALAR_BYTES, (i + 1) * SCALAR_BYTES) as Uint8Array;
  const isUnused = (i: number): boolean => scalar(i).every((byte) => byte === 0);
  const unused = Array.from({ length: byteLength / pointBytes }, (_, i) => i).filter(isUnused);
  if (unused.length === 0) return null;
  return {
    byteLength,
    pointBytes,
    read: async (offset, length) => {
      const points = new Uint8Array(await read(offset, length));
      for (const i of unused) {
        const at = i * pointBytes - offset;
        if (at >= 0 && at < length) points.fill(0, at, at + pointBytes);
      }
      return points;
    },
  };
};
