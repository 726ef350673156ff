/** The engines of a prover, and the memory that its points may take. */
import type { MsmEngine } from '../api/engine.js';
import type { Coordinate } from '../api/values.js';
import type { Group } from '../curves/more-curves.js';
import { createMsmEngine } from '../index.js';
import type { Counts, EnginesOptions, ReadAccelerateOptions } from './accelerate-options.js';
import type { FfCurveName } from './ffjavascript.js';

/**
 * The engines of a prover, one for each group, created when first needed. All of them share one
 * device.
 */
export class ProverEngines {
  readonly #options: EnginesOptions;
  readonly #basesBudget: number | undefined;
  readonly #counts: Counts;
  readonly #engines = new Map<string, Promise<MsmEngine<Coordinate>>>();

  /** @param counts takes the adapter's bases budget and the compile times */
  constructor({ engines, basesBudget }: ReadAccelerateOptions, counts: Counts) {
    this.#options = engines;
    this.#basesBudget = basesBudget;
    this.#counts = counts;
    counts.basesBudget = basesBudget ?? defaultBasesBudget(Number.POSITIVE_INFINITY);
  }

  /**
   * Returns the engine of a group, which may still be opening. Does not retry an engine that failed
   * to open.
   */
  get(curve: FfCurveName, group: Group): Promise<MsmEngine<Coordinate>> {
    const key = `${curve} ${group}`;
    const known = this.#engines.get(key);
    if (known !== undefined) return known;
    const [other] = this.#engines.values();
    const opening = this.#open(curve, group, other);
    // callers see the failure when they await the engine, which may be later
    opening.catch(() => undefined);
    this.#engines.set(key, opening);
    return opening;
  }

  /**
   * @param other an engine whose device is used, so that groups share loaded scalars and one queue
   * of calls
   */
  async #open(
    curve: FfCurveName,
    group: Group,
    other: Promise<MsmEngine<Coordinate>> | undefined,
  ): Promise<MsmEngine<Coordinate>> {
    const deviceOf = await other?.catch(() => undefined);
    const own = { ...this.#options, curve, ...(deviceOf && { deviceOf }) };
    const engine = await (group === 'g1' ? createMsmEngine(own) : createMsmEngine({ ...own, group }));
    const { maxBufferSize = Number.POSITIVE_INFINITY } = engine as { readonly maxBufferSize?: number };
    this.#counts.basesBudget = this.#basesBudget ?? defaultBasesBudget(maxBufferSize);
    return engine;
  }

  /**
   * Updates the compile time from an engine. Every engine lists the pipelines of the one device.
   */
  countCompiling({ pipelines }: MsmEngine<Coordinate>): void {
    this.#counts.compileMs = Math.max(
      this.#counts.compileMs,
      pipelines.reduce((sum, { ms }) => sum + ms, 0),
    );
  }

  /** Destroys every engine, those that are still opening as soon as they are open. */
  destroy(): void {
    for (const engine of this.#engines.values()) {
      engine.then(
        (each) => each.destroy(),
        () => undefined,
      );
    }
    this.#engines.clear();
  }
}

/** The default of the option `basesBudget`. */

/** Main memory assumed where its size is unknown, in bytes. */
const UNKNOWN = 2 ** 32;

/** Share of main memory for points. Points take this much again on the device. */
const SHARE = 1 / 8;

/** Least budget, in bytes: the size of the key of a small circuit. */
const LEAST = 2 ** 26;

/**
 * Sources of the size of main memory that need no import. Browsers round `deviceMemory` to powers
 * of two, from 0.25 to 32 GiB. `availableMemory` of Node is the memory left to the process, in
 * bytes.
 */
interface MemorySources {
  readonly navigator?: { readonly deviceMemory?: unknown };
  readonly process?: { availableMemory?(): unknown };
}

const isAmount = (value: unknown): value is number =>
  typeof value === 'number' && value > 0 && value < Number.POSITIVE_INFINITY;

const mainMemory = ({ navigator, process }: MemorySources): number => {
  const gibibytes = navigator?.deviceMemory;
  if (isAmount(gibibytes)) return gibibytes * 2 ** 30;
  try {
    const bytes = process?.availableMemory?.();
    return isAmount(bytes) ? bytes : UNKNOWN;
  } catch {
    // the process lacks the permission
    return UNKNOWN;
  }
};

/**
 * Returns the default budget, in bytes.
 *
 * @param maxBufferSize the device's limit; Infinity without a device
 */
export const defaultBasesBudget = (
  maxBufferSize: number,
  sources: MemorySources = globalThis as MemorySources,
): number => Math.max(LEAST, Math.floor(Math.min(maxBufferSize, SHARE * mainMemory(sources))));
