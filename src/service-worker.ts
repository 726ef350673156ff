/**
 * The package as one file without dynamic imports, for service workers, where `import()` is
 * forbidden: what `webgpu-msm` exports, and the other entries but `setup` under their
 * names.
 *
 * @module
 */
export * as calibrate from './calibrate.js';
export * as circom from './circom.js';
export * as fflonk from './fflonk.js';
export * as fields from './fields.js';
export * as formats from './formats.js';
export * as groth16 from './groth16.js';
export * from './index.js';
export * as noble from './noble.js';
export * as plonk from './plonk.js';
export * as snarkjs from './snarkjs.js';
