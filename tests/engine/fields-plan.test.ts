/** Costs of field runs before they run: what they turn out to be. */
import { describe, expect, test } from 'vitest';
import { watchBytes } from '../../dev/soak/soak.js';
import {
  createFieldEngine,
  type FieldEngine,
  type FieldEngineOptions,
  type FieldOperations,
  type FieldPlan,
  type FieldVector,
  type SparseMatrix,
} from '../../src/fields.js';
import { getDevice } from '../support/gpu.js';

const n = 256;

interface Inputs {
  readonly a: FieldVector;
  readonly b: FieldVector;
  readonly matrix: SparseMatrix;
}

type Record = (ops: FieldOperations, inputs: Inputs) => unknown;

/** Runs of every operation, alone and together. */
const programs: Readonly<{ [name: string]: Record }> = {
  sums: (ops, { a, b }) => ops.keep(ops.add(ops.subtract(a, b), b)),
  products: (ops, { a, b }) => ops.keep(ops.multiplyAdd(a, b, ops.multiply(a, a))),
  'one transform': (ops, { a }) => ops.keep(ops.ntt(a)),
  'transforms of several lengths': (ops, { a, b }) => {
    const long = ops.ntt(ops.pad(a, 4 * n), { to: 'reversed', coset: 7n });
    return [ops.keep(ops.intt(long, { from: 'reversed' })), ops.keep(ops.ntt(b))];
  },
  'values on a coset': (ops, { a, b }) => {
    const onCoset = (v: FieldVector) => ops.ntt(ops.intt(v, { to: 'reversed' }), { from: 'reversed', coset: 5n });
    return ops.keep(ops.multiplySubtract(onCoset(a), onCoset(b), onCoset(a)));
  },
  scans: (ops, { a, b }) => [
    ops.keep(ops.invert(a)),
    ops.keep(ops.prefixProduct(ops.slice(b, 3))),
    ops.keep(ops.evaluate(a, 3n)),
    ops.keep(ops.divideByLinear(b, 9n)),
  ],
  'places and matrices': (ops, { a, b, matrix }) => [
    ops.keep(ops.gather(ops.apply(matrix, a), [1, 1, 0])),
    ops.keep(
      ops.linearCombination([
        [1n, a],
        [2n, ops.scale(b, 3n)],
        [3n, ops.scalePowers(a, 2n)],
      ]),
    ),
  ],
  'nothing that is kept': (ops, { a }) => ops.negate(a),
};

const load = async (fr: FieldEngine): Promise<Inputs> => {
  const numbers = Array.from({ length: n }, (_, i) => BigInt(i + 1) ** 20n);
  const entries = { rows: 2, columns: n, row: [0, 1, 1], column: [0, 3, n - 1], values: [1n, 2n, 3n] };
  return { a: await fr.load(numbers), b: await fr.load(numbers.reverse()), matrix: await fr.loadMatrix(entries) };
};

const expectCounts = (plan: FieldPlan, fr: FieldEngine, message: string): void => {
  const { on, operations, products, passes, dispatches, submits } = plan;
  expect(fr.lastRun, message).toMatchObject({ on, operations, products, passes, dispatches, submits });
};

describe('the plan of a run', () => {
  test('has the work and the memory of the CPU', async () => {
    for (const [name, record] of Object.entries(programs)) {
      using fr = await createFieldEngine();
      const inputs = await load(fr);
      // the second time the tables are there
      for (const message of [name, `${name}, again`]) {
        const { used, peak } = fr.memory;
        const plan = await fr.plan((ops) => record(ops, inputs));
        expect(fr.memory).toEqual({ used, peak });
        await fr.run((ops) => record(ops, inputs));
        expectCounts(plan, fr, message);
        expect(plan).toMatchObject({ on: 'cpu', dispatches: 0, submits: 0 });
        // a later run may need less than an earlier one
        if (fr.memory.peak > peak) expect(fr.memory.peak, message).toBe(used + plan.bytes);
        else expect(used + plan.bytes, message).toBeLessThanOrEqual(peak);
        if (message !== name) expect(fr.memory.used - used, message).toBe(plan.keptBytes);
      }
    }
  });

  test('has the work and the memory of the GPU', { tags: 'long' }, async () => {
    const device = await getDevice();
    const watched = watchBytes(device);
    for (const [name, record] of Object.entries(programs)) {
      for (const verify of [false, true]) {
        using fr = await createFieldEngine({ field: 'bn254-fr', device, verify });
        const inputs = await load(fr);
        // the first run also tests kernels, in scratch of its own
        await fr.run((ops) => record(ops, inputs));
        fr.trim();
        const { bytes } = watched;
        const { used } = fr.memory;
        const plan = await fr.plan((ops) => record(ops, inputs));
        expect(watched.bytes, name).toBe(bytes);
        Object.assign(watched, { peak: bytes });
        await fr.run((ops) => record(ops, inputs));
        expectCounts(plan, fr, name);
        expect(plan.on).toBe('gpu');
        expect((watched.peak - bytes) / plan.bytes, `${name} ${verify}`).toBeGreaterThan(0.98);
        expect((watched.peak - bytes) / plan.bytes, `${name} ${verify}`).toBeLessThanOrEqual(1.02);
        expect(fr.memory.used - used, name).toBeGreaterThanOrEqual(plan.keptBytes);
      }
    }
  });

  const expectRejections = async (options: FieldEngineOptions): Promise<void> => {
    using fr = await createFieldEngine({ field: 'bn254-fr', memoryBudget: 100 * n, ...options });
    const a = await fr.load(Array.from({ length: n }, () => 1n));
    const tooMuch = (ops: FieldOperations): unknown => ops.keep(ops.ntt(ops.pad(a, 8 * n)));
    for (const call of [() => fr.plan(tooMuch), () => fr.run(tooMuch)]) {
      await expect(call()).rejects.toMatchObject({ code: 'out-of-memory' });
    }
    await expect(fr.plan((ops) => ops.slice(a, n))).rejects.toMatchObject({ code: 'bad-argument' });
    let planned: FieldVector | undefined;
    await fr.plan((ops) => {
      planned = ops.keep(ops.negate(a));
    });
    await expect(fr.read(planned as FieldVector)).rejects.toMatchObject({ code: 'destroyed' });
    const late = fr.plan((ops) => ops.negate(a));
    fr.destroy();
    await expect(late).rejects.toMatchObject({ code: 'destroyed' });
    await expect(fr.plan((ops) => ops.negate(a))).rejects.toMatchObject({ code: 'destroyed' });
  };

  test('rejects as the run would', () => expectRejections({}));

  test('rejects as the run on a GPU would', { tags: 'long' }, async () => {
    await expectRejections({ device: await getDevice() });
  });
});
