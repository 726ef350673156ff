/** Sums of few terms in WebAssembly, on one thread and on several, compared with BigInts. */
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { describe, expect, it, vi } from 'vitest';
import { endomorphismOf, halvingOf } from '../../src/curves/halving.js';
import {
  type Affine,
  addAffine,
  endomorphism,
  infinityOf,
  multiply,
  negated,
  toAffine,
} from '../../src/curves/jacobian.js';
import type { Group } from '../../src/curves/more-curves.js';
import { openCurve } from '../../src/curves/open-curve.js';
import { readerOf, writePoint } from '../../src/curves/point-source.js';
import { mod } from '../../src/field/modulus.js';
import { withAdder } from '../../src/msm/cpu/adder.js';
import { PointMultiples } from '../../src/msm/cpu/point-multiples.js';
import { PointNotOnCurve, SumThreads } from '../../src/msm/cpu/sum-threads.js';
import { times } from '../../src/setup/groups.js';
import { hasArithmetic, wasmArithmetics } from '../../src/wasm/points/kernel.js';
import { PointAdder } from '../../src/wasm/points/point-adder.js';
import { passFrames } from '../support/time.js';

const groups = (['bn254', 'bls12-381'] as const).flatMap((curve) =>
  (['g1', 'g2'] as const satisfies Group[]).map((group) => [curve, group] as const),
);

/** Points with known logarithms and infinity. */
const samples = async (name: (typeof groups)[number][0], group: Group) => {
  const curve = await openCurve(name, group);
  const logs = [0n, 1n, 2n, curve.order - 1n, 3n, 0x1234567890abcdef1234567890abcdefn, curve.order / 2n];
  const points = logs.map((log) => toAffine(curve, multiply(curve, log, curve.generator)));
  return { curve, logs, points };
};

const wordsOf = (curve: Awaited<ReturnType<typeof openCurve>>, points: readonly Affine[]): Uint32Array => {
  const words = new Uint32Array(points.length * curve.pointWords);
  for (const [i, point] of points.entries()) writePoint(curve, words, i, point);
  return words;
};

