// @ts-nocheck: tests/package/places-workers.test.ts copies this folder into a project that has the
// package, and writes case.js.
import { points, scalars } from './case.js';

/** How long a page may wait for what it waits for, in milliseconds: each call takes far less. */
const PATIENCE_MS = 30_000;

/**
 * Calls an engine until a call is as is wanted, or for long enough: a worker takes part only once
 * it is there.
 *
 * @param isWanted of the record of a run
 * @returns results for JSON: all sums, lost workers of any run, and the workers of the last run
 */
export async function callUntil(engine, isWanted) {
  const bases = await engine.loadBases(points);
  const sums = new Set();
  const lost = [];
  const begun = performance.now();
  do {
    const { x, y, infinity } = await engine.msm(bases, scalars);
    sums.add(JSON.stringify({ x: String(x), y: String(y), infinity }));
    lost.push(...(engine.lastRun.retried?.split('; ') ?? []));
  } while (!isWanted(engine.lastRun) && performance.now() - begun < PATIENCE_MS);
  const { on, arithmetic, workers } = engine.lastRun;
  return { sums: [...sums].map((sum) => JSON.parse(sum)), on, arithmetic, workers, lost };
}

/**
 * The same with an engine of its own, on the CPU.
 *
 * @param createMsmEngine of the library, wherever a place has it from
 */
export async function computeUntil(createMsmEngine, isWanted, options = {}) {
  const warnings = [];
  const onWarning = (message) => warnings.push(message);
  const engine = await createMsmEngine({ curve: 'bn254', backend: 'cpu', maxWorkers: 2, onWarning, ...options });
  const outcome = await callUntil(engine, isWanted);
  const { noWorkers } = engine.lastRun;
  engine.destroy();
  return { ...outcome, noWorkers, warnings, isIsolated: crossOriginIsolated, scope: self.constructor.name };
}

/** Where no worker can be had: two calls after the first failure, too. */
export function isAlone() {
  let calls = 0;
  return ({ retried }) => {
    if (retried !== null || calls > 0) calls++;
    return calls === 3;
  };
}

export const hasWorkers = ({ workers }) => workers > 0;

/** Returns the message of a worker of the page, which computes as the page would. */
export const saidBy = (worker) =>
  new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(`the worker failed: ${message}`));
  });

/** Leaves in the page what `work` gives, or why it fails. */
export async function tell(work) {
  const outcome = await work().catch((error) => ({ error: String(error?.stack ?? error) }));
  document.querySelector('output').textContent = JSON.stringify(outcome);
}
