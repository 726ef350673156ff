/** Setups under a limit of memory: the same bytes, and a floor that is said. */
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { power as raised } from '../../src/field/powers.js';
import { readR1cs } from '../../src/formats/r1cs.js';
import { joined, type RandomAccess } from '../../src/formats/source.js';
import { fileOf } from '../../src/formats/zkey.js';
import { openZkey } from '../../src/formats.js';
import { gatesOf } from '../../src/setup/gates.js';
import { filePoint, openGroups, times } from '../../src/setup/groups.js';
import { planRounds } from '../../src/setup/memory.js';
import { multiples, PointTransform, rootOf } from '../../src/setup/point-transform.js';
import { Run } from '../../src/setup/run.js';
import {
  applyBeaconToPowers,
  contribute,
  contributeToPowers,
  contributeToPowersChallenge,
  exportChallenge,
  exportPowersChallenge,
  importPowersResponse,
  newKey,
  newPowers,
  preparePhase2,
  verifyKey,
  verifyPowers,
} from '../../src/setup.js';
import { ffCurveOf, powersOf } from '../support/proving.js';
import { type Combination, type Row, r1csOf, randomCircuit } from '../support/random-circuit.js';
import { expectSame, quiet } from '../support/setups.js';

afterEach(() => {
  vi.restoreAllMocks();
});

afterAll(async () => (await ffCurveOf('bn254')).terminate());

/** Returns the least memory limit of a call. */
const floorOf = async (call: (options: object) => Promise<unknown>): Promise<number> => {
  const error = await call({ ...quiet, memoryLimit: 1 }).catch((thrown: unknown) => thrown);
  return Number(/takes (\d+) bytes/.exec((error as Error).message)?.[1]);
};

/** Notes the terms of each round, and how many a round may have. */
const watchRounds = (): { readonly terms: number[]; most: number } => {
  const seen = { terms: [] as number[], most: 0 };
  const { compute } = Run.prototype;
  vi.spyOn(Run.prototype, 'compute').mockImplementation(function (this: Run, ...given) {
    seen.terms.push(given[1].which.length);
    seen.most = this.pointsPerRound;
    return compute.apply(this, given);
  });
  return seen;
};

describe('rounds under the lowest limit', () => {
  it('have no more terms than they may, where one variable is in thousands of them', async () => {
    const r = BigInt((await ffCurveOf('bn254')).r);
    // more terms than a round has, of few numbers and of many
    const long = (seed: number): Combination =>
      Array.from({ length: 230 }, (_, i) => [0, i % 2 === 0 ? 5n : BigInt(seed + i) ** 20n % r] as const);
    const rows = Array.from(
      { length: 10 },
      (_, i): Row => [[...long(1000 * i), [1, 3n]], [[2, 2n], ...long(7000 + i)], [[3, 1n]]],
    );
    const r1cs = r1csOf(r, { variables: 5, publicInputs: 1, privateInputs: 3, rows });
    const ptau = await powersOf('bn254', 4, 31, true);
    const call = (options: object) => newKey({ system: 'groth16', r1cs, ptau }, options);
    const memoryLimit = await floorOf(call);
    const expected = await call(quiet);
    const rounds = watchRounds();
    expectSame((await call({ ...quiet, memoryLimit })) as Uint8Array, expected as Uint8Array);
    expect(rounds.most).toBe(2 ** 11);
    expect(Math.max(...rounds.terms)).toBeLessThanOrEqual(rounds.most);
    expect(rounds.terms.filter((terms) => terms > rounds.most / 2).length).toBeGreaterThan(2);
  });

  it('have no more points of powers of tau than they may, and the same transcript', { tags: 'long' }, async () => {
    const powers = await newPowers({ curve: 'bn254', power: 12 }, quiet);
    const beacon = { beacon: '01', iterations: 10 };
    const call = async (options: object) => (await applyBeaconToPowers(powers, beacon, options)).ptau;
    const memoryLimit = await floorOf(call);
    const expected = await call(quiet);
    const rounds = watchRounds();
    expectSame((await call({ ...quiet, memoryLimit })) as Uint8Array, expected as Uint8Array);
    expect(Math.max(...rounds.terms)).toBe(rounds.most);
  });
});

