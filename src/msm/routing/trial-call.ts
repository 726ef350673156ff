/** Computes a call with a trial: a small part runs on the GPU and is timed, the rest on the CPU. */
import type { CurveContext } from '../../curves/curve.js';
import { MsmError } from '../../errors.js';
import type { CallContext } from '../../session/call-context.js';
import type { MsmDone, MsmRequest } from '../request.js';
import type { Halves } from './divided-call.js';
import type { Estimate, Estimates, RoutingFacts } from './estimates.js';
import { joinedRecord } from './joined-record.js';
import { cutsOf, PartialSums, partsOf, type ScalarRange } from './ranges.js';

/**
 * Computes a call with a trial of the GPU. If the GPU fails, the CPU computes all of the call, and
 * the GPU is tried no more.
 */
export const computeTrial = async (
  curve: CurveContext,
  { gpu, cpu }: Halves,
  request: MsmRequest,
  call: CallContext,
  estimates: Estimates,
  facts: RoutingFacts,
  { first, models }: Estimate,
): Promise<MsmDone> => {
  const { vectors, n, bases } = request;
  const to = cutsOf(vectors, n)(Math.ceil(first * n));
  const partOf = (range: ScalarRange) => {
    const parts = partsOf(vectors, curve.scalarBytes, range);
    const own = parts.map(({ scalars }) => scalars);
    const surveyed = gpu.survey(bases, own);
    const loads = surveyed.map(({ load }) => load).filter((load) => load.n > 0);
    return { parts, loads, request: { ...request, vectors: own, surveyed } };
  };
  const [front, back] = [partOf({ from: 0, to }), partOf({ from: to, to: n })];
  if (front.loads.length === 0 || back.loads.length === 0) return cpu.multiply(request, call);
  const begun = performance.now();
  const before = gpu.pipelines.length;
  let tried: MsmDone;
  try {
    tried = await gpu.multiply(front.request, call.half());
  } catch (error) {
    call.checkpoint();
    bases.assertAlive();
    if (!(error instanceof MsmError) || error.code === 'aborted') throw error;
    estimates.learnTrial({ models }, null, Number.POSITIVE_INFINITY);
    return cpu.multiply(request, call);
  }
  if (tried.record.on === 'cpu') estimates.learnTrial({ models }, null, Number.POSITIVE_INFINITY);
  else {
    // a trial that waited for a compilation predicts nothing
    const isTelling = gpu.pipelines.length === before;
    const work = isTelling ? estimates.worksOf(facts, front.loads).gpu : null;
    estimates.learnTrial({ models }, work, isTelling ? tried.ms : performance.now() - begun);
  }
  const rest = await cpu.multiply({ ...back.request, n }, call);
  estimates.learn({ models, works: estimates.worksOf(facts, back.loads) }, 'cpu', rest.ms);
  const sums = new PartialSums(curve, vectors.length);
  sums.add(front.parts, tried.sums);
  sums.add(back.parts, rest.sums);
  const { wallMs } = call.clock.read();
  const own = { n, vectors: vectors.length, wallMs };
  const record = joinedRecord({ front: [tried.record], back: [rest.record] }, to / n, own);
  return { sums: sums.points(), record, ms: tried.ms + rest.ms };
};
