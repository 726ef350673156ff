/** Work in steps and in slices of time, between which its caller or the event loop goes on. */

/**
 * Milliseconds after which a computation lets the event loop run: half a frame, since the last step
 * may take long, and the page has work of its own.
 */
const SLICE_MS = 8;

/** Returns a channel; null where the platform has none. */
const newChannel = (): MessageChannel | null => (typeof MessageChannel === 'function' ? new MessageChannel() : null);

/** Returns Node's function, which pages do not have. */
const immediate = (): ((resolve: () => void) => unknown) | undefined =>
  (globalThis as { readonly setImmediate?: (resolve: () => void) => unknown }).setImmediate;

/**
 * Resolves in a later turn of the event loop, after timers, messages and frames that are due. In
 * pages it is a message: `setTimeout` takes 4 ms there and 1 s in hidden ones, and the
 * continuations of `scheduler.yield` go before timers, messages and frames in Chromium. Not in
 * Node: the first message of a process loads a module there, which takes some 10 ms.
 */
export const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    const soon = immediate();
    if (soon !== undefined) {
      soon(resolve);
      return;
    }
    const channel = newChannel();
    if (channel === null) {
      setTimeout(resolve, 0);
      return;
    }
    const { port1, port2 } = channel;
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });

/** Lets the page's event loop run every 8 ms. */
export class TimeSlice {
  readonly #onCheckpoint: () => Promise<void> | void;
  #asked = 0;
  #last = performance.now();
  #waitedMs = 0;

  /**
   * @param onCheckpoint called and awaited after each time slice; its errors end the computation
   */
  constructor(onCheckpoint: () => Promise<void> | void) {
    this.#onCheckpoint = onCheckpoint;
  }

  /** Milliseconds that `onCheckpoint` has taken in total. */
  get waitedMs(): number {
    return this.#waitedMs;
  }

  /** True if `yield` is due; for steps of microseconds, it reads the clock every 64th time. */
  get isOverSoon(): boolean {
    return ++this.#asked % 64 === 0 && this.isOver;
  }

  /** True if `yield` is due; for steps of milliseconds. */
  get isOver(): boolean {
    return performance.now() - this.#last > SLICE_MS;
  }

  /** Lets the event loop run, and passes a checkpoint. */
  async yield(): Promise<void> {
    await nextTurn();
    await this.checkpoint();
    this.#last = performance.now();
  }

  /** Calls `onCheckpoint`, where the event loop has run already. */
  async checkpoint(): Promise<void> {
    const begun = performance.now();
    await this.#onCheckpoint();
    this.#waitedMs += performance.now() - begun;
  }
}

/** Runs steps, with a pause after each time slice. */
export const inTimeSlices = async <Result>(steps: Steps<Result>, timeSlice: TimeSlice): Promise<Result> => {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (timeSlice.isOver) await timeSlice.yield();
  }
};

/** Items between two looks at the clock; compilers optimize what is called often. */
const ITEMS_OF_A_PART = 2 ** 12;

/**
 * Adds up the parts of a sum, modulo 2^32, and lets the event loop run between them.
 *
 * @param count number of items
 * @param part returns the sum of the items from `begin` to before `end`
 */
export const sumInSlices = async (
  count: number,
  slice: TimeSlice,
  part: (begin: number, end: number) => number,
): Promise<number> => {
  let sum = 0;
  for (let begin = 0; begin < count; begin += ITEMS_OF_A_PART) {
    sum = (sum + part(begin, Math.min(begin + ITEMS_OF_A_PART, count))) >>> 0;
    if (slice.isOver) await slice.yield();
  }
  return sum;
};

/** Work that yields about every 0.2 ms, at the latest every 2 ms. */
export type Steps<Result> = Generator<void, Result, void>;

/** Points or scalars of one step, where each takes about 0.1 µs. */
export const ITEMS_PER_STEP = 2 ** 11;

/** Runs all steps without a pause. */
export const finish = <Result>(steps: Steps<Result>): Result => {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
};
