/** Vectors whose elements are words of 64 bits. */
import { range } from '../../field/straight-line.js';
import type { WasmModule } from '../encoder/module.js';
import { WordsCode } from '../words/words-code.js';
import { type WordsField, wordsField } from '../words/words-field.js';
import { wordsFunctions } from '../words/words-functions.js';
import { formulaVectors } from './formula-vectors.js';
import type { VectorForm, VectorFunctions } from './vector-functions.js';

const addConversions = (
  module: WasmModule,
  field: WordsField,
  wordBytes: number,
): Pick<VectorFunctions, 'split' | 'join'> => ({
  split: module.add(null, { parameters: ['i32', 'i32'] }, (code) => {
    const [to, from] = [code.parameter(0), code.parameter(1)];
    for (const i of range(2 * field.words)) {
      code.get(to);
      if (4 * i < wordBytes) code.get(from).at('i32.load', 4 * i);
      else code.i32(0);
      code.at('i32.store', 4 * i);
    }
  }),
  join: module.add(null, { parameters: ['i32', 'i32'] }, (code) => {
    const [words, a] = [code.parameter(0), code.parameter(1)];
    const writer = new WordsCode(code, field);
    const kept = code.local('i64');
    for (const [i, word] of writer.canonical(writer.load(a)).entries()) {
      code
        .get(words)
        .get(word)
        .at('i64.store32', 8 * i);
      if (8 * i + 4 >= wordBytes) continue;
      code.get(word).i64(32).do('i64.shr_u').set(kept);
      code
        .get(words)
        .get(kept)
        .at('i64.store32', 8 * i + 4);
    }
  }),
});

export const wordsVectors: VectorForm = (p, wordBytes) =>
  formulaVectors({
    ...{ field: wordsField(p), lanes: 1, wordBytes },
    functionsOf: wordsFunctions,
    conversionsOf: addConversions,
  });
