/** Every row that there is, in the order in which they are printed. */
import { batch } from './batch.mjs';
import { cold } from './cold.mjs';
import { cost } from './cost.mjs';
import { distributions } from './distributions.mjs';
import { efficiency } from './efficiency.mjs';
import { gpuTime } from './gpu-time.mjs';
import { memory } from './memory.mjs';
import { small } from './small.mjs';
import { work } from './work.mjs';

/**
 * @typedef {import('../findings.mjs').Finding} Finding
 * @typedef {import('../workbench.mjs').Workbench} Workbench
 *
 * @typedef {{ readonly software: boolean, readonly logn: number }} Conditions
 *
 * @typedef {object} Row
 * @property {string} name for --rows
 * @property {true} [first] whether it must be measured before anything else is, in this process
 * @property {(bench: Workbench) => Promise<any>} measure throws where a result is wrong
 * @property {(measured: any, conditions: Conditions) => Finding[]} judge takes what `measure` gave
 */

/** @type {readonly Row[]} */
export const rows = [work, efficiency, cost, gpuTime, distributions, small, batch, memory, cold];
