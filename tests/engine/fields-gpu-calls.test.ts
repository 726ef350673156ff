/** Vectors on the GPU: other fields, long transforms, faults, losses, and calls that end early. */
import { afterEach, describe, expect, test } from 'vitest';
import { bn254G1, expectedMsm, groupOrder, makeKnownBases } from '../../dev/oracle/known-bases.js';
import {
  createFieldEngine,
  type FieldEngine,
  type FieldEngineOptions,
  type FieldOperations,
  type FieldVector,
} from '../../src/fields.js';
import { createMsmEngine, type Progress } from '../../src/index.js';
import { openEngine } from '../support/engines.js';
import { loseEachDispatch, strikeAt } from '../support/failure-bench.js';
import { getDevice } from '../support/gpu.js';
import { type LeasedDevice, leaseGpu } from '../support/leased-gpu.js';
import { sleep } from '../support/time.js';

const engines: { destroy(): void }[] = [];
afterEach(() => {
  for (const engine of engines.splice(0)) engine.destroy();
});

const open = async (options: FieldEngineOptions): Promise<FieldEngine> => {
  const engine = await createFieldEngine(options);
  engines.push(engine);
  return engine;
};

/** Numbers below the prime: small, large, and what is between. */
const numbersOf = (p: bigint, n: number): bigint[] => {
  const edges = [0n, 1n, p - 1n, p / 2n, 2n ** 31n];
  let state = 88_172_645_463_325_252n;
  return Array.from({ length: n }, (_, i) => {
    state = (state * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n) % 2n ** 128n;
    return (i % 4 === 0 ? (edges[i % edges.length] as bigint) : state ** 4n) % p;
  });
};

/** Computes with vectors in many ways, and returns all numbers. */
const compute = async (fr: FieldEngine, numbers: readonly bigint[], coset: bigint): Promise<Uint8Array[]> => {
  const a = await fr.load(numbers);
  const made = await fr.run((ops) => {
    const values = ops.ntt(a, { coset });
    const reversed = ops.ntt(a, { to: 'reversed' });
    return [
      values,
      ops.intt(values, { coset }),
      ops.intt(ops.multiply(reversed, reversed), { from: 'reversed' }),
      ops.invert(values),
      ops.evaluate(a, coset),
    ].map((each) => ops.keep(each));
  });
  const read: Uint8Array[] = [];
  for (const each of made) read.push(await fr.read(each));
  for (const each of [a, ...made]) each.destroy();
  return read;
};

/** Expects the results of the CPU, whose tests compare them with BigInts. */
const expectAlike = async (field: FieldEngineOptions['field'], lengths: readonly number[]): Promise<void> => {
  const device = await getDevice();
  const [gpu, cpu] = [await open({ field, device }), await open({ field, backend: 'cpu' })];
  for (const n of lengths) {
    const numbers = numbersOf(gpu.p, n);
    const expected = await compute(cpu, numbers, 7n);
    const found = await compute(gpu, numbers, 7n);
    // `toEqual` takes gigabytes for vectors of millions of bytes
    const differing = found.flatMap((bytes, i) => (Buffer.compare(bytes, expected[i] as Uint8Array) === 0 ? [] : [i]));
    expect(differing, `${n} elements`).toEqual([]);
    expect(found).toHaveLength(5);
  }
  expect([gpu.lastRun?.on, cpu.lastRun?.on]).toEqual(['gpu', 'cpu']);
  gpu.trim();
  expect(gpu.memory.used).toBe(0);
};