describe.each(groups)('%s %s', (name, group) => {
  it('halves scalars', async () => {
    const curve = await openCurve(name, group);
    const { beta, split } = halvingOf(curve);
    const { x, y } = curve.generator;
    const image = { x: curve.coordinates.reduced(curve.coordinates.multiple(x, beta)), y };
    for (const k of [0n, 1n, 2n, 2n ** 100n, curve.order - 1n, curve.order / 3n, 7n ** 80n % curve.order]) {
      const [k1, k2] = split(k);
      const part = (factor: bigint, point: NonNullable<Affine>) =>
        toAffine(curve, multiply(curve, factor < 0n ? -factor : factor, factor < 0n ? negated(curve, point) : point));
      let sum = infinityOf(curve);
      for (const each of [part(k1, { x, y }), part(k2, image)]) sum = addAffine(curve, sum, each);
      expect(toAffine(curve, sum)).toEqual(toAffine(curve, multiply(curve, k, { x, y })));
      for (const half of [k1, k2]) expect((half < 0n ? -half : half) >> 130n).toBe(0n);
    }
  });

  it('splits scalars by the endomorphism', async () => {
    const curve = await openCurve(name, group);
    const { factors, parts, split } = endomorphismOf(curve);
    expect(parts).toBe(group === 'g1' ? 2 : 4);
    const image = endomorphism(curve, { ...factors, conjugates: group === 'g2', multiple: 0n });
    const { order, generator } = curve;
    for (const k of [0n, 1n, 2n, 2n ** 40n, 2n ** 128n, order - 1n, order, order / 3n, 7n ** 80n % order]) {
      const all = split(k);
      expect(all).toHaveLength(parts);
      let [sum, point] = [infinityOf(curve), generator as Affine];
      for (const part of all) {
        const size = part < 0n ? -part : part;
        expect(size >> BigInt(256 / parts + 2)).toBe(0n);
        const P = part < 0n && point !== null ? negated(curve, point) : point;
        sum = addAffine(curve, sum, toAffine(curve, multiply(curve, size, P)));
        point = image(point);
      }
      expect(toAffine(curve, sum)).toEqual(toAffine(curve, multiply(curve, k, generator)));
    }
    expect([0n, 1n, 3n, order - 1n].map(split)).toEqual(
      [0n, 1n, 3n, -1n].map((k) => [k, ...new Array(parts - 1).fill(0n)]),
    );
  });

  it('adds up multiples, on one thread and on several', { tags: group === 'g2' ? ['long'] : [] }, async () => {
    const { curve, logs, points } = await samples(name, group);
    const multipliers = [
      1n,
      curve.order - 1n,
      2n,
      3n,
      curve.order - 5n,
      2n ** 64n,
      7n ** 77n % curve.order,
      curve.order - 2n ** 40n,
      0n,
    ];
    // sums of 0, 1, 2, … terms, with equal points, equal multipliers and opposite terms
    const terms: [point: number, multiplier: number][][] = [
      [],
      [[0, 4]],
      [
        [1, 0],
        [1, 1],
      ],
      [
        [1, 0],
        [1, 0],
      ],
    ];
    let state = 1;
    const draw = (below: number): number => {
      state = (state * 48271) % 2147483647;
      return state % below;
    };
    for (let i = 0; i < 1100; i++) {
      const count = i === 20 ? 60 : draw(4);
      terms.push(Array.from({ length: count }, () => [draw(points.length), draw(multipliers.length)]));
    }
    const starts = new Uint32Array(terms.length + 1);
    for (const [i, row] of terms.entries()) starts[i + 1] = (starts[i] as number) + row.length;
    const flat = terms.flat();
    const scale = 1n << 256n;
    const many = {
      points: wordsOf(
        curve,
        flat.map(([point]) => {
          const P = points[point] as Affine;
          const scaled = (c: NonNullable<Affine>['x']) =>
            curve.coordinates.reduced(curve.coordinates.multiple(c, scale));
          return P && { x: scaled(P.x), y: scaled(P.y) };
        }),
      ),
      scale,
      starts,
      which: Uint32Array.from(flat, ([, multiplier]) => multiplier),
      multipliers,
      scales: [scale, 1n],
    };
    const known = new Map<bigint, Affine>();
    const expected = terms.map((row) => {
      const log = mod(
        row.reduce((sum, [P, k]) => sum + (logs[P] as bigint) * (multipliers[k] as bigint), 0n),
        curve.order,
      );
      if (!known.has(log)) known.set(log, toAffine(curve, multiply(curve, log, curve.generator)));
      return known.get(log) as Affine;
    });
    for (const maxWorkers of [0, 2]) {
      const threads = new SumThreads({ maxWorkers }, () => undefined);
      const [scaled, plain] = (await threads.compute(curve, many)) as [
        Uint32Array<ArrayBuffer>,
        Uint32Array<ArrayBuffer>,
      ];
      threads.destroy();
      for (const [words, factor] of [
        [scaled, scale],
        [plain, 1n],
      ] as const) {
        const read = readerOf(curve, { bytes: new Uint8Array(words.buffer), scale: factor, encoding: 'le' });
        expect(expected.map((_, i) => read(i))).toEqual(expected);
      }
    }
  });

  it('multiplies all points by one number', { tags: group === 'g2' ? ['long'] : [] }, async () => {
    const { curve, logs, points } = await samples(name, group);
    const threads = new SumThreads({ maxWorkers: 0 }, () => undefined);
    const starts = Uint32Array.from({ length: points.length + 1 }, (_, i) => i);
    const sums = { points: wordsOf(curve, points), scale: 1n, starts, which: new Uint32Array(points.length) };
    const { order } = curve;
    for (const k of [7n ** 80n % order, order - 2n ** 40n, (order + 1n) / 2n, order / 3n, 2n ** 127n]) {
      const [words] = await threads.compute(curve, { ...sums, multipliers: [k], scales: [1n] });
      const expected = logs.map((log) => toAffine(curve, multiply(curve, mod(k * log, order), curve.generator)));
      expect(words).toEqual(wordsOf(curve, expected));
    }
    threads.destroy();
  });

  it('multiplies each point by a number of its own, on one thread and on several', {
    tags: group === 'g2' ? ['long'] : [],
  }, async () => {
    const { curve, logs, points } = await samples(name, group);
    const { order } = curve;
    const numbers = [
      ...[0n, 1n, order - 1n, 2n, 3n, order - 5n, 2n ** 64n, 2n ** 24n, 2n ** 25n - 1n],
      ...[order - 2n ** 40n, (order + 1n) / 2n, order / 3n, 2n ** 127n, 2n ** 128n - 1n, 7n ** 80n % order],
    ];
    // all numbers with all points, and more long ones than a list has
    const count = 1300;
    const multipliers = Array.from(
      { length: count },
      (_, i) => numbers[Math.floor(i / points.length)] ?? (BigInt(i) ** 50n * 3n ** 100n) % order,
    );
    const own = Array.from({ length: count }, (_, i) => i % points.length);
    const sums = {
      points: wordsOf(
        curve,
        own.map((i) => points[i] as Affine),
      ),
      scale: 1n,
      starts: Uint32Array.from({ length: count + 1 }, (_, i) => i),
      which: Uint32Array.from({ length: count }, (_, i) => i),
      multipliers,
      scales: [1n],
    };
    // a sample: BigInts are slow
    const tested = Array.from({ length: 150 }, (_, i) => (i < 120 ? i : 120 + (i - 120) * 39));
    const expected = tested.map((i) => {
      const log = mod((multipliers[i] as bigint) * (logs[own[i] as number] as bigint), order);
      return toAffine(curve, multiply(curve, log, curve.generator));
    });
    for (const maxWorkers of [0, 2]) {
      const threads = new SumThreads({ maxWorkers }, () => undefined);
      const [words] = (await threads.compute(curve, sums)) as [Uint32Array<ArrayBuffer>];
      threads.destroy();
      const read = readerOf(curve, { bytes: new Uint8Array(words.buffer), scale: 1n, encoding: 'le' });
      expect(tested.map((i) => read(i))).toEqual(expected);
    }
  });

  it('computes butterflies: with equal and opposite points, infinity and short numbers', {
    tags: group === 'g2' ? ['long'] : [],
  }, async () => {
    const { curve, logs, points } = await samples(name, group);
    const { order } = curve;
    const long = 7n ** 80n % order;
    const multipliers = [0n, 1n, order - 1n, 2n, long, (order + 1n) / 2n, order - long];
    // runs of one multiplier, and then all of them with all pairs of points
    const kinds: [a: number, b: number, k: number][] = [];
    for (const k of multipliers.keys()) for (let i = 0; i < 520; i++) kinds.push([i % 7, Math.floor(i / 7) % 7, k]);
    for (let i = 0; i < 7 ** 3; i++) kinds.push([i % 7, Math.floor(i / 7) % 7, Math.floor(i / 49)].reverse() as never);
    const sums = {
      points: wordsOf(
        curve,
        kinds.map(([, b]) => points[b] as Affine),
      ),
      addends: wordsOf(
        curve,
        kinds.map(([a]) => points[a] as Affine),
      ),
      scale: 1n,
      starts: Uint32Array.from({ length: kinds.length + 1 }, (_, i) => i),
      which: Uint32Array.from(kinds, ([, , k]) => k),
      multipliers,
      scales: [1n],
    };
    const known = new Map<string, readonly Affine[]>();
    const expectedOf = ([a, b, k]: (typeof kinds)[number]): readonly Affine[] => {
      const key = `${a} ${b} ${k}`;
      const product = (multipliers[k] as bigint) * (logs[b] as bigint);
      const found =
        known.get(key) ??
        [product, -product].map((each) =>
          toAffine(curve, multiply(curve, mod((logs[a] as bigint) + each, order), curve.generator)),
        );
      known.set(key, found);
      return found;
    };
    const expected = Buffer.from(wordsOf(curve, kinds.flatMap(expectedOf)).buffer as ArrayBuffer);
    for (const maxWorkers of [0, 2]) {
      const threads = new SumThreads({ maxWorkers }, () => undefined);
      const [words] = (await threads.compute(curve, sums)) as [Uint32Array<ArrayBuffer>];
      threads.destroy();
      expect(Buffer.from(words.buffer).equals(expected)).toBe(true);
    }
  });

  it('names a term whose point is not on the curve', async () => {
    const { curve, points } = await samples(name, group);
    const wrong = curve.coordinates.one;
    const words = wordsOf(curve, [points[1] as Affine, { x: wrong, y: wrong }]);
    const threads = new SumThreads({ maxWorkers: 0 }, () => undefined);
    const sums = {
      points: words,
      scale: 1n,
      starts: Uint32Array.of(0, 2),
      which: Uint32Array.of(0, 0),
      multipliers: [1n],
      scales: [1n],
    };
    await expect(threads.compute(curve, sums)).rejects.toThrow(PointNotOnCurve);
    const right = wordsOf(curve, points.slice(1, 3));
    const pairs = { ...sums, points: right, starts: Uint32Array.of(0, 1, 2), addends: words };
    await expect(threads.compute(curve, pairs)).rejects.toMatchObject({ term: 1 });
  });

  it.each(wasmArithmetics)('writes images of points under the endomorphism, by %s', async (arithmetic) => {
    if (!hasArithmetic(arithmetic)) return;
    const { curve, points } = await samples(name, group);
    const { factors } = endomorphismOf(curve);
    const image = endomorphism(curve, { ...factors, conjugates: group === 'g2', multiple: 0n });
    const left = await withAdder(
      curve,
      async (adder) => {
        adder.release();
        const at = adder.enter(wordsOf(curve, [factors, ...points]), 1n);
        const images = adder.images(at + adder.pointBytes, points.length, at);
        return adder.leave(images, points.length, 1n);
      },
      [arithmetic],
    );
    expect(left).toEqual(wordsOf(curve, points.map(image)));
  });

  it.each(wasmArithmetics)('leaves points as they were entered, by %s', async (arithmetic) => {
    if (!hasArithmetic(arithmetic)) return;
    const { curve, points } = await samples(name, group);
    const words = wordsOf(curve, points);
    const left = await withAdder(
      curve,
      async (adder) => {
        const at = adder.enter(words, 1n << 384n);
        return adder.leave(at, points.length, 1n << 384n);
      },
      [arithmetic],
    );
    expect(left).toEqual(words);
  });
});

