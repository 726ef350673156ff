/**
 * Prints the SPIR-V that Dawn makes of each kernel of a list, a line `@@@ i` before each. A process of its own: Dawn writes it to the standard output,
 * and its driver is one of those that scripts/isa/setup.sh brings.
 */
import { readFileSync, writeSync } from 'node:fs';
import { create } from 'webgpu';

const COMPUTE = 4;

const [list = '', ...flags] = process.argv.slice(2);
/** @type {readonly import('../../dev/isa/kernels.js').ChipKernel[]} */
const kernels = JSON.parse(readFileSync(list, 'utf8'));
const gpu = create(['enable-dawn-features=dump_shaders', ...flags]);
const adapter = await gpu.requestAdapter();
if (adapter === null) throw new Error('Dawn finds no adapter');
// limits as the library wants them do not change what is compiled
const device = await adapter.requestDevice();
device.addEventListener('uncapturederror', ({ error }) => {
  console.error(error.message);
  process.exit(1);
});
for (const [i, { name, source, bindings }] of kernels.entries()) {
  writeSync(1, `\n@@@ ${i}\n`);
  const module = device.createShaderModule({ code: source });
  const entries = bindings.map((type, binding) => ({ binding, visibility: COMPUTE, buffer: { type } }));
  const layout = device.createPipelineLayout({ bindGroupLayouts: [device.createBindGroupLayout({ entries })] });
  device.pushErrorScope('validation');
  device.createComputePipeline({ layout, compute: { module, entryPoint: name } });
  const error = await device.popErrorScope();
  if (error !== null) {
    console.error(`${name}: ${error.message}`);
    process.exit(1);
  }
}
// drivers on fake devices have been seen to crash on the way out
process.kill(process.pid, 'SIGKILL');
