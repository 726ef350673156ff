/** Makes a dispatch that flips bits of a buffer, for insertion between others. */
import type { Dispatch } from './commands.js';
import type { RecordingDevice } from './recording-device.js';

const source = `
@group(0) @binding(0) var<storage, read_write> words: array<u32>;
@group(0) @binding(1) var<uniform> masks: array<vec4u, 2>; // the first word, then the masks of it and the following words

@compute @workgroup_size(1)
fn flip() {
  for (var i = 0u; i < 7u; i++) {
    let at = masks[0].x + i;
    if (at < arrayLength(&words)) {
      words[at] ^= masks[(i + 1u) >> 2u][(i + 1u) & 3u];
    }
  }
}`;

/** Largest number of words of one dispatch. */
export const MOST_WORDS = 7;

const pipelines = new WeakMap<GPUDevice, GPUComputePipeline>();

/**
 * @param first index of the first word
 * @param masks masks of that word and the following ones, at most `MOST_WORDS`
 */
export const xorWords = (
  device: RecordingDevice,
  pass: GPUComputePassDescriptor,
  buffer: GPUBuffer,
  first: number,
  masks: readonly number[],
): Dispatch => {
  const { real } = device;
  const pipeline =
    pipelines.get(real) ??
    real.createComputePipeline({ layout: 'auto', compute: { module: real.createShaderModule({ code: source }) } });
  pipelines.set(real, pipeline);
  const contents = new Uint32Array(1 + MOST_WORDS);
  contents.set([first, ...masks]);
  const uniform = device.uniform(new Uint8Array(contents.buffer));
  const entries = [
    { binding: 0, resource: { buffer } },
    { binding: 1, resource: { buffer: uniform } },
  ];
  const group = real.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
  return { kind: 'dispatch', label: 'xor', pass, pipeline, group, entries, groups: [1, 1, 1] };
};
