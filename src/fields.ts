/** Vectors of field elements: transforms, products, quotients. */
export type { Priority, Progress } from './api/calls.js';
export type * from './api/fields.js';
export { createFieldEngine } from './fields/create-field-engine.js';
export type { CustomField, FieldEngineOptions, FieldName } from './fields/program/options.js';
export { MsmError } from './index.js';
