import type { AdapterDescription, AffinePoint, Calibration, CalibrationTrial, Tuning } from '../api.js';
import type { Curve, CurveContext } from '../curves/curve.js';
import { addAffine, double, infinity, type Jacobian, toAffine } from '../curves/jacobian.js';
import type { NamedCurve } from '../curves/named.js';
import { openCurve } from '../curves/open-curve.js';
import { createMsmEngine } from '../engine/engine.js';
import { assertNotAborted, badArgument, MsmError, show } from '../errors.js';
import { mod } from '../field/modulus.js';
import { describeAdapter } from '../gpu/device.js';
import { compileTimes } from '../gpu/pipelines.js';
import { checkTuning } from '../plan/tuning.js';
import { publicPoint } from '../stages/fold.js';
import { version } from '../version.js';
import { type CalibrationStore, indexedDbStore } from './store.js';

/** Options of `calibrate`. */
export interface CalibrateOptions {
  /** Whose arithmetic to measure. Default `bn254`. */
  readonly curve?: NamedCurve | Curve;
  /**
   * Where the result is remembered, by adapter, curve and version of the library. Default: the browser's IndexedDB; in Node nowhere,
   * unless you pass `fileStore(path)` of `webgpu-msm/node`. null: nowhere.
   */
  readonly store?: CalibrationStore | null;
  /** Measure even if a result is remembered. Default false. */
  readonly again?: boolean;
  readonly signal?: AbortSignal;
  onProgress?(progress: { readonly done: number; readonly total: number }): void;
}

/**
 * One knob after the other, the best so far kept: the product first, as everything else depends on it. Isolated products would
 * mispredict: registers are short in the walker, and not in a loop around one product.
 */
const rounds: readonly (readonly Partial<Tuning>[])[] = [
  [{ fieldCarry: 'shift' }, { fieldCarry: 'float' }],
  [{ walkerPrefixMemory: 'private' }, { walkerPrefixMemory: 'workgroup' }],
  [{ walkerSlots: 4 }, { walkerSlots: 8 }, { walkerSlots: 16 }, { walkerSlots: 32 }],
  [{ walkerThreadsPerWorkgroup: 32 }, { walkerThreadsPerWorkgroup: 64 }, { walkerThreadsPerWorkgroup: 128 }],
];

const REPETITIONS = 3;

/** What must be gained for a knob to leave its default: less is noise. */
const WORTHWHILE = 0.97;

/** As large as 300 ms allow: a dozen settings, a few runs each. */
const sizeFor = (adapter: AdapterDescription): number => (adapter.software ? 2 ** 10 : 2 ** 14);

/** An MSM whose result is known: points i·G, so that the sum is (Σ s_i·i)·G. */
interface Problem {
  readonly points: readonly AffinePoint[];
  readonly scalars: readonly bigint[];
  readonly expected: AffinePoint;
}

const makeProblem = (curve: CurveContext, n: number): Problem => {
  // few enough to compute at once, many enough that hardly any two in a bucket are equal
  const distinct = n / 16;
  const multiples: AffinePoint[] = [];
  let sum: Jacobian = infinity;
  for (let i = 0; i < distinct; i++) {
    sum = addAffine(curve, sum, curve.generator);
    multiples.push(publicPoint(curve, toAffine(curve, sum)));
  }
  let state = 0x243f6a8885a308d3n; // π, as good as any
  const scalars = Array.from({ length: n }, () => {
    let scalar = 0n;
    for (let word = 0; word < 4; word++) {
      // splitmix64 (G. Steele, D. Lea, C. Flood 2014)
      state = BigInt.asUintN(64, state + 0x9e3779b97f4a7c15n);
      let z = state;
      z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
      z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
      scalar = (scalar << 64n) | (z ^ (z >> 31n));
    }
    return mod(scalar, curve.order);
  });
  const logarithm = mod(
    scalars.reduce((total, scalar, i) => total + scalar * BigInt((i % distinct) + 1), 0n),
    curve.order,
  );
  let expected: Jacobian = infinity;
  for (let bit = curve.scalarBits - 1; bit >= 0; bit--) {
    expected = double(curve, expected);
    if ((logarithm >> BigInt(bit)) & 1n) expected = addAffine(curve, expected, curve.generator);
  }
  return {
    points: scalars.map((_, i) => multiples[i % distinct] as AffinePoint),
    scalars,
    expected: publicPoint(curve, toAffine(curve, expected)),
  };
};

const isExpected = (point: AffinePoint, expected: AffinePoint): boolean =>
  point.infinity === expected.infinity && point.x === expected.x && point.y === expected.y;

/** A setting that works. */
interface Running {
  readonly tuning: Partial<Tuning>;
  /** All knobs, as this made of them. */
  readonly resolved: Tuning;
  /** Times one MSM; null if it is wrong. */
  readonly time: () => Promise<number | null>;
  readonly times: number[];
  readonly destroy: () => void;
}

