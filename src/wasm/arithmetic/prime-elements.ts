/** Functions on coordinates in a prime field. */
import type { WasmModule } from '../encoder/module.js';
import { addPrimeInverse, addProduct, addSigned, addSubtract, type ElementMemory, type Elements } from './elements.js';
import type { WasmField } from './field-programs.js';
import { addFormula, addIsZero, type Formula } from './formula.js';
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

export const primeElements = (module: WasmModule, f: WasmField, lanes: Lanes, memory: ElementMemory): Elements => {
  const add = (formula: Formula): number => addFormula(module, f, lanes, formula);
  const multiply = addProduct(module, f, lanes);
  const signedOne = addSigned(module, f);
  return {
    multiply,
    multiplyPrime: multiply,
    multiplyByKept: add(formulas.multiplyByKept),
    chain: add(formulas.chain),
    slope: add(formulas.slope),
    abscissa: add(formulas.abscissa),
    ordinate: add(formulas.ordinate),
    multiplyOne: lanes === 1 ? multiply : addProduct(module, f, 1),
    signedOne,
    subtractOne: addSubtract(module, f),
    isZero: addIsZero(module, f),
    invert: addPrimeInverse(module, f, memory, signedOne),
  };
};