it('exchanges powers of tau in rounds under the lowest limit, with the same bytes', { tags: 'long' }, async () => {
  const ptau = await newPowers({ curve: 'bn254', power: 11 }, quiet);
  const { challenge } = await exportPowersChallenge(ptau, quiet);
  const contributing = (options: object) => contributeToPowersChallenge({ challenge, curve: 'bn254' }, {}, options);
  const { response } = await contributing({ ...quiet, memoryLimit: await floorOf(contributing) });
  const importing = async (options: object) => (await importPowersResponse({ ptau, response }, options)).ptau;
  const rounds = watchRounds();
  const imported = await importing({ ...quiet, memoryLimit: await floorOf(importing) });
  expect(Math.max(...rounds.terms)).toBe(2 ** 11);
  expectSame(imported, await importing(quiet));
  expect(await verifyPowers(imported, quiet)).toMatchObject({ isValid: true, why: null });
});

it('transforms points the same in rounds of any length', async () => {
  const { g1, order, scale } = await openGroups('bn254');
  const power = 5;
  const n = 2 ** power;
  const shape = { power, root: rootOf(n, order), factor: order - 7n };
  const runOf = (pointsPerRound: number) => new Run({}, 'test', n, { workers: 0, pointsPerRound });
  const run = runOf(n);
  const generator = new Uint32Array(filePoint(g1, scale, g1.generator).buffer);
  const generators = Uint32Array.from({ length: n * g1.pointWords }, (_, i) => generator[i % g1.pointWords] as number);
  const input = { points: generators, scale, scales: [scale], from: 0, first: 3n, step: 5n };
  const [points] = await multiples(run, g1, input, 'points');
  const expected = await new PointTransform(g1, scale, shape, run).of(points as Uint32Array, 'points');
  for (const pointsPerRound of [1, 4, 7]) {
    const some = await new PointTransform(g1, scale, shape, runOf(pointsPerRound)).of(points as Uint32Array, 'points');
    expectSame(new Uint8Array(some.buffer), new Uint8Array(expected.buffer));
  }
});

it.each([
  ['g1', 1],
  ['g1', 5],
  ['g2', 1],
  ['g2', 3],
  ['g2', 4],
  ['g2', 5],
] as const)('transforms points of %s: 2^%i of known logarithms, and missing ones', async (group, power) => {
  const groups = await openGroups('bn254');
  const { order, scale } = groups;
  const curve = groups[group];
  const n = 2 ** power;
  const shape = { power, root: rootOf(n, order), factor: order / 5n };
  const run = new Run({}, 'test', n, { workers: 0, pointsPerRound: 5 });
  const logs = Array.from({ length: n - 1 }, (_, i) => (i === 0 ? 0n : i % 3 === 0 ? 1n : BigInt(i) ** 60n % order));
  const point = async (log: bigint) =>
    filePoint(curve, scale, await times(curve, log, curve.generator, async () => undefined));
  const points = new Uint32Array(joined(await Promise.all(logs.map(point))).buffer);
  const words = await new PointTransform(curve, scale, shape, run).of(points, 'points');
  const expected = Array.from({ length: n }, (_, k) => {
    const terms = logs.map((log, i) => log * raised(shape.root, BigInt(i * k), order));
    return point((shape.factor * terms.reduce((a, b) => a + b, 0n)) % order);
  });
  expectSame(new Uint8Array(words.buffer), joined(await Promise.all(expected)));
});

