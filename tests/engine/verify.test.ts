/** `verify`: right results pass however they are computed; wrong results on the curve do not. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { bls12381, bls12381Oracle } from '../../dev/oracle/curves.js';
import {
  bn254G1,
  expectedMsm,
  groupOrder,
  INFINITY,
  makeKnownBases,
  type OracleCurve,
} from '../../dev/oracle/known-bases.js';
import {
  type AffinePoint,
  type Bases,
  createMsmEngine,
  type MsmEngine,
  type MsmEngineOptions,
  MsmError,
  type Progress,
} from '../../src/index.js';
import { Suspicion } from '../../src/session/operation.js';
import { type EngineOptions, openEngine } from '../support/engines.js';
import { Bench, large, small, tuning } from '../support/failure-bench.js';
import { getDevice } from '../support/gpu.js';
import type { Call, Tap } from '../support/leased-gpu.js';
import { gpuRunOf } from '../support/runs.js';
import { smallCase, smallCurve } from '../support/small-curve.js';
import { TextbookCurve } from '../support/textbook-curve.js';

const benches: Bench[] = [];
afterEach(() => {
  vi.restoreAllMocks();
  for (const bench of benches.splice(0)) bench.close();
});

const create = (options: EngineOptions = {}): Promise<MsmEngine> => openEngine({ verify: true, ...options });

const openBench = async (options: Partial<MsmEngineOptions> = {}): Promise<Bench> => {
  const bench = await Bench.open({ verify: true, ...options });
  benches.push(bench);
  return bench;
};

const count = 400;
const known = makeKnownBases(bn254G1, count, 71);
const order = groupOrder(bn254G1);

/** Scalars of all lengths, unless said otherwise. */
const scalarsOf = (n: number, seed = 1n, oracle: OracleCurve = bn254G1): bigint[] =>
  Array.from({ length: n }, (_, i) => (BigInt(i + 1) * 0x9e3779b97f4a7c15f39cc0605cedc835n * seed) ** 3n)
    .map((value) => value % groupOrder(oracle))
    .map((value, i) => (i % 5 === 4 ? value >> BigInt(i % 200) : value));

const rightOf = (scalars: readonly bigint[], offset = 0): AffinePoint =>
  expectedMsm(bn254G1, known.logs.slice(offset), scalars);

/** It was verified, at the first attempt. */
const expectVerified = ({ lastRun }: MsmEngine): void => {
  expect(lastRun).toMatchObject({ on: 'gpu', verified: true, retried: null });
};

