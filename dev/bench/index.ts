/**
 * Exports of dev/ for commands. vite.bench.config.ts builds them, because a GPU host has Node and
 * Dawn but no vite.
 */

export {
  curveGroup,
  formatCaseAddress,
  parseCurve,
  parseGroup,
  parsePointDistribution,
  parseScalarDistribution,
} from '../cases/address.js';
export { describeCases } from '../cases/select.js';
export { countTable, makeCounter } from '../count/count-msm.js';
export { countTransforms, transformTable } from '../count/count-transforms.js';
export { loadTable } from '../count/load-products.js';
export { faultNames } from '../faults/faults.js';
export { modeNames as faultModes } from '../faults/modes.js';
export { RecordingDevice } from '../faults/recording-device.js';
export { cells, docsText, judge, Tally } from '../faults/tally.js';
export { drawTrial, namedTrials, runTrial } from '../faults/trial.js';
export { execute, fuzz } from '../fuzz/execute.js';
export { executeFields, fuzzFields } from '../fuzz/fields/execute.js';
export { movedTo } from '../fuzz/program.js';
export { soak } from '../soak/soak.js';
export { nearestKnobs } from './check-knobs.js';
export { toChromeTrace, toCsv, toJson } from './export.js';
export { formatProgress } from './format.js';
export { knobsOf } from './knob-names.js';
export { needsGpu, parseKnobs } from './knobs.js';
export { ownLibrary } from './library-of.js';
export { passed } from './modes/msm-cross-check.js';
export { startBench } from './modes.js';
export { reportLines } from './report.js';
export { rowsOf } from './rows.js';
export { Run } from './run.js';
export { knobHelp, modeHelp } from './run-knobs.js';
export { settingKnobs } from './settings.js';
export { tableLines } from './table.js';
