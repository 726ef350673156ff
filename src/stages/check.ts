import template from '../../wgsl/check.wgsl?raw';
import type { CurveContext } from '../curves/curve.js';
import { MsmError } from '../errors.js';
import type { CarryMode } from '../field/carry.js';
import { fieldLiteral } from '../field/literal.js';
import { fieldView } from '../field/wgsl.js';
import { type Binding, type Kernel, kernel } from '../shaders/kernel.js';
import { struct } from '../shaders/struct.js';
import type { TemplateView } from '../shaders/template.js';
import { Vector } from './decompose.js';
import { entryWgsl } from './entry.js';
import { Level } from './level.js';

export const CheckConfig = struct('CheckConfig', {
  level: 'index of the walk whose stream, places or sums these are',
  keys: 'keys are below this',
  last: '1 where the walk is the last of its stream, and leaves nothing to combine',
  slab: 'entries that a window has room for',
  windows: 'windows of the group',
  first_window: 'the first window of the group',
  vector_windows: 'T: windows of a vector',
  buckets: 'B',
  pieces: 'of a scalar',
  tables: 'points that there are of each base',
});

export const CHECK_THREADS = 64;
/** No key, no handle of a point, no coordinate below p: what a buffer holds that nobody has written. */
export const POISON = 0xffffffff;
const NO_TASK = 0xffffffff;

/** The head of the buffer `findings`; behind it, for every walk, the entries of its stream and those that it took in. */
export const Finding = struct('Finding', {
  count: 'findings in all; the others are those of the first',
  rule: 'which rule was broken',
  level: 'in which walk',
  bucket: '',
  task: '',
  digits: 'digits that decompose wrote and that are not zero',
});

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

/** Words of a sum in `writers`; see wgsl/findings.wgsl. Tasks of a walk are at most 2^20 or the sums of the reduction, fewer than 2^24. */
const WRITER_LEVEL_SHIFT = 24;

/** What a template that reports findings includes as `{{> findings}}`. */
export const findingsView = (): TemplateView => ({
  findingFields: Finding.fields.map((name, i) => ({ name, i })),
  rules: Object.keys(rules).map((name, i) => ({ name, i })),
  noTask: NO_TASK,
  counters: Finding.fields.length,
  expected: 0x80000000,
  writerCount: 0x70000000,
  oneWriter: 0x10000000,
  writerLevelShift: WRITER_LEVEL_SHIFT,
  writerTask: 2 ** WRITER_LEVEL_SHIFT - 1,
});

/** The buffer `findings` of an MSM with so many walks, in bytes. */
export const findingsBytes = (walks: number): number => Finding.byteLength + 8 * walks;

export const writersBinding: Binding = { name: 'writers', access: 'write', type: 'array<atomic<u32>>' };
export const findingsBinding: Binding = { name: 'findings', access: 'write', type: 'array<atomic<u32>>' };

const parts = ['poison', 'sorted', 'stream', 'partials', 'sums'] as const;
export type CheckKernels = Readonly<Record<(typeof parts)[number], Kernel>>;

export const checkKernels = (curve: CurveContext, carry: CarryMode): CheckKernels => {
  const config: Binding = { name: 'config', access: 'uniform', type: 'CheckConfig' };
  const read = (name: string, type: string): Binding => ({ name, access: 'read', type: `array<${type}>` });
  const bindings: Record<keyof CheckKernels, readonly Binding[]> = {
    poison: [{ name: 'words', access: 'write', type: 'array<u32>' }],
    sorted: [
      config,
      read('vectors', 'Vector'),
      read('totals', 'u32'),
      read('digits', 'Entry'),
      read('stream', 'Entry'),
      findingsBinding,
    ],
    stream: [config, read('levels', 'Level'), read('stream', 'Entry'), writersBinding, findingsBinding],
    partials: [config, read('levels', 'Level'), read('places', 'Entry'), read('partials', 'Point'), findingsBinding],
    sums: [config, read('sums', 'Point'), writersBinding, findingsBinding],
  };
  const make = (part: keyof CheckKernels): Kernel =>
    kernel(`check_${part}`, template, bindings[part], {
      ...fieldView(curve.field, carry),
      ...findingsView(),
      ...Object.fromEntries(parts.map((name) => [name, name === part])),
      structs: `${CheckConfig.wgsl}\n${Level.wgsl}\n${Vector.wgsl}`,
      entry: entryWgsl,
      threads: CHECK_THREADS,
      poisonWord: POISON,
      reports: part !== 'poison',
      needsPoints: part === 'partials' || part === 'sums',
      aLimbs: fieldLiteral(curve.field, curve.a),
      bLimbs: fieldLiteral(curve.field, curve.b),
    });
  return Object.fromEntries(parts.map((part) => [part, make(part)])) as unknown as CheckKernels;
};