it('multiplies a single point in steps, between which a pause may end it', async () => {
  const g2 = await openCurve('bls12-381', 'g2');
  const k = g2.order - 12345n;
  let pauses = 0;
  const product = await times(g2, k, g2.generator, async () => void pauses++);
  const { x, y } = bls12_381.G2.Point.BASE.multiply(k).toAffine();
  expect(product).toEqual({ x: { c0: x.c0, c1: x.c1 }, y: { c0: y.c0, c1: y.c1 } });
  expect(pauses).toBe(Math.floor(k.toString(2).length / 16));
  const ended = new Error('ended');
  const end = async (): Promise<void> => {
    throw ended;
  };
  await expect(times(g2, k, g2.generator, end)).rejects.toBe(ended);
  const goOn = async (): Promise<void> => undefined;
  expect(await times(g2, g2.order, g2.generator, goOn)).toBeNull();
  expect(await times(g2, k, null, goOn)).toBeNull();
});

it('writes multipliers with pauses between them', async () => {
  const curve = await openCurve('bn254', 'g2');
  const count = 1000;
  const sums = {
    points: wordsOf(curve, new Array<Affine>(count).fill(curve.generator)),
    scale: 1n,
    starts: Uint32Array.from({ length: count + 1 }, (_, i) => i),
    which: Uint32Array.from({ length: count }, (_, i) => i),
    multipliers: Array.from({ length: count }, (_, i) => BigInt(i) ** 40n % curve.order),
    scales: [1n],
  };
  const first = new SumThreads({ maxWorkers: 0 }, () => undefined);
  // compiles the kernel
  await first.compute(curve, sums);
  first.destroy();
  passFrames();
  let [calls, most] = [0, 0];
  const real = DataView.prototype.setBigUint64;
  vi.spyOn(DataView.prototype, 'setBigUint64').mockImplementation(function (this: DataView, ...given) {
    calls++;
    real.apply(this, given);
  });
  const threads = new SumThreads({ maxWorkers: 0 }, () => {
    most = Math.max(most, calls);
    calls = 0;
  });
  await threads.compute(curve, sums);
  vi.restoreAllMocks();
  threads.destroy();
  // two words of each of four parts
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(64 * 4 * 2);
});

