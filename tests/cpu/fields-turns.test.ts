/** Order of the calls of a field engine, and runs that pause for more urgent ones. */
import { afterEach, describe, expect, test } from 'vitest';
import type { FieldOperations } from '../../src/api/fields.js';
import { createFieldEngine, type FieldEngine, type FieldVector } from '../../src/fields.js';
import { sleep } from '../support/time.js';

const r = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;

const engines: FieldEngine[] = [];
afterEach(() => {
  for (const engine of engines.splice(0)) engine.destroy();
});

const open = async (options = {}): Promise<FieldEngine> => {
  const engine = await createFieldEngine({ backend: 'cpu', ...options });
  engines.push(engine);
  return engine;
};

/** Two polynomials, and the product of both modulo X^n − 1. */
const factorsOf = (n: number, seed: bigint) => {
  const values = Array.from({ length: 2 * n }, (_, i) => (seed ** BigInt(i + 2) * 0x1234567890abcdefn) % r);
  const [a, b] = [values.slice(0, n), values.slice(n)];
  const product = Array<bigint>(n).fill(0n);
  for (const [i, x] of a.entries())
    for (const [j, y] of b.entries()) product[(i + j) % n] = ((product[(i + j) % n] as bigint) + x * y) % r;
  return { a, b, product };
};

/** Multiplies polynomials, in four operations. */
const multiply = (ops: FieldOperations, a: FieldVector, b: FieldVector): FieldVector =>
  ops.keep(ops.intt(ops.multiply(ops.ntt(a), ops.ntt(b))));

const numbersOf = async (fr: FieldEngine, vector: FieldVector): Promise<bigint[]> => {
  const bytes = await fr.read(vector, { encoding: 'be' });
  return Array.from({ length: vector.length }, (_, i) =>
    BigInt(`0x${Buffer.from(bytes.subarray(32 * i, 32 * (i + 1))).toString('hex')}`),
  );
};

/** An engine, and products that log their progress. */
const openProducts = async (options = {}) => {
  const fr = await open(options);
  const happened: string[] = [];
  const factors = new Map<string, { a: FieldVector; b: FieldVector; product: bigint[] }>();
  const load = async (name: string, n: number): Promise<void> => {
    const { a, b, product } = factorsOf(n, BigInt(n + factors.size + 3));
    factors.set(name, { a: await fr.load(a), b: await fr.load(b), product });
  };
  /** Starts a run. @param onDone called after each operation with the number of those complete */
  const start = async (
    name: string,
    priority: 'interactive' | 'normal' | 'background',
    more: {
      compute?: typeof multiply;
      onDone?: (done: number) => void;
      signal?: AbortSignal;
      deadline?: number;
    } = {},
  ): Promise<void> => {
    const { a, b, product } = factors.get(name) as { a: FieldVector; b: FieldVector; product: bigint[] };
    const { compute = multiply, onDone, ...rest } = more;
    try {
      const made = await fr.run((ops) => compute(ops, a, b), {
        ...{ priority, ...rest },
        onProgress: ({ done }) => {
          happened.push(`${name} ${done}`);
          onDone?.(done);
        },
      });
      happened.push(`${name} ended`);
      expect(await numbersOf(fr, made)).toEqual(product);
    } catch (error) {
      happened.push(`${name} ${(error as { code: string }).code}`);
    }
  };
  return { fr, happened, load, start };
};

const endsOf = (names: readonly string[], happened: readonly string[]): string[] =>
  happened.filter((each) => names.some((name) => each === `${name} ended`));

