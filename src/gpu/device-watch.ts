/**
 * Waits for promises of WebGPU. The specification lets an implementation settle them arbitrarily
 * late, or only when the device is destroyed. So a device that exceeds a generous limit counts as
 * lost.
 */

import { MsmError } from '../errors.js';

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
