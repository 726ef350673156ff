/** A trial: one of the faults in one call, between correct calls before and after it. */

import { MsmError } from '../../src/errors.js';
import { Random } from '../oracle/known-bases.js';
import { type Arm, type Armed, delay, drop, promiseFaults, repeat, replace } from './command-faults.js';
import {
  changePipeline,
  flipBit,
  flipUpload,
  MOST_WORDS,
  mappedBefore,
  misplace,
  misread,
  pointChangeNames,
  pointChanges,
  slowDown,
  spoilBuffer,
} from './data-faults.js';
import { type Mode, type ModeName, modeNames, modes, type Subject } from './modes.js';
import { pick, type RecordingDevice, type Trace } from './recording-device.js';

const each = <Word extends string>(kind: string, words: readonly Word[], arm: (target: Word) => Arm): [string, Arm][] =>
  words.map((word) => [`${kind}: ${word}`, arm(word)]);

const anyMask = (random: Random): number => random.u32() || 1;

/** Faults by name, `kind: target`. */
const faults: ReadonlyMap<string, Arm> = new Map([
  ...each('did not happen', ['submit', 'pass', 'dispatch', 'copy', 'clear', 'write'], drop),
  ['did not happen: map', mappedBefore(({ before }) => before)],
  ...each('of another call', ['submit', 'dispatch', 'copy', 'write'], replace),
  ['of another call: map', mappedBefore(({ random, earlier }) => pick(random, earlier))],
  ...each('done twice', ['submit', 'dispatch', 'copy', 'clear', 'write'], repeat),
  ...each('late', ['submit', 'dispatch', 'copy', 'clear', 'write'], delay),
  ['a bit flipped: in an upload', flipUpload],
  ['a bit flipped: in a buffer', spoilBuffer((random) => [(1 << random.below(32)) >>> 0])],
  [
    'a bit flipped: in mapped data',
    misread(
      ({ random }) =>
        (data) =>
          flipBit(random, data),
    ),
  ],
  ...each('points read back', pointChangeNames, (name) => misplace(pointChanges[name])),
  ['garbage: in a buffer', spoilBuffer((random) => Array.from({ length: MOST_WORDS }, () => anyMask(random)))],
  ['one constant changed: pipeline', changePipeline],
  ['slow by 100 ×: device', slowDown],
  ...promiseFaults,
]);

export const faultNames: readonly string[] = [...faults.keys()];

/** Slow faults, of which only one in so many is drawn. */
const rare: ReadonlyMap<string, number> = new Map([
  ['one constant changed: pipeline', 2],
  ['slow by 100 ×: device', 8],
]);

/** A trial as plain data, so that it can be sent to another process. */
export interface Trial {
  readonly name: string;
  readonly mode: ModeName;
  readonly fault: string;
  readonly n: number;
  readonly seed: number;
  /** True if the call must be refused, for modes with such calls. */
  readonly broken: boolean;
  /** Label of the command to strike; any command if absent. */
  readonly label?: string;
}

/** Outcomes, with their descriptions. */
export const outcomes = {
  found: 'an error that reports it',
  retried: 'the correct result, in the second attempt',
  harmless: 'the correct result',
  wrong: 'a wrong result',
  untyped: 'an error without a code of the library',
  hang: 'no end',
  'wrong after': 'the correct result or an error, then a wrong result of a call without a fault',
  'fails after': 'the same, then an error that does not ask to load the bases again',
  none: 'nothing to strike',
} as const;
export type Outcome = keyof typeof outcomes;

export interface Report {
  readonly outcome: Outcome;
  /** Description of what was struck. */
  readonly where: string;
  /** Error message of the struck call, or of the call after it. */
  readonly message: string;
}

/** Draws a log-uniform size. */
const drawSize = (random: Random, { sizes: [least, most] }: Mode): number =>
  Math.floor(least * ((most + 1) / least) ** (random.u32() / 2 ** 32));

/** Draws trial number `index` of a seed. */
export const drawTrial = (seed: number, index: number): Trial => {
  const random = new Random(seed * 1_000_003 + index);
  const mode = modeNames[random.below(modeNames.length)] as ModeName;
  let fault: string;
  do fault = faultNames[random.below(faultNames.length)] as string;
  while (random.below(rare.get(fault) ?? 1) > 0);
  return {
    name: String(index),
    mode,
    fault,
    n: drawSize(random, modes[mode]),
    seed: random.u32(),
    broken: random.below(2) === 0,
  };
};

export const namedTrials: Readonly<Record<string, Trial>> = Object.fromEntries(
  (
    [
      ['stale-submit', { mode: 'default', fault: 'did not happen: submit' }],
      ['stale-copy', { mode: 'default', fault: 'did not happen: copy', label: 'result' }],
      ['stale-load', { mode: 'load', fault: 'did not happen: submit', broken: true }],
      ['swapped-sums', { mode: 'default', fault: 'points read back: swapped' }],
      ['zeroed-sum', { mode: 'batch', fault: 'points read back: zeroed' }],
      ['lost-scan', { mode: 'checks', fault: 'did not happen: dispatch', label: 'sort_scan' }],
    ] as const
  ).map(([name, trial]) => [name, { name, n: 60, seed: 1, broken: false, ...trial }]),
);

