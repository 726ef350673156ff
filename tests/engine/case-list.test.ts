/**
 * The list of dev/cases on whole engines: one run of each case, with the defaults of the device,
 * the two placements in turns, and a budget that makes groups of windows and chunks of the largest.
 * By default a tenth of the list runs, with few distributions of the most scalars. CASES chooses others:
 *   CASES=tenth npm test -- tests/engine/case-list.test.ts
 *   CASES=all npm test -- tests/engine/case-list.test.ts
 *   CASES='curve=bls12-381,points=pairs,n=4097' npm test -- tests/engine/case-list.test.ts
 *   CASES=groups npm test -- tests/engine/case-list.test.ts
 *   CASES=encodings npm test -- tests/engine/case-list.test.ts
 * Cases with more than LARGE points are long tests. Other curves and groups also have
 * tests of their own (other-curves, groups).
 */
import { afterAll, expect, test, vi } from 'vitest';
import { type CaseAddress, defaultEncoding, formatCaseAddress } from '../../dev/cases/address.js';
import { encodedPoints, engineIn, makePoints } from '../../dev/cases/msm-case.js';
import type { PointSet } from '../../dev/cases/point-distributions.js';
import { scalarDistributions } from '../../dev/cases/scalar-distributions.js';
import { alternatingPlacement, listSizes, selectCases } from '../../dev/cases/select.js';
import { oracleOf } from '../../dev/oracle/curves.js';
import { hasInfinity, pointsIn } from '../../dev/oracle/encodings.js';
import { type Coordinate, expectedMsm } from '../../dev/oracle/known-bases.js';
import { type Bases, createMsmEngine, type MsmEngine } from '../../src/index.js';
import { getDevice } from '../support/gpu.js';

// the largest take a minute where the machine has other things to do
vi.setConfig({ testTimeout: 600_000 });

const memoryBudget = 16e6;
/** Scalars of the largest size by default. The size before it, which is half of it, has all. */
const ofLargest = ['random', 'carry-patterns', 'mostly-zero', 'all-equal', 'zero-one'];
const [largest] = listSizes.slice(-1);
const cases = selectCases((process.env.CASES ?? 'tenth').split(';'), [1000], 1).filter(
  ({ n, scalars }) => process.env.CASES !== undefined || n !== largest || ofLargest.includes(scalars),
);

const LARGE = 1000;
/** Those that somebody asks for are of either tier. */
const ofSecondTier = ({ n }: CaseAddress): boolean => process.env.CASES === undefined && n > LARGE;
const [large, small] = [cases.filter(ofSecondTier), cases.filter((address) => !ofSecondTier(address))];

/** By group and placement, made when they are first asked for. */
const engines = new Map<string, MsmEngine<Coordinate>>();
/** The points of the case before, which are often those of the next. */
let loaded: {
  readonly key: string;
  readonly points: PointSet<Coordinate>;
  readonly bases: Map<MsmEngine<Coordinate>, Bases>;
} | null = null;

afterAll(() => {
  for (const engine of engines.values()) engine.destroy();
});

const engineFor = async (address: CaseAddress): Promise<MsmEngine<Coordinate>> => {
  const { curve, group } = address;
  const walkerPrefixMemory = alternatingPlacement(address);
  const key = `${curve} ${group} ${walkerPrefixMemory}`;
  const options = { device: await getDevice(), memoryBudget, tuning: { walkerPrefixMemory, cpuBelow: 0 } };
  const engine = engines.get(key) ?? (await engineIn(createMsmEngine, address, options));
  engines.set(key, engine);
  return engine;
};

const load = async (address: CaseAddress, engine: MsmEngine<Coordinate>) => {
  const { curve, group, encoding, points: name, n, seed } = address;
  const key = `${curve} ${group} ${encoding} ${name} ${n} ${seed}`;
  if (loaded?.key !== key) {
    for (const bases of loaded?.bases.values() ?? []) bases.destroy();
    loaded = { key, points: makePoints(address), bases: new Map() };
  }
  const { points } = loaded;
  const bytes = encodedPoints({ address, curve: oracleOf(address), points });
  const bases = loaded.bases.get(engine) ?? (await engine.loadBases(bytes, { encoding }));
  loaded.bases.set(engine, bases);
  return { points, bases };
};

const agrees = async (_: string, address: CaseAddress): Promise<void> => {
  const engine = await engineFor(address);
  const { points, bases } = await load(address, engine);
  const oracle = oracleOf(address);
  const { values, bytes } = scalarDistributions[address.scalars].make(address.n, address.seed, oracle);
  const result = await engine.msm(bases, bytes);
  const expected = expectedMsm(oracle, points.logs, values);
  expect(result).toEqual(expected);
  const { encoding } = address;
  if (encoding !== defaultEncoding && hasInfinity(encoding)) {
    expect(await engine.msm(bases, bytes, { result: encoding })).toEqual(pointsIn(oracle, [expected], encoding));
  }
  expect(engine.memory.peak).toBeLessThanOrEqual(memoryBudget);
};

const named = (some: readonly CaseAddress[]) => some.map((address) => [formatCaseAddress(address), address] as const);

test.each(named(small))('%s', agrees);
test.each(named(large))('%s', { tags: 'long' }, agrees);
