import { bytesToHex } from '@noble/curves/utils.js';
import type { MsmEngine } from '../../src/api/engine.js';
import type { RunRecord } from '../../src/api/run-record.js';
import type { AffinePoint } from '../../src/api/values.js';
import type { Group } from '../../src/curves/names.js';
import type { Bases } from '../../src/index.js';
import { defaultEncoding } from '../cases/address.js';
import { engineIn } from '../cases/engine-in.js';
import { encodedPoints, isOnCurve, type MsmCase } from '../cases/msm-case.js';
import type { CurveGroup } from '../oracle/curves.js';
import { hasInfinity, pointsIn } from '../oracle/encodings.js';
import { type Coordinate, samePoint } from '../oracle/known-bases.js';
import type { Bench } from './bench-setup.js';
import type { Run } from './run.js';
import type { Setting } from './settings.js';

/** One MSM, timed and compared with the oracles. */
export interface Outcome {
  readonly result: AffinePoint<Coordinate>;
  readonly wallMs: number;
  /** Run record of the engine; null if the MSM had no scalars. */
  readonly record: RunRecord | null;
  /** True if the result equals that of the oracles. */
  readonly agrees: boolean;
  readonly onCurve: boolean;
}

interface LoadOptions {
  /** Points already encoded as the case asks; default: encode them here. */
  readonly bytes?: Uint8Array<ArrayBuffer>;
  readonly checkSubgroup?: boolean;
  /** Loads the points even if they are loaded already. */
  readonly again?: boolean;
}

/** An engine with one setting, and the bases it loaded last. */
export class EngineUnderTest {
  readonly engine: MsmEngine<Coordinate>;
  readonly group: Group;
  readonly setting: Setting;
  readonly label: string;
  readonly #watched: { readonly signal: AbortSignal; onProgress(): void };
  #bases: Bases | null = null;
  #loaded: Pick<MsmCase, 'points' | 'address'> | null = null;
  #lastEnd = Number.NEGATIVE_INFINITY;

  constructor(run: Run, engine: MsmEngine<Coordinate>, group: Group, setting: Setting, label: string) {
    this.engine = engine;
    this.group = group;
    this.setting = setting;
    this.label = label;
    this.#watched = { signal: run.signal, onProgress: () => run.tick() };
  }

  get basesBytes(): number {
    return this.#bases?.byteLength ?? 0;
  }

  /** Time since the last MSM, in ms. */
  get idleMs(): number {
    return performance.now() - this.#lastEnd;
  }

  /** @returns milliseconds that loading took; 0 if the points were loaded already */
  async load(msmCase: MsmCase, options: LoadOptions = {}): Promise<number> {
    const { points, address } = msmCase;
    const { encoding } = address;
    const { again = false, checkSubgroup = false } = options;
    const loaded = this.#loaded;
    if (!again && loaded?.points === points && loaded.address.encoding === encoding) return 0;
    const bytes = options.bytes ?? encodedPoints(msmCase);
    this.#bases?.destroy();
    this.#bases = null;
    this.#loaded = null;
    const { precompute } = this.setting;
    const start = performance.now();
    this.#bases = await this.engine.loadBases(bytes, { precompute, encoding, checkSubgroup, ...this.#watched });
    this.#loaded = msmCase;
    return performance.now() - start;
  }

  /** Multiplies the loaded points and compares the result with the oracles. */
  async compute({ curve, scalars, expected, direct }: MsmCase): Promise<Outcome> {
    const { engine } = this;
    const { memoryBudget } = this.setting;
    const bases = this.#loadedBases();
    const start = performance.now();
    const result = await engine.msm(bases, scalars.bytes, this.#watched);
    this.#lastEnd = performance.now();
    const wallMs = this.#lastEnd - start;
    const { peak } = engine.memory;
    if (peak > (memoryBudget ?? Number.POSITIVE_INFINITY))
      throw new Error(`memory.peak is ${peak} bytes, above the budget of ${memoryBudget} bytes`);
    return {
      result,
      wallMs,
      record: scalars.values.length === 0 ? null : engine.lastRun,
      agrees: samePoint(result, expected) && (direct === null || samePoint(result, direct)),
      onCurve: isOnCurve(result, curve),
    };
  }

  /**
   * Returns whether the engine encodes the sum correctly in the encoding of the points. The check
   * is skipped for the default encoding, and for encodings that have no infinity.
   */
  async writes({ address: { encoding }, curve, scalars, expected }: MsmCase): Promise<boolean> {
    if (encoding === defaultEncoding || !hasInfinity(encoding)) return true;
    const options = { result: encoding, ...this.#watched };
    const written = await this.engine.msm(this.#loadedBases(), scalars.bytes, options);
    return bytesToHex(written) === bytesToHex(pointsIn(curve, [expected], encoding));
  }

  destroy(): void {
    this.engine.destroy();
  }

  #loadedBases(): Bases {
    if (this.#bases === null) throw new Error('no points are loaded; call load() first');
    return this.#bases;
  }
}

/** @param label name of the engine in rows */
export async function makeEngine(
  bench: Bench,
  where: CurveGroup,
  setting: Setting,
  label = setting.name,
): Promise<EngineUnderTest> {
  const { tuning, verify } = setting;
  const { createMsmEngine } = await bench.library(setting);
  const engine = await engineIn(createMsmEngine, where, { ...engineOptions(bench, setting), tuning, verify });
  return new EngineUnderTest(bench.run, engine, where.group, setting, label);
}

/** Returns the options of an engine that say where it computes, and with how much memory. */
export const engineOptions = (
  { device, createWorker }: Pick<Bench, 'device' | 'createWorker'>,
  { memoryBudget, backend, workers }: Pick<Setting, 'memoryBudget' | 'backend' | 'workers'>,
) => ({
  ...(device && { device }),
  ...(createWorker && { createWorker }),
  ...(memoryBudget !== null && { memoryBudget }),
  ...(backend !== null && { backend }),
  ...(workers !== null && { maxWorkers: workers }),
});