const messageOf = (error: unknown): string =>
  error instanceof MsmError ? `${error.code}: ${error.message}` : String(error);

/** Modes whose pipelines are all compiled, by device. */
const warm = new WeakMap<RecordingDevice, Set<Mode>>();

/**
 * Compiles all pipelines of a mode on an engine of its own, so that no call waits for them and
 * trials stay repeatable.
 */
const warmUp = async (device: RecordingDevice, mode: Mode, n: number): Promise<void> => {
  const known = warm.get(device) ?? new Set();
  warm.set(device, known);
  if (known.has(mode)) return;
  const { engine, call } = await mode.open(device, new Random(1), n);
  const judge = await call(new Random(1), n, false);
  await judge();
  engine.destroy();
  known.add(mode);
};

/** A call without a fault: its trace, and a check of its result. */
interface HealthyCall {
  readonly trace: Trace;
  /** @throws Error if the result is wrong */
  assertRight(): Promise<void>;
}

/** Makes a call without a fault. @throws the error of the call */
async function healthyCall(
  device: RecordingDevice,
  { call }: Subject,
  random: Random,
  name: string,
  n: number,
): Promise<HealthyCall> {
  device.begin();
  const judge = await call(random, n, false);
  const trace = await device.end();
  return {
    trace,
    async assertRight(): Promise<void> {
      if (!(await judge())) throw new Error(`a call without a fault, ${name} of ${n}, gave a wrong result`);
    },
  };
}

/** Makes the call that a fault strikes, and classifies its result or error. */
async function struckCall(
  device: RecordingDevice,
  { engine, call }: Subject,
  { injection }: Armed,
  random: Random,
  { n, broken }: Pick<Trial, 'n' | 'broken'>,
): Promise<Pick<Report, 'outcome' | 'message'>> {
  device.begin(injection);
  try {
    const judge = await call(random, n, broken);
    await device.end();
    const outcome = (await judge()) ? (wasRetried(engine.lastRun) ? 'retried' : 'harmless') : 'wrong';
    return { outcome, message: '' };
  } catch (error) {
    await device.end();
    return { outcome: error instanceof MsmError ? 'found' : 'untyped', message: messageOf(error) };
  }
}

/** Makes a call after the fault. Returns null if it is correct, or asks to load the bases again. */
async function failureAfter(
  next: () => Promise<HealthyCall>,
  last: HealthyCall,
): Promise<Pick<Report, 'outcome' | 'message'> | null> {
  try {
    const call = await next();
    await call.assertRight();
    // the last call before the fault is checked only now, so that nothing came between it and the
    // fault
    await last.assertRight();
    return null;
  } catch (error) {
    if (!(error instanceof MsmError)) return { outcome: 'wrong after', message: messageOf(error) };
    const asksToLoad = /load .*again|it was yours: request another/.test(error.message);
    return asksToLoad ? null : { outcome: 'fails after', message: messageOf(error) };
  }
}

/**
 * @param strikes called before a fault strikes, with its description and the duration of the call
 *   without it
 * @throws the error of a call without a fault
 */
export const runTrial = async (
  device: RecordingDevice,
  { mode: name, fault, n, seed, broken, label }: Trial,
  strikes: (where: string, healthyMs: number) => void = () => undefined,
): Promise<Report> => {
  const [mode, random]: [Mode, Random] = [modes[name], new Random(seed)];
  const other = drawSize(random, mode);
  device.begin();
  await warmUp(device, mode, n);
  const subject = await mode.open(device, random, Math.max(n, other));
  const healthy = (length: number): Promise<HealthyCall> => healthyCall(device, subject, random, name, length);
  try {
    const isDrawn = random.below(2) === 0;
    // the first call of an engine also waits for its kernels
    const first = isDrawn || isPromise(fault) ? await healthy(other) : null;
    await first?.assertRight();
    const begun = performance.now();
    const last = await healthy(n);
    const healthyMs = performance.now() - begun;
    const { asked } = device;
    const before = last.trace;
    const earlier = first === null ? [before] : [first.trace, before];
    const arm = faults.get(fault);
    if (arm === undefined) throw new RangeError(`fault: '${fault}' is not a fault; use one of faultNames`);
    const armed = await arm({ device, random, before, earlier, asked, label, pointBytes: mode.pointBytes });
    if (armed === null) return { outcome: 'none', where: '', message: '' };
    const { where } = armed;
    strikes(where, healthyMs);
    const struck = await struckCall(device, subject, armed, random, { n, broken });
    armed.over?.();
    if (!armed.struck()) return { outcome: 'none', where, message: 'the command to strike did not occur' };
    const isSilentFailure = struck.outcome === 'wrong' || struck.outcome === 'untyped';
    const after = isSilentFailure ? null : await failureAfter(() => healthy(n), last);
    return { where, ...(after ?? struck) };
  } finally {
    subject.engine.destroy();
    if (isSilent(fault)) device.renew();
  }
};

const isPromise = (fault: string): boolean => /^(never )?settles/.test(fault);

/** Returns whether the device counts as lost after a fault. */
const isSilent = (fault: string): boolean => fault.startsWith('never settles');

/** Returns whether the engine ran a call twice; its record then says why. */
const wasRetried = (run: object | null): boolean => run !== null && 'retried' in run && Boolean(run.retried);