describe('right results are verified', () => {
  const sparse = scalarsOf(count).map((value, i) => (i % 40 === 7 ? value : 0n));
  const above = scalarsOf(40).map((value, i) => (i % 2 === 0 ? value + order : 2n ** 256n - 1n - BigInt(i)));
  const plain: [string, bigint[], number][] = [
    ['of full length', scalarsOf(count), 0],
    ['from an offset on', scalarsOf(100), 123],
    ['one', scalarsOf(1), 5],
    ['one, of 1', [1n], 0],
    ['a few', scalarsOf(7), 3],
    ['so few that they are picked out', sparse, 0],
    ['bits', scalarsOf(count).map((value) => value & 1n), 0],
    ['opposites of bits', scalarsOf(count).map((value) => order - (value & 1n)), 0],
    ['not below the order', above, 9],
    ['zero by the order only', [order, order, 3n], 0],
  ];
  const verifies = async (_: string, scalars: readonly bigint[], offset: number): Promise<void> => {
    const engine = await create();
    const bases = await engine.loadBases(known.bytes);
    expect(await engine.msm(bases, scalars, { offset })).toEqual(rightOf(scalars, offset));
    expectVerified(engine);
  };
  const isFirst = ([what]: (typeof plain)[number]): boolean => !['one', 'bits', 'a few'].includes(what);
  test.each(plain.filter(isFirst))('scalars that are %s', verifies);
  test.each(plain.filter((one) => !isFirst(one)))('scalars that are %s', { tags: 'long' }, verifies);

  test('if the sum is infinity, or all scalars are zero', async () => {
    const engine = await create();
    const [point] = known.points as [AffinePoint];
    const bases = await engine.loadBases([point, point, INFINITY]);
    expect(await engine.msm(bases, [7n, order - 7n, 5n])).toEqual(INFINITY);
    expectVerified(engine);
    expect(await engine.msm(bases, [0n, 0n, 0n])).toEqual(INFINITY);
    expect(engine.lastRun).toMatchObject({ on: 'cpu', verified: true });
  });

  test('in a batch of vectors at different offsets', async () => {
    const engine = await create();
    const bases = await engine.loadBases(known.bytes);
    const vectors = [scalarsOf(100), [], scalarsOf(count, 3n), sparse.slice(0, 50), [0n], above, [order - 1n]];
    const offsets = [300, count, 0, 17, 399, 200, 399];
    const sums = await engine.msmBatch(bases, vectors, { offsets });
    expect(sums).toEqual(vectors.map((scalars, i) => rightOf(scalars, offsets[i])));
    expectVerified(engine);
  });

  test('several at a time, and no call reloads bases that another call checks', async () => {
    const device = await getDevice();
    const engine = await create({ sharing: { merge: false } });
    const bases = await engine.loadBases(known.bytes);
    const loads = vi.spyOn(device, 'createBuffer');
    const vectors = Array.from({ length: 8 }, (_, i) => scalarsOf(20 + i, BigInt(2 * i + 1)));
    const sums = await Promise.all(vectors.map((scalars) => engine.msm(bases, scalars)));
    expect(sums).toEqual(vectors.map((scalars) => rightOf(scalars)));
    expect(engine.stats.retries).toBe(0);
    expect(loads.mock.calls.filter(([{ label }]) => label === 'webgpu-msm bases')).toEqual([]);
  });

  test('and a right check of the bases clears the suspicion, unless a fault occurs meanwhile', async () => {
    const suspicion = new Suspicion();
    suspicion.raise();
    const found = await suspicion.clear(async () => {
      suspicion.raise();
      return true;
    });
    expect([found, suspicion.isRaised]).toEqual([true, true]);
    expect([await suspicion.clear(async () => false), suspicion.isRaised]).toEqual([false, true]);
    expect([await suspicion.clear(async () => true), suspicion.isRaised]).toEqual([true, false]);
  });

  test('in chunks, and in many submits', { tags: 'long' }, async () => {
    for (const options of [{ memoryBudget: 300_000 }, { tuning: { additionsPerSubmit: 2048 } }]) {
      const engine = await create({ ...options, tuning: { windowBits: 5, ...options.tuning } });
      const bases = await engine.loadBases(known.bytes);
      const scalars = scalarsOf(count);
      expect(await engine.msm(bases, scalars)).toEqual(rightOf(scalars));
      expectVerified(engine);
      expect(gpuRunOf(engine).submits).toBeGreaterThan(1);
      expect(engine.memory.peak).toBeLessThanOrEqual(options.memoryBudget ?? Number.POSITIVE_INFINITY);
    }
  });

  test.each([
    ['without points in main memory', { retainBases: false }, 1],
    ['with tables', {}, 3],
  ])('%s', { tags: 'long' }, async (_, options, precompute) => {
    const engine = await create(options);
    const bases = await engine.loadBases(known.bytes, { precompute });
    const scalars = scalarsOf(100);
    expect(await engine.msm(bases, scalars, { offset: 50 })).toEqual(rightOf(scalars, 50));
    expectVerified(engine);
  });

  test('with checks of the stages', { tags: 'long' }, async () => {
    const engine = await create({ checks: true });
    const bases = await engine.loadBases(known.bytes);
    expect(await engine.msm(bases, scalarsOf(100))).toEqual(rightOf(scalarsOf(100)));
    expectVerified(engine);
  });

  test('with the narrowest windows', async () => {
    const engine = await create({ tuning: { windowBits: 2 } });
    const bases = await engine.loadBases(known.bytes);
    expect(await engine.msm(bases, scalarsOf(20))).toEqual(rightOf(scalarsOf(20)));
    expectVerified(engine);
  });

  test('on a curve with a cofactor', { tags: 'long' }, async () => {
    const engine = await create({ curve: bls12381 });
    const { bytes, logs } = makeKnownBases(bls12381Oracle, 30, 5);
    const bases = await engine.loadBases(bytes);
    const scalars = [...scalarsOf(28, 1n, bls12381Oracle), groupOrder(bls12381Oracle) + 5n, 2n ** 256n - 1n];
    expect(await engine.msm(bases, scalars)).toEqual(expectedMsm(bls12381Oracle, logs, scalars));
    expectVerified(engine);
    const vectors = [scalars, scalars.slice(7)];
    expect(await engine.msmBatch(bases, vectors)).toEqual(
      vectors.map((each) => expectedMsm(bls12381Oracle, logs, each)),
    );
    expectVerified(engine);
  });

  test('on a curve with a cofactor, with points outside the group', { tags: 'long' }, async () => {
    // an odd multiple of a quarter of the points that there are
    const quarter = 2305843009422097804n / 4n;
    const part = ((2n ** 254n / quarter) | 1n) * quarter;
    const textbook = new TextbookCurve(smallCurve);
    const inside = { ...smallCurve.generator, infinity: false };
    expect(textbook.multiply(inside, part)).not.toEqual(INFINITY);
    const { x, y } = textbook.multiply(inside, 4n);
    const engine = await create({ curve: { ...smallCurve, order: part, generator: { x, y } } });
    const { points } = smallCase(40);
    const bases = await engine.loadBases(points);
    const right = (scalars: readonly bigint[]): AffinePoint =>
      scalars
        .map((scalar, i) => textbook.multiply(points[i] as AffinePoint, scalar % part))
        .reduce((sum, point) => textbook.add(sum, point), INFINITY);
    const long = points.map((_, i) => BigInt(i + 2) ** 40n);
    const vectors = [long.map((value) => value % part), long, long.slice(30)];
    expect(await engine.msm(bases, long)).toEqual(right(long));
    expectVerified(engine);
    expect(await engine.msmBatch(bases, vectors)).toEqual(vectors.map(right));
    expectVerified(engine);
  });

  // y² = x³ + 1 over a p that is 2 modulo 3 has p + 1 points in one cyclic group (Washington,
  // Elliptic Curves, proposition 4.33)
  const cyclic = { p: 2n ** 18n * 15n * (2n ** 35n + 1n) - 1n, a: 0n, b: 1n };
  const withOrder = async (order: bigint): Promise<void> => {
    const textbook = new TextbookCurve(cyclic);
    const some = textbook.somePoint(cyclic.b, 28n);
    const { x, y } = textbook.multiply(some, (cyclic.p + 1n) / order);
    const divisors = [2n, 3n, 5n].filter((prime) => order % prime === 0n);
    for (const prime of divisors)
      expect(textbook.multiply({ x, y, infinity: false }, order / prime).infinity).toBe(false);
    const engine = await create({ curve: { ...cyclic, name: 'cyclic', order, generator: { x, y } } });
    const points = Array.from({ length: 12 }, (_, i) => textbook.multiply(some, BigInt(i * i + 1)));
    const bases = await engine.loadBases(points);
    const right = (scalars: readonly bigint[]): AffinePoint =>
      scalars
        .map((scalar, i) => textbook.multiply(points[i] as AffinePoint, scalar % order))
        .reduce((sum, point) => textbook.add(sum, point), INFINITY);
    const vectors = [points.map(() => order - 1n), points.map((_, i) => BigInt(i + 2) ** 40n), [5n, order, 1n]];
    expect(await engine.msm(bases, vectors[0] as bigint[])).toEqual(right(vectors[0] as bigint[]));
    expectVerified(engine);
    expect(await engine.msmBatch(bases, vectors)).toEqual(vectors.map(right));
    expectVerified(engine);
  };
  // several primes, and the longest power of one
  const orders = [30n, 2n ** 18n];
  test.each(orders)('with the order %i, with points outside the group', { tags: 'long' }, withOrder);
});

