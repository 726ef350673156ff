import type { Checks } from '../msm/gpu/checks.js';
import type { KernelPart } from '../msm/stages/checks.js';
import type { TemplateView } from '../shaders/template.js';
import findings from './findings.wgsl?template';

/** The first words of the accounts; behind them, for every walk, the entries of its stream and those that it took in. */
const words = [
  // findings in all; the four behind it are those of the first
  'count',
  // which was broken
  'rule',
  // in which walk
  'level',
  'bucket',
  'task',
  // digits that decompose wrote and that are not zero
  'digits',
] as const;

const NO_TASK = 0xffffffff;

/** Which stage a rule is about. By the walk that it was broken in: the one that laid out the `stream`, or the `walk` itself. */
type About = 'sort' | 'partition' | 'stream' | 'walk';

const rules = {
  FORGED: ['sort', 'an entry is none of the digits that decompose wrote'],
  UNSTABLE: ['sort', 'two entries of a bucket are the same, or not in the order of their bases'],
  UNSORTED: ['stream', 'the keys do not ascend'],
  STRAY_KEY: ['stream', 'a key is no bucket, or was never written'],
  MISCUT: ['partition', 'the tasks do not cover the stream'],
  MISPLACED: ['walk', 'a place was not written, or holds another partial sum than its own'],
  LEFT_OPEN: ['walk', 'a partial sum is left over after the last walk'],
  UNWANTED: ['walk', 'a bucket was written that has no entry'],
  TWO_WRITERS: ['walk', 'a bucket was written twice'],
  UNWRITTEN: ['walk', 'a bucket with entries was not written'],
  OFF_CURVE: ['walk', 'a sum is not on the curve'],
} as const satisfies Record<string, readonly [About, string]>;

/** Words of a sum in `writers`; see src/checks/findings.wgsl. Tasks of a walk are at most 2^20 or the sums of the reduction, fewer than 2^24. */
const WRITER_LEVEL_SHIFT = 24;

const numbered = (names: readonly string[]): TemplateView[] => names.map((name, i) => ({ name, i }));

/** What a kernel that reports findings includes as `{{> findings}}`. */
export const reporting: Omit<KernelPart, 'bindings'> = {
  view: {
    findingFields: numbered(words),
    rules: numbered(Object.keys(rules)),
    noTask: NO_TASK,
    counters: words.length,
    expected: 0x80000000,
    writerCount: 0x70000000,
    oneWriter: 0x10000000,
    writerLevelShift: WRITER_LEVEL_SHIFT,
    writerTask: 2 ** WRITER_LEVEL_SHIFT - 1,
  },
  partials: { findings },
};

export const findingsWords = (levels: number): number => words.length + 2 * (levels + 2);

/** The stage that `level` is a walk of; the last two are those of the reduction. */
const walkStage = (level: number, levels: number): string =>
  level >= levels ? 'reduce' : level === 0 ? 'walk' : 'combine';

/** The stage that laid out the stream of `level`. */
const streamStage = (level: number, levels: number): string =>
  level === 0 ? 'sort' : level >= levels ? 'reduce' : walkStage(level - 1, levels);

interface Found {
  readonly walk: number;
  readonly stage: string;
  readonly text: string;
}

type Noted = Readonly<Record<(typeof words)[number], number>>;

/** The broken rule that was noticed first, as text. */
const firstFinding = ({ count, rule, level, bucket, task }: Noted, levels: number): Found[] => {
  if (count === 0) return [];
  const [about, broken] = Object.values(rules)[rule] ?? (['walk', `rule ${rule}`] as const);
  const stages: Record<About, string> = {
    sort: 'sort',
    partition: 'partition',
    stream: streamStage(level, levels),
    walk: walkStage(level, levels),
  };
  const where = `bucket ${bucket}${task === NO_TASK ? '' : `, task ${task}`}, walk ${level}`;
  return [{ walk: level, stage: stages[about], text: `${broken} (${where}; first of ${count})` }];
};

/** Where entries were lost or counted twice, as text, by walk; in the sort first. */
const lostEntries = ({ digits }: Noted, counters: Uint32Array, levels: number): Found[] => {
  const lost: Found[] = [];
  const [sorted] = counters;
  if (sorted !== digits) {
    lost.push({
      walk: 0,
      stage: 'sort',
      text: `of ${digits} digits that are not zero ${sorted} are in the sorted stream`,
    });
  }
  for (let walk = 0; walk < levels + 2; walk++) {
    const [present, taken] = counters.subarray(2 * walk);
    if (present === taken) continue;
    const stage = walkStage(walk, levels);
    lost.push({ walk, stage, text: `of ${present} entries ${taken} were taken in (walk ${walk})` });
  }
  return lost;
};

export const readFindings: Checks['read'] = (accounts, levels) => {
  const noted = Object.fromEntries(words.map((name, i) => [name, accounts[i]])) as Noted;
  const found = [...firstFinding(noted, levels), ...lostEntries(noted, accounts.subarray(words.length), levels)];
  // what went wrong first explains the rest
  const [first] = found.sort((left, right) => left.walk - right.walk);
  return first === undefined ? null : [first.stage, found.map(({ text }) => text).join('; ')];
};
