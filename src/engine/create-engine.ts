/** How an engine is composed: its device, its backends, and the router between them. */
import type { MsmEngine } from '../api/engine.js';
import type { Coordinate, Fp2 } from '../api/values.js';
import type { CurveContext } from '../curves/curve.js';
import type { Group, NamedCurve } from '../curves/more-curves.js';
import { openCurve } from '../curves/open-curve.js';
import { badArgument, MsmError, show } from '../errors.js';
import { describeAdapter, type OpenDevice, openDevice } from '../gpu/device.js';
import { Runner } from '../gpu/runner.js';
import { GpuBackend } from '../msm/gpu/gpu-backend.js';
import { msmConfigure } from '../msm/gpu/gpu-setup.js';
import { defaultBudget } from '../msm/plan/device-profiles.js';
import { onlyBackend, Router } from '../msm/routing/router.js';
import type { Instrument } from '../msm/stages/kernels.js';
import { CallQueue } from '../scheduling/call-queue.js';
import { DeviceSource, sourcesOfEngines } from '../session/current-device.js';
import { Session } from '../session/session.js';
import { mostWorkers } from '../threads/platform.js';
import { Engine } from './engine.js';
import { EngineThreads, LazyCpu, threadsOfEngines, WarmUp } from './engine-parts.js';
import { limitOf } from './main-memory.js';
import { type MsmEngineOptions, readSettings, type Settings } from './options.js';

/** Active calls of an engine: the GPU computes one while the other is prepared. */
const WIDTH = 2;

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
 * @throws MsmError as `createMsmEngine`
 */
export const composeEngine = async (
  options: MsmEngineOptions | MsmEngineOptions<Fp2>,
  instrument?: Instrument,
): Promise<MsmEngine<Coordinate>> => {
  if (typeof options !== 'object' || options === null) throw badArgument('options must be an object with a `curve`');
  const settings = readSettings(options as MsmEngineOptions<Coordinate>, instrument);
  const { deviceOf } = settings;
  if (deviceOf !== undefined && !(deviceOf instanceof Engine)) {
    throw badArgument(`deviceOf must be an engine of createMsmEngine, got ${show(deviceOf)}`);
  }
  const curve = await openCurve(settings.curve as NamedCurve, settings.group as Group | undefined);
  const threads = (deviceOf && threadsOfEngines.get(deviceOf)) ?? new EngineThreads();
  threads.memory.restrict(limitOf(settings.memoryLimit));
  if (settings.backend === 'cpu') return cpuOnly(curve, threads, settings);
  const source = (deviceOf && sourcesOfEngines.get(deviceOf)) ?? sourceOf(settings);
  const open = await joinDevice(source, settings);
  if (open === null) return cpuOnly(curve, threads, settings);
  try {
    const engine = withGpu(curve, threads, { open, source }, settings);
    sourcesOfEngines.set(engine, source);
    return engine;
  } catch (error) {
    source.leave();
    throw error;
  }
};

const queueOf = ({ maxQueued, onEvent, sharing }: Settings): CallQueue =>
  new CallQueue(maxQueued, onEvent, sharing.overlap ? WIDTH : 1);

/** Composes an engine without a GPU. */
const cpuOnly = async (curve: CurveContext, threads: EngineThreads, settings: Settings): Promise<Engine> => {
  const lends = new LazyCpu(curve, threads, settings, settings.tuning);
  const backend = await lends.get();
  const queue = queueOf(settings);
  const engine = new Engine({
    ...{ curve, queue, backend, lends },
    gpu: null,
    cpu: null,
    cpuComputes: true,
    dispatcher: onlyBackend(backend, settings.sharing),
    warmUp: new WarmUp(queue, backend, null),
    memory: threads.memory,
    coalesces: false,
  });
  threadsOfEngines.set(engine, threads);
  return engine;
};

/** Composes an engine on a device, and with the CPU where the options let it compute. */
const withGpu = (
  curve: CurveContext,
  threads: EngineThreads,
  { open, source }: { readonly open: OpenDevice; readonly source: DeviceSource },
  settings: Settings,
): Engine => {
  const { backend, tuning, retainBases, verify, retries, selfTest, sharing } = settings;
  const mayUseCpu = backend === 'both' || (backend === 'auto' && tuning.cpuBelow !== 0);
  const cpuComputes = tuning.cpuBelow !== 0;
  const session = new Session(open, {
    source,
    configure: msmConfigure(curve, tuning),
    runnerFor: (device, afterLoss) => runnerFor(device, afterLoss, settings),
    selfTests: selfTest,
    retries,
    adviceAfterLoss: retainBases ? 'call again' : 'as retainBases is false, load the bases again',
    hasAlternative: mayUseCpu,
  });
  const cpu = new LazyCpu(curve, threads, settings, tuning);
  const gpu = new GpuBackend(session, curve, { retainBases, verify, alternative: mayUseCpu ? () => cpu.get() : null });
  const queue = queueOf(settings);
  const warmUp = new WarmUp(queue, gpu, cpuComputes ? cpu : null);
  let prepared: object | null = null;
  const dispatcher = new Router(curve, gpu, () => cpu.get(), {
    dividesAll: backend === 'both',
    cap: sharing,
    mostWorkers: () => threads.memory.workers(mostWorkers(settings)),
    prepare: (n) => {
      if (prepared === session.runner) return;
      prepared = session.runner;
      // an error shows again in the next call that uses the GPU
      warmUp.run(n, 'background').catch(() => undefined);
    },
  });
  const engine = new Engine({
    ...{ curve, queue, gpu, cpu, cpuComputes, dispatcher, warmUp, lends: cpu },
    backend: gpu,
    memory: threads.memory,
    // an instrument observes one sum at a time
    coalesces: sharing.merge && tuning.instrument === undefined,
  });
  threadsOfEngines.set(engine, threads);
  return engine;
};

/** Makes the runner of a device. @param afterLoss advice of the error after a loss of the device */
const runnerFor = (device: GPUDevice, afterLoss: string, { memoryBudget, deviceBudget, sharing }: Settings): Runner =>
  new Runner(device, memoryBudget ?? defaultBudget(describeAdapter(device.adapterInfo)), {
    ...{ afterLoss, deviceBudget },
    keeps: sharing.keep,
  });

/**
 * Returns whether an engine leaves software adapters alone: the CPU computes all of its sums there,
 * so that nothing is created, compiled or uploaded that would compute nothing. A caller who wants
 * the adapter names it by `backend`, or gives it sums by `tuning.cpuBelow`.
 */
const needsHardware = ({ backend, tuning: { cpuBelow = null } }: Settings): boolean =>
  backend === 'auto' && cpuBelow === null;

/** Returns the source of an engine's own devices. */
const sourceOf = (settings: Settings): DeviceSource => {
  const { device, gpu, powerPreference } = settings;
  // the closure keeps `gpu` reachable while a call is pending: Dawn in Node crashes if it is
  // collected meanwhile
  return new DeviceSource((again) => {
    // the device that replaces a lost one keeps bases that may be nowhere else
    const hardwareOnly = !again && needsHardware(settings);
    return openDevice({ device, gpu, powerPreference, hardwareOnly }, again);
  });
};

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
