/**
 * How a fault is armed and strikes, and the faults of commands and of promises: commands that are
 * dropped, repeated, late or of another call, and promises that never settle, settle late, twice, or
 * after a later one.
 */
import type { Random } from '../oracle/known-bases.js';
import {
  type Awaited,
  awaited,
  bound,
  buffersOf,
  type Command,
  type Dispatch,
  drawSite,
  type Injection,
  isUniform,
  type Mapped,
  nameOf,
  pick,
  type RecordingDevice,
  type Site,
  type Step,
  sitesOf,
  type Target,
  type Trace,
} from './recording-device.js';

/** Inputs from which a fault is made. */
export interface Circumstances {
  readonly device: RecordingDevice;
  readonly random: Random;
  /** Trace of the previous call, which has the same shape and thus the same commands. */
  readonly before: Trace;
  readonly earlier: readonly Trace[];
  /** Number of WebGPU promises that the previous call awaited, by method. */
  readonly asked: ReadonlyMap<string, number>;
  /** Label of the command to strike; any command if absent. */
  readonly label?: string | undefined;
  readonly pointBytes: number;
}

export interface Armed {
  readonly injection: Injection;
  /** Description of the struck command and the change. */
  readonly where: string;
  /** Returns whether the fault struck. */
  struck(): boolean;
  /** Ends what the fault began, when the call is over. */
  over?(): void;
}

export type Arm = (circumstances: Circumstances) => Armed | null | Promise<Armed | null>;

/**
 * Returns a fault that notes when it strikes.
 *
 * @param inject makes the injection, which calls `hit` as it strikes
 */
export const striking = (where: string, inject: (hit: () => void) => Injection, over?: () => void): Armed => {
  let struck = false;
  const injection = inject(() => {
    struck = true;
  });
  return { injection, where, struck: () => struck, ...(over && { over }) };
};

/**
 * Time at which a repeated or delayed command executes: at once, after the next of its kind, or
 * after all others.
 */
type Moment = 'at once' | 'next' | 'end';

/** A change to a command. */
type Change =
  | { readonly kind: 'drop' }
  | { readonly kind: 'replace'; readonly command: Command | Step }
  | { readonly kind: 'repeat' | 'delay'; readonly moment: Moment };

/** Applies a change to a step of a list. Steps delayed beyond its end are returned in `left`. */
const edit = (
  steps: readonly Step[],
  at: number,
  change: Change,
): { steps: readonly Step[]; left: readonly Step[] } => {
  const step = steps[at] as Step;
  if (change.kind === 'drop') return { steps: steps.toSpliced(at, 1), left: [] };
  if (change.kind === 'replace') return { steps: steps.toSpliced(at, 1, change.command as Step), left: [] };
  const next = steps.findIndex((each, i) => i > at && each.kind === step.kind);
  const to = change.moment === 'at once' ? at + 1 : change.moment === 'next' && next !== -1 ? next + 1 : steps.length;
  if (change.kind === 'repeat') return { steps: steps.toSpliced(to, 0, step), left: [] };
  // a delayed last step can only execute after the submit
  if (to === at + 1) return { steps: steps.toSpliced(at, 1), left: [step] };
  return { steps: steps.toSpliced(to, 0, step).toSpliced(at, 1), left: [] };
};

/** Applies a change to one command of a call. */
const strikeCommand = (site: Site, kind: string, change: Change, where: string): Armed =>
  striking(where, (hit) => {
    let held: { readonly command: Command; readonly until: Command['kind'] | null } | null = null;
    const strikeWhole = (command: Command): readonly Command[] => {
      hit();
      if (change.kind === 'drop') return [];
      if (change.kind === 'replace') return [change.command as Command];
      if (change.moment === 'at once') return [command, command];
      // at the end, a write executes after the submit that needs it, and a submit after the call
      const end = command.kind === 'write' ? 'submit' : null;
      held = { command, until: change.moment === 'next' ? command.kind : end };
      return change.kind === 'repeat' ? [command] : [];
    };
    const strike = (command: Command): readonly Command[] => {
      const { step, label } = site;
      if (step === null) return command.kind === kind ? strikeWhole(command) : [command];
      const target = command.kind === 'submit' ? command.steps[step] : undefined;
      if (command.kind !== 'submit' || target?.label !== label) return [command];
      hit();
      if (kind === 'pass') {
        const { pass } = target as Dispatch;
        return [{ ...command, steps: command.steps.filter((each) => each.kind !== 'dispatch' || each.pass !== pass) }];
      }
      const { steps, left } = edit(command.steps, step, change);
      if (left.length > 0) held = { command: { ...command, steps: left }, until: null };
      return [{ ...command, steps }];
    };
    return {
      instead(command, at) {
        if (at === site.at) return strike(command);
        if (held === null || held.until !== command.kind) return [command];
        const late = held.command;
        held = null;
        return [command, late];
      },
      rest: () => (held === null ? [] : [held.command]),
    };
  });

const strikeAt =
  (target: Target, draw: (random: Random) => Change): Arm =>
  (circumstances) => {
    const site = drawSite(circumstances, target);
    if (site === undefined) return null;
    const change = draw(circumstances.random);
    const moment = 'moment' in change ? `, ${change.moment}` : '';
    return strikeCommand(site, target, change, `${nameOf(site)}${moment}`);
  };

export const drop = (target: Target): Arm => strikeAt(target, () => ({ kind: 'drop' }));

export const repeat = (target: Target): Arm =>
  strikeAt(target, (random) => ({
    kind: 'repeat',
    moment: pick(random, ['at once', 'next', 'end'] as const) as Moment,
  }));

