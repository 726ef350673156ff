/** Vectors of field elements on the GPU. */
import { createFieldEngine } from '../../src/fields.js';
import { describeVectors } from '../support/field-vectors.js';
import { getDevice } from '../support/gpu.js';

const open = async () => createFieldEngine({ field: 'bn254-fr', device: await getDevice() });

describeVectors('the GPU', open, { on: 'gpu' });