describe('results are those of the CPU', () => {
  test('for transforms of one pass, several, and shorter ones than before', async () => {
    await expectAlike('bn254-fr', [2, 2 ** 9, 2 ** 10, 2 ** 8]);
  });

  test('for long transforms', { tags: 'long' }, async () => {
    await expectAlike('bn254-fr', [2 ** 18]);
  });

  // of blocks of 2^9 elements; the shortest numbers take a fifth of the time of others
  test('for transforms in three passes', { tags: 'long' }, async () => {
    await expectAlike({ p: 2n ** 64n - 2n ** 32n + 1n }, [2 ** 19]);
  });

  test('in the scalar field of BLS12-381', { tags: 'long' }, async () => {
    await expectAlike('bls12-381-fr', [1, 2, 64, 1024]);
  });

  test.each(['bls12-377-fr', 'pallas-fr', 'vesta-fr'] as const)('in %s', { tags: 'long' }, async (field) => {
    await expectAlike(field, [1, 2, 64, 1024]);
  });

  test.each([
    ['61 bits, and no transform above 2', 2n ** 61n - 1n, [1, 2]],
    ['64 bits', 2n ** 64n - 2n ** 32n + 1n, [2, 512]],
    ['128 bits, which fill their words', 2n ** 128n - 61n * 2n ** 20n + 1n, [2, 512]],
    [
      '377 bits',
      0x1ae3a4617c510eac63b05c06ca1493b1a22d9f300f5138f1ef3622fba094800170b5d44300000008508c00000000001n,
      [8, 512],
    ],
  ] as const)('in a field of %s', { tags: 'long' }, async (_, p, lengths) => {
    await expectAlike({ p }, lengths);
  });
});

/** An engine on a device that can be tampered with, and a vector whose double is right. */
const openLeased = async () => {
  const gpu = await leaseGpu();
  const fr = await open({ gpu: gpu.gpu });
  const a = await fr.load([1n, 2n, 3n, 4n]);
  const low = async (vector: FieldVector) => [...(await fr.read(vector))].filter((_, i) => i % 32 === 0);
  const twice = async () => low(await fr.run((ops) => ops.keep(ops.add(a, a))));
  expect(await twice()).toEqual([2, 4, 6, 8]);
  return { gpu, fr, a, low, twice, lease: gpu.devices[0] as LeasedDevice };
};

describe('a fault', () => {
  test.each(['dispatchWorkgroups', 'writeBuffer', 'copyBufferToBuffer', 'submit'])(
    'of %s is repeated',
    async (name) => {
      const { fr, low, lease } = await openLeased();
      const strikes = strikeAt(
        lease,
        ({ method }) => method === name,
        () => undefined,
      );
      expect(await low(await fr.load([9n, 8n]))).toEqual([9, 8]);
      expect(strikes.count).toBe(1);
    },
  );

  test('in every dispatch of a transform is repeated', async () => {
    const { fr, a, low, lease } = await openLeased();
    const run = () => fr.run((ops) => ops.keep(ops.intt(ops.ntt(a, { coset: 5n }), { coset: 5n })));
    expect(await low(await run())).toEqual([1, 2, 3, 4]);
    expect(fr.lastRun?.retried).toBeNull();
    const reasons: (string | null | undefined)[] = [];
    await loseEachDispatch(lease, 50, async () => {
      const made = await run();
      reasons.push(fr.lastRun?.retried);
      expect(await low(made)).toEqual([1, 2, 3, 4]);
    });
    expect(reasons.some((reason) => typeof reason === 'string')).toBe(true);
    // a dispatch that runs twice transforms in place what it has transformed already
    for (let index = 0; ; index++) {
      let seen = 0;
      const strikes = strikeAt(
        lease,
        ({ method }) => method === 'dispatchWorkgroups' && seen++ === index,
        ({ proceed }) => {
          proceed();
          return proceed();
        },
      );
      expect(await low(await run())).toEqual([1, 2, 3, 4]);
      if (strikes.count === 0) break;
      expect(index).toBeLessThan(50);
    }
  });
});

