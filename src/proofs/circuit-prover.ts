/** A key that proves: what the keys of all proof systems have in common. */
import type { EngineStats, TurnOptions } from '../api/calls.js';
import type { MsmEngine } from '../api/engine.js';
import type { Coordinate } from '../api/values.js';
import { defaultMemoryLimit, limitOf } from '../engine/main-memory.js';
import { engineOptions, memoryLimitRow, progressRow, signalRow, turnRows } from '../engine/options.js';
import { assertNotAborted, badArgument, fromCaller, MsmError, onAbort, UNVERIFIED, warnBy } from '../errors.js';
// From the entry, so that the build leaves in fields.js what both share.
import { createFieldEngine } from '../fields.js';
import type { KeyReader } from '../formats/cached-file.js';
import { zkeyOf } from '../formats/compact-source.js';
import { openOrigin } from '../formats/file-origin.js';
import type { KeyCacheAt } from '../formats/key-cache.js';
import { type FileOrigin, type FileSource, openFile } from '../formats/source.js';
import type { KeyLoading } from '../formats/stored-keys.js';
import { readZkey, type Zkey } from '../formats/zkey.js';
import { inspect, printed } from '../handle.js';
import { type OptionTable, pickRows, type ReadOptions, readOptions, setOptions } from '../option-table.js';
import { CallQueue, type QueueCaps } from '../scheduling/call-queue.js';
import { dueTime, type Waiting } from '../scheduling/edf.js';
import { mostWorkers } from '../threads/platform.js';
import type {
  CircuitFacts,
  CircuitKey,
  EngineOptions,
  KeyMemory,
  ProofProgress,
  ProveOptions,
  ProvingKeyOptions,
  VerifyOptions,
} from './api.js';
import { type KeyLimit, workersUnder } from './key-memory.js';
import type { KeyVectors } from './key-vectors.js';
import { copyWitness, erase, giveBack } from './witness.js';

/** A proof that is being computed. */
export interface ProofRun {
  /** Urgency of its sums and vectors: they are due when the proof is. */
  readonly turn: Required<TurnOptions>;
  /** Ends all parts. */
  readonly ending: AbortController;
  /** Takes secrets, which are overwritten when nothing uses them. */
  readonly secrets: Uint8Array[];
  /** Reports that one more part is complete. @param part as `ProofProgress` has it */
  readonly onPart: (part: string) => void;
  /** Warns the owner of the key, once for each message. */
  readonly warn: (message: string) => void;
}

const destroyedError = (): MsmError =>
  new MsmError('destroyed', 'the proving key was destroyed; open it again with openProvingKey');

/** A proof that is verified, and its public values: anything that a caller passed. */
export interface Statement {
  readonly proof: unknown;
  readonly publicSignals: unknown;
}

/** `ProvingKey.prove`. */
export const proveOptions = {
  of: 'prove',
  rows: { ...turnRows, signal: signalRow, onProgress: progressRow, verifyProof: { kind: 'flag', default: false } },
} as const satisfies OptionTable<ProveOptions>;

/** `ProvingKey.verify`. */
const verifyOptions = {
  of: 'verify',
  rows: { signal: signalRow },
} as const satisfies OptionTable<VerifyOptions>;

/** Options that keys pass on to their engines. */
const ofEngines = [
  'backend',
  'device',
  'deviceOf',
  'gpu',
  'maxWorkers',
  'createWorker',
  'memoryBudget',
  'deviceBudget',
  'retries',
  'sharing',
  'tuning',
  'verify',
  'onWarning',
] as const satisfies readonly (keyof EngineOptions)[];

/** `openProvingKey` in all proof systems. */
export const keyOptions = {
  of: 'openProvingKey',
  rows: {
    .../* @__PURE__ */ pickRows(engineOptions.rows, [...ofEngines, 'maxQueued', 'onEvent']),
    signal: signalRow,
    cache: { kind: 'cache' },
    memoryLimit: memoryLimitRow,
  },
} as const satisfies OptionTable<ProvingKeyOptions>;

/** Settings that the options of a key make: its engines, its queue, and where warnings go. */
export interface KeySettings {
  /** Options of engines that are set; a limit above the default, which would leave sums fewer workers. */
  readonly ofEngines: EngineOptions & Pick<ProvingKeyOptions, 'memoryLimit'>;
  /** Main memory of the key and its proofs. */
  readonly limit: KeyLimit;
  /** Limits of the queue of its proofs. */
  readonly mostQueued: QueueCaps;
  readonly onEvent: EngineOptions['onEvent'];
  /** False if one proof is under way at a time, whatever has room. */
  readonly overlaps: boolean;
}

/**
 * Opens the file of a key, through a cache if there is one, and loads the key.
 *
 * @param load loads the key, and checks all points that it reads unless `areChecked` of the reader says
 *   that they were checked before
 * @throws MsmError `bad-argument`; errors of reading the file, and of `load`
 */
