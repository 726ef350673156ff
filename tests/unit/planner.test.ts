import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stageChecks } from '../../dev/checks/instrument.js';
import { bls12381, p256Curve } from '../../dev/oracle/curves.js';
import { bn254 } from '../../src/curves/bn254.js';
import { type CurveContext, curveContext } from '../../src/curves/curve.js';
import { bn254G2 } from '../../src/curves/pairing-friendly.js';
import { MsmError } from '../../src/errors.js';
import { divstepConstants } from '../../src/field/divsteps.js';
import { quadraticField } from '../../src/field/quadratic.js';
import { deviceClassOf, gpuKnobs, softwareKnobs, wideKnobs } from '../../src/msm/plan/device-profiles.js';
import { type Plan, type PlanLimits, planMsm } from '../../src/msm/plan/planner.js';
import { type Knobs, resolveTuning } from '../../src/msm/plan/tuning.js';
import { fullWorkload, windowCount } from '../../src/msm/plan/workload.js';
import { DecomposeConfig } from '../../src/msm/stages/decompose.js';
import { ABSENT, ENTRY_WORDS, Level } from '../../src/msm/stages/entry.js';
import { createKernels } from '../../src/msm/stages/kernels.js';
import { levelTasks, PartitionConfig } from '../../src/msm/stages/partition.js';
import { bitsExponents, reduceShape } from '../../src/msm/stages/reduce.js';
import { RADIX_BITS, sortPasses } from '../../src/msm/stages/sort.js';
import { CHAIN, Tail } from '../../src/shaders/hash-chain.js';
import { type Command, RESULT, type Slice } from '../../src/shaders/kernel.js';
import { groupsFor, MAX_GROUPS } from '../../src/shaders/limits.js';
import { type PartitionValues, partition } from '../reference/partition.js';
import { reduce } from '../reference/reduce.js';
import { planOne, recordPlan } from '../support/record-plan.js';

const curve = curveContext(bn254);
const kernels = createKernels(curve, stageChecks.walk);
const sum = (values: Iterable<number>): number => [...values].reduce((total, value) => total + value, 0);
const MiB = 2 ** 20;

/** Limits of every device, WebGPU's defaults. */
const portable = {
  additionsPerMs: null,
  maxComputeInvocationsPerWorkgroup: 256,
  maxComputeWorkgroupSizeX: 256,
  maxComputeWorkgroupStorageSize: 16384,
  maxStorageBufferBindingSize: 2 ** 27,
  maxBufferSize: 2 ** 28,
};
const profiles: Record<string, PlanLimits> = {
  software: { ...portable, knobs: softwareKnobs, product: 'unsigned' as const },
  hardware: { ...portable, knobs: gpuKnobs, product: 'unsigned' as const },
  'wide hardware': { ...portable, knobs: wideKnobs, isWide: true, product: 'dot4' as const },
  'roomy hardware': {
    ...portable,
    maxStorageBufferBindingSize: 2 ** 31 - 4,
    maxBufferSize: 2 ** 32,
    maxComputeWorkgroupStorageSize: 32768,
    knobs: gpuKnobs,
    product: 'unsigned' as const,
  },
};

const sizes = [1, 2, 3, 63, 64, 65, 1000, 4097, 8191, 65536, 131071, 2 ** 20];
const budgets = [2 ** 18, 2 * MiB, 8 * MiB, 64 * MiB, 256 * MiB, 2 ** 40];
const widths: Knobs[] = [{}, ...Array.from({ length: 15 }, (_, i) => ({ windowBits: i + 2 }))];

/** Returns the plan, or the error if there is none. */
const attempt = (make: () => Plan): Plan | MsmError => {
  try {
    return make();
  } catch (error) {
    if (error instanceof MsmError) return error;
    throw error;
  }
};

/** Returns whether a chunk of n scalars fits, computed independently of the planner. */
const fits = (plan: Plan, limits: PlanLimits, budget: number, of: CurveContext = curve): boolean =>
  Object.values(plan.scratch).every(
    (bytes) => bytes <= limits.maxStorageBufferBindingSize && bytes <= limits.maxBufferSize,
  ) &&
  plan.n * of.pointBytes < limits.maxStorageBufferBindingSize &&
  plan.tiles <= 65535 &&
  plan.n <= plan.tuning.additionsPerSubmit &&
  plan.peakBytes <= budget;

