/** Reading results back. */
import type { Slice } from '../shaders/commands.js';
import { mapModeRead } from './constants.js';
import type { WaitRequest } from './device-watch.js';
import type { Pass, PassTime, Stopwatch } from './submission.js';
import { waitForQueue } from './wait.js';

/** Returns the bytes of a buffer, and unmaps it. */
export const readMapped = async (
  device: GPUDevice,
  buffer: GPUBuffer,
  size: number,
  clock: Stopwatch,
  request: WaitRequest,
): Promise<ArrayBuffer> => {
  await waitForQueue(device, buffer.mapAsync(mapModeRead, 0, size), request);
  clock.enter('readBackMs');
  const bytes = buffer.getMappedRange(0, size).slice(0);
  buffer.unmap();
  return bytes;
};

/** Cuts words into slices that lie one behind the other. */
export const cutSlices = (
  words: Uint32Array,
  slices: readonly (Slice & { readonly size: number })[],
): Uint32Array[] => {
  let at = 0;
  return slices.map(({ size }) => {
    const first = at;
    at += size / 4;
    return words.subarray(first, at);
  });
};

/** Returns the time of each pass. @param times begin and end of each pass, pass by pass */
export const readTimes = (segments: readonly (readonly Pass[])[], times: BigUint64Array): PassTime[] =>
  segments
    .flatMap((segment, submit) => segment.map(({ phase }) => ({ phase, submit })))
    .map((pass, i) => ({ ...pass, begin: times[2 * i] as bigint, end: times[2 * i + 1] as bigint }));
