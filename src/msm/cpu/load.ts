/** Loads points for the CPU: checks them and keeps them in main memory. */
import type { CurveContext } from '../../curves/curve.js';
import { formatOf } from '../../curves/misread.js';
import type { PointSource } from '../../curves/point-source.js';
import { ticketOf } from '../../scheduling/ticket.js';
import { ANY_SIZE, timeSlices } from '../../scheduling/turn-queue.js';
import type { CallContext } from '../../session/call-context.js';
import { refusal } from '../inputs/refusal.js';
import { checkPoints } from './check-points.js';
import type { CpuThreads } from './threads.js';

/**
 * Checks points on the CPU, when it is the turn of the call.
 *
 * @returns the points in the form that sums take
 * @throws MsmError `bad-argument`, `not-on-curve` or `not-in-subgroup` naming the first wrong point
 */
export const loadOnCpu = async (
  curve: CurveContext,
  source: PointSource,
  threads: CpuThreads,
  checkSubgroup: boolean,
  call: CallContext,
): Promise<PointSource> => {
  const checkpoint = (): void => call.checkpoint();
  checkpoint();
  const length = source.bytes.length / curve.pointBytes;
  const progress = (done: number): void => call.progress('load', done, length);
  const checked = await threads.queue.inTurn({ ...ticketOf(call.ticket), size: ANY_SIZE }, (pause) => {
    progress(0);
    return checkPoints(curve, source, checkSubgroup, timeSlices(checkpoint, pause), progress);
  });
  if ('wrong' in checked) {
    const at = checked.index * curve.pointBytes;
    const bytes = source.bytes.slice(at, at + curve.pointBytes);
    const format = checked.wrong === 'outside the group' ? null : formatOf(curve, { ...source, bytes });
    throw refusal(curve, checked.index, checked.wrong, format);
  }
  progress(length);
  checkpoint();
  return checked;
};