it('computes the same under a limit, and says what a call takes at least', async () => {
  const { r } = await ffCurveOf('bn254');
  const { r1cs } = randomCircuit(BigInt(r), { publicInputs: 1, privateInputs: 3, constraints: 6, seed: 2n });
  const ptau = await powersOf('bn254', 3, 15, true);
  const powers = await newPowers({ curve: 'bn254', power: 3 }, quiet);
  const zkey = await newKey({ system: 'groth16', r1cs, ptau }, quiet);
  const { challenge } = await exportPowersChallenge(powers, quiet);
  const { response } = await contributeToPowersChallenge({ challenge, curve: 'bn254' }, {}, quiet);
  const calls = {
    newKey: (options: object) => newKey({ system: 'groth16', r1cs, ptau }, options),
    newPowers: (options: object) => newPowers({ curve: 'bn254', power: 3 }, options),
    preparePhase2: (options: object) => preparePhase2(powers, options),
    exportChallenge: (options: object) => exportChallenge(zkey, options),
    contribute: async (options: object) => (await contribute(zkey, {}, options)).zkey,
    contributeToPowers: async (options: object) => (await contributeToPowers(powers, {}, options)).ptau,
    exportPowersChallenge: async (options: object) => (await exportPowersChallenge(powers, options)).challenge,
    contributeToPowersChallenge: async (options: object) =>
      (await contributeToPowersChallenge({ challenge, curve: 'bn254' }, {}, options)).response,
    importPowersResponse: async (options: object) =>
      (await importPowersResponse({ ptau: powers, response }, options)).ptau,
  };
  for (const [name, call] of Object.entries(calls)) {
    const error = (await call({ ...quiet, memoryLimit: 2 ** 20 }).catch((thrown: unknown) => thrown)) as Error;
    expect(error).toMatchObject({ name: 'MsmError', code: 'out-of-memory' });
    expect(error.message).toMatch(
      /^options\.memoryLimit is 1048576 bytes, and this call takes \d+ bytes on one thread$/,
    );
    const floor = Number(/takes (\d+) bytes/.exec(error.message)?.[1]);
    await expect(call({ ...quiet, memoryLimit: floor - 1 })).rejects.toMatchObject({ code: 'out-of-memory' });
    const bytes = await call({ ...quiet, memoryLimit: floor });
    const expected = (await call(quiet)) as Uint8Array;
    expect([name, bytes?.length]).toEqual([name, expected.length]);
    if (!name.startsWith('contribute')) expectSame(bytes as Uint8Array, expected);
  }
});

/** Powers of tau on BN254 with the tables of their sections, and zeros for points. */
const unreadPowers = (power: number, prime: bigint): RandomAccess => {
  const n = 2 ** power;
  const words = (bytes: number, ...values: readonly bigint[]): Uint8Array =>
    Uint8Array.from({ length: bytes * values.length }, (_, i) =>
      Number(((values[Math.floor(i / bytes)] as bigint) >> BigInt(8 * (i % bytes))) & 255n),
    );
  const header = Uint8Array.from(
    [words(4, 32n), words(32, prime), words(4, BigInt(power), BigInt(power))].flatMap((part) => [...part]),
  );
  const sizes = [44, 64 * (2 * n - 1), 128 * n, 64 * n, 64 * n, 128];
  const sections = [...sizes.map((size, i) => [i + 1, size] as const), [12, 64 * (2 * n - 1)] as const];
  const pieces: (readonly [at: number, bytes: Uint8Array])[] = [
    [0, new TextEncoder().encode('ptau')],
    [4, words(4, 1n, BigInt(sections.length))],
  ];
  let at = 12;
  for (const [id, size] of sections) {
    pieces.push([at, words(4, BigInt(id))], [at + 4, words(8, BigInt(size))]);
    at += 12;
    if (id === 1) pieces.push([at, header]);
    at += size;
  }
  return {
    byteLength: at,
    read: (from, to) => {
      const bytes = new Uint8Array(to - from);
      for (const [start, piece] of pieces) {
        for (const [i, byte] of piece.entries())
          if (start + i >= from && start + i < to) bytes[start + i - from] = byte;
      }
      return bytes;
    },
  };
};

/** Expects a refusal below the least limit of a call, and its result there. */
const expectFloor = async <Result>(call: (options: object) => Promise<Result>): Promise<Result> => {
  const memoryLimit = await floorOf(call);
  await expect(call({ ...quiet, memoryLimit: memoryLimit - 1 })).rejects.toMatchObject({ code: 'out-of-memory' });
  return call({ ...quiet, memoryLimit });
};

