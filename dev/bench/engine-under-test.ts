import { bytesToHex } from '@noble/curves/utils.js';
import type { RunRecord } from '../../src/api/run-record.js';
import type { AffinePoint } from '../../src/api/values.js';
import type { Bases } from '../../src/index.js';
import { defaultEncoding } from '../cases/address.js';
import { engineIn } from '../cases/engine-in.js';
import { encodedPoints, isOnCurve, type MsmCase } from '../cases/msm-case.js';
import type { CurveGroup } from '../oracle/curves.js';
import { hasInfinity, pointsIn } from '../oracle/encodings.js';
import { type Coordinate, samePoint } from '../oracle/known-bases.js';
import type { Bench } from './bench-setup.js';
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
export type EngineUnderTest = Awaited<ReturnType<typeof makeEngine>>;

/** @param label name of the engine in rows */
export async function makeEngine(bench: Bench, where: CurveGroup, setting: Setting, label = setting.name) {
  const { run } = bench;
  const { tuning, verify, precompute, memoryBudget } = setting;
  const { createMsmEngine } = await bench.library(setting);
  const engine = await engineIn(createMsmEngine, where, { ...engineOptions(bench, setting), tuning, verify });
  const watched = { signal: run.signal, onProgress: () => run.tick() };
  let bases: Bases | null = null;
  let loaded: Pick<MsmCase, 'points' | 'address'> | null = null;
  let lastEnd = Number.NEGATIVE_INFINITY;
  const loadedBases = (): Bases => {
    if (bases === null) throw new Error('no points are loaded; call load() first');
    return bases;
  };
  return {
    ...{ engine, group: where.group, setting, label },
    basesBytes: (): number => bases?.byteLength ?? 0,
    /** Returns the time since the last MSM, in ms. */
    idleMs: (): number => performance.now() - lastEnd,
    /** @returns milliseconds that loading took; 0 if the points were loaded already */
    async load(msmCase: MsmCase, options: LoadOptions = {}): Promise<number> {
      const { points, address } = msmCase;
      const { encoding } = address;
      const { again = false, checkSubgroup = false } = options;
      if (!again && loaded?.points === points && loaded.address.encoding === encoding) return 0;
      const bytes = options.bytes ?? encodedPoints(msmCase);
      bases?.destroy();
      [bases, loaded] = [null, null];
      const start = performance.now();
      bases = await engine.loadBases(bytes, { precompute, encoding, checkSubgroup, ...watched });
      loaded = msmCase;
      return performance.now() - start;
    },
    /** Multiplies the loaded points and compares the result with the oracles. */
    async compute({ curve, scalars, expected, direct }: MsmCase): Promise<Outcome> {
      const used = loadedBases();
      const start = performance.now();
      const result = await engine.msm(used, scalars.bytes, watched);
      lastEnd = performance.now();
      const { peak } = engine.memory;
      if (peak > (memoryBudget ?? Number.POSITIVE_INFINITY))
        throw new Error(`memory.peak is ${peak} bytes, above the budget of ${memoryBudget} bytes`);
      return {
        ...{ result, wallMs: lastEnd - start },
        record: scalars.values.length === 0 ? null : engine.lastRun,
        agrees: samePoint(result, expected) && (direct === null || samePoint(result, direct)),
        onCurve: isOnCurve(result, curve),
      };
    },
    /**
     * Returns whether the engine encodes the sum correctly in the encoding of the points. The check
     * is skipped for the default encoding, and for encodings that have no infinity.
     */
    async writes({ address: { encoding }, curve, scalars, expected }: MsmCase): Promise<boolean> {
      if (encoding === defaultEncoding || !hasInfinity(encoding)) return true;
      const written = await engine.msm(loadedBases(), scalars.bytes, { result: encoding, ...watched });
      return bytesToHex(written) === bytesToHex(pointsIn(curve, [expected], encoding));
    },
    destroy: (): void => engine.destroy(),
  };
}

/** Returns the options of an engine that say where it computes, and with how much memory. */
export const engineOptions = (
  { device }: Pick<Bench, 'device'>,
  { memoryBudget, backend, workers }: Pick<Setting, 'memoryBudget' | 'backend' | 'workers'>,
) => ({
  ...(device && { device }),
  ...(memoryBudget !== null && { memoryBudget }),
  ...(backend !== null && { backend }),
  ...(workers !== null && { maxWorkers: workers }),
});
