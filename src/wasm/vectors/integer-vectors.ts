/** Vectors whose elements are signed limbs of up to 29 bits, in one lane or two. */
import { integerFunctions } from '../arithmetic/elements.js';
import { splitNumber } from '../arithmetic/enter-numbers.js';
import { type WasmField, wasmField } from '../arithmetic/field-programs.js';
import type { Lanes } from '../arithmetic/lane-code.js';
import { addReduce, addWriteWords } from '../arithmetic/plain-numbers.js';
import type { WasmModule } from '../encoder/module.js';
import { formulaVectors } from './formula-vectors.js';
import type { VectorForm, VectorFunctions } from './vector-functions.js';

const addConversions = (
  module: WasmModule,
  field: WasmField,
  wordBytes: number,
): Pick<VectorFunctions, 'split' | 'join'> => {
  const parts = { module, field, wordBytes };
  const [reduce, write] = [addReduce(parts), addWriteWords(parts)];
  return {
    split: module.add(null, { parameters: ['i32', 'i32'] }, (code) =>
      splitNumber(code, field, wordBytes, [code.parameter(1), 0], code.parameter(0)),
    ),
    join: module.add(null, { parameters: ['i32', 'i32'] }, (code) => {
      const [words, a] = [code.parameter(0), code.parameter(1)];
      code.get(a).call(reduce).get(words).get(a).call(write);
    }),
  };
};

export const integerVectors =
  (lanes: Lanes): VectorForm =>
  (p, wordBytes) =>
    formulaVectors({
      ...{ field: wasmField(p, 1), lanes, wordBytes },
      functionsOf: integerFunctions,
      conversionsOf: addConversions,
    });
