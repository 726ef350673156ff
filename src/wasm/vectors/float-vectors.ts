/**
 * Vectors whose elements are floats, in two lanes. Butterflies leave sums without a carry where the
 * next pass has room for them: a carry and a reduction take a quarter of the time of a product.
 */
import { WasmModule } from '../encoder/module.js';
import { type FloatField, FloatMemory, floatField } from '../floats/float-field.js';
import { areZero, FloatFunctions } from '../floats/float-functions.js';
import { addFloatJoin, splitFloats } from '../floats/float-numbers.js';
import { type Coordinate, type CoordinateLine, PointPrograms, settled, uncarried } from '../floats/point-programs.js';
import type { VectorForm, VectorFunctions, VectorModule } from './vector-functions.js';

const generate = (field: FloatField, wordBytes: number, isLazy: boolean): VectorModule => {
  const module = new WasmModule();
  const memory = new FloatMemory(field);
  const functions = new FloatFunctions(module, memory, new PointPrograms(field, 0, null, true));
  return {
    module,
    functions: {
      ...{ lanes: 2 as const, field },
      ...addElementwise(functions),
      ...addFloatButterflies(functions, isLazy),
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

/** Returns x ± y, settled. */
const settledSums = (c: CoordinateLine, x: Coordinate, y: Coordinate): readonly [Coordinate, Coordinate] => [
  c.sum([
    [x, 1],
    [y, 1],
  ]),
  c.sum([
    [x, 1],
    [y, -1],
  ]),
];

/** @param isLazy whether every other pass of `dif` leaves sums without a carry */
const addFloatButterflies = (
  functions: FloatFunctions,
  isLazy: boolean,
): Pick<VectorFunctions, 'dif' | 'difLast' | 'ditFirst' | 'dit' | 'ditLast'> => {
  const stored = isLazy ? uncarried : settled;
  const difOdd = functions.define(['lanes', 'lanes', 'lanes'], (c, atX, atY, w) => {
    const [x, y] = [c.load(atX, stored), c.load(atY, stored)];
    const [sum] = settledSums(c, x, y);
    c.store(atX, sum);
    c.store(atY, c.multiply(c.subtract(x, y), c.load(w), [], true));
  });
  const difEven = functions.define(['lanes', 'lanes', 'lanes'], (c, atX, atY, w) => {
    const [x, y] = [c.load(atX), c.load(atY)];
    c.store(atX, c.add(x, y), uncarried);
    c.store(atY, c.multiply(c.subtract(x, y), c.load(w), [], true));
  });
  const difLast = functions.define(['lanes', 'lanes'], (c, atX, atY) => {
    const [sum, difference] = settledSums(c, c.load(atX, stored), c.load(atY, stored));
    c.store(atX, sum);
    c.store(atY, difference);
  });
  return { dif: [isLazy ? difEven : difOdd, difOdd], difLast, ...addFloatDit(functions) };
};

const addFloatDit = (functions: FloatFunctions): Pick<VectorFunctions, 'ditFirst' | 'dit' | 'ditLast'> => ({
  ditFirst: functions.define(['lanes', 'lanes'], (c, atX, atY) => {
    const [x, y] = [c.load(atX), c.load(atY)];
    c.store(atX, c.add(x, y), uncarried);
    c.store(atY, c.subtract(x, y), uncarried);
  }),
  dit: functions.define(['lanes', 'lanes', 'lanes'], (c, atX, atY, w) => {
    const product = c.multiply(c.load(atY, uncarried), c.load(w), [], true);
    const x = c.sum([[c.load(atX, uncarried), 1]]);
    c.store(atX, c.add(x, product), uncarried);
    c.store(atY, c.subtract(x, product), uncarried);
  }),
  ditLast: functions.define(['lanes', 'lanes', 'lanes'], (c, atX, atY, w) => {
    const product = c.multiply(c.load(atY, uncarried), c.load(w), [], true);
    const [sum, difference] = settledSums(c, c.load(atX, uncarried), product);
    c.store(atX, sum);
    c.store(atY, difference);
  }),
});
