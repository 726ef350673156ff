/** One fault in one call: right calls before and after it, and what becomes of all three. */
import { MsmError } from '../../src/errors.js';
import { Random } from '../oracle/known-bases.js';
import type { Trace } from './commands.js';
import { faultNames, faults, rare } from './faults.js';
import { type Mode, type ModeName, modeNames, modes } from './modes.js';
import type { RecordingDevice } from './recording-device.js';

/** Plain data, so that it can be sent to another process. */
export interface Trial {
  readonly name: string;
  readonly mode: ModeName;
  readonly fault: string;
  readonly n: number;
  readonly seed: number;
  /** The call has to be refused, where the mode has such calls. */
  readonly broken: boolean;
  /** Label of the command that is struck; any unless given. */
  readonly label?: string;
}

/** What came of it. */
export const outcomes = {
  found: 'an error that says so',
  retried: 'the right result, in the second attempt',
  harmless: 'the right result',
  wrong: 'a wrong result',
  untyped: 'an error that is none of the library’s',
  hang: 'no end',
  'wrong after': 'the right result or an error, and then a wrong result of a call without a fault',
  'fails after': 'the same, and then an error that does not ask for the bases',
  none: 'there was nothing to strike',
} as const;
export type Outcome = keyof typeof outcomes;

export interface Report {
  readonly outcome: Outcome;
  /** What was struck. */
  readonly where: string;
  /** Of the error, or of that of the call after it. */
  readonly message: string;
}

/** As many small ones as large ones. */
const drawSize = (random: Random, { sizes: [least, most] }: Mode): number =>
  Math.floor(least * ((most + 1) / least) ** (random.u32() / 2 ** 32));

/** The trial number `index` of a seed. */
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

/** Faults that a person found, by name. */
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

/** Modes of which everything is compiled. */
const warm = new WeakMap<RecordingDevice, Set<Mode>>();

/** Has all that a mode needs compiled, which no other call is to wait for; on an engine apart, as trials are to repeat. */
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

/**
 * @param strikes is told, before a fault strikes, what it strikes, and how long the call takes without it
 * @throws what a call without a fault throws
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
  const { engine, call } = await mode.open(device, random, Math.max(n, other));
  const healthy = async (length: number): Promise<{ trace: Trace; assertRight: () => Promise<void> }> => {
    device.begin();
    const judge = await call(random, length, false);
    const trace = await device.end();
    const assertRight = async (): Promise<void> => {
      if (!(await judge())) throw new Error(`a call without a fault, ${name} of ${length}, is wrong`);
    };
    return { trace, assertRight };
  };
  try {
    const isDrawn = random.below(2) === 0;
    // the first call of an engine waits for its kernels as well
    const first = isDrawn || isPromise(fault) ? await healthy(other) : null;
    await first?.assertRight();
    const begun = performance.now();
    const last = await healthy(n);
    const healthyMs = performance.now() - begun;
    const { asked } = device;
    const before = last.trace;
    const earlier = first === null ? [before] : [first.trace, before];
    const circumstances = { device, random, before, earlier, asked, label, pointBytes: mode.pointBytes };
    const arm = faults.get(fault);
    if (arm === undefined) throw new RangeError(`no fault is named '${fault}'`);
    const armed = await arm(circumstances);
    if (armed === null) return { outcome: 'none', where: '', message: '' };
    const { where } = armed;
    strikes(where, healthyMs);

    let [outcome, message]: [Outcome, string] = ['none', ''];
    device.begin(armed.injection);
    try {
      const judge = await call(random, n, broken);
      await device.end();
      outcome = (await judge()) ? (wasRetried(engine.lastRun) ? 'retried' : 'harmless') : 'wrong';
    } catch (error) {
      await device.end();
      outcome = error instanceof MsmError ? 'found' : 'untyped';
      message = messageOf(error);
    }
    armed.over?.();
    if (!armed.struck()) return { outcome: 'none', where, message: 'what was to be struck did not come' };
    if (outcome === 'wrong' || outcome === 'untyped') return { outcome, where, message };
    try {
      const next = await healthy(n);
      await next.assertRight();
      // only now, so that nothing came between the two calls
      await last.assertRight();
    } catch (error) {
      if (!(error instanceof MsmError)) return { outcome: 'wrong after', where, message: messageOf(error) };
      const asksToLoad = /load .*again|it was yours: request another/.test(error.message);
      if (!asksToLoad) return { outcome: 'fails after', where, message: messageOf(error) };
    }
    return { outcome, where, message };
  } finally {
    engine.destroy();
    if (isSilent(fault)) device.renew();
  }
};

const isPromise = (fault: string): boolean => /^(never )?settles/.test(fault);

/** After these a device counts as lost. */
const isSilent = (fault: string): boolean => fault.startsWith('never settles');

/** The engine may do a call twice, and then says why. */
const wasRetried = (run: object | null): boolean => run !== null && 'retried' in run && Boolean(run.retried);
