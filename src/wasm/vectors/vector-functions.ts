/** Functions on elements of vectors, in one form of arithmetic. */

import { range } from '../../field/straight-line.js';
import { type FieldFunctions, integerFunctions } from '../arithmetic/elements.js';
import { type WasmField, wasmField } from '../arithmetic/field-programs.js';
import { type Formula, type Lanes, plainProduct, sumFormula } from '../arithmetic/formula.js';
import { KernelMemory } from '../arithmetic/kernel-memory.js';
import { splitNumber } from '../arithmetic/numbers.js';
import { type WordsField, wordsField, wordsFunctions } from '../arithmetic/words.js';
import type { Address, Local } from '../encoder/code.js';
import { WasmModule } from '../encoder/module.js';
import type { KernelField } from '../points/kernel.js';

/** Memory of the module while it is generated. */
interface ModuleMemory {
  /** Reserves `bytes` and returns their address. */
  take(bytes: number): number;
  /** Address of the next reservation. */
  readonly end: number;
  /** Words of 32 bits by address, to be written before anything is computed. */
  readonly constants: ReadonlyMap<number, readonly number[]>;
}

/**
 * Indices of functions. Their parameters are addresses of elements, each once per lane, except for
 * `isZero`, `split` and `join`, which have one lane. All operands are loaded before anything is
 * stored, so a result may overwrite any of them.
 */
export interface VectorFunctions {
  readonly lanes: Lanes;
  readonly field: KernelField;
  /** (to, a, b): a·b. */
  readonly multiply: number;
  /** (to, a, b, c): a·b + c. */
  readonly multiplyAdd: number;
  /** (to, a, b, c): a·b − c. */
  readonly multiplySubtract: number;
  /** (to, a, b): a + b. */
  readonly add: number;
  /** (to, a, b): a − b. */
  readonly subtract: number;
  /**
   * (to, a, b, times): a^(2^times)·b of as many elements one behind the other, with one address for all of
   * them; `to` is not b.
   */
  readonly squareMultiply: { readonly index: number; readonly elements: 1 | 2 | 4 };
  readonly butterflies: Butterflies;
  /** (a): whether an element is 0; one lane. */
  readonly isZero: number;
  /** (to, words): splits a number below p into limbs, as `multiply` takes it for a. */
  readonly split: number;
  /** (words, a): writes an element as the number below p that it is; may overwrite it. */
  readonly join: number;
}

/**
 * Indices of butterflies by the passes of a transform. Their parameters are x, y and w, or x and y
 * where w is 1; they overwrite x and y. A pass may leave elements in a wider range, or another
 * layout, than those of vectors have; passes follow each other as `difFirst`, `difOdd`, `difEven`,
 * `difOdd`, …, `difLast`, and as `ditFirst`, `dit`, …, `dit`, `ditLast`.
 */
export interface Butterflies {
  /**
   * True if the limbs of two neighbours alternate between the first and the last pass, and in
   * twiddles. An address is then that of two elements, both lanes, and neither loads nor stores
   * take lanes apart; `difLast` and `ditFirst` take one address, that of four elements.
   */
  readonly arePaired: boolean;
  /** x + y and x − y of a transform of two elements. */
  readonly sums: number;
  /** x + y and (x − y)·w. */
  readonly difFirst: number;
  readonly difOdd: number;
  readonly difEven: number;
  /** x + y and x − y of neighbours. */
  readonly difLast: number;
  readonly ditFirst: number;
  /** x + y·w and x − y·w. */
  readonly dit: number;
  readonly ditLast: number;
  /** Brings two neighbours to the layout of pairs; only where there is one. */
  readonly pair?: number;
}

/** A module with the functions of a form. */
export interface VectorModule {
  readonly module: WasmModule;
  readonly functions: VectorFunctions;
  readonly memory: ModuleMemory;
}

/** Begins a module with the functions of a form; null if the form does not have the field. */
export type VectorForm = (p: bigint, wordBytes: number) => VectorModule | null;

/* Vectors whose elements are signed limbs of up to 29 bits, in one lane or two. */

const addIntegerSplit = (module: WasmModule, field: WasmField, wordBytes: number): number =>
  module.add(null, { parameters: ['i32', 'i32'] }, (code, to, words) =>
    splitNumber(code, { ...field, wordBytes }, [words, 0], to),
  );

export const integerVectors =
  (lanes: Lanes): VectorForm =>
  (p, wordBytes) =>
    formulaVectors({
      ...{ field: wasmField(p, 1), lanes, wordBytes },
      functionsOf: integerFunctions,
      splitOf: addIntegerSplit,
    });

/* Vectors whose elements are words of 64 bits. */

const addWordsSplit = (module: WasmModule, field: WordsField, wordBytes: number): number =>
  module.add(null, { parameters: ['i32', 'i32'] }, (code, to, from) => {
    for (const i of range(2 * field.words)) {
      code.get(to);
      if (4 * i < wordBytes) code.get(from).at('i32.load', 4 * i);
      else code.i32(0);
      code.at('i32.store', 4 * i);
    }
  });