describe.each(Object.entries(profiles))('%s', (_, limits) => {
  const staysInside = (n: number): void => {
    for (const width of widths) {
      for (const slots of [{}, { walkerSlots: 1 }]) {
        for (const budget of budgets) {
          const tuning = { ...width, ...slots };
          const what = `${JSON.stringify(tuning)}, budget ${budget}`;
          const plan = attempt(() => planMsm(fullWorkload(n, curve), curve, { limits, budget }, tuning));
          if (plan instanceof MsmError) {
            expect(plan.code, what).toBe('bad-argument');
            // the error names the knob if there is a plan without it
            const open = attempt(() => planMsm(fullWorkload(n, curve), curve, { limits, budget }, slots));
            expect(plan.message, what).toMatch(
              open instanceof MsmError
                ? /^memoryBudget: [^;]*; raise the budget$/
                : /^tuning.windowBits: [^;]*; set fewer or none, or raise the budget$/,
            );
            expect(fits(planOne(fullWorkload(1, curve), curve, limits, tuning, 1), limits, budget), what).toBe(false);
            continue;
          }
          expect(fits(plan, limits, budget), what).toBe(true);
          expect(plan.scratchBytes, what).toBe(sum(Object.values(plan.scratch)));
          expect(plan.peakBytes, what).toBeGreaterThan(plan.scratchBytes);
          // the top window must not lend; scalars of this curve are at most half the order
          expect(2n ** BigInt(plan.windows * plan.tuning.windowBits - 1), what).toBeGreaterThan(curve.order / 2n);
          expect(plan.buckets, what).toBe(2 ** (plan.tuning.windowBits - 1));
          expect(
            Object.values(plan.scratch).filter((bytes) => !(bytes > 0 && bytes % 4 === 0)),
            what,
          ).toEqual([]);
          expect(plan.groups, what).toBe(Math.ceil(plan.windows / plan.windowsPerGroup));
          // chunks are equal, and one chunk fewer does not fit even with one window at a time
          const chunks = Math.ceil(n / plan.n);
          expect(plan.n, what).toBe(Math.ceil(n / chunks));
          if (chunks > 1) {
            const larger = planOne(fullWorkload(Math.ceil(n / (chunks - 1)), curve), curve, limits, tuning, 1);
            expect(fits(larger, limits, budget), what).toBe(false);
          }
          // fewer groups do not fit either, unless their number bounds the work of a submit
          if (plan.groups > 1) {
            const bounded = Math.max(1, Math.floor(plan.tuning.additionsPerSubmit / plan.n));
            const wider = planOne(fullWorkload(plan.n, curve), curve, limits, tuning, plan.windowsPerGroup + 1);
            expect(plan.windowsPerGroup, what).toBeLessThanOrEqual(bounded);
            // or limits the memory below the budget
            const isLavish = !limits.isWide && wider.scratchBytes > 2 ** 25 + 60 * plan.n;
            const tooMuch = !fits(wider, limits, budget) || isLavish;
            expect(wider.groups === plan.groups || tooMuch, what).toBe(true);
          }
        }
      }
    }
  };
  const title = 'n = %i: every plan is inside the limits and the budget';
  const between = [2, 3, 63, 65, 4097, 8191, 65536, 131071];
  test.each(sizes.filter((n) => !between.includes(n)))(title, staysInside);
  test.each(between)(title, { tags: 'long' }, staysInside);

  test.each([
    [16, 48e6],
    [18, 64e6],
    [20, 100e6],
  ])('2^%i scalars take at most %i bytes of scratch', (logn, most) => {
    for (const additionsPerMs of [null, 2 ** 10, 2 ** 14, 2 ** 18]) {
      const load = fullWorkload(2 ** logn, curve);
      // wide devices take what the budget has
      const bytes = limits.isWide ? 256 * MiB : most;
      expect(
        planMsm(load, curve, { limits: { ...limits, additionsPerMs }, budget: 256 * MiB }, {}).peakBytes,
      ).toBeLessThanOrEqual(bytes);
    }
  });

  test('with the default budget, on a measured device, an MSM is one chunk up to 2^20, and one submit up to 2^16', () => {
    for (const n of sizes) {
      const plan = planMsm(
        fullWorkload(n, curve),
        curve,
        { limits: { ...limits, additionsPerMs: 2 ** 15 }, budget: 256 * MiB },
        {},
      );
      expect(plan.n).toBe(n);
      if (n <= 2 ** 16) expect(plan.submits).toBe(1);
    }
  });

  test('no submit exceeds its bound of additions', () => {
    for (const n of [...sizes, 2 ** 22]) {
      for (const additionsPerMs of [null, 1, 5000, 2 ** 15, 2 ** 24]) {
        const plan = planMsm(
          fullWorkload(n, curve),
          curve,
          { limits: { ...limits, additionsPerMs }, budget: 256 * MiB },
          {},
        );
        const bound = plan.tuning.additionsPerSubmit;
        // the additions of 100 ms, or their default; at least enough for a window
        if (limits.knobs === softwareKnobs) expect(bound).toBe(2 ** 30);
        else if (additionsPerMs === null) expect(bound).toBe(limits.isWide ? 2 ** 21 : 2 ** 18);
        else expect(bound).toBeLessThanOrEqual(Math.max(2 ** 16, 100 * additionsPerMs));
        const reduction = 2 * plan.windows * plan.buckets;
        const last = plan.n * (plan.windows - (plan.groups - 1) * plan.windowsPerGroup);
        expect(plan.n * plan.windowsPerGroup).toBeLessThanOrEqual(bound);
        expect(reduction).toBeLessThanOrEqual(bound);
        expect(plan.submits).toBe(plan.groups + (last + reduction > bound ? 1 : 0));
      }
    }
  });
});

