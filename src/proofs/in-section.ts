import { badArgument, MsmError } from '../errors.js';
import type { PointSection } from '../formats/section.js';

/** Codes of errors of points or numbers that are not what they must be. */
const ofContent: readonly string[] = ['bad-argument', 'not-on-curve', 'not-in-subgroup'];

/** Returns whether an error says so of some content. */
export const isOfContent = (error: unknown): error is MsmError =>
  error instanceof MsmError && ofContent.includes(error.code);

/**
 * Refuses infinity, which is zeros, in sections where no setup has it: powers of τ, and points of
 * powers of τ that are divided by a secret. The curve's equation does not find it, and proofs with
 * it do not verify. In the other sections variables that no constraint has are infinity.
 *
 * @param points of the section, from the first one on
 * @throws MsmError `bad-argument` naming the point
 */
export const assertFinite = (
  { pointBytes, name }: Pick<PointSection, 'pointBytes' | 'name'>,
  points: Uint8Array,
): void => {
  for (let at = 0; at < points.length; at += pointBytes) {
    // a first byte that is zero is rare
    if (points[at] !== 0 || points.subarray(at, at + pointBytes).some((byte) => byte !== 0)) continue;
    throw badArgument(`zkey: section ${name}: points[${at / pointBytes}] is infinity, which no setup makes here`);
  }
};

/** Has errors of a section's content name the section of the key. */
export const inSection = async <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    if (!isOfContent(error) || error.message.startsWith('zkey')) throw error;
    throw new MsmError(error.code, `zkey: section ${name}: ${error.message}`, { cause: error });
  }
};