export const wordsVectors: VectorForm = (p, wordBytes) =>
  formulaVectors({
    ...{ field: wordsField(p), lanes: 1, wordBytes },
    functionsOf: wordsFunctions,
    splitOf: addWordsSplit,
  });

/* Vectors in the forms whose functions are made of formulas. */

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
  functionsOf(module: WasmModule, field: Field): Pick<FieldFunctions, 'formula' | 'isZero' | 'join'>;
  /** Adds the function `split`. */
  splitOf(module: WasmModule, field: Field, wordBytes: number): number;
}

/** Begins a module with the functions of a form. */
const formulaVectors = <Field extends Exclude<KernelField, { kind: 'floats' }>>({
  field,
  lanes,
  wordBytes,
  functionsOf,
  splitOf,
}: FormulaForm<Field>): VectorModule => {
  const module = new WasmModule();
  const memory = new KernelMemory({ field, nonResidue: null, a: [], b: [], wordBytes }, lanes);
  const prime = functionsOf(module, field);
  const define = (formula: Formula): number => prime.formula(lanes, formula);
  const elementwise = {
    multiply: define(plainProduct),
    multiplyAdd: define(productPlus(1)),
    multiplySubtract: define(productPlus(-1)),
    add: define(sumFormula({ a: 1, b: 1 })),
    subtract: define(sumFormula({ a: 1, b: -1 })),
  };
  const functions = {
    ...{ lanes, field, ...elementwise },
    squareMultiply: addSquareMultiply(module, { lanes, bytes: field.bytes, multiply: elementwise.multiply }),
    butterflies: addButterflies(module, { lanes, ...elementwise, subtractTwice: define(sumFormula({ a: 1, b: -2 })) }),
    isZero: prime.isZero(),
    split: splitOf(module, field, wordBytes),
    join: prime.join(wordBytes),
  };
  return { module, functions, memory };
};

/** Adds `squareMultiply` as products in memory. */
const addSquareMultiply = (
  module: WasmModule,
  { lanes, bytes, multiply }: Pick<VectorFunctions, 'lanes' | 'multiply'> & { readonly bytes: number },
): VectorFunctions['squareMultiply'] => {
  const index = module.add(null, { parameters: ['i32', 'i32', 'i32', 'i32'] }, (code, to, a, b, times) => {
    const at = (base: Local): Address[] => range(lanes).map((lane) => [base, lane * bytes]);
    code.call(multiply, ...at(to), ...at(a), ...at(a));
    code.get(times).i32(1).do('i32.sub').tee(times);
    code.if(() => code.countDown(times, () => code.call(multiply, ...at(to), ...at(to), ...at(to))));
    code.call(multiply, ...at(to), ...at(to), ...at(b));
  });
  return { index, elements: lanes };
};

/* Butterflies that are made of products, sums and differences in memory. */

interface ButterflyParts extends Pick<VectorFunctions, 'multiply' | 'add'> {
  readonly lanes: Lanes;
  /** Index of (to, a, b): a − 2·b. */
  readonly subtractTwice: number;
}

type Name = 'x' | 'y' | 'w';

/** A call with elements by name. */
type Step = readonly [index: number, ...names: readonly Name[]];

/** Adds butterflies whose results are elements like all others. */
const addButterflies = (module: WasmModule, { lanes, multiply, add, subtractTwice }: ButterflyParts): Butterflies => {
  const define = (operands: 2 | 3, ...steps: readonly Step[]): number =>
    module.add(null, { parameters: range(operands * lanes).map(() => 'i32' as const) }, (code) => {
      const own = (which: number): Local[] => range(lanes).map((lane) => code.parameter(which * lanes + lane));
      const addresses: Readonly<Record<Name, readonly Address[]>> = { x: own(0), y: own(1), w: own(2) };
      for (const [index, ...names] of steps) {
        const all = names.flatMap((name) => [...addresses[name]]);
        code.call(index, ...all);
      }
    });
  // x − y is (x + y) − 2·y: no other memory is written, so threads that share it can do the same
  const sums = define(2, [add, 'x', 'x', 'y'], [subtractTwice, 'y', 'x', 'y']);
  const dif = define(3, [add, 'x', 'x', 'y'], [subtractTwice, 'y', 'x', 'y'], [multiply, 'y', 'y', 'w']);
  const dit = define(3, [multiply, 'y', 'y', 'w'], [add, 'x', 'x', 'y'], [subtractTwice, 'y', 'x', 'y']);
  const inFrequency = { difFirst: dif, difOdd: dif, difEven: dif, difLast: sums };
  return { arePaired: false, sums, ...inFrequency, ditFirst: sums, dit, ditLast: dit };
};