describe('the share of verified calls', () => {
  const run = async (options: Partial<MsmEngineOptions>, verify?: boolean | number): Promise<boolean> => {
    const bench = await openBench(options);
    const bases = await bench.load();
    // the first that is drawn says whether
    vi.spyOn(Math, 'random').mockReturnValueOnce(0.3);
    const scalars = small.scalars;
    const sum = await bench.engine.msm(bases, scalars, verify === undefined ? {} : { verify });
    expect(sum).toEqual(small.expected);
    vi.restoreAllMocks();
    return bench.engine.lastRun?.verified as boolean;
  };

  test.each([
    [{}, undefined, true],
    [{ verify: false }, undefined, false],
    [{ verify: 0.25 }, undefined, false],
    [{ verify: 0.35 }, undefined, true],
    [{ verify: 0.35 }, 0.25, false],
    [{ verify: false }, true, true],
    [{ verify: true }, false, false],
    [{ verify: true }, 0, false],
    [{ verify: 0 }, 1, true],
  ] as const)('engine %o, call %s: %s', async (options, verify, verified) => {
    expect(await run(options, verify)).toBe(verified);
  });

  test('is zero by default', async () => {
    const bench = await Bench.open();
    benches.push(bench);
    expect(await bench.msm(await bench.load())).toEqual(small.expected);
    expect(bench.engine.lastRun?.verified).toBe(false);
  });

  test('is the share of the option', async () => {
    const bench = await openBench({ verify: 0.5 });
    const bases = await bench.load();
    const verified = new Set<boolean | undefined>();
    for (let i = 0; i < 40 && verified.size < 2; i++) {
      await bench.msm(bases);
      verified.add(bench.engine.lastRun?.verified);
    }
    expect(verified).toEqual(new Set([true, false]));
  });

  test('does not include calls on the CPU', async () => {
    const bench = await openBench({ verify: false, tuning: { cpuBelow: 1000 } });
    expect(await bench.msm(await bench.load())).toEqual(small.expected);
    expect(bench.engine.lastRun).toMatchObject({ on: 'cpu', verified: true });
  });

  test('is rejected if it is invalid', async () => {
    const bench = await openBench();
    const bases = await bench.load();
    for (const verify of ['yes', -0.1, 1.1, Number.NaN, null, {}] as unknown as number[]) {
      const rule = /verify must be true, false or a number from 0 to 1, got /;
      const refused = { code: 'bad-argument', message: expect.stringMatching(rule) };
      await expect(createMsmEngine({ curve: smallCurve, gpu: bench.gpu.gpu, verify })).rejects.toMatchObject(refused);
      await expect(bench.engine.msm(bases, small.scalars, { verify })).rejects.toMatchObject(refused);
      await expect(bench.engine.msmBatch(bases, [small.scalars], { verify })).rejects.toMatchObject(refused);
    }
  });
});