describe('budgets and limits', () => {
  const limits = profiles.hardware as PlanLimits;

  test('the largest rejected budget and the smallest accepted one differ by one byte', () => {
    const oneByOne = Array.from(
      { length: 64 },
      (_, i) => planOne(fullWorkload(1, curve), curve, limits, {}, i + 1).peakBytes,
    );
    const least = Math.min(...oneByOne);
    expect(planMsm(fullWorkload(1, curve), curve, { limits, budget: least }, {}).n).toBe(1);
    expect(planMsm(fullWorkload(1000, curve), curve, { limits, budget: least }, {}).n).toBe(1);
    expect(() => planMsm(fullWorkload(1, curve), curve, { limits, budget: least - 1 }, {})).toThrow(MsmError);
    expect(() => planMsm(fullWorkload(1000, curve), curve, { limits, budget: least - 1 }, {})).toThrow(MsmError);
    const many = planOne(fullWorkload(8191, curve), curve, limits, {});
    expect(planMsm(fullWorkload(8191, curve), curve, { limits, budget: many.peakBytes }, {}).n).toBe(8191);
    expect(planMsm(fullWorkload(8191, curve), curve, { limits, budget: many.peakBytes - 1 }, {})).toMatchObject({
      n: 8191,
      groups: 2,
    });
  });

  test('the reduction alone fits the least submit, also where the order has 256 bits', () => {
    for (const of of [curve, curveContext(p256Curve)]) {
      for (const n of [1, 1000]) {
        const plan = planMsm(fullWorkload(n, of), of, { limits, budget: 2 ** 30 }, { additionsPerSubmit: 2 ** 10 });
        expect(2 * plan.windows * plan.buckets).toBeLessThanOrEqual(2 ** 10);
      }
    }
  });

  test('a budget of one byte is a typed error at every size', () => {
    for (const n of sizes) {
      const error = attempt(() => planMsm(fullWorkload(n, curve), curve, { limits, budget: 1 }, {}));
      expect(error).toMatchObject({ code: 'bad-argument', message: expect.stringContaining('memoryBudget') });
    }
  });

  test('a small binding limit makes chunks that the budget does not need', () => {
    const small = { ...limits, maxStorageBufferBindingSize: 2 ** 20, maxBufferSize: 2 ** 20 };
    const plan = planMsm(fullWorkload(65536, curve), curve, { limits: small, budget: 2 ** 40 }, {});
    expect(Math.ceil(65536 / plan.n)).toBeGreaterThan(1);
    expect(fits(plan, small, 2 ** 40)).toBe(true);
  });

  test('tiles of the sort never exceed a row of workgroups, for any size of tile', () => {
    const tuning = { sortThreadsPerWorkgroup: 1, sortEntriesPerThread: 1, windowBits: 16 };
    const roomy = profiles['roomy hardware'] as PlanLimits;
    const plan = planMsm(fullWorkload(2 ** 20, curve), curve, { limits: roomy, budget: 2 ** 40 }, tuning);
    expect(plan.tiles).toBeLessThanOrEqual(65535);
    expect(Math.ceil(2 ** 20 / plan.n)).toBe(17);
  });

  test('random tunings, sizes, budgets and curves', () => {
    const tuning = fc.record(
      {
        windowBits: fc.integer({ min: 2, max: 16 }),
        walkerCoordinates: fc.constantFrom('affine' as const, 'xyzz' as const),
        walkerPrefixMemory: fc.constantFrom('private' as const, 'workgroup' as const),
        walkerThreadsPerWorkgroup: fc.integer({ min: 1, max: 256 }),
        walkerSlots: fc.integer({ min: 1, max: 64 }),
        walkerTasks: fc.integer({ min: 1, max: 2 ** 20 }),
        walkerEntriesPerTask: fc.integer({ min: 1, max: 2 ** 16 }),
        walkerLeastThreads: fc.integer({ min: 1, max: 2 ** 20 }),
        additionsPerSubmit: fc.integer({ min: 2 ** 10, max: 2 ** 30 }),
        sortThreadsPerWorkgroup: fc.integer({ min: 1, max: 128 }),
        sortEntriesPerThread: fc.integer({ min: 1, max: 256 }),
        instrument: fc.constantFrom(stageChecks, undefined),
      },
      { requiredKeys: [] },
    );
    const curves = [bn254, bls12381, p256Curve].map((curve) => curveContext(curve));
    fc.assert(
      fc.property(
        fc.constantFrom(...curves),
        fc.integer({ min: 1, max: 2 ** 22 }),
        fc.integer({ min: 16, max: 34 }),
        fc.constantFrom(...Object.values(profiles)),
        tuning,
        (of, n, logBudget, device, knobs) => {
          const plan = attempt(() =>
            planMsm(fullWorkload(n, of), of, { limits: device, budget: 2 ** logBudget }, knobs),
          );
          if (plan instanceof MsmError) {
            expect(plan.code).toBe('bad-argument');
            return;
          }
          expect(fits(plan, device, 2 ** logBudget, of)).toBe(true);
          const longest = of.name === bls12381.name ? of.order - 1n : of.order / 2n;
          expect(2n ** BigInt(plan.windows * plan.tuning.windowBits - 1)).toBeGreaterThan(longest);
          const { walkerSlots, walkerThreadsPerWorkgroup } = plan.tuning;
          const { instrument, ...set } = knobs;
          expect(plan.instrument).toBe(instrument);
          expect(plan.tuning).toMatchObject({
            ...set,
            walkerSlots,
            walkerThreadsPerWorkgroup,
          });
          // clamped where the slots of a thread, with 8 KB of private memory, are too many
          const asked = knobs.walkerSlots ?? walkerSlots;
          const perSlot = of.pointBytes + 16 + (plan.tuning.walkerPrefixMemory === 'private' ? of.field.bytes : 0);
          // six words, the value that products pass on, and two words for each batch of an inversion
          const perThread = 4 * 6 + of.coordinates.bytes + 8 * divstepConstants(of.field).batches;
          const fit = Math.floor((8192 - perThread) / perSlot);
          // in extended coordinates a thread has one task
          expect(walkerSlots).toBe(plan.tuning.walkerCoordinates === 'xyzz' ? 1 : Math.min(asked, fit));
        },
      ),
      { numRuns: 500, seed: 2 },
    );
  });
});

