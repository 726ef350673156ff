/** Random calls on vectors beside sums: a product of polynomials, read and summed. */
import type { FieldEngine } from '../../src/fields.js';
import { FieldValues } from '../oracle/field-values.js';
import { expectedMsm, type Random, samePoint } from '../oracle/known-bases.js';
import { numbersIn } from '../oracle/transforms.js';
import type { Side } from './random-call.js';

/** Largest log2 of the elements of a vector. */
const MOST_BITS = 9;

/** An engine of vectors on the device of the sums. */
export class VectorSide {
  readonly engine: FieldEngine;
  readonly #sums: Side<bigint>;
  readonly #oracle: FieldValues;

  constructor(engine: FieldEngine, sums: Side<bigint>) {
    this.engine = engine;
    this.#sums = sums;
    this.#oracle = new FieldValues(engine.p);
  }

  /** Makes a call, and aborts one in twelve. Wrong results are added to `violations`. */
  async call(random: Random, violations: string[]): Promise<void> {
    const { engine } = this;
    const { known, oracle } = this.#sums;
    const n = Math.min(2 ** random.below(MOST_BITS + 1), known.logs.length);
    const numbers = Array.from({ length: n }, () => random.belowBig(engine.p));
    const controller = random.below(12) === 0 ? new AbortController() : null;
    if (controller !== null) setTimeout(() => controller.abort(), random.below(60));
    const options = controller === null ? {} : { signal: controller.signal };
    const verify = random.below(8) === 0;
    const a = await engine.load(numbers, options);
    try {
      const square = await engine.run(
        (ops) => {
          const values = ops.ntt(a, { to: 'reversed' });
          return ops.keep(ops.intt(ops.multiply(values, values), { from: 'reversed' }));
        },
        { ...options, verify },
      );
      try {
        const values = this.#oracle.ntt(numbers, {});
        const expected = this.#oracle.intt(this.#oracle.multiply(values, values), {});
        const offset = random.below(known.logs.length - n + 1);
        const sum = await this.#sums.engine.msm(this.#sums.bases, square, { ...options, offset });
        if (!samePoint(sum, expectedMsm(oracle, known.logs.slice(offset), expected))) {
          violations.push(`a sum of a vector of ${n} is wrong`);
        }
        const read = numbersIn(await engine.read(square, options), engine.numberBytes);
        if (String(read) !== String(expected)) violations.push(`a vector of ${n} is wrong`);
      } finally {
        square.destroy();
      }
    } finally {
      a.destroy();
    }
    if (random.below(16) === 0) engine.trim();
  }
}