describe('a limit', () => {
  it.each(['plonk', 'fflonk'] as const)('bounds keys of %s, and leaves their bytes', async (system) => {
    const { r } = await ffCurveOf('bn254');
    const { r1cs } = randomCircuit(BigInt(r), { publicInputs: 1, privateInputs: 3, constraints: 6, seed: 2n });
    const ptau = await powersOf('bn254', 9, 1023, false);
    const call = (options: object) => newKey({ system, r1cs, ptau }, options);
    expectSame((await expectFloor(call)) as Uint8Array, (await call(quiet)) as Uint8Array);
  });

  it.each(['plonk', 'fflonk'] as const)(
    'keeps no more gates of %s than have room, and counts the others',
    async (system) => {
      const r = BigInt((await ffCurveOf('bn254')).r);
      const { r1cs } = randomCircuit(r, { publicInputs: 1, privateInputs: 30, constraints: 1500, seed: 3n });
      const isFflonk = system === 'fflonk';
      const circuit = await readR1cs(r1cs, {}, async () => undefined);
      const all = await gatesOf(circuit, isFflonk, async () => undefined);
      const asked: number[] = [];
      const some = await gatesOf(
        circuit,
        isFflonk,
        async () => undefined,
        (gates) => {
          asked.push(gates);
          return gates < 2048;
        },
      );
      expect(all.count).toBeGreaterThan(3 * 1024);
      expect(all.additions).toHaveLength(all.additionCount);
      expect(asked).toEqual([1024, 2048]);
      const { count, additionCount, variables, wires, selectors, additions } = some;
      expect([count, additionCount, variables]).toEqual([all.count, all.additionCount, all.variables]);
      expect([...wires, ...Object.values(selectors), additions].map(({ length }) => length)).toEqual(
        new Array(9).fill(0),
      );
      const ptau = unreadPowers(16, BigInt((await ffCurveOf('bn254')).q));
      const call = (options: object) => newKey({ system, r1cs, ptau }, options);
      // with and without gates that are kept
      const least = await floorOf(call);
      const error = await call({ ...quiet, memoryLimit: least - 1 }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'out-of-memory', message: expect.stringContaining(`takes ${least} bytes`) });
    },
  );

  it.each(['groth16', 'plonk', 'fflonk'] as const)('refuses a circuit for %s before it is read', async (system) => {
    const r = BigInt((await ffCurveOf('bn254')).r);
    const factor: Combination = [[1, 3n]];
    const file = r1csOf(r, {
      variables: 2,
      publicInputs: 0,
      privateInputs: 1,
      rows: new Array<Row>(60_000).fill([factor, factor, factor]),
    });
    const ptau = await powersOf('bn254', 3, 15, true);
    const unread = new Error('the constraints are read');
    const r1cs = {
      byteLength: file.length,
      read: (from: number, to: number) => {
        if (to - from > 4096) throw unread;
        return file.subarray(from, to);
      },
    };
    const call = (memoryLimit: number) => newKey({ system, r1cs, ptau }, { ...quiet, memoryLimit });
    const error = (await call(2 ** 20).catch((thrown: unknown) => thrown)) as Error;
    expect(error).toMatchObject({ name: 'MsmError', code: 'out-of-memory' });
    const [, least] =
      /^options\.memoryLimit is 1048576 bytes, and this call takes at least (\d+) bytes/.exec(error.message) ?? [];
    await expect(call(Number(least) - 1)).rejects.toMatchObject({ code: 'out-of-memory' });
    await expect(call(Number(least))).rejects.toBe(unread);
  });

  it('tells the terms of a circuit before they are read, and its numbers as they are read', async () => {
    const r = BigInt((await ffCurveOf('bn254')).r);
    const rows = Array.from(
      { length: 3000 },
      (_, i): Row => [[[1, BigInt(2 * i + 2)]], [[0, 1n]], [[1, BigInt(2 * i + 3)]]],
    );
    const r1cs = r1csOf(r, { variables: 2, publicInputs: 0, privateInputs: 1, rows });
    const seen: (readonly [number, number])[] = [];
    await readR1cs(
      r1cs,
      {},
      async () => undefined,
      (...counts) => void seen.push(counts),
    );
    expect(seen).toEqual([1, 3, 2051, 4099].map((numbers) => [9000, numbers]));
    const full = new Error('full');
    const check = (_: number, numbers: number): void => {
      if (numbers > 2000) throw full;
    };
    await expect(readR1cs(r1cs, {}, async () => undefined, check)).rejects.toBe(full);
    await expect(readR1cs(r1cs.slice(0, -1), {}, async () => undefined)).rejects.toMatchObject({
      code: 'bad-argument',
    });
  });

  it('bounds verifications, and leaves their verdicts', async () => {
    const { r } = await ffCurveOf('bn254');
    const { r1cs } = randomCircuit(BigInt(r), { publicInputs: 1, privateInputs: 3, constraints: 6, seed: 2n });
    const powers = await newPowers({ curve: 'bn254', power: 4 }, quiet);
    const { ptau: own } = await contributeToPowers(powers, { name: 'Ada' }, quiet);
    const ptau = await preparePhase2(own, quiet);
    const initial = await newKey({ system: 'groth16', r1cs, ptau }, quiet);
    const { zkey } = await contribute(initial, { name: 'Ada' }, quiet);
    const wrong = zkey.slice();
    const { at: h = 0 } = fileOf(await openZkey(zkey)).sections.get(9) ?? {};
    wrong.copyWithin(h, h + 64, h + 128);
    const verdicts = {
      ofCircuit: (options: object) => verifyKey({ zkey, r1cs, ptau }, options),
      ofFirstKey: (options: object) => verifyKey({ zkey, initial, ptau }, options),
      ofPowers: (options: object) => verifyPowers(own, options),
      ofPreparedPowers: (options: object) => verifyPowers(ptau, options),
    };
    for (const [name, call] of Object.entries(verdicts)) {
      expect([name, await expectFloor(call)]).toMatchObject([name, { isValid: true, why: null }]);
    }
    const [least, longest] = [await floorOf(verdicts.ofFirstKey), await floorOf(verdicts.ofCircuit)];
    // the first key is in memory
    expect(longest).toBeGreaterThan(least + initial.length);
    const verdict = await verifyKey({ zkey: wrong, initial, ptau }, { ...quiet, memoryLimit: least });
    expect(verdict.isValid).toBe(false);
    for (const memoryLimit of [0, -1, 1.5, '1G']) {
      await expect(verifyPowers(ptau, { memoryLimit } as never)).rejects.toThrow(/memoryLimit/);
      await expect(newPowers({ curve: 'bn254', power: 1 }, { memoryLimit } as never)).rejects.toThrow(/memoryLimit/);
    }
  });
});

