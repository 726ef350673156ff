// @ts-nocheck: tests/package/bundlers.test.ts copies this folder into projects that have the
// package, and writes case.js.
import { createMsmEngine } from 'webgpu-msm';
import { points, scalars } from './case.js';

/** How long workers may take to be there, in milliseconds. */
const PATIENCE_MS = 30_000;

/** Calls an engine on the CPU until workers take part, or it says that there are none. */
export async function compute() {
  const warnings = [];
  const onWarning = (message) => warnings.push(message);
  const engine = await createMsmEngine({ curve: 'bn254', backend: 'cpu', maxWorkers: 2, onWarning });
  const bases = await engine.loadBases(points);
  const sums = new Set();
  const begun = performance.now();
  do {
    const { x, y } = await engine.msm(bases, scalars);
    sums.add(`${x},${y}`);
  } while (
    engine.lastRun.workers === 0 &&
    engine.lastRun.noWorkers === null &&
    performance.now() - begun < PATIENCE_MS
  );
  const { workers, noWorkers } = engine.lastRun;
  engine.destroy();
  return { sums: [...sums], workers, noWorkers, warnings };
}

export const outcomeOf = () => compute().catch((error) => ({ error: String(error?.stack ?? error) }));