describe('workgroup prefixes', () => {
  test.each([1, 3, 8, 16, 31, 32, 64])('clamp threads to the memory, and no further, with %i slots', (walkerSlots) => {
    for (const of of [curve, curveContext(bls12381)]) {
      for (const threads of [1, 7, 16, 64, 100, 256]) {
        const knobs = { walkerSlots, walkerThreadsPerWorkgroup: threads, walkerPrefixMemory: 'workgroup' as const };
        const { walkerThreadsPerWorkgroup: used } = resolveTuning(
          fullWorkload(1000, of),
          of,
          profiles.hardware as PlanLimits,
          knobs,
        );
        const bytes = (t: number) => t * walkerSlots * of.field.bytes;
        expect(bytes(used)).toBeLessThanOrEqual(16384);
        expect(used === threads || bytes(used + 1) > 16384).toBe(true);
        const inPrivate = { ...knobs, walkerPrefixMemory: 'private' as const };
        expect(
          resolveTuning(fullWorkload(1000, of), of, profiles.hardware as PlanLimits, inPrivate)
            .walkerThreadsPerWorkgroup,
        ).toBe(threads);
      }
    }
  });

  test('threads stay inside the other limits of the device too', () => {
    const small = {
      ...portable,
      knobs: gpuKnobs,
      product: 'unsigned' as const,
      maxComputeInvocationsPerWorkgroup: 128,
      maxComputeWorkgroupSizeX: 96,
    };
    const { walkerThreadsPerWorkgroup } = resolveTuning(fullWorkload(1000, curve), curve, small, {
      walkerThreadsPerWorkgroup: 256,
    });
    expect(walkerThreadsPerWorkgroup).toBe(96);
  });

  test('too many slots for a single thread are a typed error that names the knob', () => {
    const tiny = { ...(profiles.hardware as PlanLimits), maxComputeWorkgroupStorageSize: 1024 };
    const knobs = { walkerSlots: 64, walkerPrefixMemory: 'workgroup' as const };
    expect(
      attempt(() => planMsm(fullWorkload(1000, curve), curve, { limits: tiny, budget: 2 ** 40 }, knobs)),
    ).toMatchObject({
      code: 'bad-argument',
      message: expect.stringContaining('tuning.walkerSlots'),
    });
  });
});

