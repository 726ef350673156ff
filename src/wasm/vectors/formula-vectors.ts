/** Vectors in the forms whose functions are made of formulas. */
import { range } from '../../field/straight-line.js';
import type { FieldFunctions } from '../arithmetic/elements.js';
import { type Formula, plainProduct, sumFormula } from '../arithmetic/formula.js';
import { KernelMemory } from '../arithmetic/kernel-memory.js';
import type { Lanes } from '../arithmetic/lane-code.js';
import { WasmModule } from '../encoder/module.js';
import type { KernelField } from '../points/element-words.js';
import { addButterflies } from './butterflies.js';
import type { VectorFunctions, VectorModule } from './vector-functions.js';

const productPlus = (times: 1 | -1): Formula => ({
  parameters: ['to', 'a', 'b', 'c'],
  factors: [{ of: 'a' }, { of: 'b' }],
  plus: [[{ of: 'c' }, times]],
});

/** Parts of a form that formulas do not have. */
interface FormulaForm<Field> {
  readonly field: Field;
  readonly lanes: Lanes;
  readonly wordBytes: number;
  /** Adds the functions of the prime field. */
  functionsOf(module: WasmModule, field: Field): Pick<FieldFunctions, 'formula' | 'isZero'>;
  /** Adds the functions that convert numbers. */
  conversionsOf(module: WasmModule, field: Field, wordBytes: number): Pick<VectorFunctions, 'split' | 'join'>;
}

/** Begins a module with the functions of a form. */
export const formulaVectors = <Field extends Exclude<KernelField, { kind: 'floats' }>>({
  field,
  lanes,
  wordBytes,
  functionsOf,
  conversionsOf,
}: FormulaForm<Field>): VectorModule => {
  const module = new WasmModule();
  const memory = new KernelMemory({ field, nonResidue: null, a: [], b: [], wordBytes }, lanes);
  const prime = functionsOf(module, field);
  const define = (formula: Formula): number => prime.formula(lanes, formula);
  const elementwise = {
    multiply: define(plainProduct),
    multiplyAdd: define(productPlus(1)),
    multiplySubtract: define(productPlus(-1)),
    add: define(sumFormula(1)),
    subtract: define(sumFormula(-1)),
  };
  const kept = range(lanes).map(() => memory.take(field.bytes));
  const functions = {
    ...{ lanes, field, ...elementwise },
    ...addButterflies(module, { lanes, ...elementwise, subtractTwice: define(sumFormula(-2)), kept }),
    isZero: prime.isZero(),
    ...conversionsOf(module, field, wordBytes),
  };
  return { module, functions, memory };
};
