/** The known answer of a multiplication, for the self-test of a device. */

import type { AffinePoint, Coordinate } from '../../api/values.js';
import type { KnownAnswer } from '../../session/operation.js';
import { type BasesLoader, LoadedBases } from '../inputs/loaded-bases.js';
import { loadedTables } from '../plan/workload.js';
import { areSame } from '../stages/combine-windows.js';
import { type KnownAnswer as KnownMsm, knownAnswer } from '../verify/known-answer.js';
import type { MsmInput, MsmResult } from './msm-input.js';
import type { MsmSetup } from './setup.js';

/** Number of tables in a test of tables. */
const TABLES = 3;

/** Returns the self-test of a setup. @param hasTables true to test tables of bases as well */
export const knownMsm = (
  { curve, tuning }: MsmSetup,
  hasTables: boolean,
  loader: BasesLoader,
): KnownAnswer<MsmInput, MsmResult> => {
  // no pipeline depends on the knobs that are left out here
  const { windowBits: _windowBits, cpuBelow: _cpuBelow, ...knobs } = tuning;
  const { name, p, a, b, field, coordinates: f, pointBytes, scalarBytes } = curve;
  const constants = [p, ...f.coefficients(a), ...f.coefficients(b)].join();
  let answer: KnownMsm | null = null;
  const computed = (): KnownMsm => {
    answer ??= knownAnswer(curve);
    return answer;
  };
  return {
    key: JSON.stringify([name, constants, field.product, hasTables, knobs]),
    input: () => {
      const { points, scalars } = computed();
      return {
        bases: new LoadedBases({
          length: points.length / pointBytes,
          label: 'self-test',
          tables: loadedTables(curve, hasTables ? TABLES : 1),
          source: { bytes: points, scale: 1n, encoding: 'le' },
          loader,
        }),
        vectors: [{ scalars, n: scalars.length / scalarBytes, offset: 0, loaded: null }],
        verify: 0,
        placed: [],
        knobs,
        request: null,
        surveyed: null,
      };
    },
    check: ({ sums }) =>
      areSame(curve, sums[0] as AffinePoint<Coordinate>, computed().sum)
        ? null
        : 'the sum of the known points is wrong',
  };
};