describe('parts of vectors are read where these are', () => {
  const pad = (v: readonly bigint[], length: number, from = 0) => Array.from({ length }, (_, i) => v[i - from] ?? 0n);

  test.each([false, true])('as numbers say, with a second evaluation: %s', async (verify) => {
    const fr = await open({ device: await getDevice() });
    const { p } = fr;
    const [x, y] = [numbersOf(p, 64), numbersOf(p, 48).reverse()];
    const [a, b] = [await fr.load(x), await fr.load(y)];
    const sum = (...terms: readonly (readonly [bigint, readonly bigint[]])[]) =>
      Array.from({ length: Math.max(...terms.map(([, v]) => v.length)) }, (_, i) =>
        terms.reduce((all, [factor, v]) => (all + factor * (v[i] ?? 0n)) % p, 0n),
      );
    const [low, scaled] = [x.slice(5, 37), pad(x, 128).map((each) => (2n * each) % p)];
    const high = pad(low, 64, 9);
    const expected = {
      again: pad(high.slice(3, 40), 50, 13).slice(10, 49),
      high,
      added: sum([1n, scaled.slice(0, 64)], [1n, high]),
      product: high.map((each, i) => ((pad(y, 64, 16)[i] as bigint) * each - (scaled[64 + i] as bigint)) % p),
      back: pad(x, 128, 64),
      inTheMiddle: sum([5n, low], [1n, high], [p - 1n, y], [1n, y]),
      inFront: sum([1n, pad(y, 70, 22)], [p - 1n, x]),
      atTheEnd: sum([p - 1n, y], [1n, x.slice(1)]),
      alone: low,
      value: [high.reduceRight((all, each) => (all * 2n + each) % p, 0n)],
      picked: [8, 9, 40, 41].map((i) => high[i]),
      products: x.slice(60).map((_, i, tail) => tail.slice(0, i).reduce((all, each) => (all * each) % p, 1n)),
    };
    const made = await fr.run(
      (ops) => {
        const [part, twice] = [ops.slice(a, 5, 37), ops.scale(ops.pad(a, 128), 2n)];
        const longer = ops.pad(part, 64, 9);
        const there = ops.ntt(ops.pad(a, 128, 64), { coset: 7n });
        const all: Record<keyof typeof expected, FieldVector> = {
          again: ops.slice(ops.pad(ops.slice(longer, 3, 40), 50, 13), 10, 49),
          high: longer,
          added: ops.add(ops.slice(twice, 0, 64), longer),
          product: ops.multiplySubtract(ops.pad(b, 64, 16), longer, ops.slice(twice, 64)),
          back: ops.intt(there, { coset: 7n }),
          inTheMiddle: ops.linearCombination([
            [5n, part],
            [1n, longer],
            [p - 1n, b],
            [1n, b],
          ]),
          inFront: ops.linearCombination([
            [1n, ops.pad(b, 70, 22)],
            [p - 1n, a],
          ]),
          atTheEnd: ops.linearCombination([
            [p - 1n, b],
            [1n, ops.slice(a, 1)],
          ]),
          alone: ops.linearCombination([[1n, part]]),
          value: ops.evaluate(longer, 2n),
          picked: ops.gather(longer, [8, 9, 40, 41]),
          products: ops.prefixProduct(ops.slice(a, 60)),
        };
        for (const each of Object.values(all)) ops.keep(each);
        return all;
      },
      { verify },
    );
    for (const [name, numbers] of Object.entries(expected)) {
      const bytes = Buffer.from(await fr.read(made[name as keyof typeof expected], { encoding: 'be' }));
      const found = numbers.map((_, i) => BigInt(`0x${bytes.subarray(32 * i, 32 * i + 32).toString('hex')}`));
      expect(found, name).toEqual(numbers.map((each) => ((each as bigint) + p) % p));
      expect(bytes, name).toHaveLength(32 * numbers.length);
    }
  });

  test('of a transform in place, too, whose operand is read afterwards', async () => {
    const { fr, a, low } = await openLeased();
    const [whole, part] = await fr.run((ops) => {
      const twice = ops.add(a, a);
      const end = ops.slice(twice, 2);
      // nothing but a part of it is used after the transform
      const back = ops.intt(ops.ntt(twice));
      return [ops.keep(back), ops.keep(ops.add(end, end))] as const;
    });
    expect(await low(whole)).toEqual([2, 4, 6, 8]);
    expect(await low(part)).toEqual([12, 16]);
  });
});

