// @ts-nocheck: tests/package/places.test.ts copies this folder into a project that has the package,
// and writes case.js.
/** The README's first program, and a larger sum, where the page has no WebGPU. */
import { points, scalars } from '../case.js';

Object.defineProperty(Navigator.prototype, 'gpu', { get: () => undefined });

async function compute() {
  const { createMsmEngine } = await import('../node_modules/webgpu-msm/dist/index.js');
  const engine = await createMsmEngine({ curve: 'bn254' });
  const generator = { x: 1n, y: 2n, infinity: false };
  const bases = await engine.loadBases([generator, generator]);
  const { x } = await engine.msm(bases, [2n, 3n]);
  const larger = await engine.loadBases(points);
  const sum = await engine.msm(larger, scalars);
  const { on, arithmetic } = engine.lastRun;
  engine.destroy();
  return {
    ...{ backends: engine.backends, on, arithmetic, fiveTimes: String(x) },
    point: { x: String(sum.x), y: String(sum.y), infinity: sum.infinity },
  };
}

const outcome = await compute().catch((error) => ({ error: String(error) }));
document.querySelector('output').textContent = JSON.stringify({ page: outcome });
