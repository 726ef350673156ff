import { LANES } from '../../shaders/hash-chain.js';
import type { Instrument } from '../instrument.js';

/** Accounts of one group of windows, as indices of words. */
export interface GroupAccounts {
  /** Digest of the scalars that decompose read; in lanes. */
  readonly scalars: number;
  /** Digest of the entries that it wrote; in lanes. */
  readonly entries: number;
  /** How many entries are to be walked, by partition. */
  readonly length: number;
  /** Digest of what the walks took in. */
  readonly checksum: number;
}

/** What the stages of a part say of what they read and wrote: what one says has to be what another says, or the host. */
export interface Accounts {
  readonly groups: readonly GroupAccounts[];
  readonly reduce: Pick<GroupAccounts, 'entries' | 'checksum'>;
  /** Sums that are not infinity, as often as the reduction adds each, less what it adds: nothing, in the end. */
  readonly finitePoints: number;
  /** Digest of the sums that are read back, by the walk that wrote them. */
  readonly readBack: number;
}

const GROUP_WORDS = 2 * LANES + 2;

/** Of a plan, what decides how many there are. */
interface Counted {
  readonly groups: number;
  readonly levelTasks: readonly number[];
  readonly instrument: Instrument | undefined;
}

/** Words in front of the accounts, for the findings of an instrument. */
const findingsWords = ({ levelTasks, instrument }: Counted): number =>
  instrument?.findingsWords(levelTasks.length) ?? 0;

export const accountsBytes = (plan: Counted): number =>
  4 * (findingsWords(plan) + plan.groups * GROUP_WORDS + LANES + 3);

/** @param at where the stretch of the part begins, in bytes */
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
