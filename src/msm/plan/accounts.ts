import { LANES } from '../../shaders/hash-chain.js';
import type { Instrument } from '../stages/instrument.js';

/** Accounts of one group of windows, as indices of words. */
export interface GroupAccounts {
  /** Digest of the scalars that decompose read, in lanes. */
  readonly scalars: number;
  /** Digest of the entries that decompose wrote, in lanes. */
  readonly entries: number;
  /** Number of entries to walk, written by partition. */
  readonly length: number;
  /** Digest of the entries that the walks took in. */
  readonly checksum: number;
}

/**
 * Accounts of a batch: digests and counts of what stages read and wrote. The host compares them
 * with each other and with its own.
 */
export interface Accounts {
  readonly groups: readonly GroupAccounts[];
  readonly reduce: Pick<GroupAccounts, 'entries' | 'checksum'>;
  /**
   * Finite bucket sums, times the additions of each in the reduction, minus the finite points that
   * the reduction takes in: 0 in the end.
   */
  readonly finitePoints: number;
  /** Digest of the sums that the host reads back, by the walk that wrote them. */
  readonly readBack: number;
}

const GROUP_WORDS = 2 * LANES + 2;

/** Fields of a plan that the number of accounts depends on. */
interface Counted {
  readonly groups: number;
  readonly levelTasks: readonly number[];
  readonly reduce: { readonly walks: readonly unknown[] };
  readonly instrument: Instrument | undefined;
}

/** Words in front of the accounts, for the findings of an instrument. */
const findingsWords = (plan: Counted): number => plan.instrument?.findingsWords(walksOf(plan)) ?? 0;

/** Returns the number of walks: over a stream and its partial sums, and in the reduction. */
export const walksOf = ({ levelTasks, reduce }: Pick<Counted, 'levelTasks' | 'reduce'>): number =>
  levelTasks.length + reduce.walks.length;

/** Returns the bytes of the accounts of a batch. */
export const accountsBytes = (plan: Counted): number =>
  4 * (findingsWords(plan) + plan.groups * GROUP_WORDS + LANES + 3);

/**
 * Returns the accounts of a batch, as indices of words.
 *
 * @param at offset of the batch's slice, in bytes
 */
export const accountsOf = (plan: Counted, at: number): Accounts => {
  const first = at / 4 + findingsWords(plan);
  const reduce = first + plan.groups * GROUP_WORDS;
  return {
    groups: Array.from({ length: plan.groups }, (_, group) => {
      const scalars = first + group * GROUP_WORDS;
      const entries = scalars + LANES;
      const length = entries + LANES;
      return { scalars, entries, length, checksum: length + 1 };
    }),
    reduce: { entries: reduce, checksum: reduce + LANES },
    finitePoints: reduce + LANES + 1,
    readBack: reduce + LANES + 2,
  };
};
