// @ts-nocheck: see multiply.js
import { createMsmEngine } from '/node_modules/webgpu-msm/dist/index.js';
import { points, scalars } from './case.js';
import { attempt, tell } from './multiply.js';

/** Number of calls that wait at any time. */
const CALLERS = 8;
/** A page that never stood still says so after so many calls, by what it leaves out. */
const MOST_CALLS = 5000;
/** Between two turns of a timer that is due every 20 ms. */
const STANDSTILL_MS = 1000;

/**
 * Calls until the test has stopped the page's script and let it go on, and one more of each caller:
 * the title says that they are under way.
 */
async function manyCalls() {
  const engine = await createMsmEngine({
    curve: 'bn254',
    backend: 'gpu',
    tuning: { walkerSlots: 4, walkerThreadsPerWorkgroup: 8 },
    sharing: { merge: false },
  });
  const bases = await engine.loadBases(points);
  let stoodStill = false;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    stoodStill ||= document.title === 'calling' && now - last > STANDSTILL_MS;
    last = now;
  }, 20);
  const sums = new Set();
  let made = 0;
  const call = async () => {
    made++;
    const { x, y, infinity } = await engine.msm(bases, scalars);
    sums.add(JSON.stringify({ x: String(x), y: String(y), infinity }));
  };
  await call();
  last = performance.now();
  document.title = 'calling';
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      while (!stoodStill && made < MOST_CALLS) {
        await call();
      }
      await call();
    }),
  );
  clearInterval(timer);
  const { done, failed } = engine.stats;
  engine.destroy();
  // loading the bases is a call, too
  return { points: [...sums].map((each) => JSON.parse(each)), uncounted: made + 1 - done, failed, stoodStill };
}

tell({ manyCalls: await attempt(manyCalls) });
