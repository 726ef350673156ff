/** Random calls on vectors beside sums: a product of polynomials, read and summed. */
import type { FieldEngine, FieldVector } from '../../src/fields.js';
import { FieldValues } from '../oracle/field-values.js';
import { expectedMsm, type Random, samePoint } from '../oracle/known-bases.js';
import { numbersIn } from '../oracle/transforms.js';
import { drawSignal, type Side } from './random-call.js';

/** Largest log2 of the elements of a vector. */
const MOST_BITS = 9;

/** Makes a call on vectors beside sums. Wrong results are added to `violations`. */
export async function vectorCall(
  engine: FieldEngine,
  { bases, engine: sums, known, oracle }: Side<bigint>,
  random: Random,
  violations: string[],
): Promise<void> {
  const field = new FieldValues(engine.p);
  const n = Math.min(2 ** random.below(MOST_BITS + 1), known.logs.length);
  const numbers = Array.from({ length: n }, () => random.belowBig(engine.p));
  const options = drawSignal(random);
  const verify = random.below(8) === 0;
  const a = await engine.load(numbers, options);
  let square: FieldVector | undefined;
  try {
    square = await engine.run(
      (ops) => {
        const values = ops.ntt(a, { to: 'reversed' });
        return ops.keep(ops.intt(ops.multiply(values, values), { from: 'reversed' }));
      },
      { ...options, verify },
    );
    const values = field.ntt(numbers, {});
    const expected = field.intt(field.multiply(values, values), {});
    const offset = random.below(known.logs.length - n + 1);
    const sum = await sums.msm(bases, square, { ...options, offset });
    if (!samePoint(sum, expectedMsm(oracle, known.logs.slice(offset), expected)))
      violations.push(`a sum of a vector of ${n} is wrong`);
    const read = numbersIn(await engine.read(square, options), engine.numberBytes);
    if (String(read) !== String(expected)) violations.push(`a vector of ${n} is wrong`);
  } finally {
    square?.destroy();
    a.destroy();
  }
  if (random.below(16) === 0) engine.trim();
}
