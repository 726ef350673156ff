/** Browsers coarsen timestamps, so that they tell less about other pages: how much, one can see. */
import { bufferUsage, mapModeRead } from '../../src/gpu/constants.js';

const SUBMITS = 24;

const divisor = (a: bigint, b: bigint): bigint => (b === 0n ? a : divisor(b, a % b));

/** The largest step of which all differences are multiples; null if nothing differs. */
export function quantumOf(times: readonly bigint[]): number | null {
  const first = times[0] ?? 0n;
  const step = times.reduce((sofar, time) => divisor(sofar, time > first ? time - first : first - time), 0n);
  return step === 0n ? null : Number(step);
}

/**
 * Takes the time of empty passes in submits of their own.
 *
 * @param device with `timestamp-query`
 * @returns nanoseconds; null if no two times differ
 */
export async function timestampQuantum(device: GPUDevice): Promise<number | null> {
  const querySet = device.createQuerySet({ label: 'quantum', type: 'timestamp', count: 2 });
  const size = 16;
  const resolved = device.createBuffer({ size, usage: bufferUsage.queryResolve | bufferUsage.copySrc });
  const staging = device.createBuffer({ size, usage: bufferUsage.mapRead | bufferUsage.copyDst });
  const times: bigint[] = [];
  try {
    for (let i = 0; i < SUBMITS; i++) {
      const encoder = device.createCommandEncoder();
      const timestampWrites = { querySet, beginningOfPassWriteIndex: 0, endOfPassWriteIndex: 1 };
      encoder.beginComputePass({ timestampWrites }).end();
      encoder.resolveQuerySet(querySet, 0, 2, resolved, 0);
      encoder.copyBufferToBuffer(resolved, 0, staging, 0, size);
      device.queue.submit([encoder.finish()]);
      await staging.mapAsync(mapModeRead);
      times.push(...new BigUint64Array(staging.getMappedRange().slice(0)));
      staging.unmap();
    }
  } finally {
    querySet.destroy();
    resolved.destroy();
    staging.destroy();
  }
  return quantumOf(times);
}
