import type { Tuning } from '../api/device.js';
import type { MsmEngine } from '../api/engine.js';
import type { Coordinate, Fp2 } from '../api/values.js';
import type { Curve, CurveContext } from '../curves/curve.js';
import type { Group, NamedCurve } from '../curves/more-curves.js';
import { openCurve } from '../curves/open-curve.js';
import { badArgument, MsmError, notLoaded, show } from '../errors.js';
import { type OpenDevice, openDevice } from '../gpu/device.js';
import type { CpuBackend } from '../msm/cpu/cpu-backend.js';
import { GpuBackend } from '../msm/gpu/gpu-backend.js';
import { msmConfigure } from '../msm/gpu/gpu-setup.js';
import { onlyBackend, Router } from '../msm/routing/router.js';
import type { Instrument } from '../msm/stages/kernels.js';
import { DeviceSource, sourcesOfEngines } from '../session/current-device.js';
import { Session } from '../session/session.js';
import { mostWorkers } from '../threads/platform.js';
import { Engine } from './engine.js';
import { type FirstUse, type FirstUseOptions, openFirstUse, subjectOf } from './first-use.js';
import { type MsmEngineOptions, readEngineOptions, type Settings, settingsOf } from './options.js';

/** Active calls of an engine: the GPU computes one while the other is prepared. */
const WIDTH = 2;

/** Loads the CPU's code. */
const loadCpu = (): Promise<typeof import('../msm/cpu/cpu-backend.js')> =>
  import('../msm/cpu/cpu-backend.js').catch(notLoaded('cpu-backend'));

/** The CPU of an engine, whose code is loaded when it computes. */
class LazyCpu {
  readonly #make: (module: typeof import('../msm/cpu/cpu-backend.js')) => CpuBackend;
  #loading: Promise<CpuBackend> | null = null;
  #loaded: CpuBackend | null = null;
  #isDestroyed = false;

  constructor(curve: CurveContext, { workers, tuning }: Settings) {
    this.#make = ({ CpuBackend }) => new CpuBackend(curve, workers, tuning);
  }

  get(): Promise<CpuBackend> {
    this.#loading ??= loadCpu().then(
      (module) => {
        this.#loaded = this.#make(module);
        if (this.#isDestroyed) this.#loaded.destroy();
        return this.#loaded;
      },
      (error: unknown) => {
        // the next call loads it again
        this.#loading = null;
        throw error;
      },
    );
    return this.#loading;
  }

  async trim(): Promise<void> {
    await this.#loaded?.trim();
  }

  destroy(): void {
    this.#isDestroyed = true;
    this.#loaded?.destroy();
  }
}

/** Composes an engine without a GPU. */
const cpuOnly = async (curve: CurveContext, settings: Settings): Promise<Engine> => {
  const cpu = await new LazyCpu(curve, settings).get();
  return new Engine({
    curve,
    queue: settings.queueOf(WIDTH),
    firstUse: null,
    backend: cpu,
    dispatcher: onlyBackend(cpu, settings.sharing),
    backends: () => ['cpu'],
    warmUpCpu: null,
    coalesces: false,
    trimCpu: async () => undefined,
    destroyCpu: () => undefined,
  });
};

/** Composes an engine on a device, and with the CPU where the options let it compute. */
const withGpu = (
  curve: CurveContext,
  open: OpenDevice,
  source: DeviceSource,
  settings: Settings,
  firstUse: FirstUse | null,
): Engine => {
  const { backend, tuning, retainBases, verify, sharing, workers } = settings;
  const mayUseCpu = backend === 'both' || (backend === 'auto' && tuning.cpuBelow !== 0);
  const session = new Session(open, {
    source,
    configure: msmConfigure(curve, tuning),
    runnerFor: settings.runnerFor,
    selfTests: settings.selfTests,
    retries: settings.retries,
    adviceAfterLoss: retainBases ? 'call again' : 'as retainBases is false, load the bases again',
    hasAlternative: mayUseCpu,
  });
  const cpu = new LazyCpu(curve, settings);
  const gpu = new GpuBackend(session, curve, {
    retainBases,
    verify,
    alternative: mayUseCpu ? () => cpu.get() : null,
  });
  let prepared: object | null = null;
  const router = new Router(curve, gpu, () => cpu.get(), {
    dividesAll: backend === 'both',
    cap: sharing,
    mostWorkers: () => mostWorkers(workers),
    prepare: (n) => {
      if (prepared === session.runner) return;
      prepared = session.runner;
      // an error shows again in the next call that uses the GPU
      engine.warmUp(n, 'background').catch(() => undefined);
    },
  });
  const engine: Engine = new Engine({
    curve,
    queue: settings.queueOf(WIDTH, firstUse),
    firstUse,
    backend: gpu,
    dispatcher: router,
    backends: () => {
      if (session.isAbandoned) return ['cpu'];
      return tuning.cpuBelow === 0 ? ['gpu'] : ['gpu', 'cpu'];
    },
    warmUpCpu: tuning.cpuBelow === 0 ? null : async () => (await cpu.get()).warmUp(),
    // an instrument observes one sum at a time
    coalesces: sharing.merge && tuning.instrument === undefined,
    trimCpu: () => cpu.trim(),
    destroyCpu: () => cpu.destroy(),
  });
  return engine;
};

