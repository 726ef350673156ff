import type { Instrument } from '../../src/msm/stages/kernels.js';
import type { KernelPart } from '../../src/shaders/kernel.js';
import type { TemplateView } from '../../src/shaders/template.js';
import findings from './findings.wgsl?template';

/**
 * The first words of the accounts. Two words for every walk follow: the entries of its stream, and
 * the entries that it took in.
 */
const words = [
  // number of findings; the next four words describe the first one
  'count',
  // index of the broken rule
  'rule',
  // index of the walk
  'level',
  'bucket',
  'task',
  // nonzero digits that decompose wrote
  'digits',
] as const;

const NO_TASK = 0xffffffff;

/**
 * The stage that a rule is about: `stream` stands for the stage that laid out the stream of the
 * walk, `walk` for the walk.
 */
type About = 'sort' | 'partition' | 'stream' | 'walk';

const rules = {
  FORGED: ['sort', 'an entry is none of the digits that decompose wrote'],
  UNSTABLE: ['sort', 'two entries of a bucket are the same, or not in the order of their bases'],
  UNSORTED: ['stream', 'the keys do not ascend'],
  STRAY_KEY: ['stream', 'a key is no bucket, or was never written'],
  MISCUT: ['partition', 'the tasks do not cover the stream'],
  STRAY_CARRY: ['walk', 'a carry was not written, or refers to another partial sum than its own'],
  LEFT_OPEN: ['walk', 'a partial sum is left over after the last walk'],
  UNWANTED: ['walk', 'a bucket without entries was written'],
  TWO_WRITERS: ['walk', 'a bucket was written twice'],
  UNWRITTEN: ['walk', 'a bucket with entries was not written'],
  OFF_CURVE: ['walk', 'a sum is not on the curve'],
} as const satisfies Record<string, readonly [About, string]>;

/**
 * Position of the level in a word of `writers`, above the task (see findings.wgsl). There are at
 * most 21 levels and 15 walks of the reduction. Most walks have fewer than 2^22 tasks; of larger
 * ones a finding has the task modulo 2^22.
 */
const WRITER_LEVEL_SHIFT = 22;

const numbered = (names: readonly string[]): TemplateView[] => names.map((name, i) => ({ name, i }));

/** The part of a kernel that reports findings; its template includes `{{> findings}}`. */
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

export const findingsWords = (walks: number): number => words.length + 2 * walks;

/**
 * Returns the stage that walk `level` belongs to. The last walks are those of the reduction.
 */
const walkStage = (level: number, levels: number): string =>
  level >= levels ? 'reduce' : level === 0 ? 'walk' : 'combine';

/** Returns the stage that laid out the stream of walk `level`. */
const streamStage = (level: number, levels: number): string =>
  level === 0 ? 'sort' : level >= levels ? 'reduce' : walkStage(level - 1, levels);

interface Found {
  readonly walk: number;
  readonly stage: string;
  readonly text: string;
}

type Noted = Readonly<Record<(typeof words)[number], number>>;

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

/** Describes where entries were lost or counted twice, the sort first, then walk by walk. */
const lostEntries = ({ digits }: Noted, counters: Uint32Array, levels: number, walks: number): Found[] => {
  const lost: Found[] = [];
  const [sorted] = counters;
  if (sorted !== digits) {
    lost.push({
      walk: 0,
      stage: 'sort',
      text: `of ${digits} digits that are not zero ${sorted} are in the sorted stream`,
    });
  }
  for (let walk = 0; walk < walks; walk++) {
    const [present, taken] = counters.subarray(2 * walk);
    if (present === taken) continue;
    const stage = walkStage(walk, levels);
    lost.push({ walk, stage, text: `of ${present} entries ${taken} were taken in (walk ${walk})` });
  }
  return lost;
};

export const readFindings: Instrument['read'] = (accounts, levels, walks) => {
  const noted = Object.fromEntries(words.map((name, i) => [name, accounts[i]])) as Noted;
  const found = [...firstFinding(noted, levels), ...lostEntries(noted, accounts.subarray(words.length), levels, walks)];
  // the earliest fault explains the later ones
  const [first] = found.sort((left, right) => left.walk - right.walk);
  return first === undefined ? null : [first.stage, found.map(({ text }) => text).join('; ')];
};
