/** Vectors of field engines as scalars of calls: held while a call uses them. */
import type { CurveContext } from '../curves/curve.js';
import { badArgument } from '../errors.js';
import { type ScalarsSource, type ScalarVector, sourcesOfVectors } from '../msm/inputs/scalars.js';
import type { Ticket } from '../scheduling/ticket.js';

/**
 * Returns the source of a vector; null if `given` is none.
 *
 * @param name of the argument, for errors
 * @throws MsmError `bad-argument` for a vector of another field
 */
export const sourceOf = ({ order, name: curve }: CurveContext, given: unknown, name: string): ScalarsSource | null => {
  const source = typeof given === 'object' && given !== null ? sourcesOfVectors.get(given) : undefined;
  if (source !== undefined && source.p !== order) {
    throw badArgument(`${name} is a vector of another field than that of ${curve}'s scalars`);
  }
  return source ?? null;
};

/** Returns true if a vector of a field engine is among the scalars of a call. */
export const hasComputed = (vectors: readonly ScalarVector[]): boolean =>
  vectors.some(({ computed }) => computed !== undefined);

/** Notes that a call no longer uses its vectors. A second call has no effect. */
export const leaveVectors = (vectors: readonly ScalarVector[]): void => {
  for (const { computed } of vectors) computed?.leave();
};

/**
 * Runs a call, and leaves its vectors when the task of the call has ended, or when the call has
 * ended without it.
 *
 * @param run queues the task
 */
export const leavingVectors = async <Call, Result>(
  vectors: readonly ScalarVector[],
  task: (call: Call) => Promise<Result>,
  run: (task: (call: Call) => Promise<Result>) => Promise<Result>,
): Promise<Result> => {
  let hasBegun = false;
  const whole = async (call: Call): Promise<Result> => {
    hasBegun = true;
    try {
      return await task(call);
    } finally {
      leaveVectors(vectors);
    }
  };
  try {
    return await run(whole);
  } finally {
    if (!hasBegun) leaveVectors(vectors);
  }
};

/**
 * Reads vectors back to main memory for `work`, and overwrites the copies afterwards.
 *
 * @param ticket of the call
 */
export const withCopies = async <Result>(
  vectors: readonly ScalarVector[],
  ticket: Ticket,
  work: (vectors: readonly ScalarVector[]) => Promise<Result>,
): Promise<Result> => {
  const copies: Uint8Array[] = [];
  try {
    const own: ScalarVector[] = [];
    for (const { computed, ...vector } of vectors) {
      if (computed === undefined) {
        own.push(vector);
      } else {
        const scalars = await computed.read(ticket);
        copies.push(scalars);
        own.push({ ...vector, scalars });
      }
    }
    return await work(own);
  } finally {
    for (const copy of copies) copy.fill(0);
  }
};
