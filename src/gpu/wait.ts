/**
 * Shorter waits for the queue of a device. Firefox looks only every 100 ms whether a GPU is done (wgpu leaves that to its caller), and at every submit:
 * there an empty submit now and then makes a wait as short as the work. Elsewhere it would be a call for nothing, so whether waits
 * are slow is measured, once a device.
 */

import { type WaitRequest, watchOf } from './device-watch.js';

/** What is known of a device's waits. */
interface Waits {
  slow: boolean;
  lost: boolean;
  readonly measured: Promise<void>;
}

const known = new WeakMap<GPUDevice, Waits>();

/** A wait for nothing that takes less is not worth shortening. In milliseconds. */
const WORTH_NUDGING_MS = 5;

/** How many times faster an empty submit must make a wait for nothing, before the waiting is what was slow, and not the device. */
const LEAST_GAIN = 4;

/** A device that is slow for a moment looks fast in one of them. */
const ROUNDS = 2;

/** Browsers make 4 ms of it after the fifth. */
const NUDGE_EVERY_MS = 1;

/** The same as a wait, while empty submits have the device looked at. They end when it ends, however it does. */
const nudge = async <Value>(device: GPUDevice, waits: Pick<Waits, 'lost'>, wait: Promise<Value>): Promise<Value> => {
  const timer = setInterval(() => (waits.lost ? clearInterval(timer) : submitNothing()), NUDGE_EVERY_MS);
  const submitNothing = (): void => {
    try {
      device.queue.submit([]);
    } catch {
      // what is wrong with the device, the wait itself will say
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
  const forNothing = (): Promise<unknown> =>
    watchOf(device).wait(device.queue.onSubmittedWorkDone(), { what: 'the end of no work' });
  // ends where a poll does, so that the next wait has a whole period before it; and what was submitted before is done then
  await forNothing();
  for (let round = 0; round < ROUNDS; round++) {
    const left = await time(forNothing);
    if (left < WORTH_NUDGING_MS) return false;
    const nudged = await time(() => nudge(device, waits, forNothing()));
    if (nudged * LEAST_GAIN > left) return false;
  }
  return true;
};

/**
 * Measures how long a device lets one wait for nothing, unless that is known. Takes no submit and less than a millisecond on most, and
 * a quarter of a second where waits are slow. Never rejects.
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
    // a device that cannot wait for nothing is left alone
    () => undefined,
  );
  const waits: Waits = Object.assign(state, { measured: Promise.race([measuring, lost]) });
  known.set(device, waits);
  return waits.measured;
};

/**
 * Waits for the queue of a device: for a map, or for the end of what was submitted.
 *
 * @param wait just begun
 * @throws Error when the device is lost first, or lets the wait run past its limit
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
