/**
 * A cache of the last scalars: several MSMs of a proof have the same scalars, or a tail of them.
 */
import type { MsmEngine, Scalars } from '../api/engine.js';
import type { Coordinate } from '../api/values.js';
import type { LoadedScalars } from '../msm/inputs/scalars.js';
import { beginsWith } from './begins-with.js';
import type { FfBytes, FfCurveName } from './ffjavascript.js';

/** Entries: one for each of two proofs that run at a time. */
const CAPACITY = 2;

/**
 * How long scalars stay loaded while no MSM uses any, in ms. The next MSM of a proof starts sooner.
 * A witness is a secret and takes memory, so it does not stay for longer.
 */
const IDLE_MS = 10_000;

interface Entry {
  readonly curve: FfCurveName;
  readonly scalars: LoadedScalars;
}

export class ScalarsCache {
  /** Most recently used first. */
  #entries: readonly Entry[] = [];
  readonly #counts: { sharedScalars: number };
  readonly #signal: AbortSignal | undefined;
  #users = 0;
  #idle: ReturnType<typeof setTimeout> | undefined;

  /** @param signal aborts all loads */
  constructor(counts: { sharedScalars: number }, signal: AbortSignal | undefined) {
    this.#counts = counts;
    this.#signal = signal;
  }

  /**
   * Calls `use` with the given scalars, and loads them first if needed.
   *
   * @param given scalars of 32 bytes each, little-endian
   * @param use must pass the scalars on before it awaits anything
   */
  async with<Result>(
    engine: MsmEngine<Coordinate>,
    curve: FfCurveName,
    given: FfBytes,
    use: (scalars: Scalars) => Promise<Result>,
  ): Promise<Result> {
    clearTimeout(this.#idle);
    this.#users++;
    try {
      return await this.#with(engine, curve, given, use);
    } finally {
      if (--this.#users === 0) {
        this.#idle = setTimeout(() => this.clear(), IDLE_MS);
        // in Node, lets a process end that waits for this timer alone
        (this.#idle as { unref?(): void }).unref?.();
      }
    }
  }

  async #with<Result>(
    engine: MsmEngine<Coordinate>,
    curve: FfCurveName,
    given: FfBytes,
    use: (scalars: Scalars) => Promise<Result>,
  ): Promise<Result> {
    for (const entry of this.#entries) {
      const found = entry.curve === curve ? partOf(entry.scalars, given) : null;
      if (found === null) continue;
      this.#counts.sharedScalars++;
      this.#store(entry);
      return use(found);
    }
    const signal = this.#signal;
    const scalars = (await engine.loadScalars(given, { ...(signal && { signal }) })) as LoadedScalars;
    this.#store({ curve, scalars });
    return use(scalars);
  }

  #store(entry: Entry): void {
    const entries = [entry, ...this.#entries.filter((each) => each !== entry)];
    for (const { scalars } of entries.slice(CAPACITY)) scalars.destroy();
    this.#entries = entries.slice(0, CAPACITY);
  }

  /** Destroys all scalars. */
  clear(): void {
    for (const { scalars } of this.#entries) scalars.destroy();
    this.#entries = [];
  }
}

/**
 * Returns the range of `scalars` that equals the given scalars, if they are a beginning or an end
 * of them; else null.
 */
const partOf = (scalars: LoadedScalars, given: FfBytes): Scalars | null => {
  const { bytes, length } = scalars;
  const count = (given.byteLength * length) / bytes.length;
  if (beginsWith(bytes, given)) return scalars.subarray(0, count);
  return count < length && beginsWith(bytes.subarray(-given.byteLength), given)
    ? scalars.subarray(length - count)
    : null;
};
