import type { Tuning } from '../../src/api.js';
import { bn254 } from '../../src/curves/bn254.js';
import { curveContext } from '../../src/curves/curve.js';
import { createMsmEngine } from '../../src/engine/engine.js';
import { makeCase } from '../cases/msm-case.js';
import type { PointDistributionName } from '../cases/point-distributions.js';
import type { ScalarDistributionName } from '../cases/scalar-distributions.js';
import { samePoint } from '../oracle/known-bases.js';
import { CountingDevice } from './counting-device.js';
import type { Counts } from './instrument.js';

/** The work of one MSM. */
export interface MsmCounts {
  readonly n: number;
  readonly points: PointDistributionName;
  readonly scalars: ScalarDistributionName;
  readonly windows: number;
  readonly windowBits: number;
  /** Digits that are not zero. */
  readonly entries: number;
  readonly phases: Readonly<Record<string, Counts>>;
}

export interface CountOptions {
  readonly n: number;
  readonly points?: PointDistributionName;
  readonly scalars?: ScalarDistributionName;
  readonly tuning?: Partial<Tuning>;
}

/** Counts MSMs on a device, whose kernels it changes. Results are checked before they count. */
export const makeCounter = (device: GPUDevice) => {
  const counting = new CountingDevice(device, curveContext(bn254).pointWords);
  return async ({ n, points = 'distinct', scalars = 'random', tuning = {} }: CountOptions): Promise<MsmCounts> => {
    const engine = await createMsmEngine({
      curve: 'bn254',
      device,
      tuning: { ...tuning, cpuBelow: 0 },
      selfTest: false,
    });
    try {
      const made = makeCase({ points, scalars, n, seed: 1 });
      const bases = await engine.loadBases(made.points.bytes);
      counting.reset();
      const sum = await engine.msm(bases, made.scalars.bytes);
      if (!samePoint(sum, made.expected)) throw new Error(`WRONG at n = ${n}: what was counted is not this MSM`);
      const { windows, windowBits, entries } = engine.lastRun as NonNullable<typeof engine.lastRun>;
      const phases = await counting.read();
      // of loading
      for (const phase of ['import', 'digest']) phases.delete(phase);
      return { n, points, scalars, windows, windowBits, entries, phases: Object.fromEntries(phases) };
    } finally {
      engine.destroy();
    }
  };
};