export const loadThroughCache = async <Key extends Pick<CircuitProver<never>, 'keptBy'>>(
  origin: FileOrigin,
  {
    cache,
    signal,
    onWarning,
    memoryLimit,
    maxWorkers,
    createWorker,
    backend,
    device,
    deviceOf,
    gpu,
  }: Pick<
    ProvingKeyOptions,
    | 'cache'
    | 'signal'
    | 'onWarning'
    | 'memoryLimit'
    | 'maxWorkers'
    | 'createWorker'
    | 'backend'
    | 'device'
    | 'deviceOf'
    | 'gpu'
  >,
  load: (zkey: Zkey, reader: KeyReader | null) => Promise<Key>,
): Promise<Key> => {
  const through = cache as KeyCacheAt | undefined;
  const inParts = cache !== undefined || memoryLimit !== undefined;
  const given = await openOrigin('zkey', origin, { signal, inParts }, through);
  const warn = (message: string): void => warnBy(onWarning, message);
  // after a loss the CPU computes, so nothing needs a copy
  const openGpu = (p: bigint) =>
    createFieldEngine({ field: { p }, backend: 'gpu', retainVectors: false, device, deviceOf, gpu });
  const places = { maxWorkers, createWorker, openGpu: backend === 'gpu' ? openGpu : undefined };
  const opening = zkeyOf(openFile('zkey', given, signal), places, signal);
  if (through === undefined) return load(await readZkey(await opening, warn), null);
  const loading = await opening
    .then((file) => through.through(given, file, warn))
    .catch(async (error: unknown) => {
      await through.leave(given);
      throw error;
    });
  try {
    const zkey = await readZkey({ file: openFile('zkey', loading.reader, signal) }, warn);
    const key = await load(zkey, loading.reader);
    await loading.keep(zkey);
    key.keptBy(loading);
    return key;
  } catch (error) {
    await loading.drop();
    throw error;
  }
};

const NO_LIMITS = { calls: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY } as const;

/** Returns the settings of a key. */
export const keySettingsOf = (read: ReadOptions<ProvingKeyOptions, typeof keyOptions.rows>): KeySettings => {
  const { maxQueued = NO_LIMITS, onEvent, sharing, memoryLimit } = read;
  const engines = setOptions(Object.fromEntries(ofEngines.map((name) => [name, read[name]]))) as EngineOptions;
  const most = mostWorkers(engines);
  const limit = { ...limitOf(memoryLimit), mostWorkers: most, hasFixedWorkers: engines.maxWorkers !== undefined };
  const maxWorkers = workersUnder(limit);
  const isRaised = memoryLimit !== undefined && memoryLimit > defaultMemoryLimit();
  return {
    ofEngines: { ...(maxWorkers < most && { maxWorkers }), ...engines, ...(isRaised && { memoryLimit }) },
    limit,
    mostQueued: maxQueued,
    onEvent,
    overlaps: sharing?.overlap !== false,
  };
};

/** Engines, vectors and settings with which a key proves. */
interface ProverParts {
  readonly settings: KeySettings;
  /** Proofs that are under way at a time, by the memory that they take. */
  readonly proofsAtATime: number;
  /** Engines of large sums, of which the first has the key's device. */
  readonly engines: readonly [MsmEngine, ...MsmEngine<Coordinate>[]];
  readonly vectors: Pick<KeyVectors<never>, 'memoryUsed' | 'trim' | 'destroy'>;
  /** The least `memoryLimit` that the key opens with, in bytes. */
  readonly leastLimit: number;
  /** Returns the bytes of the key's points. */
  points(): PointBytes;
}

/** A key in its cache, as the key that is loaded sees it. */
type KeptKey = Pick<KeyLoading, 'forgetIfWrong' | 'endUse'>;

/** Bytes of points that stay in main memory, and of those that each proof reads from the file. */
export interface PointBytes {
  readonly loaded: number;
  readonly paged: number;
}

export abstract class CircuitProver<Result extends Statement> implements CircuitKey {
  readonly curve: CircuitFacts['curve'];
  readonly variables: number;
  readonly publicSignals: number;
  readonly domainSize: number;
  /** Parts of a proof, for progress. */
  readonly #parts: number;
  readonly #onWarning: KeySettings['ofEngines']['onWarning'];
  readonly #warned = new Set<string>();
  readonly #limit: number;
  readonly #queue: CallQueue;
  readonly #engines: ProverParts['engines'];
  readonly #vectors: ProverParts['vectors'];
  readonly #points: ProverParts['points'];
  readonly #leastLimit: number;
  /** Ends the proofs that are being computed. */
  readonly #endings = new Set<AbortController>();
  #isDestroyed = false;
  /** The cache that has the key. */
  #kept: KeptKey | null = null;

