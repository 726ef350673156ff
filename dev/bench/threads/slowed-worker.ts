/**
 * A worker of the package that adds at a third of its speed, like one whose core is shared. It
 * wraps `WebAssembly.instantiate` before the first message arrives, so the package needs no change.
 */
import '../../../src/msm/cpu/worker.js';
import { SLOWED_TIMES, slowedDown } from './slow-down.js';

const instantiate = WebAssembly.instantiate as (
  module: WebAssembly.Module,
  imports: WebAssembly.Imports,
) => Promise<WebAssembly.Instance>;

Object.assign(WebAssembly, {
  async instantiate(module: WebAssembly.Module, imports: WebAssembly.Imports): Promise<WebAssembly.Instance> {
    const { exports } = await instantiate(module, imports);
    return { exports: { ...exports, add: slowedDown(exports.add as () => void, SLOWED_TIMES) } };
  },
});
