/** Calls of field engines that are wrong, that end early, or that run beside each other. */
import { afterEach, describe, expect, test } from 'vitest';
import { knowsAnswers, openMemory } from '../../src/fields/cpu/open-memory.js';
import { openField } from '../../src/fields/program/open-field.js';
import { fuseScalings } from '../../src/fields/program/recorder.js';
import { createFieldEngine, type FieldEngine, type FieldVector } from '../../src/fields.js';
import { VectorMemory, vectorKernel } from '../../src/wasm/vectors/vector-kernel.js';
import { fewFloatPrimes } from '../support/float-curves.js';
import { arithmeticsHere } from '../support/kernels.js';

const r = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;

const engines: FieldEngine[] = [];
afterEach(() => {
  for (const engine of engines.splice(0)) engine.destroy();
});

const open = async (options = {}): Promise<FieldEngine> => {
  const engine = await createFieldEngine(options);
  engines.push(engine);
  return engine;
};

const bad = (message: string) => ({ code: 'bad-argument', message: expect.stringContaining(message) });

describe('wrong arguments are refused by name', () => {
  test.each([
    [{ field: 'bn254' }, "field must be the name of a curve with '-fr'"],
    [{ field: 'nothing-fr' }, "curve: 'nothing' is unknown"],
    [{ field: { p: 15n } }, 'field.p must have 46 to 414 bits, got 4'],
    [{ field: { p: 2n ** 61n + 1n } }, 'field.p must be a prime'],
    [{ field: { p: 2n ** 61n - 1n, generator: 4n } }, '4 is a square modulo p'],
    [{ arithmetic: 'fast' }, "arithmetic must be 'auto' or 'wasm-"],
    [{ memoryBudget: 0 }, 'memoryBudget must be a positive number'],
  ])('%o', async (options, message) => {
    await expect(createFieldEngine(options as object)).rejects.toMatchObject(bad(message));
  });

  test('in load, loadMatrix and read', async () => {
    const fr = await open();
    const a = await fr.load([1n, 2n]);
    const notBelow = new Uint8Array(96);
    for (let k = 0; k < 32; k++) notBelow[64 + k] = Number((r >> BigInt(8 * k)) & 255n);
    await expect(fr.load([1n, r])).rejects.toMatchObject(bad('numbers[1] must be a bigint from 0 to p − 1'));
    await expect(fr.load(notBelow)).rejects.toMatchObject(bad('numbers[2] is not below the prime'));
    await expect(fr.load(notBelow.reverse(), { encoding: 'be' })).rejects.toMatchObject(bad('numbers[0] is not below'));
    await expect(fr.load(new Uint8Array(33))).rejects.toMatchObject(bad('33 bytes are not a whole number'));
    await expect(fr.load([])).rejects.toMatchObject(bad('at least one element'));
    await expect(fr.load([1n], { encoding: 'be' })).rejects.toMatchObject(bad('which bigints do not have'));
    await expect(fr.load([1n], { encoding: 'x' as 'le' })).rejects.toMatchObject(bad('options.encoding must be'));
    await expect(fr.load('1' as unknown as bigint[])).rejects.toMatchObject(
      bad('must be bytes or an array of bigints'),
    );
    const entries = { rows: 2, columns: 2, row: [0, 1], column: [0, 1], values: [1n, 1n] };
    await expect(fr.loadMatrix({ ...entries, row: [0, 2] })).rejects.toMatchObject(bad('entries.row[1]'));
    await expect(fr.loadMatrix({ ...entries, column: [0] })).rejects.toMatchObject(bad('the same length, got 2, 1, 2'));
    await expect(fr.loadMatrix({ ...entries, rows: 0 })).rejects.toMatchObject(bad('entries.rows'));
    await expect(fr.read({} as FieldVector)).rejects.toMatchObject(bad('vector must be a vector of this engine'));
    const other = await open();
    await expect(other.read(a)).rejects.toMatchObject(bad('a vector of another engine'));
    expect(await fr.read(a)).toHaveLength(64);
  });

  test('in operations', async () => {
    const fr = await open();
    const [a, three] = [await fr.load([1n, 2n]), await fr.load([1n, 2n, 3n])];
    const matrix = await fr.loadMatrix({ rows: 2, columns: 3, row: [0], column: [2], values: [1n] });
    const refuses = async (record: Parameters<FieldEngine['run']>[0], message: string): Promise<void> => {
      const { used } = fr.memory;
      await expect(fr.run(record), message).rejects.toMatchObject(bad(message));
      expect(fr.memory.used).toBe(used);
    };
    await refuses((ops) => ops.add(a, three), 'add: its vectors must have the same length, got 2, 3');
    await refuses((ops) => ops.ntt(three), 'ntt: a has 3 elements; their number must be a power of 2');
    await refuses((ops) => ops.ntt(a, { from: 'x' as 'natural' }), "ntt: from must be 'natural' or 'reversed'");
    await refuses((ops) => ops.intt(a, { coset: 0n }), 'intt: coset must be a bigint from 1');
    await refuses((ops) => ops.scale(a, r), 'scale: factor must be a bigint');
    await refuses((ops) => ops.scalePowers(three, 2n, { order: 'reversed' }), 'reversed order needs a power of 2');
    await refuses((ops) => ops.linearCombination([]), 'at least one pair');
    await refuses((ops) => ops.slice(a, 2), 'slice: from must be a whole number from 0 to 1');
    await refuses((ops) => ops.pad(three, 2), 'pad: length must be a whole number from 3');
    await refuses((ops) => ops.pad(a, 3, 2), 'pad: from must be a whole number from 0 to 1');
    await refuses((ops) => ops.divideByLinear(ops.slice(a, 1), 1n), 'it must have at least 2');
    await refuses((ops) => ops.gather(a, [2]), 'gather: indices[0] must be a whole number from 0 to 1');
    for (const wrong of [-1, 0.5, Number.NaN, 2 ** 32, '1', undefined]) {
      const indices = [0, wrong as number];
      await refuses((ops) => ops.gather(a, indices), 'gather: indices[1] must be a whole number from 0 to 1');
    }
    await refuses((ops) => ops.gather(a, Float64Array.of(0, 1, 1.5)), 'gather: indices[2] must be a whole number');
    await refuses((ops) => ops.gather(a, Uint32Array.of(2)), 'gather: indices[0] must be a whole number from 0 to 1');
    await refuses((ops) => ops.gather(a, { length: -1 }), 'gather: indices must be an array of numbers');
    await refuses((ops) => ops.gather(a, []), 'gather: indices must have at least one index');
    await refuses((ops) => ops.apply(matrix, a), 'apply: a has 2 elements, and the matrix 3 columns');
    await refuses((ops) => ops.evaluate({} as FieldVector, 1n), 'evaluate: a must be a vector of this engine');
    await expect(fr.run(5 as unknown as () => void)).rejects.toMatchObject(bad('record must be a function'));
    let kept: Parameters<Parameters<FieldEngine['run']>[0]>[0] | undefined;
    await fr.run((ops) => {
      kept = ops;
    });
    expect(() => kept?.add(a, a)).toThrow('only until the callback of run returns');
    const small = await open({ field: { p: 2n ** 61n - 1n } });
    const four = await small.load([1n, 2n, 3n, 4n]);
    await expect(small.run((ops) => ops.ntt(four))).rejects.toMatchObject(bad('the longest transform'));
  });
});

