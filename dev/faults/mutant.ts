/** Makes mutants: shaders with one changed number or operator. */
import { applied, type Change, lineOf, wgslChanges } from '../../scripts/mutate/operators.js';
import type { Random } from '../oracle/known-bases.js';
import type { RecordingDevice } from './recording-device.js';

/**
 * Matches lines that decide how often something runs. They stay as they are, because SwiftShader
 * does not end endless loops.
 */
const decidesHowOften = /^const |\b(for|while|loop|break|continue)\b/;

/** @returns the source with one change, and a description of the change */
export const mutate = (random: Random, source: string): { readonly source: string; readonly change: string } => {
  const lines = source.split('\n');
  const changes = wgslChanges(source, false).filter(
    ({ at }) => !decidesHowOften.test(lines[lineOf(source, at) - 1] as string),
  );
  const change = changes[random.below(changes.length)] as Change;
  return { source: applied(source, change), change: `${lineOf(source, change.at)}: ${change.what}` };
};

const TRIES = 10;

/** Returns a pipeline with one change against another; null if no change compiles. */
export const mutantOf = async (
  random: Random,
  device: RecordingDevice,
  pipeline: GPUComputePipeline,
): Promise<{ readonly pipeline: GPUComputePipeline; readonly change: string } | null> => {
  const { descriptor, source } = device.madeOf(pipeline);
  const { real } = device;
  for (let i = 0; i < TRIES; i++) {
    const mutant = mutate(random, source);
    if (mutant.source === source) continue;
    real.pushErrorScope('validation');
    const module = real.createShaderModule({ code: mutant.source });
    const error = await real.popErrorScope();
    if (error !== null) continue;
    try {
      const { change } = mutant;
      return {
        pipeline: await real.createComputePipelineAsync({ ...descriptor, compute: { ...descriptor.compute, module } }),
        change,
      };
    } catch {
      // a change such as an array without elements does not compile; try another one
    }
  }
  return null;
};