describe('commands', () => {
  const knobs: Knobs[] = [
    ...widths,
    { windowBits: 16, walkerEntriesPerTask: 1, walkerTasks: 2 ** 20 },
    { walkerTasks: 1 },
    { walkerSlots: 1, walkerThreadsPerWorkgroup: 1, walkerLeastThreads: 2 ** 20 },
    { walkerPrefixMemory: 'workgroup' },
    { sortThreadsPerWorkgroup: 1, sortEntriesPerThread: 16 },
    { additionsPerSubmit: 2 ** 14 },
    { instrument: stageChecks },
    { instrument: stageChecks, windowBits: 8 },
  ];
  const dispatchesOf = (commands: readonly Command[]) => commands.filter((command) => command.kind === 'dispatch');

  test.each(Object.entries(profiles))('%s: at most 25 dispatches a submit, with the default knobs', (_, limits) => {
    for (const n of [...sizes, 2 ** 22, 2 ** 24]) {
      const plan = planMsm(fullWorkload(n, curve), curve, { limits, budget: 256 * MiB }, {});
      const commands = recordPlan(kernels, plan, plan.n);
      expect(commands.filter(({ kind }) => kind === 'submit')).toHaveLength(plan.submits - 1);
      expect(dispatchesOf(commands).length).toBeLessThanOrEqual(25 * plan.groups);
    }
  });

  test('the groups contain every window once, in order', () => {
    for (const additionsPerSubmit of [2 ** 10, 5000, 9999, 10_000, 2 ** 30]) {
      for (const windowBits of [2, 7, 16]) {
        const plan = planOne(fullWorkload(1000, curve), curve, profiles.hardware as PlanLimits, {
          additionsPerSubmit,
          windowBits,
        });
        expect(plan.windowsPerGroup * 1000).toBeLessThanOrEqual(additionsPerSubmit);
        const commands = recordPlan(kernels, plan, 1000);
        const covered = commands.flatMap((command) => {
          if (command.kind !== 'dispatch' || command.phase !== 'decompose') return [];
          const { first_window, windows } = DecomposeConfig.unpack(command.config as Uint32Array, 0);
          return Array.from({ length: windows }, (_, i) => first_window + i);
        });
        expect(covered).toEqual(Array.from({ length: plan.windows }, (_, i) => i));
        // the reduction comes after the last group; buckets without entries are cleared before the
        // first
        const phases = commands.map((command) => (command.kind === 'dispatch' ? command.phase : command.kind));
        expect(phases.indexOf('reduce')).toBeGreaterThan(phases.lastIndexOf('submit'));
        expect(phases.indexOf('reduce')).toBeGreaterThan(phases.lastIndexOf('combine'));
        expect([phases.indexOf('clear'), phases.lastIndexOf('clear')]).toEqual([0, 0]);
      }
    }
  });

  /** Returns the faults of a dispatch. An `expect` for each binding would take most of the time. */
  const faultsOf = (
    { kernel, bindings, groups, config }: ReturnType<typeof dispatchesOf>[number],
    known: ReadonlySet<string>,
  ): string[] => {
    // the runner binds the dispatch chain
    const own = kernel.bindings.filter(({ access, name }) => access !== 'uniform' && name !== CHAIN);
    const buffers = new Map<string, Set<string>>();
    for (const { name, access } of own) {
      const buffer = (bindings[name] as Slice | undefined)?.buffer ?? '';
      buffers.set(buffer, (buffers.get(buffer) ?? new Set()).add(access));
    }
    // Dawn takes 0.13 ms of the host for an indirect dispatch
    const [x, y] = groups as readonly [number, number];
    const names = own.map(({ name }) => name).sort();
    const isRight: Readonly<Record<string, boolean>> = {
      'binds what its kernel has': Object.keys(bindings).sort().join() === names.join(),
      'binds buffers that exist': [...buffers.keys()].every((buffer) => known.has(buffer)),
      'reads or writes a buffer': [...buffers.values()].every(({ size }) => size === 1),
      'has a config if its kernel does':
        (config !== undefined) === kernel.bindings.some(({ access }) => access === 'uniform'),
      'has a small config': (config?.byteLength ?? 0) + Tail.byteLength <= 256,
      'has workgroups, and few a dimension': Math.max(x, y) <= MAX_GROUPS && Math.min(x, y) > 0,
    };
    const wrong = Object.keys(isRight).filter((rule) => !isRight[rule]);
    return wrong.map((rule) => `${kernel.name} ${rule}: ${JSON.stringify({ bindings, groups })}`);
  };

  const bindsWell = (n: number): void => {
    for (const tuning of knobs) {
      for (const limits of Object.values(profiles)) {
        const plan = attempt(() => planMsm(fullWorkload(n, curve), curve, { limits, budget: 2 ** 30 }, tuning));
        if (plan instanceof MsmError) throw plan;
        const rest = n % plan.n || plan.n; // the last chunk is shorter and uses the same plan
        for (const length of new Set([plan.n, rest])) {
          const commands = recordPlan(kernels, plan, length);
          const dispatches = dispatchesOf(commands);
          expect(dispatches.length).toBe(plan.dispatches);
          const known = new Set([...Object.keys(plan.scratch), 'bases', RESULT]);
          expect(dispatches.flatMap((dispatch) => faultsOf(dispatch, known))).toEqual([]);
        }
      }
    }
  };
  const title = 'n = %i: bound buffers exist, are large enough, and are not both read and written in one dispatch';
  test.each(sizes.filter((n) => n < 2 ** 16))(title, bindsWell);
  test.each(sizes.filter((n) => n >= 2 ** 16))(title, { tags: 'long' }, bindsWell);
});

