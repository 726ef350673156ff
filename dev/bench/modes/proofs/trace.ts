/** Traces the sums and the runs of vectors of a proof on one thread. */
import { CpuVectors } from '../../../../src/fields/cpu/cpu-vectors.js';
import { CpuBackend } from '../../../../src/msm/cpu/cpu-backend.js';
import type { ProofGraph, ProofPart } from './spread.js';

type Work = (...given: never[]) => Promise<unknown>;

/**
 * Returns the parts of a proof. They are computed one at a time, so that each is timed alone; a part waits for
 * those that had ended when it was asked for.
 *
 * @param prove makes a proof on one thread, with all that is compiled. Nothing else may prove meanwhile
 */
export const traceProof = async (prove: () => Promise<unknown>): Promise<ProofGraph> => {
  const parts: (ProofPart & { ms: number })[] = [];
  const ended: number[] = [];
  let turn: Promise<unknown> = Promise.resolve();
  const traced = <Method extends Work>(kind: ProofPart['kind'], compute: Method): Method => {
    const method = function (this: unknown, ...given: Parameters<Method>) {
      const part = { kind, ms: 0, after: [...ended] };
      const number = parts.push(part) - 1;
      const computed = turn.then(async () => {
        const begun = performance.now();
        const result = await compute.apply(this, given);
        part.ms = performance.now() - begun;
        ended.push(number);
        return result;
      });
      turn = computed.catch(() => undefined);
      return computed;
    };
    return method as unknown as Method;
  };
  const { multiply } = CpuBackend.prototype;
  const { execute } = CpuVectors.prototype;
  CpuBackend.prototype.multiply = traced('sum', multiply);
  CpuVectors.prototype.execute = traced('vectors', execute);
  try {
    const begun = performance.now();
    await prove();
    const ms = performance.now() - begun;
    return { parts, restMs: Math.max(0, ms - parts.reduce((sum, part) => sum + part.ms, 0)) };
  } finally {
    CpuBackend.prototype.multiply = multiply;
    CpuVectors.prototype.execute = execute;
  }
};
