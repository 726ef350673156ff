/** What `npm run bench` has of this folder, built by vite.bench.config.ts: the same modes, rows and statistics as the page. */
export { toChromeTrace, toCsv, toJson } from './export.js';
export { formatProgress } from './format.js';
export { parseKnobs, runKnobs } from './knobs.js';
export { startBench } from './modes/index.js';
export { modes } from './modes.js';
export { reportLines } from './report.js';
export { Run } from './run.js';
export { engineKnobs } from './settings.js';
