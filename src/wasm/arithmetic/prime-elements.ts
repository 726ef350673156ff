/** Functions on coordinates in a prime field. */
import { type ElementMemory, type Elements, type FieldFunctions, signedFormula, subtractFormula } from './elements.js';
import { type Formula, plainProduct } from './formula.js';
import type { Lanes } from './lane-code.js';

/** Formulas of `Elements` that are one product each. */
const formulas = {
  multiplyByKept: {
    parameters: ['to', 'a', 'b'],
    factors: [{ of: 'a' }, { of: 'b', as: 'difference' }],
  },
  chain: {
    parameters: ['to', 'kept', 'a', 'b', 'c'],
    factors: [{ of: 'a' }, { of: 'b', less: 'c' }],
    keeps: 'kept',
  },
  slope: {
    parameters: ['to', 'a', 'b', 'sb', 'c', 'sc'],
    factors: [{ of: 'a' }, { of: 'b', sign: 'sb', less: 'c', lessSign: 'sc' }],
  },
  abscissa: {
    parameters: ['to', 'slope', 'x1', 'x2'],
    factors: [{ of: 'slope' }],
    plus: [
      [{ of: 'x1' }, -1],
      [{ of: 'x2' }, -1],
    ],
  },
  ordinate: {
    parameters: ['to', 'slope', 'x1', 'x3', 'y1', 's1'],
    factors: [{ of: 'slope' }, { of: 'x1', less: 'x3' }],
    plus: [[{ of: 'y1', sign: 's1' }, -1]],
  },
} as const satisfies Partial<Record<keyof Elements, Formula>>;

/** Functions of which Horner's rule needs no others. */
export type SingleElements = Omit<Elements, 'multiplyByKept' | 'chain' | 'slope'>;

/** Adds the functions that additions one after the other need. */
export const singleElements = (functions: FieldFunctions, lanes: Lanes, memory: ElementMemory): SingleElements => {
  const add = (formula: Formula): number => functions.formula(lanes, formula);
  const multiply = add(plainProduct);
  const signedOne = functions.formula(1, signedFormula);
  return {
    multiply,
    multiplyPrime: multiply,
    abscissa: add(formulas.abscissa),
    ordinate: add(formulas.ordinate),
    multiplyOne: lanes === 1 ? multiply : functions.formula(1, plainProduct),
    signedOne,
    subtractOne: functions.formula(1, subtractFormula),
    isZero: functions.isZero(),
    invert: functions.inverse(memory, signedOne),
  };
};

export const primeElements = (functions: FieldFunctions, lanes: Lanes, memory: ElementMemory): Elements => {
  const add = (formula: Formula): number => functions.formula(lanes, formula);
  return {
    ...singleElements(functions, lanes, memory),
    multiplyByKept: add(formulas.multiplyByKept),
    chain: add(formulas.chain),
    slope: add(formulas.slope),
  };
};