it('plans half the workers where two pools have them', () => {
  const createWorker = () => ({}) as never;
  const workers = (pools: number, limit: number): number =>
    planRounds({ maxWorkers: 8, createWorker }, limit, { bytes: 0, pointBytes: 64, pools }).workers;
  const limit = 2 ** 27 + 2 ** 22 + 4 * 2 ** 26;
  expect([workers(1, limit), workers(2, limit)]).toEqual([4, 2]);
});

it('plans fewer workers, and then shorter rounds', () => {
  const tables = { bytes: 2 ** 26, pointBytes: 128 };
  const plan = (limit: number) => planRounds({ maxWorkers: 4, createWorker: () => ({}) as never }, limit, tables);
  const plans = Array.from({ length: 60 }, (_, i) => plan(2 ** 26 + 2 ** 27 + 2 ** 22 + i * 2 ** 23));
  expect(plans[0]).toMatchObject({ workers: 0 });
  expect(plans.at(-1)).toEqual({ workers: 4, pointsPerRound: 2 ** 15 });
  for (const [i, { workers }] of plans.entries()) expect(workers).toBeGreaterThanOrEqual(plans[i - 1]?.workers ?? 0);
  expect(planRounds({ maxWorkers: 0 }, undefined, tables)).toEqual({ workers: 0, pointsPerRound: 2 ** 15 });
});