describe('the value of a polynomial comes back with its run', () => {
  const evaluate = (fr: FieldEngine, a: FieldVector) =>
    fr.run((ops) => [ops.keep(ops.evaluate(a, 10n)), ops.keep(ops.add(a, a)), ops.keep(ops.slice(a, 3))] as const);

  test('and is read without another job', async () => {
    const { fr, a, lease } = await openLeased();
    const [value, twice, last] = await evaluate(fr, a);
    let jobs = 0;
    lease.tap = ({ method, proceed }) => {
      if (method === 'mapAsync') jobs++;
      return proceed();
    };
    const numbersIn = async (vector: FieldVector, encoding: 'le' | 'be' | 'le-montgomery' = 'le') => {
      const bytes = Buffer.from(await fr.read(vector, { encoding }));
      if (encoding !== 'be') bytes.reverse();
      return BigInt(`0x${bytes.toString('hex')}`);
    };
    expect(await numbersIn(value)).toBe(4321n);
    expect(await numbersIn(value, 'be')).toBe(4321n);
    expect(await numbersIn(last)).toBe(4n);
    expect(jobs).toBe(0);
    expect(await numbersIn(value, 'le-montgomery')).toBe((4321n * 2n ** 256n) % fr.p);
    expect([...(await fr.read(twice))].filter((_, i) => i % 32 === 0)).toEqual([2, 4, 6, 8]);
    expect(jobs).toBe(2);
    const square = await fr.run((ops) => ops.keep(ops.multiply(value, value)), { verify: true });
    expect(await numbersIn(square)).toBe(4321n ** 2n);
  });

  test('after a fault in any of its dispatches, too', async () => {
    const { fr, a, low, lease } = await openLeased();
    await loseEachDispatch(lease, 50, async () => {
      const [value, twice] = await evaluate(fr, a);
      // 4321 is 16·256 + 225
      expect([...(await fr.read(value))].slice(0, 3)).toEqual([225, 16, 0]);
      expect(await low(twice)).toEqual([2, 4, 6, 8]);
    });
  });
});

test('a matrix takes 8 bytes an entry, and each of its values once', async () => {
  const { fr, low } = await openLeased();
  const side = 64;
  const places = Array.from({ length: side * side }, (_, i) => [Math.floor(i / side), i % side] as const);
  const valueAt = (row: number, column: number): bigint => BigInt(1 + ((row * column) % 3));
  const before = fr.memory.used;
  const matrix = await fr.loadMatrix({
    ...{ rows: side, columns: side, row: places.map(([row]) => row), column: places.map(([, column]) => column) },
    values: places.map(([row, column]) => valueAt(row, column)),
  });
  // two levels of sums of at most 32 entries, 0 and three values, each where a binding may begin
  const starts = 4 * (2 * side + 1) + 4 * (side + 1);
  expect(fr.memory.used - before).toBeLessThan(8 * side * side + starts + 4 * 32 + 5 * 256);
  const a = await fr.load(Array.from({ length: side }, (_, i) => BigInt(i)));
  const expected = Array.from({ length: side }, (_, row) =>
    Number(
      Array.from({ length: side }, (_, i) => valueAt(row, i) * BigInt(i)).reduce((sum, each) => sum + each) % 256n,
    ),
  );
  expect(await low(await fr.run((ops) => ops.keep(ops.apply(matrix, a))))).toEqual(expected);
  fr.destroy();
});