describe('calls of a field engine', () => {
  test('begin by priority and due time', async () => {
    const { happened, load, start } = await openProducts();
    const names = ['first', 'background', 'normal', 'soon', 'interactive'];
    for (const name of names) await load(name, 8);
    await Promise.all([
      start('first', 'interactive'),
      start('background', 'background'),
      start('normal', 'normal'),
      start('soon', 'background', { deadline: 0 }),
      start('interactive', 'interactive'),
    ]);
    const begun = happened.filter((each) => each.endsWith(' 0')).map((each) => each.slice(0, -2));
    expect(begun.slice(0, 3)).toEqual(['first', 'soon', 'interactive']);
    expect(begun.slice(3)).toEqual(['normal', 'background']);
    expect(endsOf(names, happened).length).toBe(5);
  });

  test('go before the next operation of a less urgent run; results of both are right', async () => {
    const { happened, load, start } = await openProducts();
    await load('long', 8);
    // a longer transform replaces the table that the other one has begun with
    await load('urgent', 64);
    await load('alike', 8);
    const more: Promise<void>[] = [];
    await start('long', 'background', {
      onDone: (done) => {
        if (done === 1) more.push(start('alike', 'background'), start('urgent', 'interactive'));
      },
    });
    await Promise.all(more);
    expect(endsOf(['long', 'urgent', 'alike'], happened)).toEqual(['urgent ended', 'long ended', 'alike ended']);
    expect(happened.filter((each) => !each.endsWith('ended'))).toEqual([
      ...['long 0', 'long 1'],
      ...['urgent 0', 'urgent 1', 'urgent 2', 'urgent 3', 'urgent 4'],
      ...['long 2', 'long 3', 'long 4'],
      ...['alike 0', 'alike 1', 'alike 2', 'alike 3', 'alike 4'],
    ]);
  });

  test('wait for a run to end where there is no memory beside it', async () => {
    const n = 64;
    /** The same product, with five transforms in memory at a time. */
    const compute: typeof multiply = (ops, a, b) => {
      const [first, ...others] = [1, 2, 3, 4, 5].map(() => ops.ntt(a)) as [FieldVector, ...FieldVector[]];
      const sum = others.reduce((all, each, i) => (i % 2 === 0 ? ops.add(all, each) : ops.subtract(all, each)), first);
      return ops.keep(ops.intt(ops.multiply(sum, ops.ntt(b))));
    };
    const sized = await openProducts();
    await sized.load('long', n);
    await sized.load('urgent', n);
    await sized.start('long', 'background', { compute });
    // what one run needs at most
    const { peak } = sized.fr.memory;
    const { fr, happened, load, start } = await openProducts({ memoryBudget: peak });
    await load('long', n);
    await load('urgent', n);
    const more: Promise<void>[] = [];
    await start('long', 'background', {
      compute,
      onDone: (done) => {
        if (done === 5) more.push(start('urgent', 'interactive'));
      },
    });
    await Promise.all(more);
    expect(endsOf(['long', 'urgent'], happened)).toEqual(['long ended', 'urgent ended']);
    // it began beside the other run, and again
    expect(happened.filter((each) => each === 'urgent 0').length).toBe(2);
    expect(happened.indexOf('urgent 0')).toBeLessThan(happened.indexOf('long ended'));
    expect(fr.memory.peak).toBeLessThanOrEqual(peak);
  });

  test('leave the queue as soon as they are aborted', async () => {
    const { happened, load, start } = await openProducts();
    for (const name of ['long', 'waiting']) await load(name, 8);
    const controller = new AbortController();
    const waiting: Promise<void>[] = [];
    await start('long', 'normal', {
      onDone: (done) => {
        if (done === 1) waiting.push(start('waiting', 'normal', { signal: controller.signal }));
        if (done === 2) controller.abort();
      },
    });
    await Promise.all(waiting);
    await sleep();
    expect(happened.filter((each) => each.startsWith('waiting'))).toEqual(['waiting aborted']);
    expect(happened).toContain('long ended');
  });

  test('end with their engine, also those that paused', async () => {
    const { fr, happened, load, start } = await openProducts();
    for (const name of ['long', 'urgent', 'waiting']) await load(name, 8);
    const more: Promise<void>[] = [];
    const onDone = (done: number): void => {
      if (done === 2) fr.destroy();
    };
    await start('long', 'background', {
      onDone: (done) => {
        if (done === 1) more.push(start('urgent', 'interactive', { onDone }), start('waiting', 'background'));
      },
    });
    await Promise.all(more);
    expect(happened.filter((each) => each.endsWith('destroyed')).sort()).toEqual([
      'long destroyed',
      'urgent destroyed',
      'waiting destroyed',
    ]);
    expect(fr.memory.used).toBe(0);
  });
});
