import { badArgument, notLoaded } from '../errors.js';

/** The module of encodings other than little-endian bytes. */
export type Encodings = typeof import('../encodings/encodings.js');

/** Loads the encodings and reads with them. @throws MsmError `bad-argument` if reading fails */
export const withEncodings = async <Result>(read: (encodings: Encodings) => Result): Promise<Result> => {
  const encodings = await import('../encodings/encodings.js').catch(notLoaded('encodings'));
  try {
    return read(encodings);
  } catch (error) {
    throw badArgument((error as Error).message);
  }
};
