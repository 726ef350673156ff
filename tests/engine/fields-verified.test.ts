/**
 * All operations on a GPU whose results are verified.
 *
 * @module-tag long
 */
import { createFieldEngine } from '../../src/fields.js';
import { describeVectors } from '../support/field-vectors.js';
import { getDevice } from '../support/gpu.js';

const open = async () => createFieldEngine({ field: 'bn254-fr', device: await getDevice(), verify: true });

describeVectors('the GPU, verified', open, { on: 'gpu', verified: true });
