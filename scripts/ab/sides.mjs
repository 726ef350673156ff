import { pathToFileURL } from 'node:url';
import { openGpu } from '../adapter/open-gpu.mjs';
import { UsageError } from '../command-line.mjs';

/** @typedef {import('./options.mjs').SideOptions} SideOptions */

/**
 * The engine of one side, out of its build.
 *
 * @param {SideOptions} side
 * @returns {Promise<import('../../src/api.js').MsmEngine>}
 */
export async function createEngine({ name, tuning, library }) {
  /** @type {Partial<typeof import('../../src/index.js')>} */
  const { createMsmEngine } = await import(pathToFileURL(library).href);
  if (createMsmEngine === undefined) {
    throw new UsageError(`--${name.toLowerCase()}-build: ${library} exports no createMsmEngine`);
  }
  return createMsmEngine({
    curve: 'bn254',
    gpu: openGpu(),
    powerPreference: 'high-performance',
    // this is about the GPU, however small n is, unless somebody says otherwise
    tuning: { cpuBelow: 0, ...tuning },
  });
}

/**
 * What an engine refuses of its settings is a mistake on the command line: it names the knob, and the knobs that there are.
 *
 * @template T
 * @param {SideOptions} side
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withUsageErrors({ name }, work) {
  try {
    return await work();
  } catch (error) {
    // not instanceof: another build has an MsmError of its own
    if (error instanceof Error && 'code' in error && error.code === 'bad-argument') {
      throw new UsageError(`--${name.toLowerCase()}: ${error.message}`);
    }
    throw error;
  }
}