export const delay = (target: Target): Arm =>
  strikeAt(target, (random) => ({ kind: 'delay', moment: pick(random, ['next', 'end'] as const) as Moment }));

/** Returns the content of a buffer after the writes of a call before a command. */
const written = (trace: Trace, upTo: number, buffer: GPUBuffer): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(buffer.size);
  for (const command of trace.slice(0, upTo)) {
    if (command.kind === 'write' && command.buffer === buffer) bytes.set(command.data, command.offset);
  }
  return bytes;
};

/** Returns the dispatch with the uniforms that its own call had written. */
const withOwnUniforms = (device: RecordingDevice, trace: Trace, at: number, step: Step): Step => {
  if (step.kind !== 'dispatch') return step;
  const entries = step.entries.map((entry) => {
    const { buffer, offset, size } = bound(entry);
    if (!isUniform(buffer)) return entry;
    return { ...entry, resource: { buffer: device.uniform(written(trace, at, buffer)), offset, size } };
  });
  const layout = step.pipeline.getBindGroupLayout(0);
  return { ...step, entries, group: device.real.createBindGroup({ layout, entries }) };
};

/** Returns the command of an earlier call that corresponds to one of this call. */
const earlierCommand = (
  { device, random, before, earlier }: Circumstances,
  target: Target,
  site: Site,
): Command | Mapped | Step | undefined => {
  for (const trace of [pick(random, earlier) ?? before, before]) {
    const alike = sitesOf(trace, target).filter(({ label }) => label === site.label);
    const { at, step } = trace === before ? site : (pick(random, alike) ?? site);
    const asItWas = (each: Step): Step => withOwnUniforms(device, trace, at, each);
    const command = trace[at];
    const found = command?.kind === 'submit' && step !== null ? command.steps[step] : command;
    if (found === undefined || buffersOf(found).some((buffer) => device.isGone(buffer))) continue;
    if (found.kind === 'submit') return { ...found, steps: found.steps.map(asItWas) };
    return found.kind === 'dispatch' ? asItWas(found) : found;
  }
  return undefined;
};

export const replace =
  (target: Target): Arm =>
  (circumstances) => {
    const site = drawSite(circumstances, target);
    const command = site && earlierCommand(circumstances, target, site);
    if (site === undefined || command === undefined) return null;
    return strikeCommand(site, target, { kind: 'replace', command: command as Command | Step }, nameOf(site));
  };

/** Interval at which the library checks its waits (src/gpu/device-watch.ts). */
const TICK_MS = 250;

/** Checks made every millisecond, so that a wait of ten seconds takes ten milliseconds. */
const TICKS_AT_A_TIME = 4;

/** Speeds up the clock of the library's waits while a wait runs into its limit. */
const fastClock = (() => {
  const looks = new Map<unknown, () => void>();
  let start: typeof setInterval | null = null;
  let timer: NodeJS.Timeout | undefined;
  return {
    install(): void {
      if (start !== null) return;
      const { setInterval: begin, clearInterval: stop } = globalThis;
      start = begin;
      const watched = (look: () => void, ms: number): unknown => {
        const watch = begin(look, ms);
        if (ms === TICK_MS) looks.set(watch, look);
        return watch;
      };
      const stopped = (watch: Parameters<typeof clearInterval>[0]): void => {
        looks.delete(watch);
        stop(watch);
      };
      Object.assign(globalThis, { setInterval: watched, clearInterval: stopped });
    },
    begin(): void {
      clearInterval(timer);
      timer = start?.(() => {
        for (let i = 0; i < TICKS_AT_A_TIME; i++) for (const look of [...looks.values()]) look();
      }, 1);
    },
    end: (): void => clearInterval(timer),
  };
})();

type Answer = (promise: Promise<unknown>, next: Promise<void>) => PromiseLike<unknown>;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const LATE_MS = 300;

const answers = {
  'never settles': () => new Promise(() => undefined),
  'settles late': async (promise) => {
    await sleep(LATE_MS);
    return promise;
  },
  'settles twice': (promise) => ({
    // biome-ignore lint/suspicious/noThenProperty: a promise that breaks the rules of promises
    then: ((resolve: (value: unknown) => void, reject: (error: unknown) => void) => {
      promise.then((value) => {
        resolve(value);
        reject(new Error('settled again'));
        resolve(undefined);
      }, reject);
    }) as Promise<unknown>['then'],
  }),
  'settles behind the next': async (promise, next) => {
    await Promise.race([next, sleep(LATE_MS)]);
    return promise;
  },
} as const satisfies Readonly<Record<string, Answer>>;

const strike =
  (kind: keyof typeof answers, method: Awaited): Arm =>
  ({ random, asked }) => {
    const count = asked.get(method) ?? 0;
    if (count === 0) return null;
    const drawn = random.below(count);
    let seen = 0;
    let checkpoint: () => void = () => undefined;
    const next = new Promise<void>((resolve) => {
      checkpoint = resolve;
    });
    fastClock.install();
    return striking(
      `${method}, number ${drawn + 1} of ${count}`,
      (hit) => ({
        answered(of, promise) {
          if (seen > drawn) void promise.then(checkpoint, checkpoint);
          if (of !== method || seen++ !== drawn) return promise;
          hit();
          promise.catch(() => undefined);
          if (kind === 'never settles') fastClock.begin();
          return answers[kind](promise, next);
        },
      }),
      () => fastClock.end(),
    );
  };

export const promiseFaults: readonly (readonly [string, Arm])[] = (
  Object.keys(answers) as (keyof typeof answers)[]
).flatMap((kind) => awaited.map((method) => [`${kind}: ${method}`, strike(kind, method)] as const));
