/**
 * Waits for promises of WebGPU. The specification lets an implementation settle them arbitrarily
 * late, or only when the device is destroyed. So a device that exceeds a generous limit counts as
 * lost.
 */
import { MsmError } from '../errors.js';
import { OUT_OF_MEMORY_ADVICE } from './device-memory.js';

/** Reason for the loss of a device. */
export interface Loss {
  readonly message: string;
  /** True if the device stopped answering and did not report a loss. */
  readonly isSilent: boolean;
}

/**
 * Promises of the queue settle in the order of their calls; those of compilers in any order. No
 * call waits for an idle one: it has no limit, and fails with the device.
 */
type WaitKind = 'queue' | 'compiler' | 'idle';

export interface WaitRequest {
  /** Name of the awaited work, for errors. */
  readonly what: string;
  /** Default `queue`. */
  readonly kind?: WaitKind;
  /** Expected duration in milliseconds, once the device has done all earlier work. Default 0. */
  readonly expectedMs?: number;
  /** The driver may compile before it answers. Default false. */
  readonly compiles?: boolean;
}

/**
 * Interval of checks, in milliseconds. Waits count checks and not time, because a machine may sleep
 * and a page may be frozen.
 */
const TICK_MS = 250;

/** Limit of a wait: at least so many milliseconds, and a multiple of its expected duration. */
const LEAST_LIMIT_MS = 10_000;
const LIMIT_TIMES = 20;

/**
 * Shortest limit while kernels compile, in ms: a phone's driver may take minutes for all of them.
 */
const COMPILING_LIMIT_MS = 120_000;

/** Milliseconds in which promises may reject by themselves after a device reported its loss. */
const GRACE_MS = 50;

/** Error of the wait that exceeded its limit; other waits fail with a plain error. */
export class Stuck extends MsmError {
  constructor(message: string) {
    super('device-lost', message);
  }
}

interface Wait extends Required<WaitRequest> {
  waitedMs: number;
  fail(error: Error): void;
}

/** Time does not count while a page is hidden, as browsers may then leave its GPU work undone. */
const isHidden = (): boolean =>
  (globalThis as { document?: { visibilityState?: string } }).document?.visibilityState === 'hidden';

