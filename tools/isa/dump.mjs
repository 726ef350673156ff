/**
 * Prints the SPIR-V that Dawn makes of each kernel of a list, with a line `@@@ i` before each. This
 * is a process of its own: Dawn writes the SPIR-V to standard output, and its driver is one that
 * compilers/setup.sh installs.
 */
import { readFileSync, writeSync } from 'node:fs';
import { create } from 'webgpu';

const COMPUTE = 4;

const [list = '', ...flags] = process.argv.slice(2);
/** @type {readonly import('./kernels.js').ChipKernel[]} */
const kernels = JSON.parse(readFileSync(list, 'utf8'));
const gpu = create(['enable-dawn-features=dump_shaders', ...flags]);
const adapter = await gpu.requestAdapter();
if (adapter === null) throw new Error('Dawn finds no adapter');
// default limits: those that the library requests do not change the compiled code
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
// drivers on fake devices may crash as the process ends
process.kill(process.pid, 'SIGKILL');