it('overwrites the digits of multipliers where it is ended', async () => {
  const curve = await openCurve('bn254', 'g1');
  const sums = {
    points: wordsOf(curve, new Array<Affine>(3).fill(curve.generator)),
    scale: 1n,
    starts: Uint32Array.of(0, 1, 2, 3),
    which: new Uint32Array(3),
    multipliers: [7n ** 80n % curve.order],
    scales: [1n],
  };
  const { prototype: multiples } = PointMultiples;
  const { byOne } = multiples;
  const ended = new Error('ended');
  for (const isEnded of [false, true]) {
    const digits: Int8Array[] = [];
    const read = vi.spyOn(multiples, 'byOne').mockImplementation(function* (this: PointMultiples, ...given) {
      digits.push(...given[0].parts);
      if (isEnded) throw ended;
      return yield* byOne.apply(this, given);
    });
    const threads = new SumThreads({ maxWorkers: 0 }, () => undefined);
    const call = threads.compute(curve, sums);
    await (isEnded ? expect(call).rejects.toBe(ended) : call);
    threads.destroy();
    read.mockRestore();
    expect(digits).toHaveLength(2);
    expect(digits.flatMap((part) => [...part]).some((digit) => digit !== 0)).toBe(false);
  }
});

it('overwrites the additions for multipliers of their own, also where it is ended', async () => {
  const curve = await openCurve('bn254', 'g1');
  const sums = {
    points: wordsOf(curve, new Array<Affine>(3).fill(curve.generator)),
    scale: 1n,
    starts: Uint32Array.of(0, 1, 2, 3),
    which: Uint32Array.of(0, 1, 2),
    multipliers: [80n, 81n, 82n].map((k) => 7n ** k % curve.order),
    scales: [1n],
  };
  const { prototype: adder } = PointAdder;
  const { addEach } = adder;
  const ended = new Error('ended');
  for (const isEnded of [false, true]) {
    const lists = new Set<Uint32Array>();
    let most = 0;
    const added = vi.spyOn(adder, 'addEach').mockImplementation(function (this: PointAdder, operands, ...given) {
      const [to, , from] = operands;
      // all else are doublings
      if (to !== from) for (const list of [to, from]) lists.add(list);
      most = Math.max(most, ...[...lists].flatMap((list) => [...list]));
      if (isEnded && lists.size > 0) throw ended;
      addEach.call(this, operands, ...given);
    });
    const threads = new SumThreads({ maxWorkers: 0 }, () => undefined);
    const call = threads.compute(curve, sums);
    await (isEnded ? expect(call).rejects.toBe(ended) : call);
    threads.destroy();
    added.mockRestore();
    expect(most).toBeGreaterThan(0);
    expect([...lists].map((list) => Math.max(...list))).toEqual([0, 0]);
  }
});
