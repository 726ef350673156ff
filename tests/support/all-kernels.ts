/** Functions that make kernels, as one entry of a build. */
export { checkKernels, watch } from '../../dev/checks/kernels.js';
export { createKernels } from '../../src/msm/stages/kernels.js';
export { programKernel } from '../../src/msm/stages/program.js';
export { scaleKernel } from '../../src/msm/stages/scale.js';
export { tablesKernels } from '../../src/msm/stages/tables.js';