describe('a run that does not end', () => {
  test.each(['aborted', 'destroyed'] as const)('because it was %s frees what it held', async (code) => {
    const fr = await open();
    const n = 2 ** 16;
    const a = await fr.load(new Uint8Array(32 * n).fill(7));
    const { used } = fr.memory;
    const controller = new AbortController();
    const run = fr.run(
      (ops) => {
        let all = ops.ntt(a);
        for (let i = 0; i < 20; i++) all = ops.keep(ops.ntt(all));
        return all;
      },
      { signal: controller.signal },
    );
    const outcome = expect(run).rejects.toMatchObject({ code });
    await new Promise((resolve) => setTimeout(resolve, 20));
    if (code === 'aborted') controller.abort();
    else fr.destroy();
    await outcome;
    if (code === 'destroyed') {
      expect(fr.memory.used).toBe(0);
      await expect(fr.read(a)).rejects.toMatchObject({ code });
      return;
    }
    fr.trim();
    expect(fr.memory.used).toBe(used);
    const after = await fr.run((ops) => ops.keep(ops.add(a, a)));
    expect((await fr.read(after))[0]).toBe(14);
  });

  test('for want of memory names the budget, and the next run is right', async () => {
    const fr = await open({ memoryBudget: 2 ** 16 });
    const a = await fr.load(new Uint8Array(32 * 512).fill(3));
    await expect(fr.run((ops) => ops.keep(ops.pad(a, 2 ** 20)))).rejects.toMatchObject({
      ...{ code: 'out-of-memory', message: expect.stringContaining('memoryBudget 65536') },
    });
    expect((await fr.read(await fr.run((ops) => ops.keep(ops.add(a, a)))))[0]).toBe(6);
    expect(fr.memory.peak).toBeLessThanOrEqual(2 ** 16);
  });
});

