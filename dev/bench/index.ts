/** What commands have of dev/, built by vite.bench.config.ts: a GPU host has Node, Dawn and what was built, and no vite. */
export { formatCaseAddress, parsePointDistribution, parseScalarDistribution } from '../cases/address.js';
export { describeCases } from '../cases/select.js';
export { makeCounter } from '../count/count-msm.js';
export { countTable } from '../count/table.js';
export { execute, size } from '../fuzz/execute.js';
export { drawProgram } from '../fuzz/program.js';
export { shrink } from '../fuzz/shrink.js';
export { expectedLine } from './expected-time.js';
export { toChromeTrace, toCsv, toJson } from './export.js';
export { formatBytes, formatMs, formatProgress } from './format.js';
export { knobsOf, parseKnobs, runKnobs } from './knobs.js';
export { startBench } from './modes/index.js';
export { reportLines, reportOfAny } from './report.js';
export { passed, rowsOf } from './rows.js';
export { Run } from './run.js';
export { engineKnobs } from './settings.js';
export { partsOfWall, summarise } from './summary.js';
export { tableLines } from './table.js';