/** Sets a device up with a setting, or null if that does not work here. */
const prepare = async (
  device: GPUDevice,
  curve: Curve,
  tuning: Partial<Tuning>,
  { points, scalars, expected }: Problem,
): Promise<Running | null> => {
  const engine = await createMsmEngine({ curve, device, tuning: { ...tuning, cpuBelow: 0 } });
  try {
    const bases = await engine.loadBases(points);
    const time = async (): Promise<number | null> => {
      const result = await engine.msm(bases, scalars);
      const run = engine.lastRun;
      if (run === null || !isExpected(result, expected)) return null;
      const busy = (run.phases ?? []).filter(({ name }) => !name.includes('CPU')).reduce((sum, { ms }) => sum + ms, 0);
      return busy > 0 ? busy : run.wallMs;
    };
    // the first run compiles
    const right = (await time()) !== null;
    const resolved = engine.lastRun?.tuning;
    if (right && resolved) return { tuning, resolved, time, times: [], destroy: () => engine.destroy() };
  } catch (error) {
    // what a device cannot do is no error of the caller's; that the device is gone is
    if (!(error instanceof MsmError) || error.code === 'device-lost' || error.code === 'destroyed') {
      engine.destroy();
      throw error;
    }
  }
  engine.destroy();
  return null;
};

const storedName = (adapter: AdapterDescription, curve: string): string => {
  const { vendor, architecture, device, description } = adapter;
  return JSON.stringify([version, curve, vendor, architecture, device, description]);
};

/** What a store remembers under a name, if it is what one would have written there. */
const recall = async (store: CalibrationStore, name: string): Promise<Calibration | null> => {
  try {
    const text = await store.get(name);
    if (text === null) return null;
    const known = JSON.parse(text) as Calibration;
    return Array.isArray(known.trials) ? { ...known, tuning: checkTuning(known.tuning), remembered: true } : null;
  } catch {
    return null;
  }
};

/**
 * Finds the knobs that suit a device, by running the real walker on a small MSM in a dozen settings: how carries are computed, where
 * the prefix products live, slots, threads in a workgroup. Every result is checked; a setting that computes wrongly is out. Takes
 * less than 300 ms on a GPU once its shaders are compiled, which takes longer; some seconds on a software adapter.
 *
 * @param device one of yours: the engine that uses the result is created on it, or on another of the same adapter
 * @throws MsmError `bad-argument`, `aborted`, `device-lost`
 */
export const calibrate = async (device: GPUDevice, options: CalibrateOptions = {}): Promise<Calibration> => {
  if (typeof device?.createBuffer !== 'function') throw badArgument('device must be a GPUDevice');
  if (typeof options !== 'object' || options === null)
    throw badArgument(`options must be an object, got ${show(options)}`);
  const { store = indexedDbStore(), again = false, signal, onProgress } = options;
  const curve = openCurve(options.curve ?? 'bn254');
  const goOn = (): void => assertNotAborted(signal, 'calibration');
  goOn();
  const adapter = describeAdapter(device.adapterInfo);
  const name = storedName(adapter, curve.name);
  if (store !== null && !again) {
    const known = await recall(store, name);
    if (known !== null) return known;
  }

  const begun = performance.now();
  const compiledBefore = compileTimes(device).length;
  const problem = makeProblem(curve, sizeFor(adapter));
  const trials: CalibrationTrial[] = [];
  const total = rounds.reduce((sum, round) => sum + round.length, 0);
  let best: Partial<Tuning> = {};
  let done = 0;
  for (const round of rounds) {
    const running: Running[] = [];
    try {
      const attempt = async (tuning: Partial<Tuning>): Promise<Tuning | undefined> => {
        goOn();
        const trial = await prepare(device, curve, tuning, problem);
        if (trial !== null) running.push(trial);
        else trials.push({ tuning, ms: null });
        return trial?.resolved;
      };
      const standard = await attempt(best);
      for (const change of round) {
        const [[knob, value]] = Object.entries(change) as [[keyof Tuning, unknown]];
        if (standard?.[knob] !== value) await attempt({ ...best, ...change });
        onProgress?.({ done: ++done, total });
      }
      for (let repetition = 0; repetition < REPETITIONS; repetition++) {
        for (const { time, times } of running) {
          goOn();
          times.push((await time()) ?? Number.POSITIVE_INFINITY);
        }
      }
    } finally {
      for (const { destroy } of running) destroy();
    }
    const measured = running.map(({ tuning, times }) => ({ tuning, ms: Math.min(...times) }));
    trials.push(...measured.map(({ tuning, ms }) => ({ tuning, ms: Number.isFinite(ms) ? ms : null })));
    const asBefore = measured.find(({ tuning }) => tuning === best)?.ms ?? Number.POSITIVE_INFINITY;
    const fastest = measured.reduce((a, b) => (b.ms < a.ms ? b : a), { tuning: best, ms: asBefore * WORTHWHILE });
    best = fastest.tuning;
  }
  const calibration: Calibration = {
    tuning: checkTuning(best),
    trials,
    curve: curve.name,
    adapter,
    version,
    remembered: false,
    tookMs: performance.now() - begun,
    compileMs: compileTimes(device)
      .slice(compiledBefore)
      .reduce((sum, { ms }) => sum + ms, 0),
  };
  // that it cannot be remembered costs the next one time, and nobody anything else
  try {
    await store?.set(name, JSON.stringify(calibration));
  } catch {}
  return calibration;
};