describe('after a loss of the device', () => {
  /** Takes the current device away. */
  const lose = async ({ devices }: { readonly devices: readonly LeasedDevice[] }): Promise<void> => {
    (devices.at(-1) as LeasedDevice).takeAway('at once');
    await sleep();
  };

  test('vectors, matrices and tables are loaded again, and results are computed again', async () => {
    const { gpu, fr, a, low, twice } = await openLeased();
    const entries = { rows: 2, columns: 4, row: [0, 1, 1], column: [3, 0, 2], values: [2n, 1n, 5n] };
    const matrix = await fr.loadMatrix(entries);
    const product = async (vector: FieldVector) =>
      low(await fr.run((ops) => ops.keep(ops.apply(matrix, ops.intt(ops.ntt(vector))))));
    const [sum, squares] = await fr.run((ops) => {
      const added = ops.keep(ops.add(a, a));
      return [added, ops.keep(ops.intt(ops.ntt(ops.multiply(added, a))))] as const;
    });
    const product3 = await fr.run((ops) => ops.keep(ops.apply(matrix, ops.add(sum, squares))), { verify: true });
    for (let losses = 0; losses < 2; losses++) {
      await lose(gpu);
      // 2·(8 + 32), and (2 + 2) + 5·(6 + 18)
      expect(await low(product3)).toEqual([80, 124]);
      expect(await low(squares)).toEqual([2, 8, 18, 32]);
      expect(await twice()).toEqual([2, 4, 6, 8]);
      expect(await product(a)).toEqual([8, 16]);
    }
    expect(gpu.devices).toHaveLength(3);
    // a result that another was computed from may be freed
    const last = await fr.run((ops) => ops.keep(ops.add(sum, a)));
    squares.destroy();
    expect(await low(last)).toEqual([3, 6, 9, 12]);
    for (const each of [a, sum, product3, last, matrix]) each.destroy();
    fr.destroy();
    expect(gpu.devices.map(({ live }) => live)).toEqual([0, 0, 0]);
  });

  test('calls at once bring what they share once', async () => {
    const { gpu, fr, a, low } = await openLeased();
    await lose(gpu);
    const sums = await Promise.all([1n, 2n, 3n].map((k) => fr.run((ops) => ops.keep(ops.scale(a, k)))));
    expect(await Promise.all(sums.map(low))).toEqual([
      [1, 2, 3, 4],
      [2, 4, 6, 8],
      [3, 6, 9, 12],
    ]);
    expect(gpu.devices).toHaveLength(2);
  });

  test('a result whose operands were destroyed is lost, and no other', async () => {
    const { gpu, fr, a, low, twice } = await openLeased();
    const b = await fr.load([5n]);
    const sum = await fr.run((ops) => ops.keep(ops.add(b, b)));
    const [five, ten] = await fr.run((ops) => [ops.keep(ops.pad(b, 2)), ops.keep(ops.pad(sum, 2))] as const);
    b.destroy();
    await lose(gpu);
    for (const lost of [five, ten]) {
      await expect(fr.run((ops) => ops.keep(ops.add(lost, lost)))).rejects.toMatchObject({
        code: 'device-lost',
        message: expect.stringContaining('what they were computed from was destroyed; load them again'),
      });
    }
    expect(await low(a)).toEqual([1, 2, 3, 4]);
    expect(await twice()).toEqual([2, 4, 6, 8]);
  });

  test('without `retainVectors` vectors are loaded again by the caller', async () => {
    const gpu = await leaseGpu();
    const fr = await open({ gpu: gpu.gpu, retainVectors: false });
    const a = await fr.load([1n, 2n]);
    await lose(gpu);
    await expect(fr.read(a)).rejects.toMatchObject({
      code: 'device-lost',
      message: expect.stringContaining('retainVectors is false; load them again'),
    });
    expect((await fr.read(await fr.load([7n])))[0]).toBe(7);
    await expect(createFieldEngine({ retainVectors: 1 as never })).rejects.toMatchObject({
      ...{ code: 'bad-argument', message: 'retainVectors must be true or false, got 1' },
    });
  });
});

test('an abort ends a run, and leaves no vector behind', async () => {
  const { fr, a, twice, lease } = await openLeased();
  const { used } = fr.memory;
  const controller = new AbortController();
  strikeAt(
    lease,
    ({ method }) => method === 'mapAsync',
    ({ proceed }) => {
      controller.abort();
      return proceed();
    },
  );
  const run = fr.run((ops) => ops.keep(ops.multiply(a, a)), { signal: controller.signal });
  await expect(run).rejects.toMatchObject({ code: 'aborted' });
  expect(fr.memory.used).toBe(used);
  expect(await twice()).toEqual([2, 4, 6, 8]);
});

test('a run that takes more scratch than the budget is refused, and the next one is right', async () => {
  const fr = await open({ device: await getDevice(), memoryBudget: 2 ** 16 });
  const a = await fr.load(numbersOf(fr.p, 512));
  await expect(fr.run((ops) => ops.keep(ops.invert(ops.pad(a, 2 ** 15))))).rejects.toMatchObject({
    ...{ code: 'out-of-memory', message: expect.stringContaining('memoryBudget leaves 65536') },
  });
  expect(await fr.read(await fr.run((ops) => ops.keep(ops.slice(ops.pad(a, 513), 0, 512))))).toEqual(await fr.read(a));
});

