/** A shader in which one number, or one operator, is another one. */
import { applied, type Change, lineOf, wgslChanges } from '../../scripts/mutate/operators.mjs';
import type { Random } from '../oracle/known-bases.js';
import type { RecordingDevice } from './recording-device.js';

/** A driver ends what never ends; SwiftShader does not. So what decides how often something is done is left as it is. */
const decidesHowOften = /^const |\b(for|while|loop|break|continue)\b/;

/** @returns the source with one change, and what it is */
export const mutate = (random: Random, source: string): { readonly source: string; readonly change: string } => {
  const lines = source.split('\n');
  const changes = wgslChanges(source, false).filter(
    ({ at }) => !decidesHowOften.test(lines[lineOf(source, at) - 1] as string),
  );
  const change = changes[random.below(changes.length)] as Change;
  return { source: applied(source, change), change: `${lineOf(source, change.at)}: ${change.what}` };
};

const TRIES = 10;

/** A pipeline that does not do quite what another does; null if no change compiles. */
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
      // such as an array without elements: another change
    }
  }
  return null;
};
