/** Random calls on one side, each of which is compared with the known result. */
import type { FieldEngine, FieldVector } from '../../src/fields.js';
import type { AffinePoint, Bases, MsmEngine, Priority } from '../../src/index.js';
import { FieldValues } from '../oracle/field-values.js';
import {
  type Coordinate,
  expectedMsm,
  type KnownBases,
  makeRandomScalars,
  type OracleCurve,
  type Random,
  samePoint,
} from '../oracle/known-bases.js';
import { numbersIn } from '../oracle/transforms.js';

export interface Side<Of extends Coordinate> {
  readonly oracle: OracleCurve<Of>;
  readonly engine: MsmEngine<Of>;
  readonly known: KnownBases<Of>;
  bases: Bases;
}

interface Vector {
  readonly vector: readonly bigint[];
  readonly offset: number;
}

const priorities: readonly Priority[] = ['interactive', 'normal', 'background'];

/** Aborts one call in twelve. */
export const drawSignal = (random: Random): { readonly signal?: AbortSignal } => {
  if (random.below(12) > 0) return {};
  const controller = new AbortController();
  setTimeout(() => controller.abort(), random.below(60));
  return { signal: controller.signal };
};

/** Makes a call of a random kind and priority. Wrong results are added to `violations`. */
export async function randomCall<Of extends Coordinate>(
  side: Side<Of>,
  random: Random,
  violations: string[],
): Promise<void> {
  const { oracle, engine, known, bases } = side;
  const options = { priority: priorities[random.below(3)] as Priority, ...drawSignal(random) };
  const { length } = known.logs;
  const compare = (what: string, got: AffinePoint<Of>, { vector, offset }: Vector): void => {
    if (!samePoint(got, expectedMsm(oracle, known.logs.slice(offset), vector))) violations.push(`${what} is wrong`);
  };
  /** Draws a vector, with sizes log-uniform in powers of two. */
  const draw = (most: number): Vector => {
    const n = Math.max(1, Math.floor(most * 2 ** -random.below(9)));
    const offset = random.below(length - n + 1);
    return { vector: makeRandomScalars(oracle, n, random.below(2 ** 31)), offset };
  };
  const calls = {
    // running calls with the old ones may end with `destroyed`, so this kind is rare
    async replaceBases() {
      const fresh = await engine.loadBases(known.bytes, options);
      // another call may have replaced them meanwhile
      side.bases.destroy();
      side.bases = fresh;
    },
    async sumOverOwnBases() {
      const drawn = draw(length >> 2);
      const from = drawn.offset * (known.bytes.length / length);
      const others = await engine.loadBases(known.bytes.subarray(from), options);
      try {
        compare('a sum over bases of its own', await engine.msm(others, drawn.vector, options), drawn);
      } finally {
        others.destroy();
      }
    },
    async sumOfLoadedScalars() {
      const drawn = draw(length);
      const { offset } = drawn;
      const loaded = await engine.loadScalars(drawn.vector, options);
      const settled = await Promise.allSettled([
        engine.msm(bases, loaded, { ...options, offset }),
        engine.msm(bases, loaded, { ...options, offset }),
      ]);
      loaded.destroy();
      for (const each of settled) {
        if (each.status === 'rejected') throw each.reason;
        compare('a sum of loaded scalars', each.value, drawn);
      }
    },
    async batch() {
      const drawn = Array.from({ length: 1 + random.below(5) }, () => draw(length >> 3));
      const vectors = drawn.map(({ vector }) => vector);
      const sums = await engine.msmBatch(bases, vectors, { ...options, offsets: drawn.map(({ offset }) => offset) });
      for (const [i, each] of drawn.entries()) compare('a sum of a batch', sums[i] as AffinePoint<Of>, each);
    },
    async sum() {
      const drawn = draw(length);
      compare('a sum', await engine.msm(bases, drawn.vector, { ...options, offset: drawn.offset }), drawn);
    },
  };
  const kind = random.below(64);
  if (kind === 0) await calls.replaceBases();
  else if (kind < 5) await calls.sumOverOwnBases();
  else if (kind < 8) await engine.trim();
  else if (kind < 16) await calls.sumOfLoadedScalars();
  else if (kind < 28) await calls.batch();
  else await calls.sum();
}

/** Largest log2 of the elements of a vector. */
const MOST_BITS = 9;

/** Makes a call on vectors beside sums. Wrong results are added to `violations`. */
export async function vectorCall(
  engine: FieldEngine,
  side: Side<bigint>,
  random: Random,
  violations: string[],
): Promise<void> {
  const { engine: sums, known, oracle } = side;
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
    const sum = await sums.msm(side.bases, square, { ...options, offset });
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