export class DeviceWatch {
  /** Resolves when the device is lost, or counts as lost. Never rejects. */
  readonly loss: Promise<Loss>;
  #tellLoss: (loss: Loss) => void = () => undefined;
  #lost: Loss | null = null;
  /** Waits in the order in which they began. */
  readonly #waits = new Set<Wait>();
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor(lost: Promise<Pick<GPUDeviceLostInfo, 'message' | 'reason'>>) {
    this.loss = new Promise((resolve) => {
      this.#tellLoss = resolve;
    });
    void lost.then(({ message, reason }) => {
      this.#lose({ message: message || reason, isSilent: false });
      setTimeout(() => this.#failAll(), GRACE_MS);
    });
  }

  /**
   * Settles as a promise of the device does, or rejects when the device is lost first.
   *
   * @param promise returned by a call of WebGPU
   */
  wait<Value>(promise: PromiseLike<Value>, request: WaitRequest): Promise<Value> {
    return new Promise((resolve, reject) => {
      const wait: Wait = { kind: 'queue', expectedMs: 0, compiles: false, ...request, waitedMs: 0, fail: reject };
      const settled = (): void => {
        if (this.#waits.delete(wait) && wait.kind === 'compiler') this.#forgiveCompilers();
        if ([...this.#waits].every((each) => each.kind === 'idle')) this.#stop();
      };
      this.#waits.add(wait);
      promise.then(
        (value) => {
          settled();
          resolve(value);
        },
        (error: unknown) => {
          settled();
          reject(error);
        },
      );
      if (this.#lost?.isSilent) this.#failAll();
      else if (wait.kind !== 'idle') this.#timer ??= setInterval(() => this.#tick(), TICK_MS);
    });
  }

  #tick(): void {
    if (isHidden()) return;
    const compiling = [...this.#waits].some(({ kind }) => kind === 'compiler');
    // promises of the queue settle in order: only the oldest one can be late
    const oldest = [...this.#waits].find(({ kind }) => kind === 'queue');
    for (const wait of [...this.#waits]) {
      if (wait.kind === 'idle' || (wait.kind === 'queue' && wait !== oldest)) continue;
      wait.waitedMs += TICK_MS;
      const least = wait.compiles || compiling ? COMPILING_LIMIT_MS : LEAST_LIMIT_MS;
      const limitMs = Math.max(least, LIMIT_TIMES * wait.expectedMs);
      if (wait.waitedMs <= limitMs) continue;
      const seconds = Math.round(wait.waitedMs / 1000);
      this.#lose({ message: `it did not answer: ${wait.what} took more than ${seconds} s`, isSilent: true });
      wait.fail(new Stuck(this.#lost?.message ?? ''));
      this.#failAll();
      return;
    }
  }

  /** Restarts the limits of all compilers, since one of them has made progress. */
  #forgiveCompilers(): void {
    for (const wait of this.#waits) if (wait.kind === 'compiler') wait.waitedMs = 0;
  }

  #lose(loss: Loss): void {
    if (this.#lost !== null) return;
    this.#lost = loss;
    this.#tellLoss(loss);
  }

  #failAll(): void {
    const waits = [...this.#waits];
    this.#waits.clear();
    this.#stop();
    for (const { fail } of waits) fail(new Error(this.#lost?.message));
  }

  #stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }
}

const watches = new WeakMap<GPUDevice, DeviceWatch>();

/** Returns the watch of a device, which all its users share. */
export const watchOf = (device: GPUDevice): DeviceWatch => {
  const watch = watches.get(device) ?? new DeviceWatch(device.lost);
  watches.set(device, watch);
  return watch;
};

/** Limit for a browser to find a GPU, in milliseconds: its GPU process may have to start. */
const REQUEST_LIMIT_MS = 30_000;

/**
 * Waits for an adapter or a device, before there is a device to watch.
 *
 * @param give receives a value that comes too late
 * @throws Stuck
 */
export const waitForRequest = <Value>(
  promise: PromiseLike<Value>,
  what: string,
  give: (late: Value) => void = () => undefined,
): Promise<Value> =>
  new Promise((resolve, reject) => {
    let waitedMs = 0;
    let isLate = false;
    const timer = setInterval(() => {
      waitedMs += TICK_MS;
      if (waitedMs <= REQUEST_LIMIT_MS) return;
      isLate = true;
      clearInterval(timer);
      reject(new Stuck(`${what} did not come within ${REQUEST_LIMIT_MS / 1000} s`));
    }, TICK_MS);
    promise.then(
      (value) => {
        clearInterval(timer);
        if (isLate) give(value);
        else resolve(value);
      },
      (error: unknown) => {
        clearInterval(timer);
        reject(error);
      },
    );
  });

/*
 * Shorter waits for the queue of a device. Firefox checks only every 100 ms, and at every submit,
 * whether the GPU is done (wgpu leaves that to its caller). There, empty submits make a wait as
 * short as the work. Other browsers do not need them, so slow waits are measured once on each
 * device.
 */

/** Measurement of a device's waits. */
interface Waits {
  slow: boolean;
  lost: boolean;
  readonly measured: Promise<void>;
}

const known = new WeakMap<GPUDevice, Waits>();

/** Shortest wait for an idle device that counts as slow, in milliseconds. */
const WORTH_NUDGING_MS = 5;

/** Factor by which empty submits must shorten the wait; otherwise the device itself is slow. */
const LEAST_GAIN = 4;

/** Number of measurements; a device that is slow for a moment is fast in one of them. */
const ROUNDS = 2;

/** Interval of empty submits, in milliseconds; browsers raise it to 4 ms after the fifth. */
const NUDGE_EVERY_MS = 1;

/** Makes empty submits until a wait settles. */
const nudge = async <Value>(device: GPUDevice, waits: Pick<Waits, 'lost'>, wait: Promise<Value>): Promise<Value> => {
  const timer = setInterval(() => (waits.lost ? clearInterval(timer) : submitNothing()), NUDGE_EVERY_MS);
  const submitNothing = (): void => {
    try {
      device.queue.submit([]);
    } catch {
      // the wait itself reports an error of the device
      clearInterval(timer);
    }
  };
  submitNothing();
  try {
    return await wait;
  } finally {
    clearInterval(timer);
  }
};

const areSlow = async (device: GPUDevice, waits: Pick<Waits, 'lost'>): Promise<boolean> => {
  const time = async (wait: () => Promise<unknown>): Promise<number> => {
    const begun = performance.now();
    await wait();
    return performance.now() - begun;
  };
  const whenIdle = (): Promise<unknown> =>
    watchOf(device).wait(device.queue.onSubmittedWorkDone(), { what: 'an idle queue' });
  // the first wait ends with earlier work and at a poll, so the next one takes a whole interval
  await whenIdle();
  for (let round = 0; round < ROUNDS; round++) {
    const left = await time(whenIdle);
    if (left < WORTH_NUDGING_MS) return false;
    const nudged = await time(() => nudge(device, waits, whenIdle()));
    if (nudged * LEAST_GAIN > left) return false;
  }
  return true;
};

/**
 * Measures once how long a wait for an idle device takes. On most devices this takes no submit and
 * less than a millisecond; where waits are slow, a quarter of a second. Never rejects.
 */
export const measureWaits = (device: GPUDevice): Promise<void> => {
  const before = known.get(device);
  if (before !== undefined) return before.measured;
  const state = { slow: false, lost: false };
  const lost = watchOf(device).loss.then(() => {
    state.lost = true;
  });
  const measuring = areSlow(device, state).then(
    (slow) => {
      waits.slow = slow;
    },
    // without a measurement the device counts as fast
    () => undefined,
  );
  const waits: Waits = Object.assign(state, { measured: Promise.race([measuring, lost]) });
  known.set(device, waits);
  return waits.measured;
};

/**
 * Waits for the queue of a device: for a map, or for the end of submitted work.
 *
 * @param wait just begun
 * @throws Error when the device is lost first, or the wait exceeds its limit
 */
export const waitForQueue = <Value>(
  device: GPUDevice,
  wait: Promise<Value>,
  request: WaitRequest = { what: 'the queue' },
): Promise<Value> => {
  const waits = known.get(device);
  const watched = watchOf(device).wait(wait, request);
  return waits?.slow && !waits.lost ? nudge(device, waits, watched) : watched;
};

/**
 * Runs synchronous WebGPU calls inside error scopes, so that their errors do not reach the caller's
 * scopes and handlers.
 *
 * @throws MsmError `out-of-memory`, `internal`
 */
export const inErrorScopes = (device: GPUDevice, calls: () => void, request: WaitRequest): Promise<void> => {
  const watch = watchOf(device);
  device.pushErrorScope('validation');
  device.pushErrorScope('internal');
  device.pushErrorScope('out-of-memory');
  const pop = async (): Promise<void> => {
    const [memory, internal, validation] = await Promise.all([
      watch.wait(device.popErrorScope(), request),
      watch.wait(device.popErrorScope(), request),
      watch.wait(device.popErrorScope(), request),
    ]);
    if (memory) {
      throw new MsmError('out-of-memory', `the GPU is out of memory: ${memory.message}; ${OUT_OF_MEMORY_ADVICE}`);
    }
    const error = validation ?? internal;
    if (error) {
      throw new MsmError('internal', `WebGPU refused a command: ${error.message}. Please report it, with the adapter`);
    }
  };
  try {
    calls();
  } catch (error) {
    pop().catch(() => undefined);
    throw error;
  }
  return pop();
};
