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

/** The part of an engine that is compared. */
export type ComparedEngine = Pick<MsmEngine, 'loadBases' | 'msm' | 'lastRun'>;

export class Contestant {
  readonly name: string;
  readonly #engine: ComparedEngine;
  readonly #bases: Bases;
  readonly #plans = new Set<string>();

  private constructor(name: string, engine: ComparedEngine, bases: Bases) {
    this.name = name;
    this.#engine = engine;
    this.#bases = bases;
  }

  static async load(
    name: string,
    engine: ComparedEngine,
    points: Uint8Array<ArrayBuffer>,
    options: LoadBasesOptions = {},
  ): Promise<Contestant> {
    return new Contestant(name, engine, await engine.loadBases(points, options));
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
    const got = await this.#engine.msm(this.#bases, scalars);
    const wall = performance.now() - begun;
    if (!samePoint(got, expected)) {
      throw new Error(`WRONG: ${this.name}, ${name}: ${spell(got)} for ${spell(expected)}; no time counts`);
    }
    this.#plans.add(JSON.stringify(this.#engine.lastRun?.tuning ?? null));
    return wall;
  }
}

const spell = ({ x, y, infinity }: AffinePoint): string =>
  infinity ? 'infinity' : `(0x${x.toString(16)}, 0x${y.toString(16)})`;
