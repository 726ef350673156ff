/** Opens a device for vectors. */
import { badArgument, show } from '../../errors.js';
import { openDevice } from '../../gpu/device.js';
import { Runner } from '../../gpu/runner.js';
// what this module shares with index.js stays in that file only if index.js is loaded before
import '../../index.js';
import { DeviceSource, sourcesOfEngines } from '../../session/current-device.js';
import { Session } from '../../session/session.js';
import type { OpenField } from '../program/open-field.js';
import type { FieldEngineOptions } from '../program/options.js';
import { GpuVectors } from './gpu-vectors.js';
import { fieldConfigure } from './setup.js';

/** Repetitions of a run that the GPU did not execute correctly. */
const RETRIES = 1;

/**
 * Opens a device, or joins that of another engine.
 *
 * @returns null if the other engine has no GPU
 * @throws MsmError `bad-argument`, `no-webgpu`, `unsupported-device`
 */
export const openVectors = async (
  field: OpenField,
  { deviceOf, device, gpu }: Pick<FieldEngineOptions, 'deviceOf' | 'device' | 'gpu'>,
  { memoryBudget, retainVectors }: { readonly memoryBudget: number; readonly retainVectors: boolean },
): Promise<GpuVectors | null> => {
  if (deviceOf !== undefined && (typeof deviceOf !== 'object' || deviceOf === null)) {
    throw badArgument(`deviceOf must be an engine of createMsmEngine, got ${show(deviceOf)}`);
  }
  const joined = deviceOf && sourcesOfEngines.get(deviceOf);
  if (deviceOf !== undefined && joined === undefined) return null;
  const source = joined ?? new DeviceSource((again) => openDevice({ device, gpu }, again));
  const open = await source.join();
  const session = new Session(open, {
    source,
    configure: fieldConfigure(field),
    runnerFor: (own, afterLoss) => new Runner(own, memoryBudget, { afterLoss }),
    selfTests: true,
    retries: RETRIES,
    adviceAfterLoss: 'call again',
    hasAlternative: false,
  });
  return new GpuVectors(field, session, retainVectors);
};
