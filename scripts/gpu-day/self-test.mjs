/**
 * Tests an engine with each field product on the adapter, for scripts/gpu-day.mjs. Prints a line of
 * JSON for each: its self-test, with tables, and the times of compiling.
 */
import { closeGpu, openGpu } from '../adapter/open-gpu.mjs';
import { openLibrary, project } from '../builds.mjs';
import { onAdapter } from '../command-line.mjs';
import { requestDevice } from '../device.mjs';

const GENERATOR = { x: 1n, y: 2n, infinity: false };

await onAdapter(process.argv[2], async () => {
  const { createMsmEngine } = await openLibrary(project);
  const gpu = openGpu();
  let isRight = true;
  for (const fieldProduct of /** @type {const} */ (['unsigned', 'signed', 'fma', 'dot4'])) {
    const device = await requestDevice();
    const engine = await createMsmEngine({ curve: 'bn254', device, gpu, tuning: { fieldProduct, cpuBelow: 0 } });
    // SwiftShader's compiler crashes on the kernels with dot products
    if (engine.adapter.software && fieldProduct === 'dot4') break;
    let error = null;
    try {
      await engine.warmup(2 ** 16);
      const bases = await engine.loadBases([GENERATOR], { precompute: 2 });
      await engine.msm(bases, [5n]);
    } catch (thrown) {
      error = String(thrown);
    }
    const { selfTest, pipelines, adapter } = engine;
    isRight &&= error === null && selfTest?.failed === null;
    console.log(JSON.stringify({ adapter, asked: fieldProduct, selfTest, error, pipelines }));
    engine.destroy();
    device.destroy();
  }
  closeGpu();
  if (!isRight) process.exitCode = 1;
});