/** The stage that `level` is a walk of; the last two are those of the reduction. */
const walkStage = (level: number, levels: number): string =>
  level >= levels ? 'reduce' : level === 0 ? 'walk' : 'combine';

/** The stage that laid out the stream of `level`. */
const streamStage = (level: number, levels: number): string =>
  level === 0 ? 'sort' : level >= levels ? 'reduce' : walkStage(level - 1, levels);

/** The broken rule that was noticed first, as text; null if there is none. */
const firstFinding = (words: Uint32Array, levels: number): { walk: number; text: string } | null => {
  const { count, rule, level, bucket, task } = Finding.unpack(words, 0);
  if (count === 0) return null;
  const [about, broken] = Object.values(rules)[rule] ?? (['walk', `rule ${rule}`] as const);
  const stages: Record<About, string> = {
    sort: 'sort',
    partition: 'partition',
    stream: streamStage(level, levels),
    walk: walkStage(level, levels),
  };
  const where = `bucket ${bucket}${task === NO_TASK ? '' : `, task ${task}`}, walk ${level}`;
  return { walk: level, text: `in ${stages[about]}: ${broken} (${where}; first of ${count})` };
};

/** Where entries were lost or counted twice, as text, by walk; in the sort first. */
const lostEntries = (words: Uint32Array, levels: number): { walk: number; text: string }[] => {
  const counter = (walk: number): readonly [number, number] => {
    const at = Finding.fields.length + 2 * walk;
    return [words[at] as number, words[at + 1] as number];
  };
  const lost: { walk: number; text: string }[] = [];
  const { digits } = Finding.unpack(words, 0);
  const [sorted] = counter(0);
  if (sorted !== digits) {
    lost.push({ walk: 0, text: `in sort: of ${digits} digits that are not zero ${sorted} are in the sorted stream` });
  }
  for (let walk = 0; walk < levels + 2; walk++) {
    const [present, taken] = counter(walk);
    if (present === taken) continue;
    const stage = walkStage(walk, levels);
    lost.push({ walk, text: `in ${stage}: of ${present} entries ${taken} were taken in (walk ${walk})` });
  }
  return lost;
};

/**
 * Reads what the checks left.
 *
 * @param levels walks over the sorted stream and its partial sums; those of the reduction come behind them
 * @throws MsmError `internal` naming the stage, the rule, the bucket and the task
 */
export const assertNoFindings = (words: Uint32Array, levels: number): void => {
  const finding = firstFinding(words, levels);
  const found = [...(finding === null ? [] : [finding]), ...lostEntries(words, levels)];
  if (found.length === 0) return;
  // what went wrong first explains the rest
  const texts = found.sort((left, right) => left.walk - right.walk).map(({ text }) => text);
  throw new MsmError(
    'internal',
    `check failed ${texts.join('; ')}. Please report the adapter, the knobs and the inputs`,
  );
};

/** Dispatches that the checks add to an MSM (record/checks.ts records them). */
export const checkDispatches = (groups: number, levels: number): number =>
  groups * (6 + 1 + 4 * levels) + 1 + 2 + 2 * (1 + 4 + 1);
