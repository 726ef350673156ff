/** Multiplies points by scalars on a GPU, in both groups of a curve; loaded when a setup tries one. */
import type { CurveContext } from '../curves/curve.js';
import { openDevice } from '../gpu/device.js';
import { Runner } from '../gpu/runner.js';
// code that this module shares with index.js stays in that file only if index.js is loaded before
import '../index.js';
import type { ManySums } from '../msm/cpu/point-sums.js';
import { type ScaleSetup, scaleConfigure, scaleOperation } from '../msm/gpu/scale-operation.js';
import { digitWordsOf, type ScalarDigits, scalarDigits } from '../msm/stages/scale.js';
import { Call } from '../scheduling/call.js';
import { DeviceSource } from '../session/current-device.js';
import { Session } from '../session/session.js';

/** Sums of one term each. */
export type Scaling = Omit<ManySums, 'starts'>;

/** A GPU that multiplies points. */
export interface Scaler {
  /** Compiles and tests what a curve needs. */
  prepare(curve: CurveContext, signal: AbortSignal | undefined): Promise<void>;
  /**
   * Multiplies points.
   *
   * @returns for each scale x‖y of the products; null where the device refuses a point
   * @throws MsmError of the device
   */
  multiply(
    curve: CurveContext,
    scaling: Scaling,
    signal: AbortSignal | undefined,
  ): Promise<readonly Uint32Array[] | null>;
  destroy(): Promise<void>;
}

/** Bytes of scratch, at most: a step takes some 16 MB. */
const BUDGET = 2 ** 28;

/** Repetitions of a multiplication that the GPU did not execute correctly. */
const RETRIES = 1;

/** Scalars whose digits are written without a pause: some 0.2 ms. */
const SCALARS_AT_ONCE = 16;

/**
 * Opens a device.
 *
 * @param options the caller's device or GPU, and true where a software adapter is refused
 * @throws MsmError `bad-argument`, `no-webgpu`, `unsupported-device`
 */
export const openScaler = async (options: Parameters<typeof openDevice>[0]): Promise<Scaler> => {
  const source = new DeviceSource((again) => openDevice(options, again));
  await source.join();
  return new GpuScaler(source);
};

class GpuScaler implements Scaler {
  readonly #source: DeviceSource;
  readonly #sessions = new Map<CurveContext, Promise<Session<ScaleSetup>>>();

  constructor(source: DeviceSource) {
    this.#source = source;
  }

  async prepare(curve: CurveContext, signal: AbortSignal | undefined): Promise<void> {
    const session = await this.#sessionOf(curve);
    const knownOf = (setup: ScaleSetup) => scaleOperation.knownAnswer(noPoints, setup);
    await session.test(scaleOperation, knownOf, new Call({ signal }));
  }

  async multiply(
    curve: CurveContext,
    { points, scale, which, multipliers, scales }: Scaling,
    signal: AbortSignal | undefined,
  ): Promise<readonly Uint32Array[] | null> {
    const session = await this.#sessionOf(curve);
    const call = new Call({ signal });
    const words = new Uint32Array(multipliers.length * digitWordsOf(curve));
    try {
      const digits = { words, positions: await writeDigits(curve, multipliers, words, call) };
      const { result } = await session.execute(scaleOperation, { points, scale, which, digits, scales }, call);
      return result;
    } finally {
      words.fill(0);
    }
  }

  async destroy(): Promise<void> {
    const sessions = await Promise.all([...this.#sessions.values()].map((each) => each.catch(() => null)));
    for (const session of sessions) {
      // zeroes the buffer for uploads, which may have had secrets
      await session?.trim().catch(() => undefined);
      session?.destroy();
    }
    this.#source.leave();
  }

  #sessionOf(curve: CurveContext): Promise<Session<ScaleSetup>> {
    const known = this.#sessions.get(curve);
    if (known !== undefined) return known;
    const source = this.#source;
    const opened = source.join().then(
      (open) =>
        new Session(open, {
          source,
          configure: scaleConfigure(curve),
          runnerFor: (own, afterLoss) => new Runner(own, BUDGET, { afterLoss }),
          selfTests: true,
          retries: RETRIES,
          adviceAfterLoss: 'call again',
          hasAlternative: false,
        }),
    );
    this.#sessions.set(curve, opened);
    return opened;
  }
}

/** The input of a self-test of which only the setup counts. */
const noPoints = {
  points: new Uint32Array(),
  scale: 1n,
  which: new Uint32Array(),
  digits: { words: new Uint32Array(), positions: 0 },
  scales: [],
};

/** Writes the digits of scalars, with pauses. @returns the digits of the longest half */
const writeDigits = async (
  curve: CurveContext,
  scalars: readonly bigint[],
  words: Uint32Array,
  call: Call,
): Promise<ScalarDigits['positions']> => {
  const slice = call.timeSlice();
  let positions = 0;
  for (let from = 0; from < scalars.length; from += SCALARS_AT_ONCE) {
    const some = scalarDigits(curve, scalars.slice(from, from + SCALARS_AT_ONCE));
    words.set(some.words, from * digitWordsOf(curve));
    some.words.fill(0);
    positions = Math.max(positions, some.positions);
    if (slice.isOver) await slice.yield();
  }
  return positions;
};
