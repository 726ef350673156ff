import type { Coordinate, createMsmEngine, MsmEngine, MsmEngineOptions } from '../../src/index.js';
import type { CurveGroup } from '../oracle/curves.js';

/** An engine in a group that is known only when this runs: types know an engine of G2 by the options that it is made with. */
export const engineIn = (
  create: typeof createMsmEngine,
  { curve, group }: CurveGroup,
  options: Omit<MsmEngineOptions, 'curve' | 'group'>,
): Promise<MsmEngine<Coordinate>> =>
  group === 'g2' ? create({ ...options, curve, group }) : create({ ...options, curve });
