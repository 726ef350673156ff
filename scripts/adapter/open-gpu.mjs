/**
 * WebGPU in Node: Dawn, as the npm package `webgpu` has it.
 *
 * Dawn's object has to stay reachable for as long as anything runs on it, or the process crashes after a garbage
 * collection; and as long as it is reachable, Node does not exit. So this module owns it: `openGpu` when it begins,
 * `closeGpu` when all is done.
 */
import { create } from 'webgpu';

export { adapterLine, describeAdapter } from './adapter-line.mjs';

/** @typedef {import('./adapter-line.mjs').Adapter} Adapter */

/** @type {GPU | undefined} */
let opened;

/**
 * @param {string[]} [flags] Dawn's, as `create` of `webgpu` takes them, such as `backend=null` or
 *   `disable-dawn-features=timestamp_quantization`. They count only for the call that opens it.
 * @returns {GPU}
 */
export function openGpu(flags = []) {
  if (opened === undefined) {
    opened = create(flags);
    if (process.env.WEBGPU_MSM_ADAPTER_KIND === 'software') pauseBetweenTurns();
  }
  return opened;
}

/** Long enough that the waiting takes a few percent of a core, short enough that a dispatch of a millisecond shows. */
const PAUSE_MS = 0.3;

const never = new Int32Array(new SharedArrayBuffer(4));

/**
 * While anything is under way, Dawn for Node asks in every turn of the event loop whether it is done, and so takes a core of its own.
 * Where the GPU is that same CPU, an MSM took 1.4 times as long for it (docs/performance.md). So every turn sleeps a little. An
 * unreferenced immediate keeps no process alive and does not wake a loop that has nothing to do.
 */
function pauseBetweenTurns() {
  if (opened === undefined) return;
  Atomics.wait(never, 0, 0, PAUSE_MS);
  setImmediate(pauseBetweenTurns).unref();
}

/** Lets go of Dawn, so that Node can exit. Destroy the devices before; a later `openGpu` starts a new one. */
export function closeGpu() {
  opened = undefined;
}