test('groupsFor: enough workgroups for all items, at most 65535 a dimension, and less than a row too many', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 31 }), fc.integer({ min: 1, max: 256 }), (items, perGroup) => {
      const [x, y] = groupsFor(items, perGroup);
      expect(x * y * perGroup).toBeGreaterThanOrEqual(items);
      expect(x * y).toBeLessThan(Math.max(1, Math.ceil(items / perGroup)) + y);
      expect(Math.max(x, y)).toBeLessThanOrEqual(65535);
    }),
    {
      numRuns: 500,
      seed: 6,
      examples: [
        [0, 64],
        [1, 64],
        [65535, 1],
        [65536, 1],
        [65535 * 64 + 1, 64],
      ],
    },
  );
});

describe('sortPasses', () => {
  test.each(Array.from({ length: 20 }, (_, i) => i))(
    '%i bits: each bit is in exactly one pass, lowest first',
    (bits) => {
      const passes = sortPasses(bits);
      const covered = passes.flatMap((pass) => Array.from({ length: pass.bits }, (_, i) => pass.shift + i));
      expect(covered).toEqual(Array.from({ length: bits }, (_, i) => i));
      for (const pass of passes) expect(pass.bits).toBeLessThanOrEqual(RADIX_BITS);
      // at least one pass, as the last pass also closes the gaps between the window rows
      expect(passes.length).toBe(Math.max(1, Math.ceil(bits / RADIX_BITS)));
    },
  );
});

describe('levels', () => {
  test('levelTasks shrink to 1, and there they stop', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 20 }), fc.integer({ min: 1, max: 6 }), (tasks, combineBits) => {
        const levels = levelTasks(tasks, combineBits);
        expect(levels[0]).toBe(tasks);
        expect(levels.indexOf(1)).toBe(levels.length - 1);
        for (let i = 1; i < levels.length; i++) {
          expect(levels[i]).toBe(Math.ceil((levels[i - 1] as number) / 2 ** combineBits));
        }
      }),
      { numRuns: 1000, seed: 3, examples: [1, 2, 16, 17, 256, 257, 4096, 4097, 2 ** 20].map((tasks) => [tasks, 4]) },
    );
  });

  test('for any number of sorted entries the planned levels end with a walk of one task, and their buffers hold every carry', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 3000 }),
        fc.record({
          windowBits: fc.integer({ min: 2, max: 16 }),
          walkerTasks: fc.integer({ min: 1, max: 5000 }),
          walkerEntriesPerTask: fc.integer({ min: 1, max: 64 }),
          walkerSlots: fc.integer({ min: 1, max: 64 }),
          walkerThreadsPerWorkgroup: fc.integer({ min: 1, max: 256 }),
          walkerLeastThreads: fc.integer({ min: 1, max: 5000 }),
        }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (n, tuning, filled) => {
          const plan = planOne(fullWorkload(n, curve), curve, profiles.hardware as PlanLimits, tuning);
          const totals = new Uint32Array(plan.windowsPerGroup).fill(Math.floor(n * filled));
          const dispatches = recordPlan(kernels, plan, n).filter((command) => command.kind === 'dispatch');
          const { config } = dispatches.find(({ phase }) => phase === 'partition') as { config: Uint32Array };
          const dispatched = dispatches
            .filter(({ kernel }) => kernel.name === 'walk')
            .slice(-plan.levelTasks.length - plan.reduce.walks.length)
            .map(({ groups }) => {
              const [x, y] = groups as readonly [number, number];
              return x * y * plan.tuning.walkerThreadsPerWorkgroup;
            });
          const words = partition(PartitionConfig.unpack(config, 0) as PartitionValues, totals);
          const levels = Array.from({ length: plan.levelTasks.length + 2 }, (_, i) => Level.unpack(words, i));
          const walks = levels.slice(0, -2);
          let entries = sum(totals);
          for (const [i, level] of walks.entries()) {
            if (level.tasks > 0) expect(level.entries).toBe(entries);
            expect(level.tasks).toBeLessThanOrEqual(plan.levelTasks[i] as number);
            entries = 2 * level.tasks;
            const room = i % 2 === 0 ? plan.scratch.carriesA : plan.scratch.carriesB;
            expect(2 * level.tasks * 4 * ENTRY_WORDS).toBeLessThanOrEqual(room);
          }
          expect(walks.filter(({ tasks }) => tasks > 0).at(-1)?.tasks).toBe(1);
          for (const [i, level] of levels.entries()) {
            // no task is left over, no thread has more tasks than slots, and every thread is
            // dispatched
            expect(level.tasks * level.quotient + level.remainder).toBe(level.entries);
            expect(level.threads * plan.tuning.walkerSlots).toBeGreaterThanOrEqual(level.tasks);
            expect(level.threads).toBeLessThanOrEqual(level.tasks);
            expect(dispatched[i]).toBeGreaterThanOrEqual(level.threads);
          }
        },
      ),
      { numRuns: 500, seed: 4 },
    );
  });
});

