// @ts-nocheck: see multiply.js
import { createMsmEngine } from '/node_modules/webgpu-msm/dist/index.js';
import { points, scalars } from './case.js';
import { attempt, tell } from './multiply.js';

const CALLS = 40;

/** Many calls, during which the test freezes the page: `document.title` says how many are done. */
async function manyCalls() {
  const engine = await createMsmEngine({
    curve: 'bn254',
    backend: 'gpu',
    tuning: { walkerSlots: 4, walkerThreadsPerWorkgroup: 8 },
    sharing: { merge: false },
  });
  const bases = await engine.loadBases(points);
  await engine.msm(bases, scalars);
  const events = [];
  document.addEventListener('freeze', () => events.push('freeze'));
  document.addEventListener('resume', () => events.push('resume'));
  document.title = 'begun';
  let done = 0;
  const sums = await Promise.all(
    Array.from({ length: CALLS }, async () => {
      const { x, y, infinity } = await engine.msm(bases, scalars);
      document.title = `${++done} done`;
      return JSON.stringify({ x: String(x), y: String(y), infinity });
    }),
  );
  const { done: counted, failed } = engine.stats;
  engine.destroy();
  return { points: [...new Set(sums)].map((each) => JSON.parse(each)), counted, failed, events };
}

tell({ manyCalls: await attempt(manyCalls) });
