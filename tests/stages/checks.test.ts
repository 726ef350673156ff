/**
 * Stage checks: they find nothing in a sound engine, and name stage, bucket and task where a stage
 * is broken.
 */
import { describe, expect, test } from 'vitest';
import { makeCase } from '../../dev/cases/msm-case.js';
import type { PointDistributionName } from '../../dev/cases/point-distributions.js';
import type { ScalarDistributionName } from '../../dev/cases/scalar-distributions.js';
import { stageChecks } from '../../dev/checks/instrument.js';
import { bn254 } from '../../src/curves/bn254.js';
import { curveContext } from '../../src/curves/curve.js';
import { composeEngine } from '../../src/engine/create-engine.js';
import type { MsmEngineOptions, Tuning } from '../../src/index.js';
import type { Knobs } from '../../src/msm/plan/tuning.js';
import { fullWorkload } from '../../src/msm/plan/workload.js';
import { createKernels, type Instrument } from '../../src/msm/stages/kernels.js';
import { openEngine } from '../support/engines.js';
import { getDevice } from '../support/gpu.js';
import { leaseGpu } from '../support/leased-gpu.js';
import { planOne, recordPlan } from '../support/record-plan.js';
import { smallCase, smallCurve } from '../support/small-curve.js';
import { limits } from '../support/stage-bench.js';

/** Many cuts and three levels of partial sums at a small n. */
const shape = {
  walkerSlots: 4,
  walkerThreadsPerWorkgroup: 8,
  walkerEntriesPerTask: 3,
  walkerLeastThreads: 5,
  cpuBelow: 0,
} as const;