describe('reduction', () => {
  /** Walks a stream of integers in which every run is one task. */
  const keyedSums = (stream: Uint32Array, values: readonly bigint[], tasks: number): bigint[] => {
    const sums = new Array<bigint>(tasks).fill(0n);
    for (let i = 0; i < stream.length; i += ENTRY_WORDS) {
      const [key, pointRef] = [stream[i] as number, stream[i + 1] as number];
      if (pointRef === ABSENT) continue;
      const value = values[pointRef];
      if (value === undefined || sums[key] === undefined) throw new RangeError(`entry ${i}: ${key}, ${pointRef}`);
      sums[key] += value;
    }
    return sums;
  };

  test.each([1, 2, 3, 4].flatMap((foldBits) => Array.from({ length: 15 }, (_, i) => [i + 2, foldBits] as const)))(
    'c = %i, folds of %i bits: the weighted sums of the last walk make Σ 2^(jc) Σ k·B_(j,k)',
    (windowBits, foldBits) => {
      const windows = windowBits < 12 ? 3 : 2;
      const buckets = 2 ** (windowBits - 1);
      const shape = reduceShape(windowBits, windows, foldBits);
      expect(shape.highBits + shape.lowBits).toBe(windowBits - 1);
      const streams = reduce(windows, shape);
      expect(streams.split.length).toBe(ENTRY_WORDS * shape.splitEntries);
      expect(streams.bits.length).toBe(ENTRY_WORDS * shape.bitsEntries);
      expect(streams.fold.length).toBe(ENTRY_WORDS * shape.foldEntries);
      const walks = shape.walks.map(({ stream, entries, tasks }) => ({
        stream: streams[stream].subarray(0, ENTRY_WORDS * entries),
        tasks,
      }));
      expect(walks.at(-1)?.tasks).toBe(shape.bitSums);
      // all runs have the same length, so that task t is run t
      for (const { stream, tasks } of walks) {
        const run = stream.length / ENTRY_WORDS / tasks;
        expect(Number.isInteger(run)).toBe(true);
        expect(stream.every((key, i) => i % ENTRY_WORDS !== 0 || key === Math.floor(i / ENTRY_WORDS / run))).toBe(true);
      }
      fc.assert(
        fc.property(fc.array(fc.bigInt({ min: -9n, max: 9n }), { minLength: 1, maxLength: 40 }), (few) => {
          // a repeating pattern, shifted by a number that no period of the shape divides
          const values = Array.from(
            { length: windows * buckets },
            (_, i) => (few[i % few.length] as bigint) + BigInt((i * i) % 31),
          );
          const bitSums = walks.reduce((sums, { stream, tasks }) => keyedSums(stream, sums, tasks), values);
          const got = bitSums.reduce((all, each, i) => {
            const window = windowBits * Math.floor(i / windowBits);
            return bitsExponents(windowBits, shape, i % windowBits).reduce(
              (sum, e) => sum + (each << BigInt(window + e)),
              all,
            );
          }, 0n);
          const expected = values.reduce((all, value, i) => {
            const [j, k] = [Math.floor(i / buckets), (i % buckets) + 1];
            return all + ((BigInt(k) * value) << BigInt(j * windowBits));
          }, 0n);
          expect(got).toBe(expected);
        }),
        { numRuns: windowBits < 10 ? 50 : 5, seed: 5 },
      );
    },
  );

  test('windows cover one bit more than the order has, and less than a whole window more', () => {
    for (const bits of [8, 253, 254, 255, 256]) {
      for (let c = 2; c <= 16; c++) {
        const windows = windowCount(bits, c);
        expect(windows * c).toBeGreaterThanOrEqual(bits + 1);
        expect((windows - 1) * c).toBeLessThan(bits + 1);
      }
    }
  });
});

