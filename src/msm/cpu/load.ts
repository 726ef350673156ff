/** Loading of points where the CPU computes: they are checked, and stay in main memory. */

import type { CurveContext } from '../../curves/curve.js';
import { formatOf } from '../../curves/misread.js';
import type { PointSource } from '../../curves/point-source.js';
import type { Call } from '../../engine/input.js';
import { refusal } from '../refusal.js';
import { checkPoints } from './check-points.js';
import { ANY, turnsOf } from './sum-line.js';
import type { CpuThreads } from './threads.js';

/**
 * Checks points on the CPU when it is their turn.
 *
 * @param goOn called now and then; what it throws ends the call
 * @returns the points as sums take them
 * @throws MsmError `bad-argument`, `not-on-curve` or `not-in-subgroup` naming the first point that is wrong
 */
export const loadOnCpu = async (
  curve: CurveContext,
  source: PointSource,
  threads: CpuThreads,
  { checkSubgroup, onProgress, turn }: Pick<Call, 'checkSubgroup' | 'onProgress' | 'turn'>,
  checkpoint: () => void,
): Promise<PointSource> => {
  checkpoint();
  const length = source.bytes.length / curve.pointBytes;
  const progress = (done: number): void => onProgress?.({ phase: 'load', done, total: length });
  const checked = await threads.line.inTurn({ ...turn, additions: ANY }, (pause) => {
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
