/** Exports of this folder and of the bench for main.mjs, which vite.bench.config.ts builds. */

export { knobsOf } from '../../dev/bench/knob-names.js';
export { parseKnobs } from '../../dev/bench/knobs.js';
export { ownLibrary } from '../../dev/bench/library-of.js';
export { knobHelp } from '../../dev/bench/run-knobs.js';
export { settingKnobs } from '../../dev/bench/settings.js';
export { cards, cyclesOfCards, kernelsOfPrediction } from './cards.js';
export { chipNames, chips, takesVulkanMemoryModel } from './chips.js';
export { docsTable, kernelsOfTable, sourcesOf, tableChips } from './docs-table.js';
export { driverOf, figuresOf } from './figures.js';
export { curves, fieldKernels, stageKernels, vectorKernels } from './kernels.js';
export { forNaga, threadsOf, toCuda } from './nvidia-cuda.js';
export { nvidiaStatistics } from './nvidia-sass.js';
export { predictionTable } from './prediction-table.js';
export { chipReport } from './report.js';
