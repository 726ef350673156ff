// @ts-nocheck: tests/package/places.test.ts copies this folder into a project that has the package,
// and writes case.js.
import { points, scalars } from './case.js';

/**
 * Few slots and threads, and unsigned products: the walk then compiles faster. And nothing on the
 * CPU, however few points there are.
 */
const tuning = { walkerSlots: 4, walkerThreadsPerWorkgroup: 8, fieldProduct: 'unsigned', cpuBelow: 0 };

/**
 * An MSM from an engine of its own; what comes back can be written as JSON.
 *
 * @param createMsmEngine of the library, wherever a place has it from
 */
export async function multiplyWith(createMsmEngine, options = {}) {
  const engine = await createMsmEngine({ curve: 'bn254', ...options, tuning: { ...tuning, ...options.tuning } });
  const bases = await engine.loadBases(points);
  const { x, y, infinity } = await engine.msm(bases, scalars);
  const { phases } = engine.lastRun;
  engine.destroy();
  return {
    point: { x: String(x), y: String(y), infinity },
    phases: phases?.map(({ name }) => name) ?? null,
  };
}

/** Returns the result of `work`, or the reason why it fails. */
export const attempt = (work) => work().catch((error) => ({ error: String(error?.stack ?? error) }));

/** Leaves an outcome in the page, for the test. */
export function tell(outcome) {
  document.querySelector('output').textContent = JSON.stringify(outcome);
}
