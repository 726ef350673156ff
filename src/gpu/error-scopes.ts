import { MsmError } from '../errors.js';
import { type WaitRequest, watchOf } from './device-watch.js';
import { OUT_OF_MEMORY_ADVICE } from './ledger.js';

/**
 * Runs synchronous WebGPU calls inside error scopes, so that their errors do not reach the caller's
 * scopes and handlers.
 *
 * @throws MsmError `out-of-memory`, `internal`
 */
export const inErrorScopes = (device: GPUDevice, calls: () => void, request: WaitRequest): Promise<void> => {
  const watch = watchOf(device);
  device.pushErrorScope('validation');
  device.pushErrorScope('internal');
  device.pushErrorScope('out-of-memory');
  const pop = async (): Promise<void> => {
    const [memory, internal, validation] = await Promise.all([
      watch.wait(device.popErrorScope(), request),
      watch.wait(device.popErrorScope(), request),
      watch.wait(device.popErrorScope(), request),
    ]);
    if (memory) {
      throw new MsmError('out-of-memory', `the GPU is out of memory: ${memory.message}; ${OUT_OF_MEMORY_ADVICE}`);
    }
    const error = validation ?? internal;
    if (error) {
      throw new MsmError('internal', `WebGPU refused a command: ${error.message}. Please report it, with the adapter`);
    }
  };
  try {
    calls();
  } catch (error) {
    pop().catch(() => undefined);
    throw error;
  }
  return pop();
};