test('an engine of sums shares its device; without a GPU the CPU has the vectors', async () => {
  const device = await getDevice();
  const [withGpu, without] = [
    await createMsmEngine({ curve: 'bn254', device, backend: 'gpu' }),
    await createMsmEngine({ curve: 'bn254', backend: 'cpu' }),
  ];
  engines.push(withGpu, without);
  const G = { x: 1n, y: 2n, infinity: false };
  for (const [deviceOf, on] of [
    [withGpu, 'gpu'],
    [without, 'cpu'],
  ] as const) {
    const fr = await open({ deviceOf });
    const a = await fr.load([2n, 3n]);
    const scalars = await fr.read(await fr.run((ops) => ops.keep(ops.multiply(a, a))));
    expect(fr.lastRun?.on).toBe(on);
    expect(await deviceOf.msm(await deviceOf.loadBases([G, G]), scalars)).toEqual(
      await without.msm(await without.loadBases([G]), [13n]),
    );
  }
  const refused = createFieldEngine({ deviceOf: without, backend: 'gpu' });
  await expect(refused).rejects.toMatchObject({
    code: 'bad-argument',
    message: expect.stringContaining('without a GPU'),
  });
  for (const wrong of [{ backend: 'both' }, { arithmetic: 'radix-8' }])
    await expect(createFieldEngine(wrong as never)).rejects.toMatchObject({ code: 'bad-argument' });
});

test.each(['gpu', 'cpu'] as const)(
  'a run on the %s reports its progress, and errors of the report end it',
  async (on) => {
    const fr = await open(on === 'gpu' ? { device: await getDevice() } : { backend: 'cpu' });
    const a = await fr.load([1n, 2n, 3n, 4n]);
    const seen: Progress[] = [];
    const record = (ops: FieldOperations) => ops.keep(ops.ntt(ops.multiply(a, a)));
    const made = await fr.run(record, { onProgress: (progress) => seen.push(progress) });
    const total = on === 'gpu' ? 1 : 2;
    expect(seen).toEqual(Array.from({ length: total + 1 }, (_, done) => ({ phase: 'vectors', done, total })));
    made.destroy();
    const { used } = fr.memory;
    const error = new Error('of the caller');
    const onProgress = ({ done }: Progress): void => {
      if (done === 1) throw error;
    };
    await expect(fr.run(record, { onProgress })).rejects.toBe(error);
    expect(fr.memory.used).toBe(used);
    for (const wrong of [{ onProgress: 5 }, { priority: 'high' }, { signal: 1 }])
      await expect(fr.run(record, wrong as never)).rejects.toMatchObject({ code: 'bad-argument' });
  },
);

test.each([
  ['interactive', ['run', 'sum']],
  ['background', ['sum', 'run']],
] as const)('a run of priority %s and a sum of several submits end in their order', async (priority, expected) => {
  const engine = await openEngine({ tuning: { additionsPerSubmit: 2 ** 10 }, selfTest: false });
  const known = makeKnownBases(bn254G1, 300, 61);
  const bases = await engine.loadBases(known.bytes);
  const fr = await open({ deviceOf: engine });
  const a = await fr.load([1n, 2n]);
  const run = () => fr.run((ops) => ops.keep(ops.add(a, a)), { priority });
  await run();
  const ended: string[] = [];
  let running: Promise<unknown> = Promise.resolve();
  const onProgress = ({ done, total }: Progress): void => {
    expect(total).toBeGreaterThan(5);
    if (done === 1) running = run().then(() => ended.push('run'));
  };
  const scalars = known.logs.map((each) => each ** 2n % groupOrder(bn254G1));
  const sum = await engine.msm(bases, scalars, { onProgress });
  ended.push('sum');
  await running;
  expect(ended).toEqual(expected);
  expect(sum).toEqual(expectedMsm(bn254G1, known.logs, scalars));
});
