/** Scalars of the last calls: several MSMs of a proof have the same ones, or the end of the same ones. */
import type { MsmEngine } from '../api/engine.js';
import type { Scalars } from '../api/handles.js';
import type { Coordinate } from '../api/values.js';
import type { LoadedScalars } from '../msm/inputs/loaded-scalars.js';
import { beginsWith } from './bases-shelf.js';
import type { FfBytes, FfCurveName } from './ffjavascript.js';

/** Of how many calls scalars stay: of as many proofs that are under way at a time. */
const KEPT = 2;

/** For how long they stay when no MSM has any: the next one of a proof comes sooner, and a witness is a secret and takes room. */
const IDLE_MS = 10_000;

interface Entry {
  readonly curve: FfCurveName;
  readonly scalars: LoadedScalars;
}

export class ScalarsCache {
  /** The last used first. */
  #entries: readonly Entry[] = [];
  readonly #counts: { sharedScalars: number };
  readonly #signal: AbortSignal | undefined;
  #users = 0;
  #idle: ReturnType<typeof setTimeout> | undefined;

  /** @param signal ends loads, for all who wait for them */
  constructor(counts: { sharedScalars: number }, signal: AbortSignal | undefined) {
    this.#counts = counts;
    this.#signal = signal;
  }

  /**
   * Has something done with scalars that are loaded, or are now.
   *
   * @param given 32 bytes each
   * @param use takes them before it waits for anything
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
        // of Node: what waits for nothing else may end
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
      this.#keep(entry);
      return use(found);
    }
    const signal = this.#signal;
    const scalars = (await engine.loadScalars(given, { ...(signal && { signal }) })) as LoadedScalars;
    this.#keep({ curve, scalars });
    return use(scalars);
  }

  #keep(entry: Entry): void {
    const entries = [entry, ...this.#entries.filter((each) => each !== entry)];
    for (const { scalars } of entries.slice(KEPT)) scalars.destroy();
    this.#entries = entries.slice(0, KEPT);
  }

  /** Forgets everything. */
  clear(): void {
    for (const { scalars } of this.#entries) scalars.destroy();
    this.#entries = [];
  }
}

/** What was given, if scalars begin or end with it. */
const partOf = (scalars: LoadedScalars, given: FfBytes): Scalars | null => {
  const { bytes, length } = scalars;
  const count = (given.byteLength * length) / bytes.length;
  if (beginsWith(bytes, given)) return scalars.subarray(0, count);
  return count < length && beginsWith(bytes.subarray(-given.byteLength), given)
    ? scalars.subarray(length - count)
    : null;
};