  /** @param parts of a proof */
  constructor(
    { curve, variables, publicSignals, domainSize }: CircuitFacts,
    parts: number,
    { settings, proofsAtATime, engines, vectors, points, leastLimit }: ProverParts,
  ) {
    this.curve = curve;
    this.variables = variables;
    this.publicSignals = publicSignals;
    this.domainSize = domainSize;
    this.#parts = parts;
    const { ofEngines, limit, mostQueued, onEvent, overlaps } = settings;
    this.#onWarning = ofEngines.onWarning;
    this.#limit = limit.bytes;
    this.#queue = new CallQueue(mostQueued, onEvent, overlaps ? proofsAtATime : 1);
    this.#engines = engines;
    this.#vectors = vectors;
    this.#points = points;
    this.#leastLimit = leastLimit;
  }

  /** Computes a proof. @param witness a copy, if it is in memory */
  protected abstract compute(witness: FileSource, run: ProofRun): Promise<Result>;

  /** Returns whether a proof verifies. @throws MsmError `bad-argument` if it is no proof */
  protected abstract check(statement: Statement, signal: AbortSignal | undefined): Promise<boolean>;

  /** Destroys the engines. */
  protected abstract free(): void;

  /** Takes the cache that has the key, for when a proof does not verify, and when the key is destroyed. */
  keptBy(kept: KeptKey): void {
    this.#kept = kept;
  }

  /**
   * If a proof does not verify, the witness may be wrong, or the key, in matrices or polynomials, which
   * nothing checks. A key that the cache has from a source that was damaged then is deleted there.
   *
   * @throws MsmError `bad-argument` if a proof of this key does not verify
   */
  async #assertVerifies(result: Result, { ending, onPart }: ProofRun): Promise<void> {
    if (!(await this.check(result, ending.signal))) {
      const isForgotten = (await this.#kept?.forgetIfWrong(ending.signal)) === true;
      throw badArgument(
        `${UNVERIFIED}, so the witness does not satisfy the circuit, the key is damaged, or a computation was wrong${isForgotten ? '; the key in the cache was not that of its file and was deleted, so open it again' : ''}`,
      );
    }
    onPart('verification');
  }

  /** Rejects after `destroy`, during the work too. */
  async #whileOpen<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#isDestroyed) throw destroyedError();
    try {
      const value = await work();
      if (!this.#isDestroyed) return value;
    } catch (error) {
      if (!(this.#isDestroyed && error instanceof MsmError)) throw error;
    }
    throw destroyedError();
  }

  #fromCaller<Value>(work: () => Promise<Value>): Promise<Value> {
    return fromCaller(() => this.#whileOpen(work));
  }

  verify(proof: unknown, publicSignals: unknown, options: VerifyOptions = {}): Promise<boolean> {
    return this.#fromCaller(async () => {
      const { signal } = readOptions(verifyOptions, options);
      assertNotAborted(signal, 'verification');
      return this.check({ proof, publicSignals }, signal);
    });
  }

  prove(witness: FileSource, options: ProveOptions = {}): Promise<Result> {
    return this.#fromCaller(() => this.#prove(witness, options));
  }

