import type { Coordinate, createMsmEngine, MsmEngine, MsmEngineOptions } from '../../src/index.js';
import type { CurveGroup } from '../oracle/curves.js';

/**
 * Creates an engine in a group known only at run time. The options select the type, so each group
 * has a call of its own.
 */
export const engineIn = (
  create: typeof createMsmEngine,
  { curve, group }: CurveGroup,
  options: Omit<MsmEngineOptions, 'curve' | 'group'>,
): Promise<MsmEngine<Coordinate>> =>
  group === 'g2' ? create({ ...options, curve, group }) : create({ ...options, curve });
