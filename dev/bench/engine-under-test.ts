import { bytesToHex } from '@noble/curves/utils.js';
import type { RunRecord } from '../../src/api/run-record.js';
import type { ComputeWorker } from '../../src/api/sharing.js';
import type { AffinePoint } from '../../src/api/values.js';
import type { Bases } from '../../src/index.js';
import { defaultEncoding } from '../cases/address.js';
import { engineIn } from '../cases/engine-in.js';
import { encodedPoints, isOnCurve, type MsmCase } from '../cases/msm-case.js';
import type { CurveGroup } from '../oracle/curves.js';
import { hasInfinity, pointsIn } from '../oracle/encodings.js';
import { type Coordinate, samePoint } from '../oracle/known-bases.js';
import type { Library } from './environment.js';
import type { Run } from './run.js';
import type { Setting } from './settings.js';

/** One MSM, timed and judged. */
export interface Outcome {
  readonly result: AffinePoint<Coordinate>;
  readonly wallMs: number;
  /** Null where there was nothing to do. */
  readonly record: RunRecord | null;
  /** The result is what the oracles say. */
  readonly agrees: boolean;
  readonly onCurve: boolean;
}

interface LoadOptions {
  /** The points in the encoding of the case, where they are written already. */
  readonly bytes?: Uint8Array<ArrayBuffer>;
  readonly checkSubgroup?: boolean;
  /** Also where they are there. */
  readonly again?: boolean;
}

/** Where engines are made. */
export interface EnginePlace {
  /** What they share; null where they are to do without one. */
  readonly device: GPUDevice | null;
  /** What a setting is measured with. */
  library(setting: Pick<Setting, 'build' | 'checks'>): Promise<Library>;
  /** What starts their workers, where that is not to be the library's to say. */
  createWorker?(): ComputeWorker;
}

/** An engine with one setting of the knobs, and the bases that it holds: the last ones asked for. */
export type EngineUnderTest = Awaited<ReturnType<typeof makeEngine>>;

/** @param label what rows call it */
export async function makeEngine(
  run: Run,
  place: EnginePlace,
  where: CurveGroup,
  setting: Setting,
  label = setting.name,
) {
  const { memoryBudget, tuning, precompute, verify, backend, workers } = setting;
  const { createMsmEngine } = await place.library(setting);
  const engine = await engineIn(createMsmEngine, where, {
    memoryBudget,
    tuning,
    verify,
    ...(place.device && { device: place.device }),
    ...(place.createWorker && { createWorker: place.createWorker }),
    ...(backend !== null && { backend }),
    ...(workers !== null && { maxWorkers: workers }),
  });
  const watched = { signal: run.signal, onProgress: () => run.tick() };
  let bases: Bases | null = null;
  let loaded: Pick<MsmCase, 'points' | 'address'> | null = null;
  return {
    engine,
    group: where.group,
    setting,
    label,

    basesBytes: (): number => bases?.byteLength ?? 0,

    /** @returns the milliseconds that loading took, 0 when the points were there already */
    async load(msmCase: MsmCase, options: LoadOptions = {}): Promise<number> {
      const { points, address } = msmCase;
      const { encoding } = address;
      const { again = false, checkSubgroup = false } = options;
      if (!again && loaded?.points === points && loaded.address.encoding === encoding) return 0;
      const bytes = options.bytes ?? encodedPoints(msmCase);
      bases?.destroy();
      bases = null;
      loaded = null;
      const start = performance.now();
      bases = await engine.loadBases(bytes, { precompute, encoding, checkSubgroup, ...watched });
      loaded = msmCase;
      return performance.now() - start;
    },

    /** Multiplies the loaded points and compares with the oracles. */
    async compute({ curve, scalars, expected, direct }: MsmCase): Promise<Outcome> {
      if (bases === null) throw new Error('no points are loaded');
      const start = performance.now();
      const result = await engine.msm(bases, scalars.bytes, watched);
      const wallMs = performance.now() - start;
      const { peak } = engine.memory;
      if (peak > memoryBudget) throw new Error(`memory.peak is ${peak} bytes, the budget ${memoryBudget}`);
      return {
        result,
        wallMs,
        record: scalars.values.length === 0 ? null : engine.lastRun,
        agrees: samePoint(result, expected) && (direct === null || samePoint(result, direct)),
        onCurve: isOnCurve(result, curve),
      };
    },

    /** Whether the sum also comes in the encoding of the points; as it should, where that is the library's own, or has no infinity. */
    async writes({ address: { encoding }, curve, scalars, expected }: MsmCase): Promise<boolean> {
      if (encoding === defaultEncoding || !hasInfinity(encoding)) return true;
      if (bases === null) throw new Error('no points are loaded');
      const written = await engine.msm(bases, scalars.bytes, { result: encoding, ...watched });
      return bytesToHex(written) === bytesToHex(pointsIn(curve, [expected], encoding));
    },

    destroy: (): void => engine.destroy(),
  };
}