  /** Queues a proof, and computes it when it has its turn. */
  async #prove(witness: FileSource, options: ProveOptions): Promise<Result> {
    const settings = readOptions(proveOptions, options);
    const { signal, priority, deadline = null } = settings;
    assertNotAborted(signal, 'proof');
    const secrets: Uint8Array[] = [];
    const source = copyWitness(witness, secrets);
    const bytes = secrets.reduce((sum, { length }) => sum + length, 0);
    let hasBegun = false;
    const begin = (place: Waiting): Promise<Result> => {
      hasBegun = true;
      return this.#compute(source, secrets, place, settings);
    };
    try {
      return await this.#queue.run(begin, { kind: 'proof', priority, deadline, bytes, signal });
    } finally {
      // a proof that has begun may still read its witness after the call has ended
      if (!hasBegun) erase(secrets);
    }
  }

  /** Computes a proof. @param place of the call in the queue */
  async #compute(
    witness: FileSource,
    secrets: Uint8Array[],
    place: Waiting,
    { signal, onProgress, verifyProof }: ReadOptions<ProveOptions, typeof proveOptions.rows>,
  ): Promise<Result> {
    const total = this.#parts + Number(verifyProof);
    const done = new Set<string>();
    const run: ProofRun = {
      get turn() {
        return { priority: place.priority, deadline: Math.max(0, dueTime(place) - performance.now()) };
      },
      ending: new AbortController(),
      secrets,
      onPart: (part) => {
        // the CPU repeats parts of a GPU that failed
        if (done.has(part)) return;
        done.add(part);
        const progress: ProofProgress = { phase: 'prove', part, done: done.size, total };
        onProgress?.(progress);
      },
      warn: (message) => {
        if (!this.#warned.has(message)) warnBy(this.#onWarning, message);
        this.#warned.add(message);
      },
    };
    const unsubscribe = onAbort(signal, () => run.ending.abort(signal?.reason));
    this.#endings.add(run.ending);
    let isDone = false;
    try {
      assertNotAborted(signal, 'proof');
      const result = await this.compute(witness, run);
      if (verifyProof) await this.#assertVerifies(result, run);
      assertNotAborted(run.ending.signal, 'proof');
      isDone = true;
      return result;
    } finally {
      unsubscribe();
      this.#endings.delete(run.ending);
      erase(secrets);
      // a sum that was aborted may still look at its scalars
      if (isDone) giveBack(secrets);
    }
  }

  get stats(): EngineStats {
    const all = this.#engines.map(({ stats }) => stats);
    const sumOf = (name: 'gpuMs' | 'retries'): number => all.reduce((sum, each) => sum + each[name], 0);
    const { frees } = this.#engines[0].stats;
    return { ...this.#queue.stats, gpuMs: sumOf('gpuMs'), retries: sumOf('retries'), frees };
  }

  get memory(): KeyMemory {
    const all = this.#engines.map(({ memory }) => memory);
    const sumOf = (name: keyof (typeof all)[number]): number => all.reduce((sum, each) => sum + each[name], 0);
    const vectors = this.#vectors.memoryUsed;
    const { loaded, paged } = this.#isDestroyed ? { loaded: 0, paged: 0 } : this.#points();
    return {
      bases: sumOf('bases'),
      scalars: sumOf('scalars'),
      scratch: sumOf('scratch'),
      peak: sumOf('peak'),
      vectors,
      points: loaded,
      pagedPoints: paged,
      limit: this.#limit,
      leastLimit: this.#leastLimit,
    };
  }

  trim(): Promise<void> {
    return this.#whileOpen(async () => {
      this.#vectors.trim();
      for (const engine of this.#engines) await engine.trim();
    });
  }

  destroy(): void {
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    for (const ending of this.#endings) ending.abort();
    this.#vectors.destroy();
    this.free();
    this.#queue.end(destroyedError());
    this.#kept?.endUse();
  }

  [Symbol.dispose](): void {
    this.destroy();
  }

  get [Symbol.toStringTag](): string {
    return 'ProvingKey';
  }

  [inspect](): object {
    const { curve, variables, publicSignals, domainSize } = this;
    return printed('ProvingKey', { curve, variables, publicSignals, domainSize, isDestroyed: this.#isDestroyed });
  }
}

/* Advice to those who prove in a Node whose WebAssembly is slow. */

/** Domain from which on proofs take long enough for another Node to matter. */
const LEAST_DOMAIN = 2 ** 12;

/** `(f64x2) → f64x2.relaxed_madd`, the instruction of the fastest arithmetic, as a module. */
const MADD = [
  ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
  ...[0x01, 0x08, 0x01, 0x60, 0x03, 0x7b, 0x7b, 0x7b, 0x01, 0x7b],
  ...[0x03, 0x02, 0x01, 0x00],
  ...[0x0a, 0x0d, 0x01, 0x0b, 0x00, 0x20, 0x00, 0x20, 0x01, 0x20, 0x02, 0xfd, 0x87, 0x02, 0x0b],
];

/** Returns the major version of Node, if its WebAssembly has no relaxed SIMD; else null. */
const oldNode = (): number | null => {
  const { process } = globalThis as { process?: { versions?: Readonly<Record<string, string | undefined>> } };
  const { node, bun, deno } = process?.versions ?? {};
  if (node === undefined || bun !== undefined || deno !== undefined || typeof WebAssembly !== 'object') return null;
  return WebAssembly.validate(Uint8Array.from(MADD)) ? null : Number.parseInt(node, 10);
};

let hasWarned = false;

/**
 * Warns once that a newer Node proves faster, when the CPU is to prove with a large key in an old
 * one.
 *
 * @param engine the engine of the key's G1
 */
export const warnOfOldNode = (
  { domainSize }: { readonly domainSize: number },
  { backends }: Pick<MsmEngine, 'backends'>,
  { onWarning }: { readonly onWarning?: ((message: string) => void) | undefined },
): void => {
  if (hasWarned || domainSize < LEAST_DOMAIN || backends[0] !== 'cpu') return;
  const version = oldNode();
  if (version === null) return;
  hasWarned = true;
  warnBy(
    onWarning,
    `WebAssembly of Node ${version} lacks fused multiply-adds, with which proofs take about a third of the CPU time. Use Node 24, or 22.`,
  );
};
