/** Loading of points where the CPU computes: they are checked, and stay in main memory. */

import type { CurveContext } from '../../curves/curve.js';
import { formatOf } from '../../curves/misread.js';
import type { PointSource } from '../../curves/point-source.js';
import { ticketOf } from '../../scheduling/ticket.js';
import type { CallContext } from '../../session/call-context.js';
import { refusal } from '../inputs/refusal.js';
import { checkPoints } from './check-points.js';
import { ANY, turnsOf } from './sum-line.js';
import type { CpuThreads } from './threads.js';

/**
 * Checks points on the CPU when it is their turn.
 *
 * @returns the points as sums take them
 * @throws MsmError `bad-argument`, `not-on-curve` or `not-in-subgroup` naming the first point that is wrong
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
  const checked = await threads.line.inTurn({ ...ticketOf(call.ticket), additions: ANY }, (pause) => {
    progress(0);
    return checkPoints(curve, source, checkSubgroup, turnsOf(checkpoint, pause), progress);
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
