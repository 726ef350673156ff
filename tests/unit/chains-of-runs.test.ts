/** The order in which a run computes chains of operations for workers without shared memory. */
import { describe, expect, test } from 'vitest';
import { partsOf } from '../../src/fields/cpu/chains.js';
import { openField } from '../../src/fields/program/open-field.js';
import { type FieldStep, recordSteps } from '../../src/fields/program/operations.js';
import { Vector } from '../../src/fields/program/vectors.js';
import type { FieldOperations } from '../../src/fields.js';
import { quotient, type Vectors } from '../support/vector-programs.js';

/** Returns the kinds of the steps of each chain, by the parts of a run. */
const partsOfRun = async (
  record: (ops: FieldOperations, vectors: readonly Vector[]) => unknown,
  msOf: (step: FieldStep) => number = () => 1,
): Promise<string[][]> => {
  const field = await openField('bn254-fr');
  const owner = { p: field.p, release: () => undefined, hold: () => expect.fail('no sum reads it') };
  const vectors = [0, 1, 2].map(() => new Vector(owner, 8, 'resident'));
  const { steps } = recordSteps(owner, field, (ops) => record(ops, vectors));
  return partsOf(steps, msOf, (ms) => ms >= 1).map(({ chains }) =>
    chains.map((chain) => chain.map(({ step }) => step.kind).join(' ')),
  );
};

describe('parts of a run', () => {
  test('of a quotient: its three chains side by side, between products', async () => {
    const parts = await partsOfRun((ops, [a, b]) => quotient(ops, [a, b, b] as unknown as Vectors, null as never));
    expect(parts).toEqual([['multiply'], ['intt ntt', 'intt ntt', 'intt ntt'], ['multiplySubtract']]);
  });

  test('chains end where a result is kept, or read twice', async () => {
    const parts = await partsOfRun((ops, [a, b]) => {
      const kept = ops.keep(ops.intt(a as Vector));
      const twice = ops.ntt(b as Vector);
      return [ops.ntt(kept), ops.scale(twice, 2n), ops.intt(twice)];
    });
    expect(parts).toEqual([
      ['intt', 'ntt'],
      ['ntt', 'scale', 'intt'],
    ]);
  });

  test('short chains are steps of their own, and long ones begin with the longest', async () => {
    const ms = { intt: 0.1, ntt: 5, evaluate: 9 } as Partial<Record<string, number>>;
    const parts = await partsOfRun(
      (ops, [a, b, c]) => [ops.intt(a as Vector), ops.ntt(b as Vector), ops.evaluate(c as Vector, 5n)],
      ({ kind }) => ms[kind] as number,
    );
    expect(parts).toEqual([['intt'], ['evaluate', 'ntt']]);
  });
});
