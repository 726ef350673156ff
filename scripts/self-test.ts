/** npm run bench -- self-test: its lines of JSON also have the times of compiling. */
import { writeFileSync } from 'node:fs';
import { closeGpu, openGpu } from './adapter/open-gpu.mjs';
import { ensureBuilt, project } from './builds.mjs';
import { adapterOption, command, onAdapter, outputFile, valued } from './command-line.js';
import { requestDevice } from './device.js';
import { openLibrary } from './run-bench.js';

const GENERATOR = { x: 1n, y: 2n, infinity: false };

async function selfTest(json: string | undefined): Promise<void> {
  ensureBuilt('library');
  const { createMsmEngine } = await openLibrary(project);
  const gpu = openGpu();
  let isRight = true;
  const rows: object[] = [];
  for (const fieldProduct of ['unsigned', 'fma', 'dot4'] as const) {
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
    rows.push({ adapter, asked: fieldProduct, selfTest, error, pipelines });
    console.log(JSON.stringify(rows.at(-1)));
    engine.destroy();
    device.destroy();
  }
  closeGpu();
  if (json !== undefined) writeFileSync(json, JSON.stringify(rows));
  if (!isRight) process.exitCode = 1;
}

export const selfTestCommand = command({
  about: 'tests an engine with each field product on the adapter, with tables',
  usage: 'usage: npm run bench -- self-test [options]',
  options: { json: valued('FILE', 'also write the results to a file', outputFile), adapter: adapterOption },
  run: ({ json, adapter }) => onAdapter(adapter, () => selfTest(json)),
});
