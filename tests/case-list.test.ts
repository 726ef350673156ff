/**
 * The list of dev/cases on whole engines: one run of each case, with the defaults of the device, the two placements in turns, and a
 * budget that makes groups of windows and chunks of the largest. Always its tenth; all of it, or any other cases, with
 *   CASES=all npm test -- tests/case-list.test.ts
 *   CASES='points=pairs,scalars=all-equal,n=4097' npm test -- tests/case-list.test.ts
 * Of the tenth, what has more than LARGE points is of the second tier.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type CaseAddress, formatCaseAddress } from '../dev/cases/address.js';
import { placementInTurn } from '../dev/cases/list.js';
import { type PointSet, pointDistributions } from '../dev/cases/point-distributions.js';
import { scalarDistributions } from '../dev/cases/scalar-distributions.js';
import { selectCases } from '../dev/cases/select.js';
import { bn254G1, expectedMsm } from '../dev/oracle/known-bases.js';
import { type Bases, createMsmEngine, type MsmEngine } from '../src/index.js';
import { getDevice } from './support/gpu.js';

// the largest take a minute where the machine has other things to do
vi.setConfig({ testTimeout: 600_000 });

const memoryBudget = 16e6;
const cases = selectCases((process.env.CASES ?? 'tenth').split(';'), [1000], 1);

const LARGE = 1000;
/** Those that somebody asks for are of either tier. */
const ofSecondTier = ({ n }: CaseAddress): boolean => process.env.CASES === undefined && n > LARGE;
const [large, small] = [cases.filter(ofSecondTier), cases.filter((address) => !ofSecondTier(address))];

const engines = new Map<string, MsmEngine>();
/** The points of the case before, which are often those of the next. */
let loaded: { readonly key: string; readonly points: PointSet; readonly bases: ReadonlyMap<MsmEngine, Bases> } | null =
  null;

beforeAll(async () => {
  const device = await getDevice();
  for (const walkerPrefixMemory of ['private', 'workgroup'] as const) {
    const tuning = { walkerPrefixMemory, cpuBelow: 0 };
    engines.set(walkerPrefixMemory, await createMsmEngine({ curve: 'bn254', device, memoryBudget, tuning }));
  }
});
afterAll(() => {
  for (const engine of engines.values()) engine.destroy();
});

const load = async ({ points: name, n, seed }: CaseAddress) => {
  const key = `${name} ${n} ${seed}`;
  if (loaded?.key === key) return loaded;
  for (const bases of loaded?.bases.values() ?? []) bases.destroy();
  const points = pointDistributions[name].make(n, seed);
  const bases = new Map<MsmEngine, Bases>();
  for (const engine of engines.values()) bases.set(engine, await engine.loadBases(points.bytes));
  loaded = { key, points, bases };
  return loaded;
};

const agrees = async (_: string, address: CaseAddress): Promise<void> => {
  const { points, bases } = await load(address);
  const { values, bytes } = scalarDistributions[address.scalars].make(address.n, address.seed);
  const engine = engines.get(placementInTurn(address)) as MsmEngine;
  const result = await engine.msm(bases.get(engine) as Bases, bytes);
  expect(result).toEqual(expectedMsm(bn254G1, points.logs, values));
  expect(engine.memory.peak).toBeLessThanOrEqual(memoryBudget);
};

const named = (some: readonly CaseAddress[]) => some.map((address) => [formatCaseAddress(address), address] as const);

test.each(named(small))('%s', agrees);
test.each(named(large))('%s', { tags: 'long' }, agrees);
