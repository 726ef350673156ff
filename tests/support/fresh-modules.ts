/**
 * Set-up of a test file that shares its process with the files before it (vitest.config.ts): it
 * gets modules of its own, as in a process of its own, but the devices of support/gpu.ts stay.
 * Compiling the kernels of one MSM takes a hundred times as long as running them.
 */
import { vi } from 'vitest';

vi.resetModules();
vi.useRealTimers();
(globalThis as { [key: symbol]: unknown })[Symbol.for('webgpu-msm tests')] ??= {
  spares: [],
  pipelines: new WeakMap(),
};
