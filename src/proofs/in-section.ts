import { MsmError } from '../errors.js';

/** Codes of errors of a section's content. */
const ofContent: readonly string[] = ['bad-argument', 'not-on-curve', 'not-in-subgroup'];

/** Has errors of a section's content name the section of the key. */
export const inSection = async <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof MsmError) || !ofContent.includes(error.code)) throw error;
    if (error.message.startsWith('zkey')) throw error;
    throw new MsmError(error.code, `zkey: section ${name}: ${error.message}`, { cause: error });
  }
};
