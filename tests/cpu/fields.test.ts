/** Vectors of field elements on the CPU, in every form of arithmetic. */
import { createFieldEngine } from '../../src/fields.js';
import { describeVectors } from '../support/field-vectors.js';
import { arithmeticsHere } from '../support/kernels.js';

for (const arithmetic of arithmeticsHere) {
  describeVectors(arithmetic, () => createFieldEngine({ field: 'bn254-fr', arithmetic }), { on: 'cpu', arithmetic });
}
