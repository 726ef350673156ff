import type { AffinePoint, PhaseTime } from '../../src/api.js';
import { type Bases, createMsmEngine, type MsmEngine } from '../../src/index.js';
import type { Tuning } from '../../src/tuning.js';
import { isOnCurve, type MsmCase } from '../cases/msm-case.js';
import type { PointSet } from '../cases/point-distributions.js';
import { samePoint } from '../oracle/known-bases.mjs';
import type { Placement } from './rows.js';
import type { Run } from './run.js';

/** One MSM, timed and judged. */
export interface Outcome {
  readonly result: AffinePoint;
  readonly wallMs: number;
  readonly phases: readonly PhaseTime[] | null;
  /** The result is what the oracles say. */
  readonly agrees: boolean;
  readonly onCurve: boolean;
}

/** The budget of every engine of the page, the library's default; said here because it is checked here. */
const MEMORY_BUDGET = 256 * 2 ** 20;

/** An engine with one setting of the knobs, and the bases that it holds: the last ones asked for. */
export class EngineUnderTest {
  readonly engine: MsmEngine;
  readonly #run: Run;
  #bases: Bases | null = null;
  #loaded: PointSet | null = null;

  private constructor(engine: MsmEngine, run: Run) {
    this.engine = engine;
    this.#run = run;
  }

  static async create(run: Run, tuning: Partial<Tuning>, placement: Placement | undefined): Promise<EngineUnderTest> {
    const engine = await createMsmEngine({
      curve: 'bn254',
      memoryBudget: MEMORY_BUDGET,
      tuning: placement === undefined ? tuning : { ...tuning, walkerPrefixMemory: placement },
    });
    return new EngineUnderTest(engine, run);
  }

  /** @returns the milliseconds that loading took, 0 when the points were there already */
  async load(points: PointSet): Promise<number> {
    if (this.#loaded === points) return 0;
    this.#bases?.destroy();
    this.#bases = null;
    this.#loaded = null;
    const start = performance.now();
    this.#bases = await this.engine.loadBases(points.bytes, {
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
    if (peak > MEMORY_BUDGET) throw new Error(`memory.peak is ${peak} bytes, the budget ${MEMORY_BUDGET}`);
    return {
      result,
      wallMs,
      phases: scalars.values.length === 0 ? null : (this.engine.lastRun?.phases ?? null),
      agrees: samePoint(result, expected) && (direct === null || samePoint(result, direct)),
      onCurve: isOnCurve(result),
    };
  }

  destroy(): void {
    this.engine.destroy();
  }
}