describe('desktop GPUs', () => {
  const measured = { ...portable, additionsPerMs: 2.6e6, product: 'dot4' as const };
  const wide: PlanLimits = { ...measured, knobs: wideKnobs, isWide: true };
  const budget = 256 * MiB;
  const planned = (n: number, limits: PlanLimits, of = curve): Plan =>
    planMsm(fullWorkload(n, of), of, { limits, budget }, {});

  test('of NVIDIA and AMD have extended sums in G1, and 2^18 tasks in slots in G2; others keep their knobs', () => {
    const classOf = (vendor: string, architecture: string, software = false) =>
      deviceClassOf({ vendor, architecture, software });
    for (const [vendor, architecture] of [
      ['nvidia', 'ampere'],
      ['nvidia', ''],
      ['amd', 'rdna-3'],
      ['amd', 'gcn-5'],
    ] as const)
      expect(classOf(vendor, architecture)).toMatchObject({ knobs: wideKnobs, isWide: true });
    const g2 = planned(2 ** 20, wide, curveContext(bn254G2, quadraticField)).tuning;
    expect(g2).toMatchObject({ walkerCoordinates: 'affine', walkerSlots: 8, walkerTasks: 2 ** 18 });
    const g1 = planned(2 ** 20, wide).tuning;
    expect(g1).toMatchObject({ walkerCoordinates: 'xyzz', walkerSlots: 1, walkerTasks: 2 ** 17 });
    for (const [vendor, architecture] of [
      ['apple', 'metal-3'],
      ['qualcomm', 'adreno-7xx'],
      ['arm', 'valhall'],
      ['intel', 'xe-hpg'],
      ['', ''],
    ] as const) {
      expect(classOf(vendor, architecture).knobs, vendor).toBe(gpuKnobs);
      expect(classOf(vendor, architecture).isWide, vendor).toBeUndefined();
    }
    for (const adapter of [classOf('google', 'swiftshader', true), classOf('mesa', '', true)]) {
      expect(adapter.knobs).toBe(softwareKnobs);
      expect(adapter.isWide).toBeUndefined();
    }
  });

  test('compute 2^20 scalars in full workgroups, within the default budget and the limits of every device', () => {
    const plan = planned(2 ** 20, wide);
    const { walkerSlots, walkerThreadsPerWorkgroup, walkerTasks } = plan.tuning;
    expect(plan.levelTasks[0]).toBe(walkerTasks);
    expect(walkerTasks % (walkerSlots * walkerThreadsPerWorkgroup)).toBe(0);
    expect(plan.n).toBe(2 ** 20);
    expect(fits(plan, wide, budget)).toBe(true);
    // entries and partial sums of the largest walk are most of it
    const entries = plan.n * plan.windowsPerGroup;
    expect(entries).toBeGreaterThanOrEqual(walkerTasks * plan.tuning.walkerEntriesPerTask);
    expect(plan.scratch.entriesA).toBe(8 * entries);
    expect(plan.scratch.entriesB).toBe(8 * entries);
    expect(plan.scratch.carriesA).toBe(8 * 2 * walkerTasks);
    expect(plan.scratch.partialsA).toBe(2 * curve.pointBytes * 2 * walkerTasks);
  });

  test.each([1, 2 ** 10, 2 ** 14, 2 ** 16, 2 ** 18, 2 ** 19, 2 ** 20, 2 ** 22])(
    'have as many tasks for %i scalars as fit, and never fewer than with little memory',
    (n) => {
      for (const of of [curve, curveContext(bls12381)]) {
        const plan = planned(n, wide, of);
        const little = planned(n, { ...measured, knobs: gpuKnobs }, of);
        expect(fits(plan, wide, budget, of)).toBe(true);
        expect(plan.n).toBe(little.n);
        expect(plan.groups).toBeLessThanOrEqual(little.groups);
        const [tasks = 0] = plan.levelTasks;
        expect(tasks).toBeGreaterThanOrEqual(little.levelTasks[0] as number);
        if (tasks < plan.tuning.walkerTasks && plan.groups > 1) {
          const wider = planOne(fullWorkload(plan.n, of), of, wide, {}, plan.windowsPerGroup + 1);
          expect(wider.groups === plan.groups || !fits(wider, wide, budget, of)).toBe(true);
        }
      }
    },
  );

  test('walk all windows at once where the budget has room', () => {
    const roomy = { ...wide, maxStorageBufferBindingSize: 2 ** 31 - 4, maxBufferSize: 2 ** 32 };
    const plan = planMsm(fullWorkload(2 ** 21, curve), curve, { limits: roomy, budget: 2 ** 40 }, {});
    expect(plan).toMatchObject({ groups: 1, n: 2 ** 21 });
    expect(plan.levelTasks[0]).toBe(2 ** 17);
    expect(planMsm(fullWorkload(2 ** 21, curve), curve, { limits: roomy, budget }, {}).groups).toBeGreaterThan(1);
  });
});
