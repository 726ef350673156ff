/**
 * Faults of WebGPU promises: they never settle, settle late, settle twice, or settle after a later
 * one.
 */
import { type Arm, striking } from './arm.js';
import { type Awaited, awaited } from './commands.js';

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