test('vectors that were destroyed, or not kept, are refused', async () => {
  const fr = await open();
  const a = await fr.load([1n]);
  const lost = await fr.run((ops) => ops.add(a, a));
  await expect(fr.read(lost)).rejects.toMatchObject({ code: 'destroyed' });
  a.destroy();
  a.destroy();
  await expect(fr.run((ops) => ops.add(a, a))).rejects.toMatchObject({ code: 'destroyed' });
  expect(fr.memory.used).toBe(0);
});

test('runs beside each other are each right, also on results of one another', async () => {
  const fr = await open();
  const a = await fr.load([1n, 2n, 3n, 4n]);
  const pending: { vector?: FieldVector } = {};
  const first = fr.run((ops) => {
    pending.vector = ops.keep(ops.add(a, a));
  });
  const second = fr.run((ops) => ops.keep(ops.multiply(pending.vector as FieldVector, a)));
  const squares = await Promise.all([first, second, fr.load([5n])]);
  expect((await fr.read(squares[1])).filter((_, i) => i % 32 === 0)).toEqual(Uint8Array.of(2, 8, 18, 32));
});

test('an operand that is kept or used again is not overwritten', async () => {
  const fr = await open();
  const a = await fr.load([1n, 2n, 3n, 4n]);
  const made = await fr.run((ops) => {
    const twice = ops.add(a, a);
    const kept = ops.keep(ops.scale(twice, 3n));
    return { kept, sum: ops.keep(ops.add(kept, twice)), square: ops.keep(ops.multiply(twice, twice)) };
  });
  const low = async (vector: FieldVector) => [...(await fr.read(vector))].filter((_, i) => i % 32 === 0);
  expect(await low(made.kept)).toEqual([6, 12, 18, 24]);
  expect(await low(made.sum)).toEqual([8, 16, 24, 32]);
  expect(await low(made.square)).toEqual([4, 16, 36, 64]);
});

test('an inverse transform before a coset has no scaling of its own', async () => {
  const fr = await open();
  const a = await fr.load(new Uint8Array(32 * 256).fill(1));
  await fr.run((ops) => ops.keep(ops.ntt(ops.intt(a, { to: 'reversed' }), { from: 'reversed', coset: 5n })));
  expect(fr.lastRun?.products).toBe(2 * 128 * 8 + 256);
  expect(fuseScalings([], r)).toEqual([]);
});

describe.each(arithmeticsHere)('known answers in %s', (arithmetic) => {
  test.each(fewFloatPrimes.map((p) => [p]))('are computed modulo %i', async (p) => {
    const field = await openField({ p });
    const memory = await openMemory(field, [arithmetic]);
    expect(memory?.kernel.arithmetic).toBe(arithmetic);
  });

  test('find a wrong constant', async () => {
    const field = await openField('bn254-fr');
    const kernel = vectorKernel(r, arithmetic);
    if (kernel === null) throw new Error('no kernel');
    const right = await VectorMemory.open(kernel);
    expect(knowsAnswers(right, field)).toBe(true);
    const wrong = await VectorMemory.open({
      ...kernel,
      bytes: vectorKernel(r - 2n ** 65n, arithmetic)?.bytes ?? kernel.bytes,
    });
    expect(knowsAnswers(wrong, field)).toBe(false);
  });
});

test.each(['pallas-fr', 'vesta-fr', 'bn254-fr', 'bls12-381-fr', 'bls12-377-fr', 'secp256k1-fr'] as const)(
  'every arithmetic of the platform has %s',
  async (name) => {
    const field = await openField(name);
    for (const arithmetic of arithmeticsHere) {
      expect((await openMemory(field, [arithmetic]))?.kernel.arithmetic).toBe(arithmetic);
    }
  },
);
