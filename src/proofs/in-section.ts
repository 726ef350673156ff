import { MsmError } from '../errors.js';

/** Codes of errors of points or numbers that are not what they must be. */
const ofContent: readonly string[] = ['bad-argument', 'not-on-curve', 'not-in-subgroup'];

/** Returns whether an error says so of some content. */
export const isOfContent = (error: unknown): error is MsmError =>
  error instanceof MsmError && ofContent.includes(error.code);

/** Has errors of a section's content name the section of the key. */
export const inSection = async <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    if (!isOfContent(error) || error.message.startsWith('zkey')) throw error;
    throw new MsmError(error.code, `zkey: section ${name}: ${error.message}`, { cause: error });
  }
};
