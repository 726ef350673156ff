/** One side of a comparison: an engine with its bases, of which no time counts before its result was found right. */
import type { Bases, LoadBasesOptions, MsmEngine } from '../../src/api.js';
import { type AffinePoint, samePoint } from '../oracle/known-bases.mjs';

export type SideName = 'A' | 'B';

/** What is computed in a pair, the same for both. */
export interface Round {
  readonly name: string;
  /** As `engine.msm` takes them. */
  readonly scalars: Uint8Array<ArrayBuffer>;
  readonly expected: AffinePoint;
}

/** A result that is not the oracle's. */
export class WrongResultError extends Error {
  /** Whose. */
  readonly contestant: string;

  constructor(contestant: string, message: string) {
    super(message);
    this.name = 'WrongResultError';
    this.contestant = contestant;
  }
}

/** The part of an engine that is compared. */
export type ComparedEngine = Pick<MsmEngine, 'loadBases' | 'msm' | 'lastRun'>;

export class Contestant {
  readonly name: string;
  readonly #engine: ComparedEngine;
  readonly #bases: Bases;
  readonly #signal: AbortSignal | undefined;
  readonly #onRun: ((record: MsmEngine['lastRun']) => void) | undefined;
  readonly #plans = new Set<string>();

  private constructor(
    name: string,
    engine: ComparedEngine,
    bases: Bases,
    signal: AbortSignal | undefined,
    onRun: ((record: MsmEngine['lastRun']) => void) | undefined,
  ) {
    this.name = name;
    this.#engine = engine;
    this.#bases = bases;
    this.#signal = signal;
    this.#onRun = onRun;
  }

  /**
   * @param options also those of every round, as far as they go for it
   * @param onRun told what the engine did, after each round whose result was right
   */
  static async load(
    name: string,
    engine: ComparedEngine,
    points: Uint8Array<ArrayBuffer>,
    options: LoadBasesOptions = {},
    onRun?: (record: MsmEngine['lastRun']) => void,
  ): Promise<Contestant> {
    return new Contestant(name, engine, await engine.loadBases(points, options), options.signal, onRun);
  }

  /** GPU memory of its points. */
  get basesBytes(): number {
    return this.#bases.byteLength;
  }

  /** What the last round was computed on, and with which knobs; null where a build tells nothing. */
  get lastRun(): MsmEngine['lastRun'] {
    return this.#engine.lastRun;
  }

  /** How many different sets of knobs the timed rounds had: an engine that learns its device's speed may change some. */
  get plans(): number {
    return this.#plans.size;
  }

  /**
   * Compiles, and lets the engine learn what it wants to know of the device.
   *
   * @throws Error `WRONG: …`
   */
  async warmUp(rounds: readonly Round[]): Promise<void> {
    for (const round of rounds) await this.time(round);
    this.#plans.clear();
  }

  /**
   * @returns milliseconds from the call to the result
   * @throws Error `WRONG: …`
   */
  async time({ name, scalars, expected }: Round): Promise<number> {
    const begun = performance.now();
    const got = await this.#engine.msm(
      this.#bases,
      scalars,
      this.#signal === undefined ? {} : { signal: this.#signal },
    );
    const wall = performance.now() - begun;
    if (!samePoint(got, expected)) {
      throw new WrongResultError(
        this.name,
        `WRONG: ${this.name}, ${name}: ${spell(got)} for ${spell(expected)}; no time counts`,
      );
    }
    this.#plans.add(JSON.stringify(this.#engine.lastRun?.tuning ?? null));
    this.#onRun?.(this.#engine.lastRun);
    return wall;
  }

  /** Frees the bases; the engine is the caller's. */
  destroy(): void {
    this.#bases.destroy();
  }
}

const spell = ({ x, y, infinity }: AffinePoint): string =>
  infinity ? 'infinity' : `(0x${x.toString(16)}, 0x${y.toString(16)})`;
