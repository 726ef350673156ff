/** Measures the step of GPU timestamps, which browsers coarsen to protect other pages. */
import { bufferUsage } from '../../src/gpu/device-memory.js';
import { readBack } from '../field-bench/submit.js';

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
export async function timestampQuantum(device: GPUDevice): Promise<number | null> {
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
