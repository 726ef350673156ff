/** Shrinks a failing program as long as it keeps failing. */
import { type FuzzCall, type FuzzProgram, length, type Segment, vectorsOf } from './program.js';

/** Yields smaller programs to try, the largest reductions first. */
function* simpler(program: FuzzProgram): Generator<FuzzProgram> {
  const { backend, ...onGpu } = program;
  if (backend !== undefined) yield onGpu;
  const { checks, ...unchecked } = program;
  if (checks !== undefined) yield unchecked;
  const { calls, tuning, memoryBudget, group, ...inG1 } = program;
  if (group !== undefined) yield { ...inG1, calls, tuning, memoryBudget };
  for (let i = 0; i < calls.length; i++) if (calls.length > 1) yield { ...program, calls: calls.toSpliced(i, 1) };
  if (memoryBudget !== null) yield { ...program, memoryBudget: null };
  for (const name of Object.keys(tuning)) {
    yield { ...program, tuning: Object.fromEntries(Object.entries(tuning).filter(([key]) => key !== name)) };
  }
  for (const [i, call] of calls.entries()) {
    for (const smaller of simplerCalls(call)) yield { ...program, calls: calls.with(i, smaller) };
  }
}

function* simplerCalls(call: FuzzCall): Generator<FuzzCall> {
  const fits = (candidate: FuzzCall): boolean =>
    vectorsOf(candidate).every(({ scalars, offset }) => offset + length(scalars) <= length(candidate.points));
  for (const name of [
    'precompute',
    'encoding',
    'scalarEncoding',
    'result',
    'checkSubgroup',
    'loaded',
    'more',
  ] as const) {
    const { [name]: own, ...plain } = call;
    if (own !== undefined) yield plain;
  }
  const { more = [] } = call;
  for (let i = 0; i < more.length; i++) yield { ...call, ...more[i], more: more.toSpliced(i, 1) };
  if (call.offset > 0) yield { ...call, offset: 0 };
  for (const scalars of simplerSegments(call.scalars, 'random')) yield { ...call, scalars };
  for (const points of simplerSegments(call.points, 'distinct')) {
    const smaller = { ...call, points };
    if (fits(smaller)) yield smaller;
  }
}

function* simplerSegments<Name extends string>(
  segments: readonly Segment<Name>[],
  plain: Name,
): Generator<readonly Segment<Name>[]> {
  for (const [i, segment] of segments.entries()) {
    yield segments.toSpliced(i, 1);
    for (const n of [Math.floor(segment.n / 2), segment.n - 1]) {
      if (n > 0 && n < segment.n) yield segments.with(i, { ...segment, n });
    }
    if (segment.from !== plain) yield segments.with(i, { ...segment, from: plain });
    if (segment.seed !== 0) yield segments.with(i, { ...segment, seed: 0 });
  }
}

/**
 * @param fails runs a program; true if it still fails
 * @param attempts largest number of runs
 */
export const shrink = async (
  program: FuzzProgram,
  fails: (candidate: FuzzProgram) => Promise<boolean>,
  attempts = 200,
): Promise<FuzzProgram> => {
  let best = program;
  for (let left = attempts; left > 0; ) {
    let improved = false;
    for (const candidate of simpler(best)) {
      if (left-- <= 0) return best;
      if (await fails(candidate)) {
        best = candidate;
        improved = true;
        break;
      }
    }
    if (!improved) return best;
  }
  return best;
};