/**
 * Returns whether an engine leaves software adapters alone: the CPU computes all of its sums there,
 * so that nothing is created, compiled or uploaded that would compute nothing. A caller who wants
 * the adapter names it by `backend`, or gives it sums by `tuning.cpuBelow`.
 */
const needsHardware = ({ backend, tuning: { cpuBelow = null } }: Settings): boolean =>
  backend === 'auto' && cpuBelow === null;

/**
 * Opens the device; null where there is none, or only a software adapter that the engine leaves
 * alone, and the CPU computes instead.
 */
const joinDevice = async (source: DeviceSource, settings: Settings): Promise<OpenDevice | null> => {
  try {
    const open = await source.join();
    // the device may be of an engine that computes on it all the same
    if (!open.adapter.software || !needsHardware(settings)) return open;
    source.leave();
    return null;
  } catch (error) {
    const needsGpu = settings.backend === 'gpu';
    const isMissing = error instanceof MsmError && (error.code === 'no-webgpu' || error.code === 'unsupported-device');
    if (needsGpu || !isMissing) throw error;
    return null;
  }
};

/** Begins the calibration of an engine, which other engines on its device measure. */
const beginFirstUse = (curve: CurveContext, open: OpenDevice, { store }: FirstUseOptions): Promise<FirstUse | null> => {
  // these engines neither destroy the device nor replace it
  const source = (): DeviceSource => new DeviceSource(async () => ({ ...open, owned: false }));
  const constants = curve.constants as Curve;
  const another = (tuning: Partial<Tuning>): Promise<MsmEngine<Coordinate>> =>
    composeEngine({ curve: constants, selfTest: false, tuning: { ...tuning, cpuBelow: 0 } }, undefined, source());
  return openFirstUse({ ...subjectOf(curve, open, another), store });
};

/**
 * Makes an engine that computes multi-scalar multiplications in one group of a curve: on one GPU
 * device, or on the CPU where there is no WebGPU or only a software adapter.
 *
 * @throws MsmError `bad-argument` (an option is wrong; the message names it); with `backend: 'gpu'`
 *   also `no-webgpu`, `unsupported-device`
 * @example
 * ```ts
 * import { createMsmEngine } from 'webgpu-msm';
 *
 * const engine = await createMsmEngine({ curve: 'bn254' });
 * const generator = { x: 1n, y: 2n, infinity: false };
 * const bases = await engine.loadBases([generator, generator]);
 * const sum = await engine.msm(bases, [2n, 3n]); // 2·G + 3·G
 * console.log(sum.infinity); // false
 * engine.destroy();
 * ```
 */
export function createMsmEngine(options: MsmEngineOptions): Promise<MsmEngine>;
export function createMsmEngine(options: MsmEngineOptions<Fp2>): Promise<MsmEngine<Fp2>>;
export async function createMsmEngine(
  options: MsmEngineOptions | MsmEngineOptions<Fp2>,
): Promise<MsmEngine<Coordinate>> {
  return composeEngine(options);
}

/**
 * Makes the engine of `createMsmEngine`; `instrument`, if given, observes its stages.
 *
 * @param given the source of its device; by default that of the options
 * @throws MsmError as `createMsmEngine`
 */
export const composeEngine = async (
  options: MsmEngineOptions | MsmEngineOptions<Fp2>,
  instrument?: Instrument,
  given?: DeviceSource,
): Promise<MsmEngine<Coordinate>> => {
  if (typeof options !== 'object' || options === null) throw badArgument('options must be an object with a `curve`');
  const own = readEngineOptions(options as MsmEngineOptions<Coordinate>);
  const { device, gpu, powerPreference, deviceOf } = own;
  if (deviceOf !== undefined && !(deviceOf instanceof Engine)) {
    throw badArgument(`deviceOf must be an engine of createMsmEngine, got ${show(deviceOf)}`);
  }
  const curve = await openCurve(own.curve as NamedCurve, own.group as Group | undefined);
  const settings = settingsOf(own, instrument);
  if (settings.backend === 'cpu') return cpuOnly(curve, settings);
  // the closure keeps `gpu` reachable while a call is pending: Dawn in Node crashes if it is
  // collected meanwhile
  const another = (): DeviceSource =>
    new DeviceSource((again) => {
      // the device that replaces a lost one keeps bases that may be nowhere else
      const hardwareOnly = !again && needsHardware(settings);
      return openDevice({ device, gpu, powerPreference, hardwareOnly }, again);
    });
  const source = given ?? (deviceOf && sourcesOfEngines.get(deviceOf)) ?? another();
  const open = await joinDevice(source, settings);
  if (open === null) return cpuOnly(curve, settings);
  try {
    const firstUse = settings.firstUse && (await beginFirstUse(curve, open, settings.firstUse));
    const calibration = firstUse?.calibration;
    const tuned = calibration ? settingsOf({ ...own, calibration }, instrument) : settings;
    const engine = withGpu(curve, open, source, tuned, firstUse);
    sourcesOfEngines.set(engine, source);
    return engine;
  } catch (error) {
    source.leave();
    throw error;
  }
};
