/**
 * Opens WebGPU in Node: Dawn, from the npm package `webgpu`.
 *
 * Dawn's object has to stay reachable while anything runs on it: otherwise the process crashes
 * after a garbage collection. While it is reachable, Node does not exit. So this module owns it:
 * call `openGpu` at the start and `closeGpu` at the end.
 */
import { create } from 'webgpu';

export { adapterLine, describeAdapter } from './adapter-line.mjs';

/** @typedef {import('./adapter-line.mjs').Adapter} Adapter */

/** @type {GPU | undefined} */
let opened;

/**
 * Returns the one `GPU` of this process, and opens it on the first call.
 *
 * @param {string[]} [flags] Dawn's flags, as `create` of `webgpu` takes them, such as `backend=null`
 *   or `disable-dawn-features=timestamp_quantization`. Only the first call's flags count.
 * @returns {GPU}
 */
export function openGpu(flags = []) {
  if (opened === undefined) {
    opened = create(flags);
    if (process.env.WEBGPU_MSM_ADAPTER_KIND === 'software') pauseBetweenTurns();
  }
  return opened;
}

/** With this pause, polling takes a few percent of a core, and a dispatch of 1 ms is still timed */
const PAUSE_MS = 0.3;

/** Node's own function, also while a test has a fake clock. */
const { setImmediate } = globalThis;

const never = new Int32Array(new SharedArrayBuffer(4));

/**
 * Pauses in every turn of the event loop. While the GPU works, Dawn for Node polls it in every
 * turn and so takes a core. On a software adapter, which needs that core, an MSM takes 1.4 times
 * as long without the pause (docs/reference/performance.md). An unreferenced immediate neither
 * keeps the process alive nor wakes an idle loop.
 */
function pauseBetweenTurns() {
  if (opened === undefined) return;
  Atomics.wait(never, 0, 0, PAUSE_MS);
  setImmediate(pauseBetweenTurns).unref();
}

/**
 * Drops the reference to Dawn, so that Node can exit. Destroy all devices first. A later `openGpu`
 * opens a new one.
 */
export function closeGpu() {
  opened = undefined;
}
