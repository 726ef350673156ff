/**
 * Vectors whose elements are floats, in two lanes. Butterflies leave sums without a carry where the
 * next pass has room for them: a carry and a reduction take a quarter of the time of a product.
 */

import { range } from '../../field/straight-line.js';
import type { Local } from '../encoder/code.js';
import { WasmModule } from '../encoder/module.js';
import { type FloatField, FloatMemory, floatField } from '../floats/float-field.js';
import { areZero, FloatFunctions, HeldCoordinate, hoist, interleaved, namesOf } from '../floats/float-functions.js';
import { type LaneSource, pairAt, wideAt } from '../floats/float-line.js';
import { addFloatJoin, splitFloats } from '../floats/float-numbers.js';
import { boundOfProducts, SETTLED } from '../floats/float-products.js';
import {
  type Coordinate,
  type CoordinateLine,
  PointPrograms,
  type StoredAs,
  settled,
  uncarried,
} from '../floats/point-programs.js';
import type { Butterflies, VectorForm, VectorFunctions, VectorModule } from './vector-functions.js';

/** Bytes of a limb. */
const FLOAT_BYTES = 8;

const generate = (field: FloatField, wordBytes: number, isLazy: boolean): VectorModule => {
  const module = new WasmModule();
  const memory = new FloatMemory(field);
  const programs = new PointPrograms(field, 0, null, true);
  const functions = new FloatFunctions(module, memory, programs);
  return {
    module,
    functions: {
      ...{ lanes: 2 as const, field },
      ...addElementwise(functions),
      squareMultiply: addSquareMultiply(module, functions, programs, isLazy),
      butterflies: floatButterflies(functions, field, isLazy),
      isZero: module.add(null, { parameters: ['i32'], result: 'i32' }, (code) =>
        areZero(code, code.parameter(0), field.limbs),
      ),
      split: module.add(null, { parameters: ['i32', 'i32'] }, (code, to, words) =>
        splitFloats(code, { ...field, wordBytes }, [words, 0], to),
      ),
      join: addFloatJoin(module, field, wordBytes),
    },
    memory,
  };
};

export const floatVectors: VectorForm = (p, wordBytes) => {
  const field = floatField(p, 1);
  if (field === null) return null;
  // a prime just above a power of two leaves no room for sums of four elements
  for (const isLazy of [true, false]) {
    try {
      return generate(field, wordBytes, isLazy);
    } catch (error) {
      // some value could leave the range in which it is exact
      if (!(error instanceof RangeError)) throw error;
    }
  }
  return null;
};

/** Bounds of limbs that `split` leaves. */
const raw = { most: 1, terms: 2 };

const addElementwise = (
  functions: FloatFunctions,
): Pick<VectorFunctions, 'multiply' | 'multiplyAdd' | 'multiplySubtract' | 'add' | 'subtract'> => {
  const plus = (sign: 1 | -1): number =>
    functions.define(['lanes', 'lanes', 'lanes', 'lanes'], (c, to, a, b, d) =>
      c.store(to, c.multiply(c.load(a), c.load(b), [[c.load(d), sign]], true)),
    );
  const sum = (sign: 1 | -1): number =>
    functions.define(['lanes', 'lanes', 'lanes'], (c, to, a, b) =>
      c.store(
        to,
        c.sum([
          [c.load(a), 1],
          [c.load(b), sign],
        ]),
      ),
    );
  return {
    multiply: functions.define(['lanes', 'lanes', 'lanes'], (c, to, a, b) =>
      c.store(to, c.multiply(c.load(a, raw), c.load(b), [], true)),
    ),
    ...{ multiplyAdd: plus(1), multiplySubtract: plus(-1), add: sum(1), subtract: sum(-1) },
  };
};

/* Squares in a row. */

/** Returns a bound that squares of numbers within it have, too, without being settled; null if there is none. */
const boundOfSquares = (field: FloatField): StoredAs | null => {
  const candidates = range(16).map((i) => SETTLED + i / 16);
  const most = candidates.find((each) => boundOfProducts(field, each ** 2) + 2 ** -20 <= each);
  return most === undefined ? null : { most, terms: 1 };
};

/** Most limbs of a number whose squares are computed two pairs in turns: of longer ones too many values wait. */
const MOST_LIMBS_IN_TURNS = 6;

/**
 * Adds `squareMultiply`. Squares stay in locals and are not settled: one takes 0.6 of the time of a product
 * in memory (row `compact-keys-squares`). Those of two pairs are computed in turns, since the latency of a square
 * is longer than its instructions take.
 *
 * @param isLazy whether squares may be left unsettled
 */
const addSquareMultiply = (
  module: WasmModule,
  functions: FloatFunctions,
  programs: PointPrograms,
  isLazy: boolean,
): VectorFunctions['squareMultiply'] => {
  const { field } = programs;
  const { bytes, limbs } = field;
  const elements = limbs > MOST_LIMBS_IN_TURNS ? 2 : 4;
  const unsettled = isLazy ? boundOfSquares(field) : null;
  const as = unsettled ?? settled;
  const index = module.add(null, { parameters: ['i32', 'i32', 'i32', 'i32'] }, (code, to, a, b, times) => {
    const pairs = range(elements / 2).map((k) => ({
      held: new HeldCoordinate(code, `held${k}-`, field, as),
      at: (base: Local): LaneSource => pairAt(base, [2 * k * bytes, (2 * k + 1) * bytes], 1),
    }));
    const values = new Map(pairs.flatMap(({ held }) => held.values));
    const writer = functions.writer(code);
    hoist(writer, field);
    /** Writes the statements of all pairs in turns, and holds the results. */
    const hold = (next: (c: CoordinateLine, pair: (typeof pairs)[number]) => Coordinate): void => {
      const lines = pairs.map((pair, k) => {
        const c = programs.begin(`pair${k}-`);
        const result = next(c, pair);
        c.assertWithin(result, as);
        return { statements: c.line.statements, names: namesOf(result) };
      });
      const statements = interleaved(...lines.map((line) => line.statements));
      const names = lines.flatMap((line) => line.names);
      const locals = writer.write(statements, values, names);
      for (const [k, { held }] of pairs.entries()) held.set(code, locals.slice(k * limbs, (k + 1) * limbs));
      writer.release(locals);
    };
    hold((c, { at }) => c.load(at(a)));
    code.countDown(times, () =>
      hold((c, { held }) => {
        const x = held.value(c);
        return c.multiply(x, x, [], unsettled === null);
      }),
    );
    for (const { held, at } of pairs) {
      const c = programs.begin();
      c.store(at(to), c.multiply(held.value(c), c.load(at(b)), [], true));
      writer.write(c.line.statements, values);
    }
  });
  return { index, elements };
};

