/** Warm MSMs of random scalars over distinct points: wall, GPU time by phase, cost. */
import { median } from '../start/measure.mjs';

/**
 * @typedef {import('./workbench.mjs').Workbench} Workbench
 * @typedef {import('../../src/api.js').PhaseTime} PhaseTime
 *
 * @typedef {object} Run
 * @property {number} wallMs
 * @property {number} productEquivalents wall × the rate of the plain 13-bit product, measured before and after
 * @property {readonly PhaseTime[] | null} phases
 *
 * @typedef {object} Baseline
 * @property {number} n
 * @property {readonly Run[]} runs
 * @property {number} wallMs median
 * @property {number} productEquivalents median
 * @property {number | null} gpuMs median of what the phases on the GPU take together; null without timestamps
 * @property {number | null} aboveGpuMs median of the wall less that
 * @property {number | null} notArithmetic median share of the wall that is in no phase of additions
 * @property {import('../../src/index.js').Tuning} tuning
 */

/**
 * @param {Workbench} bench
 * @param {import('./workbench.mjs').Stage} stage
 * @param {{ measure(): Promise<number> }} meter
 * @returns {Promise<Baseline>}
 */
export async function timeBaseline(bench, { n, engine, contestant, rounds }, meter) {
  const rateAround = await bench.tools.ratesAround(meter);
  /** @type {Run[]} */
  const runs = [];
  for (let rep = 0; rep < bench.reps; rep++) {
    bench.progress(`n = ${n}: run ${rep + 1} of ${bench.reps}`);
    const round = /** @type {import('../../dev/ab/contestant.js').Round} */ (rounds[rep % rounds.length]);
    const wallMs = await contestant.time(round);
    const phases = engine.lastRun?.phases ?? null;
    runs.push({ wallMs, productEquivalents: (wallMs / 1000) * (await rateAround()), phases });
  }
  const { tuning } = /** @type {import('../../src/api.js').RunRecord} */ (engine.lastRun);
  return { n, ...summariseRuns(runs), tuning };
}

/**
 * @param {readonly Run[]} runs at least one
 */
export function summariseRuns(runs) {
  const timed = runs.flatMap(({ wallMs, phases }) => (phases === null ? [] : [{ wallMs, ...split(phases) }]));
  const ofTimed = (/** @type {(run: (typeof timed)[0]) => number} */ value) =>
    timed.length < runs.length ? null : median(timed.map(value));
  return {
    runs,
    wallMs: median(runs.map(({ wallMs }) => wallMs)),
    productEquivalents: median(runs.map(({ productEquivalents }) => productEquivalents)),
    gpuMs: ofTimed(({ gpuMs }) => gpuMs),
    aboveGpuMs: ofTimed(({ wallMs, gpuMs }) => wallMs - gpuMs),
    notArithmetic: ofTimed(({ wallMs, arithmeticMs }) => (wallMs - arithmeticMs) / wallMs),
  };
}

const ON_CPU = 'fold (CPU)';
const ARITHMETIC = ['walk', 'combine', 'reduce', ON_CPU];

/** @param {readonly PhaseTime[]} phases */
function split(phases) {
  const sum = (/** @type {(name: string) => boolean} */ wanted) =>
    phases.reduce((total, { name, ms }) => (wanted(name) ? total + ms : total), 0);
  return { gpuMs: sum((name) => name !== ON_CPU), arithmeticMs: sum((name) => ARITHMETIC.includes(name)) };
}
