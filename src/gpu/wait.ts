/**
 * Shorter waits for the queue of a device. Firefox checks only every 100 ms, and at every submit,
 * whether the GPU is done (wgpu leaves that to its caller). There, empty submits make a wait as
 * short as the work. Other browsers do not need them, so slow waits are measured once on each
 * device.
 */

import { type WaitRequest, watchOf } from './device-watch.js';

/** Measurement of a device's waits. */
interface Waits {
  slow: boolean;
  lost: boolean;
  readonly measured: Promise<void>;
}

const known = new WeakMap<GPUDevice, Waits>();

/** Shortest wait for an idle device that counts as slow, in milliseconds. */
const WORTH_NUDGING_MS = 5;

/** Factor by which empty submits must shorten the wait; otherwise the device itself is slow. */
const LEAST_GAIN = 4;

/** Number of measurements; a device that is slow for a moment is fast in one of them. */
const ROUNDS = 2;

/** Interval of empty submits, in milliseconds; browsers raise it to 4 ms after the fifth. */
const NUDGE_EVERY_MS = 1;

/** Makes empty submits until a wait settles. */
const nudge = async <Value>(device: GPUDevice, waits: Pick<Waits, 'lost'>, wait: Promise<Value>): Promise<Value> => {
  const timer = setInterval(() => (waits.lost ? clearInterval(timer) : submitNothing()), NUDGE_EVERY_MS);
  const submitNothing = (): void => {
    try {
      device.queue.submit([]);
    } catch {
      // the wait itself reports an error of the device
      clearInterval(timer);
    }
  };
  submitNothing();
  try {
    return await wait;
  } finally {
    clearInterval(timer);
  }
};

const areSlow = async (device: GPUDevice, waits: Pick<Waits, 'lost'>): Promise<boolean> => {
  const time = async (wait: () => Promise<unknown>): Promise<number> => {
    const begun = performance.now();
    await wait();
    return performance.now() - begun;
  };
  const whenIdle = (): Promise<unknown> =>
    watchOf(device).wait(device.queue.onSubmittedWorkDone(), { what: 'an idle queue' });
  // the first wait ends with earlier work and at a poll, so the next one takes a whole interval
  await whenIdle();
  for (let round = 0; round < ROUNDS; round++) {
    const left = await time(whenIdle);
    if (left < WORTH_NUDGING_MS) return false;
    const nudged = await time(() => nudge(device, waits, whenIdle()));
    if (nudged * LEAST_GAIN > left) return false;
  }
  return true;
};

/**
 * Measures once how long a wait for an idle device takes. On most devices this takes no submit and
 * less than a millisecond; where waits are slow, a quarter of a second. Never rejects.
 */
export const measureWaits = (device: GPUDevice): Promise<void> => {
  const before = known.get(device);
  if (before !== undefined) return before.measured;
  const state = { slow: false, lost: false };
  const lost = watchOf(device).loss.then(() => {
    state.lost = true;
  });
  const measuring = areSlow(device, state).then(
    (slow) => {
      waits.slow = slow;
    },
    // without a measurement the device counts as fast
    () => undefined,
  );
  const waits: Waits = Object.assign(state, { measured: Promise.race([measuring, lost]) });
  known.set(device, waits);
  return waits.measured;
};

/**
 * Waits for the queue of a device: for a map, or for the end of submitted work.
 *
 * @param wait just begun
 * @throws Error when the device is lost first, or the wait exceeds its limit
 */
export const waitForQueue = <Value>(
  device: GPUDevice,
  wait: Promise<Value>,
  request: WaitRequest = { what: 'the queue' },
): Promise<Value> => {
  const waits = known.get(device);
  const watched = watchOf(device).wait(wait, request);
  return waits?.slow && !waits.lost ? nudge(device, waits, watched) : watched;
};