/* Butterflies. */

/** Returns x ± y, settled. */
const settledSum = (c: CoordinateLine, x: Coordinate, y: Coordinate, sign: 1 | -1): Coordinate =>
  c.sum([
    [x, 1],
    [y, sign],
  ]);

/** Places of the operands of a butterfly, and of its results. */
interface Operands {
  readonly x: LaneSource;
  readonly y: LaneSource;
  readonly w: LaneSource;
  readonly toX: LaneSource;
  readonly toY: LaneSource;
}

type Write = (c: CoordinateLine, operands: Operands) => void;

/** x + y and (x − y)·w. @param from, to bounds of x and y before, and of the sum */
const dif =
  (from: StoredAs, to: StoredAs): Write =>
  (c, { x, y, w, toX, toY }) => {
    const [a, b] = [c.load(x, from), c.load(y, from)];
    c.store(toX, to === settled ? settledSum(c, a, b, 1) : c.add(a, b), to);
    c.store(toY, c.multiply(c.subtract(a, b), c.load(w), [], true));
  };

/** x + y and x − y. @param from bounds of x and y */
const settledSums =
  (from: StoredAs): Write =>
  (c, { x, y, toX, toY }) => {
    const [a, b] = [c.load(x, from), c.load(y, from)];
    c.store(toX, settledSum(c, a, b, 1));
    c.store(toY, settledSum(c, a, b, -1));
  };

const ditFirst: Write = (c, { x, y, toX, toY }) => {
  const [a, b] = [c.load(x), c.load(y)];
  c.store(toX, c.add(a, b), uncarried);
  c.store(toY, c.subtract(a, b), uncarried);
};

const dit: Write = (c, { x, y, w, toX, toY }) => {
  const product = c.multiply(c.load(y, uncarried), c.load(w), [], true);
  const a = c.sum([[c.load(x, uncarried), 1]]);
  c.store(toX, c.add(a, product), uncarried);
  c.store(toY, c.subtract(a, product), uncarried);
};

const ditLast: Write = (c, { x, y, w, toX, toY }) => {
  const product = c.multiply(c.load(y, uncarried), c.load(w), [], true);
  const a = c.load(x, uncarried);
  c.store(toX, settledSum(c, a, product, 1));
  c.store(toY, settledSum(c, a, product, -1));
};

/**
 * Returns butterflies that pair neighbours between the first and the last pass.
 *
 * @param isLazy whether every other pass of `dif` leaves sums without a carry
 */
const floatButterflies = (functions: FloatFunctions, { bytes }: FloatField, isLazy: boolean): Butterflies => {
  const stored = isLazy ? uncarried : settled;
  const neighbours = (at: Local): LaneSource => pairAt(at, [0, bytes], 1);
  /** The first and the third of four neighbours, and the second and the fourth. */
  const ofFour = (at: Local): [LaneSource, LaneSource] => [
    pairAt(at, [0, 2 * bytes], 1),
    pairAt(at, [bytes, 3 * bytes], 1),
  ];
  /** The same, where they are paired. */
  const ofPairs = (at: Local): [LaneSource, LaneSource] => [
    pairAt(at, [0, 2 * bytes], 2),
    pairAt(at, [FLOAT_BYTES, FLOAT_BYTES + 2 * bytes], 2),
  ];
  /** A butterfly of pairs at x, y and w. */
  const pass = (
    write: Write,
    from: (at: Local) => LaneSource = wideAt,
    to: (at: Local) => LaneSource = wideAt,
  ): number =>
    functions.define(['address', 'address', 'wide'], (c, x, y, w) =>
      write(c, { x: from(x), y: from(y), w, toX: to(x), toY: to(y) }),
    );
  /** A butterfly of the neighbours among four. */
  const within = (write: Write, from: typeof ofFour, to: typeof ofFour): number =>
    functions.define(['address'], (c, at) => {
      const [[x, y], [toX, toY]] = [from(at), to(at)];
      write(c, { x, y, w: x, toX, toY });
    });
  return {
    arePaired: true,
    sums: functions.define(['lanes', 'lanes'], (c, x, y) => settledSums(settled)(c, { x, y, w: x, toX: x, toY: y })),
    difFirst: pass(dif(settled, stored), neighbours),
    difOdd: pass(dif(stored, settled)),
    difEven: pass(dif(settled, stored)),
    difLast: within(settledSums(stored), ofPairs, ofFour),
    ditFirst: within(ditFirst, ofFour, ofPairs),
    dit: pass(dit),
    ditLast: pass(ditLast, wideAt, neighbours),
    pair: functions.define(['address'], (c, at) => c.store(wideAt(at), c.load(neighbours(at)))),
  };
};
