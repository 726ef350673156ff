/**
 * Compilers that get one number or operator of one kernel wrong, every time: each result is right,
 * or an error. `MISCOMPILED=100,400` has seeds 100 to 499 instead of the few that the tests take,
 * and prints what came of them.
 */
import { expect, test } from 'vitest';
import { mutate } from '../../dev/faults/data-faults.js';
import { bn254G1, expectedMsm, groupOrder, makeKnownBases, Random, samePoint } from '../../dev/oracle/known-bases.js';
import { createMsmEngine, MsmError } from '../../src/index.js';
import { getDevice } from '../support/gpu.js';
import { gpuRunOf } from '../support/runs.js';

const [first = 0, count = 5] = (process.env.MISCOMPILED ?? '').split(',').filter(Boolean).map(Number);

const kernels = [
  'import_points',
  'decompose',
  'sort_count',
  'sort_scan',
  'sort_scatter',
  'partition_stream',
  'walk',
  'walk',
  'walk',
  'reduce',
];

const known = makeKnownBases(bn254G1, 300, 17);

/** Small workgroups compile fast, and nothing is left to the CPU. */
const tuning = {
  walkerSlots: 4,
  walkerThreadsPerWorkgroup: 8,
  cpuBelow: 0,
  walkerEntriesPerTask: 8,
  // those that unsigned products replace after a failed self-test
  fieldProduct: 'fma',
} as const;

type Outcome = 'harmless' | 'other products' | 'an error' | 'wrong';

/** Makes calls with one mutated kernel, and returns their outcome. */
const attempt = async (seed: number, selfTest: boolean): Promise<{ outcome: Outcome; what: string }> => {
  const random = new Random(seed);
  const kernel = kernels[random.below(kernels.length)] as string;
  const device = await getDevice({ label: `miscompiles ${kernel}` });
  const create = device.createShaderModule.bind(device);
  let change = '';
  device.createShaderModule = ({ code, ...rest }) => {
    // the first one only: other products are compiled as they should be
    if (rest.label !== `webgpu-msm ${kernel}` || change !== '') return create({ code, ...rest });
    const mutant = mutate(random, code);
    change = mutant.change;
    return create({ code: mutant.source, ...rest });
  };
  const engine = await createMsmEngine({ curve: 'bn254', device, tuning, selfTest });
  const what = (): string => `${kernel}, line ${change}`;
  try {
    const bases = await engine.loadBases(known.bytes);
    for (const n of [1, 2, 33, 300]) {
      const scalars = Array.from({ length: n }, () => random.belowBig(groupOrder(bn254G1)));
      const sum = await engine.msm(bases, scalars);
      if (!samePoint(sum, expectedMsm(bn254G1, known.logs, scalars))) return { outcome: 'wrong', what: what() };
    }
    return { outcome: gpuRunOf(engine).fallback ? 'other products' : 'harmless', what: what() };
  } catch (error) {
    if (!(error instanceof MsmError) || error.code !== 'internal') throw error;
    return { outcome: 'an error', what: what() };
  } finally {
    engine.destroy();
    device.destroy();
  }
};

test('no result is wrong', { tags: 'long', timeout: 20_000 * count }, async () => {
  const outcomes: Record<Outcome, string[]> = { harmless: [], 'other products': [], 'an error': [], wrong: [] };
  for (let seed = first; seed < first + count; seed++) {
    const { outcome, what } = await attempt(seed, true);
    outcomes[outcome].push(`${seed}: ${what}`);
    if (process.env.MISCOMPILED) console.log(seed, outcome, what);
  }
  expect(outcomes.wrong).toEqual([]);
  expect(outcomes['other products'].length).toBeGreaterThan(0);
});
