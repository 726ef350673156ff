import type { AffinePoint, RunRecord } from '../../src/api.js';
import type { Bases, MsmEngine } from '../../src/index.js';
import { isOnCurve, type MsmCase } from '../cases/msm-case.js';
import type { PointSet } from '../cases/point-distributions.js';
import { samePoint } from '../oracle/known-bases.js';
import type { BenchDevice } from './bench-device.js';
import type { Run } from './run.js';
import type { Setting } from './settings.js';

/** One MSM, timed and judged. */
export interface Outcome {
  readonly result: AffinePoint;
  readonly wallMs: number;
  /** Null where there was nothing to do. */
  readonly record: RunRecord | null;
  /** The result is what the oracles say. */
  readonly agrees: boolean;
  readonly onCurve: boolean;
}

/** An engine with one setting of the knobs, and the bases that it holds: the last ones asked for. */
export class EngineUnderTest {
  readonly engine: MsmEngine;
  readonly setting: Setting;
  /** What rows call it. */
  readonly label: string;
  readonly #run: Run;
  #bases: Bases | null = null;
  #loaded: PointSet | null = null;

  private constructor(engine: MsmEngine, setting: Setting, label: string, run: Run) {
    this.engine = engine;
    this.setting = setting;
    this.label = label;
    this.#run = run;
  }

  static async create(
    run: Run,
    bench: BenchDevice,
    setting: Setting,
    label: string = setting.name,
  ): Promise<EngineUnderTest> {
    const { memoryBudget, tuning } = setting;
    const { createMsmEngine } = await bench.library(setting);
    const engine = await createMsmEngine({ curve: 'bn254', device: bench.device, memoryBudget, tuning });
    return new EngineUnderTest(engine, setting, label, run);
  }

  get basesBytes(): number {
    return this.#bases?.byteLength ?? 0;
  }

  /** @returns the milliseconds that loading took, 0 when the points were there already */
  async load(points: PointSet): Promise<number> {
    if (this.#loaded === points) return 0;
    this.#bases?.destroy();
    this.#bases = null;
    this.#loaded = null;
    const start = performance.now();
    this.#bases = await this.engine.loadBases(points.bytes, {
      precompute: this.setting.precompute,
      signal: this.#run.signal,
      onProgress: () => this.#run.tick(),
    });
    this.#loaded = points;
    return performance.now() - start;
  }

  /** Multiplies the loaded points and compares with the oracles. */
  async compute({ scalars, expected, direct }: MsmCase): Promise<Outcome> {
    if (this.#bases === null) throw new Error('no points are loaded');
    const start = performance.now();
    const result = await this.engine.msm(this.#bases, scalars.bytes, {
      signal: this.#run.signal,
      onProgress: () => this.#run.tick(),
    });
    const wallMs = performance.now() - start;
    const { peak } = this.engine.memory;
    const { memoryBudget } = this.setting;
    if (peak > memoryBudget) throw new Error(`memory.peak is ${peak} bytes, the budget ${memoryBudget}`);
    return {
      result,
      wallMs,
      record: scalars.values.length === 0 ? null : this.engine.lastRun,
      agrees: samePoint(result, expected) && (direct === null || samePoint(result, direct)),
      onCurve: isOnCurve(result),
    };
  }

  destroy(): void {
    this.engine.destroy();
  }
}
