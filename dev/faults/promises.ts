/**
 * Faults of WebGPU promises: they never settle, settle late, settle twice, or settle after a later
 * one.
 */
import type { Arm } from './arm.js';

/**
 * Methods whose promises every call awaits. Those of compilers occur only in the first call of a
 * device (tests/resilience/failures-silent.test.ts).
 */
export const awaited = ['mapAsync', 'popErrorScope', 'onSubmittedWorkDone'] as const;
export type Awaited = (typeof awaited)[number];

/** Interval at which the library checks its waits (src/gpu/device-watch.ts). */
const TICK_MS = 250;

/** Checks made every millisecond, so that a wait of ten seconds takes ten milliseconds. */
const TICKS_AT_A_TIME = 4;

/** Speeds up the clock of the library's waits while a wait runs into its limit. */
class FastClock {
  readonly #looks = new Map<unknown, () => void>();
  #timer: unknown = null;
  #start: typeof setInterval | null = null;

  install(): void {
    if (this.#start !== null) return;
    const { setInterval: start, clearInterval: stop } = globalThis;
    this.#start = start;
    const watched = (look: () => void, ms: number): unknown => {
      const timer = start(look, ms);
      if (ms === TICK_MS) this.#looks.set(timer, look);
      return timer;
    };
    const stopped = (timer: Parameters<typeof clearInterval>[0]): void => {
      this.#looks.delete(timer);
      stop(timer);
    };
    Object.assign(globalThis, { setInterval: watched, clearInterval: stopped });
  }

  begin(): void {
    this.end();
    this.#timer = this.#start?.(() => {
      for (let i = 0; i < TICKS_AT_A_TIME; i++) for (const look of [...this.#looks.values()]) look();
    }, 1);
  }

  end(): void {
    if (this.#timer !== null) clearInterval(this.#timer as NodeJS.Timeout);
    this.#timer = null;
  }
}

const fastClock = new FastClock();

/** Makes the promise that replaces another. */
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

/** Makes a fault that strikes one of the promises of a method in a call. */
const strike =
  (kind: keyof typeof answers, method: Awaited): Arm =>
  ({ random, asked }) => {
    const count = asked.get(method) ?? 0;
    if (count === 0) return null;
    const drawn = random.below(count);
    let seen = 0;
    let struck = false;
    let checkpoint: () => void = () => undefined;
    const next = new Promise<void>((resolve) => {
      checkpoint = resolve;
    });
    fastClock.install();
    const answered = (of: Awaited, promise: Promise<unknown>): PromiseLike<unknown> => {
      if (struck) void promise.then(checkpoint, checkpoint);
      if (of !== method || struck || seen++ !== drawn) return promise;
      struck = true;
      promise.catch(() => undefined);
      if (kind === 'never settles') fastClock.begin();
      return answers[kind](promise, next);
    };
    const where = `${method}, number ${drawn + 1} of ${count}`;
    return { injection: { answered }, where, struck: () => struck, over: () => fastClock.end() };
  };

export const promiseFaults: readonly (readonly [string, Arm])[] = (
  Object.keys(answers) as (keyof typeof answers)[]
).flatMap((kind) => awaited.map((method) => [`${kind}: ${method}`, strike(kind, method)] as const));
