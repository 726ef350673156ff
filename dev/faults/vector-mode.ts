/** Calls of vectors of field elements, into which faults are injected. */
import { createFieldEngine, type FieldEngine, type FieldVector } from '../../src/fields.js';
import { FieldValues } from '../oracle/field-values.js';
import type { Random } from '../oracle/known-bases.js';
import { numbersIn } from '../oracle/transforms.js';
import type { Mode } from './mode.js';

/** Generator of the coset. */
const COSET = 7n;

const lengthOf = (n: number): number => 2 ** Math.ceil(Math.log2(n));

interface Numbers {
  readonly quotient: readonly bigint[];
  readonly inverses: readonly bigint[];
}

const compute = async (fr: FieldEngine, numbers: readonly bigint[]): Promise<Numbers> => {
  const a = await fr.load(numbers);
  const made = await fr.run((ops) => {
    const onCoset = ops.ntt(ops.intt(a, { to: 'reversed' }), { from: 'reversed', coset: COSET });
    return {
      quotient: ops.keep(ops.multiplySubtract(onCoset, onCoset, ops.prefixProduct(a))),
      inverses: ops.keep(ops.gather(ops.invert(a), [...numbers.keys()].reverse())),
    };
  });
  const read = async (vector: FieldVector): Promise<bigint[]> => numbersIn(await fr.read(vector), fr.numberBytes);
  const results = { quotient: await read(made.quotient), inverses: await read(made.inverses) };
  for (const vector of [a, made.quotient, made.inverses]) vector.destroy();
  return results;
};

const expectedOf = (oracle: FieldValues, a: readonly bigint[]): Numbers => {
  const onCoset = oracle.ntt(oracle.intt(a, {}), { coset: COSET });
  return {
    quotient: oracle.multiplySubtract(onCoset, onCoset, oracle.prefixProduct(a)),
    inverses: oracle.invert(a).toReversed(),
  };
};

/** A mode of runs on vectors: load, transforms, a quotient, inverses, read. */
export const vectorMode: Mode = {
  sizes: [2, 200],
  // no points are read back
  pointBytes: 64,
  open: async (device, _, most) => {
    const engine = await createFieldEngine({ field: 'bn254-fr', device: device.device });
    const oracle = new FieldValues(engine.p);
    // the first run tests the kernels, and makes the table of powers
    await compute(engine, Array(lengthOf(most)).fill(1n));
    return {
      engine,
      call: async (random: Random, n) => {
        const numbers = Array.from({ length: lengthOf(n) }, () => random.belowBig(engine.p));
        const { quotient, inverses } = await compute(engine, numbers);
        return async () => {
          const expected = expectedOf(oracle, numbers);
          return String([quotient, inverses]) === String([expected.quotient, expected.inverses]);
        };
      },
    };
  },
};
