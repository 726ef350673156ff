/** Choice between a GPU and the CPU's threads, for the points that a setup multiplies by scalars. */
import type { CurveContext } from '../curves/curve.js';
import { MsmError, notLoaded, untilAborted } from '../errors.js';
import type { ManySums } from '../msm/cpu/point-sums.js';
import type { OptionTable } from '../option-table.js';
import type { Scaler, Scaling } from './open-scaler.js';

/** Options that choose a GPU. */
export interface GpuOptions {
  /**
   * Computes multiples of points, which are most of a contribution and of a preparation: `'cpu'` on
   * all cores; `'gpu'` on a GPU, software adapters included; `'auto'`, the default, on whichever is
   * faster in the call, software adapters excluded. Keys of PLONK and FFLONK have commitments in their
   * place, which a GPU computes with `'gpu'` alone. All else is computed on the CPU.
   */
  readonly backend?: 'auto' | 'cpu' | 'gpu' | undefined;
  /** A device to compute on, which is not destroyed. Default: one of `gpu`. */
  readonly device?: GPUDevice | undefined;
  /** WebGPU. Default: `navigator.gpu`; in Node what Dawn's `create` returned. */
  readonly gpu?: GPU | undefined;
}

export const gpuRows = {
  backend: { kind: 'choice', range: ['auto', 'cpu', 'gpu'], default: 'auto' },
  // checked where a device is opened
  device: { kind: 'any' },
  gpu: { kind: 'any' },
} as const satisfies OptionTable<GpuOptions>['rows'];

/** Points of a call for which `'auto'` opens a device: fewer take the CPU less time than a device its start. */
const LEAST_POINTS = 2 ** 16;

/** Long multiples of a round that tells how fast a backend is. */
const LEAST_ROUND = 2 ** 10;

/** Scalars below it, and their negatives, take the CPU next to no time. */
const SHORT = 2n ** 24n;

/** Returns how many points are multiplied by long scalars. */
const longMultiples = ({ order }: CurveContext, { which, multipliers }: Scaling): number => {
  const isLong = multipliers.map((k) => k > SHORT && order - k > SHORT);
  return which.reduce((count, index) => count + Number(isLong[index]), 0);
};

/** Times of a curve; null before the first round. */
interface Times {
  /** Milliseconds of the CPU for a long multiple. */
  cpu: number | null;
  /** Milliseconds of the GPU for any multiple. */
  gpu: number | null;
  /** True once the device has passed its self-test on the curve. */
  isReady: boolean;
}

/** Returns the functions of a GPU, loaded when a call needs them. */
const load = async (options: GpuOptions, hardwareOnly: boolean): Promise<Scaler> => {
  const { openScaler } = await import('./open-scaler.js').catch(notLoaded('open-scaler'));
  return openScaler({ device: options.device, gpu: options.gpu, hardwareOnly });
};

/** Chooses the backend for the multiplications of a call. */
export class ScalingChoice {
  readonly #options: GpuOptions & { readonly signal?: AbortSignal | undefined };
  readonly #total: number;
  readonly #open: typeof load;
  readonly #times = new Map<CurveContext, Times>();
  #scaler: Promise<Scaler> | null = null;
  #isOpen = false;
  /** True after an error of a GPU that was not asked for. */
  #isOff = false;

  /**
   * @param total points of the call
   * @param open opens a device
   */
  constructor(
    options: GpuOptions & { readonly signal?: AbortSignal | undefined },
    total: number,
    open: typeof load = load,
  ) {
    this.#options = options;
    this.#total = total;
    this.#open = open;
  }

  /**
   * Computes sums, on a GPU if they have one term each and the options and the times so far say so.
   *
   * @param onCpu computes them on the CPU
   */
  async compute(
    curve: CurveContext,
    sums: ManySums,
    onCpu: () => Promise<readonly Uint32Array[]>,
  ): Promise<readonly Uint32Array[]> {
    const { backend = 'cpu', signal } = this.#options;
    const count = sums.which.length;
    if (backend === 'cpu' || count === 0 || !sums.starts.every((start, i) => start === i)) return onCpu();
    if (backend === 'gpu') {
      const scaler = await untilAborted(this.#opened(false), signal);
      return (await scaler.multiply(curve, sums, signal)) ?? onCpu();
    }
    if (this.#isOff || this.#total < LEAST_POINTS) return onCpu();
    const long = longMultiples(curve, sums);
    if (long < LEAST_ROUND) return onCpu();
    const times = this.#timesOf(curve);
    const { cpu, gpu, isReady } = times;
    const begun = performance.now();
    if (isReady && cpu !== null && (gpu === null || gpu * count < cpu * long)) {
      const products = await this.#tried((scaler) => scaler.multiply(curve, sums, signal));
      times.gpu = (performance.now() - begun) / count;
      return products ?? onCpu();
    }
    const products = await onCpu();
    times.cpu = (performance.now() - begun) / long;
    return products;
  }

  /** Ends the device; one that is not open yet will end when it is. */
  async end(): Promise<void> {
    this.#isOff = true;
    const ended = this.#scaler?.then((scaler) => scaler.destroy()).catch(() => undefined);
    this.#scaler = null;
    if (this.#isOpen) await ended;
  }

  /** Works on a device that was not asked for. @returns null after an error, and no other work is tried */
  async #tried<Result>(work: (scaler: Scaler) => Promise<Result>): Promise<Result | null> {
    try {
      return await work(await this.#opened(true));
    } catch (error) {
      if (error instanceof MsmError && error.code === 'aborted') throw error;
      this.#isOff = true;
      return null;
    }
  }

  #opened(hardwareOnly: boolean): Promise<Scaler> {
    this.#scaler ??= this.#open(this.#options, hardwareOnly).then((scaler) => {
      this.#isOpen = true;
      return scaler;
    });
    return this.#scaler;
  }

  /** Returns the times of a curve. At first it has a device prepared, while the CPU computes. */
  #timesOf(curve: CurveContext): Times {
    const known = this.#times.get(curve);
    if (known !== undefined) return known;
    const times: Times = { cpu: null, gpu: null, isReady: false };
    this.#times.set(curve, times);
    const prepared = this.#tried(async (scaler) => {
      await scaler.prepare(curve, this.#options.signal);
      times.isReady = true;
    });
    // the call notices its own abort
    void prepared.catch(() => undefined);
    return times;
  }
}
