/** Sets a run up on a GPU device or on the CPU alone, and emits its first row. */

import type { AdapterDescription } from '../../src/api/device.js';
import { MsmError } from '../../src/errors.js';
import { openDevice } from '../../src/gpu/device.js';
import { bufferUsage } from '../../src/gpu/device-memory.js';
import { createMsmEngine } from '../../src/index.js';
import { version } from '../../src/version.js';
import { createCheckedEngine } from '../checks/engine.js';
import { readBack } from '../field-bench/rig.js';
import type { Knobs } from './knob.js';
import type { Environment, Host, Library } from './rows.js';
import type { Run } from './run.js';
import type { Setting } from './settings.js';

const SUBMITS = 24;

const divisor = (a: bigint, b: bigint): bigint => (b === 0n ? a : divisor(b, a % b));

/** Returns the largest step that divides all differences; null if nothing differs. */
export function quantumOf(times: readonly bigint[]): number | null {
  const first = times[0] ?? 0n;
  const step = times.reduce((sofar, time) => divisor(sofar, time > first ? time - first : first - time), 0n);
  return step === 0n ? null : Number(step);
}

/**
 * Reads the times of empty passes in submits of their own.
 *
 * @param device a device with `timestamp-query`
 * @returns nanoseconds; null if no two times differ
 */
async function timestampQuantum(device: GPUDevice): Promise<number | null> {
  const querySet = device.createQuerySet({ label: 'quantum', type: 'timestamp', count: 2 });
  const resolved = device.createBuffer({ size: 16, usage: bufferUsage.queryResolve | bufferUsage.copySrc });
  const times: bigint[] = [];
  try {
    for (let i = 0; i < SUBMITS; i++) {
      const encoder = device.createCommandEncoder();
      const timestampWrites = { querySet, beginningOfPassWriteIndex: 0, endOfPassWriteIndex: 1 };
      encoder.beginComputePass({ timestampWrites }).end();
      encoder.resolveQuerySet(querySet, 0, 2, resolved, 0);
      device.queue.submit([encoder.finish()]);
      const { buffer } = await readBack(device, resolved);
      times.push(...new BigUint64Array(buffer));
    }
  } finally {
    querySet.destroy();
    resolved.destroy();
  }
  return quantumOf(times);
}

interface Owned {
  destroy(): void;
}

/** Destroys something when the run is over, the last one first. */
type Own = <Kind extends Owned>(owned: Kind) => Kind;

/** A run that is set up, and what its engines are created from. */
export interface Bench {
  readonly run: Run;
  readonly host: Host;
  readonly adapter: AdapterDescription;
  /** The device that engines share, and the GPU entry point; null for the CPU alone. */
  readonly device: GPUDevice | null;
  readonly gpu: GPU | null;
  readonly own: Own;
  /** Returns the library that measures a setting. */
  library(setting: Pick<Setting, 'build' | 'checks'>): Promise<Library>;
}

export interface GpuBench extends Bench {
  readonly device: GPUDevice;
  readonly gpu: GPU;
}

type Place = Pick<Bench, 'adapter' | 'device' | 'gpu'> & { readonly createMs: number };

/** Opens no GPU, because a software GPU would use this very CPU. */
async function openCpu(): Promise<Place> {
  const begun = performance.now();
  const engine = await createMsmEngine({ curve: 'bn254', backend: 'cpu', maxWorkers: 0 });
  engine.destroy();
  return { adapter: engine.adapter, device: null, gpu: null, createMs: performance.now() - begun };
}

/**
 * Opens a device as the library would.
 *
 * @throws MsmError `no-webgpu`, `unsupported-device`
 */
async function openGpu(run: Run, host: Host, own: Own): Promise<Place> {
  await run.next('Opening the GPU');
  const begun = performance.now();
  const { device, adapter } = await openDevice({ gpu: host.gpu });
  const createMs = performance.now() - begun;
  let isOver = false;
  void device.lost.then(({ message, reason }) => {
    if (!isOver) run.loseDevice(message || reason);
  });
  own({
    destroy() {
      isOver = true;
      device.destroy();
    },
  });
  return { adapter, device, gpu: host.gpu ?? navigator.gpu, createMs };
}

async function environmentOf({ facts }: Host, { gpu, device }: Place): Promise<Environment> {
  if (gpu === null || device === null) {
    const none = { features: [], limits: {}, wgslFeatures: [], timestamps: false, timestampQuantumNs: null };
    return { ...facts, version, ...none };
  }
  // a device lists only the limits it was asked for, so the full ones come from the adapter
  const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
  if (adapter === null) throw new MsmError('no-webgpu', 'WebGPU no longer offers an adapter; reload the page');
  const limits: Record<string, number> = {};
  // they are on the prototype, so own-property enumeration misses them
  for (const name in adapter.limits) {
    const value = adapter.limits[name as keyof GPUSupportedLimits];
    if (typeof value === 'number') limits[name] = value;
  }
  const timestamps = device.features.has('timestamp-query');
  return {
    ...facts,
    version,
    features: [...adapter.features].sort(),
    limits,
    wgslFeatures: [...gpu.wgslLanguageFeatures].sort(),
    timestamps,
    timestampQuantumNs: timestamps ? await timestampQuantum(device) : null,
  };
}

/**
 * Sets a run up, with a device unless the knobs need none, and ends it after its work.
 *
 * @param work returns why the run failed, or null
 * @throws MsmError `no-webgpu`, `unsupported-device`
 */
export async function withBench(
  run: Run,
  host: Host,
  knobs: Knobs,
  work: (bench: Bench) => Promise<string | null>,
): Promise<void> {
  const all: Owned[] = [];
  const own: Own = (owned) => {
    all.push(owned);
    return owned;
  };
  let failure: string | null;
  try {
    const place = await (knobs.opensGpu ? openGpu(run, host, own) : openCpu());
    const { adapter, device, gpu, createMs } = place;
    const environment = await environmentOf(host, place);
    run.bench.adapter = adapter;
    const { mode, seed, settings } = knobs;
    const told = { mode: mode ?? 'msm-bench', query: host.query, settings: settings.map(({ name }) => name) };
    run.emit({ event: 'init', ...told, seed, adapter, environment, createMs });
    failure = await work({ run, host, adapter, device, gpu, own, library: (setting) => libraryOf(host, setting) });
  } finally {
    for (const owned of all.reverse()) owned.destroy();
  }
  await run.end(failure);
}

/** Returns the sources of this bench, whose stages are checked if the setting says so. */
export const ownLibrary = ({ checks }: Pick<Setting, 'checks'>): Library => ({
  createMsmEngine: checks ? createCheckedEngine : createMsmEngine,
});

/** Returns the sources of this bench, unless the setting names a build. */
const libraryOf = async (host: Host, setting: Pick<Setting, 'build' | 'checks'>): Promise<Library> => {
  if (setting.build === null) return ownLibrary(setting);
  if (host.openBuild === undefined) throw new Error('build: this host has no folders; run it with npm run bench');
  return host.openBuild(setting.build);
};
