/** Vectors of field elements: transforms, products, quotients. */
export type { Priority, Progress } from './api/calls.js';
export type * from './api/fields.js';
export { createFieldEngine } from './fields/field-engine.js';
export type { CustomField, FieldEngineOptions, FieldName } from './fields/program/open-field.js';
export { MsmError } from './index.js';
