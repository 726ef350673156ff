/**
 * Commands that vite.bench.config.ts builds together with the bench, because a GPU host has Node
 * and Dawn but no vite.
 */
export { bench } from './bench.js';
export { correctness } from './correctness.js';
export { start } from './start.js';
export { stress } from './stress.js';
