/** Main memory of a setup: the points of a round and the workers that fit a limit. */
import { MsmError } from '../errors.js';
import { mostWorkers } from '../threads/platform.js';

/** Tables that a call keeps in memory from its beginning to its end. */
export interface Tables {
  /** Bytes of the tables. */
  readonly bytes: number;
  /** Bytes of the longest points that are computed with. */
  readonly pointBytes: number;
}

/** The threads and the rounds of a call. */
export interface Rounds {
  /** Workers beside the thread of the caller. */
  readonly workers: number;
  /** Sums of one round at most. */
  readonly pointsPerRound: number;
}

/**
 * Memory in bytes of the process with its caller's thread, and of each worker, chosen so that the peaks of
 * a new key and of a contribution in Node, with a domain of 2^16 and one worker, are within the plan.
 */
const [CALLER_BYTES, WORKER_BYTES] = [2 ** 27, 2 ** 26];

/**
 * Points of a round that are in memory for each of its sums: a transform has its pair, its product and its
 * two sums, and their terms once more for the threads.
 */
const POINTS_PER_SUM = 16;

/** Most sums of a round, and fewest: shorter rounds leave threads without work. */
const [MOST_SUMS, LEAST_SUMS] = [2 ** 15, 2 ** 11];

/** Bytes of a term of a circuit: in a matrix, in its transpose, and in the file that it is read from. */
const TERM_BYTES = 128;

/** Bytes of a number of a matrix, as a BigInt and as it is written. */
const NUMBER_BYTES = 128;

/** Bytes of terms that are read under any limit, so that the error can say the least one. */
const READ_BYTES = 2 ** 24;

/** Returns the bytes of the matrices of a circuit. @param numbers how many different ones there are */
export const circuitBytes = (terms: number, numbers: number): number => terms * TERM_BYTES + numbers * NUMBER_BYTES;

/**
 * Checks, while a circuit is read, that there is room for its matrices.
 *
 * @param limit bytes of main memory; undefined: no limit
 * @throws MsmError `out-of-memory`
 */
export const assertReadable = (limit: number | undefined, terms: number, numbers: number): void => {
  const bytes = circuitBytes(terms, numbers);
  if (limit === undefined || bytes <= READ_BYTES || CALLER_BYTES + bytes <= limit) return;
  throw tooLow(limit, `at least ${CALLER_BYTES + bytes}`);
};

const tooLow = (limit: number, takes: number | string): MsmError =>
  new MsmError(
    'out-of-memory',
    `options.memoryLimit is ${limit} bytes, and this call takes ${takes} bytes on one thread`,
  );

/** Returns the bytes that a call takes on one thread, with the shortest rounds. */
const leastBytes = ({ bytes, pointBytes }: Tables): number =>
  bytes + CALLER_BYTES + LEAST_SUMS * POINTS_PER_SUM * pointBytes;

/** Returns whether a call has room. @param limit bytes of main memory; undefined: no limit */
export const hasRoom = (limit: number | undefined, tables: Tables): boolean =>
  limit === undefined || leastBytes(tables) <= limit;

/**
 * Plans a call: as many workers as fit beside its tables, and then the longest rounds.
 *
 * @param limit bytes of main memory; undefined: no limit
 * @throws MsmError `out-of-memory` if the limit is below what the call takes on one thread
 */
export const planRounds = (
  options: Parameters<typeof mostWorkers>[0],
  limit?: number,
  tables: Tables = { bytes: 0, pointBytes: 0 },
): Rounds => {
  const most = mostWorkers(options);
  if (limit === undefined) return { workers: most, pointsPerRound: MOST_SUMS };
  if (!hasRoom(limit, tables)) throw tooLow(limit, leastBytes(tables));
  const rest = limit - leastBytes(tables);
  const workers = Math.min(most, Math.floor(rest / WORKER_BYTES));
  const sums = LEAST_SUMS + Math.floor((rest - workers * WORKER_BYTES) / (POINTS_PER_SUM * tables.pointBytes));
  return { workers, pointsPerRound: Math.min(MOST_SUMS, sums) };
};
