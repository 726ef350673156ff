/** Reading of an engine's options. */
import type { EngineEvent } from '../api/sharing.js';
import { describeAdapter } from '../gpu/device.js';
import { Runner } from '../gpu/runner.js';
import type { WorkerOptions } from '../msm/cpu/threads.js';
import { defaultBudget } from '../msm/plan/device-profiles.js';
import type { Knobs } from '../msm/plan/tuning.js';
import type { Instrument } from '../msm/stages/instrument.js';
import { ownOptions } from '../own-options.js';
import { CallQueue } from '../scheduling/call-queue.js';
import { readVerify } from './arguments.js';
import type { FirstUse, FirstUseOptions } from './first-use.js';
import {
  assertFunctions,
  type Computing,
  readBudgets,
  readComputing,
  readFirstUse,
  readKnobs,
  readQueueLimits,
  readSharing,
  readWorkers,
  type SharingSettings,
} from './option-groups.js';
import type { OtherOptions } from './options.js';

/** Options of an engine, checked and with their defaults. */
export interface ReadOptions extends Computing {
  readonly tuning: Knobs;
  /** Probability that a result is verified. */
  readonly verify: number;
  readonly workers: WorkerOptions;
  /**
   * Makes the runner of a device. @param afterLoss advice of the error after a loss of the device
   */
  runnerFor(device: GPUDevice, afterLoss: string): Runner;
  readonly sharing: SharingSettings;
  /** null if nothing is to be measured. */
  readonly firstUse: FirstUseOptions | null;
  /** Makes the queue of an engine. @param width number of active calls */
  queueOf(width: number, firstUse?: FirstUse | null): CallQueue;
}

/** Reads the options of an engine. @throws MsmError `bad-argument` that names the option */
export const readOptions = (options: OtherOptions, instrument?: Instrument): ReadOptions => {
  const own = ownOptions(options);
  const { verify = false, sharing: givenSharing = {}, onEvent } = own;
  const { memoryBudget, deviceBudget } = readBudgets(own);
  const tuning = readKnobs(own, instrument);
  const computing = readComputing(own);
  const workers = readWorkers(own);
  const limits = readQueueLimits(own);
  assertFunctions(own);
  const sharing = readSharing(givenSharing);
  return {
    queueOf: (width, firstUse = null) => {
      const follow = (event: EngineEvent): unknown => {
        firstUse?.note(event);
        return onEvent?.(event);
      };
      return new CallQueue(limits, firstUse === null ? onEvent : follow, sharing.overlap ? width : 1);
    },
    runnerFor: (device, afterLoss) =>
      new Runner(device, memoryBudget ?? defaultBudget(describeAdapter(device.adapterInfo)), {
        ...{ afterLoss, deviceBudget },
        keeps: sharing.keep,
      }),
    ...computing,
    ...{ tuning, sharing, workers, firstUse: readFirstUse(own) },
    verify: readVerify('verify', verify),
  };
};