describe('wrong results are found', () => {
  const honest: Tap = (call) => call.proceed();
  const zeros = new Uint8Array(32);

  const basesOf = (bench: Bench): GPUBuffer =>
    bench.lease.buffers.find(({ label }) => label.endsWith('bases')) as GPUBuffer;

  /**
   * The second base is infinity from the submit on that is the `nth`; for that one only, or from
   * then on.
   */
  const withoutBase = (bench: Bench, nth: number, isTransient: boolean): Tap => {
    const { real } = bench.lease;
    const target = basesOf(bench);
    const aside = real.createBuffer({ size: zeros.length, usage: target.usage });
    const copy = (from: GPUBuffer, at: number, to: GPUBuffer, there: number): void => {
      const encoder = real.createCommandEncoder();
      encoder.copyBufferToBuffer(from, at, to, there, zeros.length);
      real.queue.submit([encoder.finish()]);
    };
    let submits = 0;
    return (call) => {
      if (call.method !== 'submit' || ++submits !== nth) return call.proceed();
      copy(target, zeros.length, aside, 0);
      real.queue.writeBuffer(target, zeros.length, zeros);
      const result = call.proceed();
      if (isTransient) copy(aside, 0, target, zeros.length);
      return result;
    };
  };

  const missing = new TextbookCurve(smallCurve).add(
    small.expected,
    new TextbookCurve(smallCurve).multiply(
      { ...(small.points[1] as AffinePoint), y: smallCurve.p - (small.points[1] as AffinePoint).y },
      small.scalars[1] as bigint,
    ),
  );

  test('this fault is on the curve, and no other check finds it', async () => {
    const bench = await openBench({ verify: false });
    const bases = await bench.load();
    bench.lease.tap = withoutBase(bench, 1, true);
    expect(await bench.msm(bases)).toEqual(missing);
  });

  // the last looks at the bases
  test.each([1, 2, 3])('if they occur once, in submit %i of the three', async (nth) => {
    const bench = await openBench();
    const bases = await bench.load();
    expect(await bench.msm(bases)).toEqual(small.expected);
    bench.lease.tap = withoutBase(bench, nth, true);
    expect(await bench.msm(bases)).toEqual(small.expected);
    expect(bench.engine.lastRun).toMatchObject({
      verified: true,
      retried: expect.stringMatching(/in verify: (a second evaluation gives another result|the bases were no longer)/),
    });
    bench.lease.tap = honest;
    expect(await bench.msm(bases)).toEqual(small.expected);
    expectVerified(bench.engine);
  });

  test('if bases were overwritten for good: they are loaded again', async () => {
    const bench = await openBench();
    const bases = await bench.load(large);
    const rest = { ...large, scalars: large.scalars.map((value, i) => (i === 1 ? value : 0n)) };
    bench.lease.tap = withoutBase(bench, 1, false);
    // most bases have a scalar that is zero: those sampled hardly ever are the one
    const sum = await bench.engine.msm(bases, rest.scalars.slice(0, 90));
    expect(sum).toEqual(
      new TextbookCurve(smallCurve).multiply(large.points[1] as AffinePoint, large.scalars[1] as bigint),
    );
    expect(bench.engine.lastRun?.retried).toMatch(/in verify/);
  });

  test('if bases were overwritten and cannot be loaded again: the call rejects', async () => {
    const bench = await openBench({ retainBases: false });
    const bases = await bench.load(large);
    bench.lease.tap = withoutBase(bench, 1, false);
    await expect(bench.msm(bases, large)).rejects.toMatchObject({
      code: 'internal',
      message: expect.stringMatching(/no longer what was loaded, and retainBases is false; load them again/),
    });
  });

  /** Changes a shader as it is compiled. */
  const rewriting =
    (label: string, from: string, to: string): Tap =>
    (call: Call) => {
      if (call.method !== 'createShaderModule' || call.label !== label) return call.proceed();
      const [descriptor] = call.args as [GPUShaderModuleDescriptor];
      const code = descriptor.code.replace(from, to);
      expect(code).not.toBe(descriptor.code);
      return call.proceed([{ ...descriptor, code }]);
    };

  test('if a walk takes the opposite of every point: right but for the sign, every time', async () => {
    // one level and the two of the reduction: three times the opposite
    const options = { tuning: { ...tuning, walkerTasks: 1 } };
    const opposite = rewriting('walk', '(point_ref & NEGATE) != 0u', '(point_ref & NEGATE) == 0u');
    const plain = await openBench({ ...options, verify: false });
    plain.lease.tap = opposite;
    expect(await plain.msm(await plain.load())).toEqual({ ...small.expected, y: smallCurve.p - small.expected.y });

    const bench = await openBench(options);
    bench.lease.tap = opposite;
    await expect(bench.msm(await bench.load())).rejects.toMatchObject({
      code: 'internal',
      message: expect.stringMatching(/in verify: a second evaluation gives another result/),
    });
    expect(bench.alive.scratch).toBe(0);
  });

  test('if a base was wrong from the first, and it is among those sampled', async () => {
    const few = smallCase(8);
    const spoilt = rewriting(
      'import_points',
      'points[i].y = field_pack(field_canonical(product));',
      'points[i].y = packed_negated(field_pack(field_canonical(product)), i == 3u);',
    );
    const bench = await openBench({ verify: false });
    bench.lease.tap = spoilt;
    const bases = await bench.load(few);
    expect(await bench.msm(bases, few)).not.toEqual(few.expected);
    const error = await bench.engine.msm(bases, few.scalars, { verify: true }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(MsmError);
    expect(error).toMatchObject({ code: 'internal', message: expect.stringMatching(/in verify/) });
  });
});

describe('verification as a part of a call', () => {
  const withBases = async (options: Partial<MsmEngineOptions> = {}): Promise<{ bench: Bench; bases: Bases }> => {
    const bench = await openBench({ ...options, tuning: { ...tuning, additionsPerSubmit: 1024 } });
    return { bench, bases: await bench.load(large) };
  };

  test('counts its submits as progress, and not in lastRun', async () => {
    const { bench, bases } = await withBases();
    const told: Progress[] = [];
    const onProgress = (progress: Progress): void => void told.push(progress);
    await bench.engine.msm(bases, large.scalars, { onProgress });
    const [{ total }] = told as [Progress];
    expect(told.map(({ done }) => done)).toEqual([...told.map(({ done }) => done)].sort((a, b) => a - b));
    expect(told.at(-1)).toEqual({ phase: 'msm', done: total, total });
    const verified = gpuRunOf(bench.engine);
    told.length = 0;
    await bench.engine.msm(bases, large.scalars, { onProgress, verify: false });
    const plain = gpuRunOf(bench.engine);
    expect(told[0]?.total).toBe(plain.submits);
    expect(total).toBeGreaterThan(plain.submits);
    for (const what of ['submits', 'dispatches', 'entries', 'windowBits', 'tuning'] as const) {
      expect(verified[what], what).toEqual(plain[what]);
    }
  });

  test('can be aborted', async () => {
    const { bench, bases } = await withBases();
    await bench.msm(bases, large);
    const { submits } = gpuRunOf(bench.engine);
    const abort = new AbortController();
    const onProgress = ({ done }: Progress): void => {
      if (done === submits + 1) abort.abort();
    };
    const call = bench.engine.msm(bases, large.scalars, { onProgress, signal: abort.signal });
    await expect(call).rejects.toMatchObject({ code: 'aborted' });
    expect(await bench.msm(bases, large)).toEqual(large.expected);
  });

  test('compiles nothing', async () => {
    const bench = await openBench({ verify: false });
    const bases = await bench.load();
    await bench.msm(bases);
    const before = bench.engine.pipelines.length;
    expect(await bench.engine.msm(bases, small.scalars, { verify: true })).toEqual(small.expected);
    expect(bench.engine.pipelines).toHaveLength(before);
  });
});