describe('the stage checks of a sound engine', () => {
  const findsNothing = async (_: string, more: Partial<Tuning>, memoryBudget: number | undefined): Promise<void> => {
    let readings = 0;
    const counted: Instrument = {
      ...stageChecks,
      read: (...given) => {
        readings++;
        return stageChecks.read(...given);
      },
    };
    const options: MsmEngineOptions = {
      curve: 'bn254',
      device: await getDevice(),
      tuning: { ...shape, ...more },
      ...(memoryBudget === undefined ? {} : { memoryBudget }),
    };
    const engine = await composeEngine(options, counted);
    const cases: [PointDistributionName, ScalarDistributionName, number][] = [
      ['distinct', 'random', 1],
      ['distinct', 'all-zero', 3],
      ['few-with-signs', 'r-and-above', 65],
      ['all-equal', 'one-bucket-and-noise', 1000],
      ['with-infinities', 'carry-patterns', 1000],
      // larger and smaller than the run before: what a run checks is what it wrote
      ['pairs', 'all-equal', 129],
    ];
    for (const [points, scalars, n] of cases) {
      const { points: made, scalars: values, expected } = makeCase({ points, scalars, n, seed: 71 });
      const bases = await engine.loadBases(made.bytes);
      expect(await engine.msm(bases, values.bytes), `${points}, ${scalars}, ${n}`).toEqual(expected);
      bases.destroy();
    }
    expect(readings).toBeGreaterThanOrEqual(cases.length);
    expect(engine.pipelines.map(({ name }) => name)).toContain('check_sums');
    if (memoryBudget !== undefined) expect(engine.memory.peak).toBeLessThanOrEqual(memoryBudget);
    engine.destroy();
  };
  const settings: [string, Partial<Tuning>, number | undefined][] = [
    ['private prefixes', { walkerPrefixMemory: 'private' }, undefined],
    // many walks of the reduction, which fold its sums
    ['extended coordinates', { walkerCoordinates: 'xyzz', combineBits: 1 }, undefined],
    ['walks that fold', { combineBits: 2 }, undefined],
    ['extended coordinates in groups', { walkerCoordinates: 'xyzz', additionsPerSubmit: 2 ** 10 }, undefined],
    ['workgroup prefixes', { walkerPrefixMemory: 'workgroup' }, undefined],
    ['windows in groups', { walkerPrefixMemory: 'private', additionsPerSubmit: 2 ** 10 }, undefined],
    ['chunks', { walkerPrefixMemory: 'private', windowBits: 5 }, 700_000],
  ];
  const title = 'results are right and nothing is found: %s';
  test.each(settings.slice(0, 1))(title, findsNothing);
  test.each(settings.slice(1))(title, { tags: 'long' }, findsNothing);

  test('cost nothing if they are off', () => {
    const context = curveContext(bn254);
    const kernels = createKernels(context, stageChecks.walk);
    const commands = (tuning: Knobs) => {
      const plan = planOne(fullWorkload(1000, context), context, limits, tuning);
      const all = recordPlan(kernels, plan, 1000).filter((command) => command.kind === 'dispatch');
      expect(all).toHaveLength(plan.dispatches);
      return { plan, all, phases: new Set(all.map(({ phase }) => phase)) };
    };
    const [off, on] = [commands({}), commands({ instrument: stageChecks })];
    expect(off.phases).not.toContain('checks');
    expect(on.phases).toContain('checks');
    expect(Object.keys(off.plan.scratch)).not.toContain('digits');
    expect(Object.keys(on.plan.scratch)).toContain('digits');
    expect(on.plan.scratch.accounts).toBeGreaterThan(off.plan.scratch.accounts);
    const walkers = ({ all }: typeof off) =>
      all.filter(({ kernel }) => kernel.name === 'walk').map((walk) => walk.kernel);
    for (const { source } of walkers(off)) expect(source).not.toMatch(/findings|note_writer|writers\[/);
    for (const { source } of walkers(on)) expect(source).toMatch(/atomicAdd\(&writers/);
  });
});

describe('the stage checks of a broken stage', () => {
  const { points, scalars, expected } = smallCase(60);
  const once = (from: string, to: string) => (code: string) => {
    expect(code).toContain(from);
    return code.replaceAll(from, to);
  };
  const faults: [string, string, (code: string) => string, RegExp][] = [
    [
      'two entries go to one place',
      'sort_scatter',
      once('sorted[bases[bin] + place]', 'sorted[bases[bin] + (place & ~1u)]'),
      /in sort: .*\(bucket \d+, walk 0;/,
    ],
    [
      'a sign is lost',
      'sort_scatter',
      once('key, entry.point_ref);', 'key, entry.point_ref & INDEX_MASK);'),
      /in sort: an entry is none of the digits/,
    ],
    [
      'the sort is not stable',
      'sort_scatter',
      once(
        'entry_of(window, start + j, length)',
        'entry_of(window, select(start + j, min(start + PER_THREAD, length) - 1u - j, start + j < length), length)',
      ),
      /in sort: two entries of a bucket are the same, or not in the order/,
    ],
    ['a digit is dropped', 'sort_scan', once('totals[window] = carry', 'totals[window] = carry - 1u'), /in sort: /],
    [
      'the tasks leave a gap',
      'partition_stream',
      once('entries % tasks, threads', 'entries % tasks + 1u, threads'),
      /in partition: the tasks do not cover/,
    ],
    [
      'a bucket that goes on in the next task is taken for finished',
      'walk',
      once('(flags & OPEN) == 0u && !open', '(flags & OPEN) == 0u'),
      /in (walk|combine): a bucket was written twice \(bucket \d+, task \d+, walk \d;/,
    ],
    [
      'a tail is not written',
      'walk',
      once('carries[2u * t + 1u] = Entry(last_key, ABSENT);', ''),
      /in walk: a key is no bucket, or was never written \(bucket 4294967295, task \d+, walk 1;/,
    ],
    [
      'what an absent place holds is left as it was',
      'walk',
      once('partials[2u * t] = point_infinity();', ''),
      /in walk: a carry was not written.*task \d+, walk 0/,
    ],
    [
      'a partial sum is not announced',
      'walk',
      once('carries[carry].point_ref = carry;', ''),
      /in walk: a carry was not written, or refers to another partial sum than its own \(bucket \d+, task \d+, walk 0;/,
    ],
    [
      'every second entry is left out',
      'walk',
      once('memory[slot * ROWS].z = i + 1u;', 'memory[slot * ROWS].z = i + 2u;'),
      /in walk: of \d+ entries \d+ were taken in/,
    ],
    [
      'the arithmetic is wrong',
      'walk',
      once('less = words_sum(sum, other);', 'less = words_sum(sum, sum);'),
      /in walk: a sum is not on the curve \(bucket \d+, task \d+, walk 0;/,
    ],
    [
      'partial sums are thrown away',
      'walk',
      once('let slots = ', 'if (config.level == 1u) { return; }\n  let slots = '),
      /in combine: .*walk 1/,
    ],
    [
      'a bucket in extended coordinates that goes on is taken for finished',
      'walk_xyzz',
      once('(flags & OPEN) == 0u && !open', '(flags & OPEN) == 0u'),
      /in (walk|combine): a bucket was written twice \(bucket \d+, task \d+, walk \d;/,
    ],
    [
      'an absent place in extended coordinates is left as it was',
      'walk_xyzz',
      once('partials[2u * t] = extended_infinity();', ''),
      /in walk: a carry was not written.*task \d+, walk 0/,
    ],
    [
      'every second entry of an extended sum is left out',
      'walk_xyzz',
      once('take(entry, true);\n    i += 1u;', 'take(entry, true);\n    i += 2u;'),
      /in walk: of \d+ entries \d+ were taken in/,
    ],
    [
      'the arithmetic of extended coordinates is wrong',
      'walk_xyzz',
      once('zz = product;', 'zz = field_tighten(field_plus(product, product));'),
      /in walk: a sum is not on the curve \(bucket \d+, task \d+, walk 0;/,
    ],
    [
      'the reduction mixes up its sums',
      'reduce',
      once(
        'let key = i >> config.bits_run_bits;',
        'let key = (i >> config.bits_run_bits) ^ select(0u, 1u, i < 2u << config.bits_run_bits);',
      ),
      /in reduce: the keys do not ascend/,
    ],
  ];

  const run = async (kernel: string, spoil: (code: string) => string) => {
    const { gpu } = await leaseGpu((device) => {
      device.tap = ({ method, label, args, proceed }) => {
        if (method !== 'createShaderModule' || label !== kernel) return proceed();
        const { code, ...rest } = args[0] as GPUShaderModuleDescriptor;
        return proceed([{ ...rest, code: spoil(code) }]);
      };
    });
    // the self-test would find most faults first
    const coordinates = { walkerCoordinates: kernel === 'walk_xyzz' ? 'xyzz' : 'affine' } as const;
    const tuning = { ...shape, ...coordinates, windowBits: 5 };
    const options = { curve: smallCurve, gpu, tuning, selfTest: false };
    const engine = await openEngine({ ...options, checks: true });
    const bases = await engine.loadBases(points);
    // not awaited, since it may reject
    return { result: engine.msm(bases, scalars) };
  };

  test('without a fault the sum is right', async () => {
    const { result } = await run('walk', (code) => code);
    expect(await result).toEqual(expected);
  });

  const isFound = async (...[, kernel, spoil, said]: (typeof faults)[number]): Promise<void> => {
    const { result } = await run(kernel, spoil);
    await expect(result).rejects.toMatchObject({ code: 'internal', message: expect.stringMatching(said) });
  };
  // of each stage one in the first tier
  const isFirst = ([, kernel]: (typeof faults)[number], i: number): boolean =>
    faults.findIndex((each) => each[1] === kernel) === i;
  test.each(faults.filter(isFirst))('%s', isFound);
  test.each(faults.filter((fault, i) => !isFirst(fault, i)))('%s', { tags: 'long' }, isFound);
});
