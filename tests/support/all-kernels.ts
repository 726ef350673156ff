/** What makes kernels, as one entry of a build. */
export { createKernels } from '../../src/stages/kernels.js';
export { programKernel } from '../../src/stages/program.js';
export { tablesKernels } from '../../src/stages/tables.js';
