#!/usr/bin/env bash
# Dawn for Node initialises a variable of a loop body once a call, not once a turn.
#
# WGSL (https://www.w3.org/TR/WGSL/#var-decls) gives a function variable without an initialiser the
# zero value of its type each time its declaration executes. Dawn's compiler Tint writes the variable
# as an OpVariable of the whole SPIR-V function, with an OpConstantNull that counts once, and no
# OpStore where the declaration stands: a turn reads what the turn before it has left. With an
# explicit initialiser (`var x = 0u;`) Tint writes the store.
#
# Linux x64, Node 20 or later, npm. Exits with 1 when the output changes.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >install.log
npm install --no-audit --no-fund webgpu@0.6.2 @sparticuz/chromium@147.0.0 >>install.log 2>&1 || {
  cat install.log
  exit 2
}

# the Vulkan driver of Chromium, which runs on the CPU, in place of a loader
node -e '
const archive = fs.readFileSync("node_modules/@sparticuz/chromium/bin/swiftshader.tar.br");
fs.writeFileSync("driver.tar", zlib.brotliDecompressSync(archive));'
tar -xf driver.tar libvk_swiftshader.so
mv libvk_swiftshader.so libvulkan.so.1

cat >turns.mjs <<'PROGRAM'
import { create, globals } from 'webgpu';

Object.assign(globalThis, globals);
let gpu = create([]); // must stay reachable while anything runs
const adapter = await gpu.requestAdapter();
const device = await adapter.requestDevice();

async function turns(declaration) {
  const code = `
    @group(0) @binding(0) var<storage, read_write> seen: array<u32>;
    @compute @workgroup_size(1) fn main() {
      for (var turn = 0u; turn < 4u; turn++) {
        ${declaration}
        if (turn == 0u) { x = 7u; }
        seen[turn] = x;
      }
    }`;
  const module = device.createShaderModule({ code });
  const pipeline = await device.createComputePipelineAsync({ layout: 'auto', compute: { module } });
  const buffer = device.createBuffer({ size: 16, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC });
  const copy = device.createBuffer({ size: 16, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  const entries = [{ binding: 0, resource: { buffer } }];
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }));
  pass.dispatchWorkgroups(1);
  pass.end();
  encoder.copyBufferToBuffer(buffer, 0, copy, 0, 16);
  device.queue.submit([encoder.finish()]);
  await copy.mapAsync(GPUMapMode.READ);
  return new Uint32Array(copy.getMappedRange()).join(' ');
}

console.log(adapter.info.description);
for (const declaration of ['var x: u32;', 'var x = 0u;']) console.log(`${declaration} ${await turns(declaration)}`);
device.destroy();
gpu = undefined;
PROGRAM

seen=$(LD_LIBRARY_PATH="$folder" node turns.mjs)
expected='SwiftShader driver 5.0.0
var x: u32; 7 7 7 7
var x = 0u; 7 0 0 0'

echo "version: webgpu 0.6.2 (Dawn for Node), SwiftShader of @sparticuz/chromium 147.0.0, Node $(node --version)"
echo "behaviour: a variable that a loop body declares without an initialiser keeps its value from turn to turn; WGSL says that it is zero in each turn, 7 0 0 0"
echo "output seen:"
echo "$seen"
[ "$seen" = "$expected" ]
