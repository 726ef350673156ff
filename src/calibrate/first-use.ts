/**
 * Calibration at first use: an engine measures while its device has nothing else to do, and engines
 * that are created later use the result.
 */

import type { EngineEvent, EngineStats } from '../api/calls.js';
import type { Calibration, CalibrationStore } from '../api/device.js';
import { measure } from './search.js';
import { hasWorked, indexedDbStore, recall, remember, rememberedName } from './store.js';
import type { Subject } from './subject.js';

/** An engine whose first use measures, and the store that was given, if one was. */
export interface FirstUseSubject extends Subject {
  readonly store: CalibrationStore | null | undefined;
}

/** Findings of this page about a curve on a device, or on all devices of one name. */
interface Found {
  state: Exclude<EngineStats['calibration'], 'remembered'>;
  calibration: Calibration | null;
  /** Measurements that a call has ended. */
  interruptions: number;
}

/** Longest wait for a store, in ms: a database may be blocked. */
const STORE_MS = 2000;

/** Owner of what is found on adapters that have a name. */
const page = {};

/** By the device of an adapter without a name, or `page`; then by name or curve. */
const findings = new WeakMap<object, Map<string, Found>>();

const foundOn = (device: GPUDevice, name: string | null, curve: string): Found => {
  const owner = name === null ? device : page;
  const known = findings.get(owner) ?? new Map<string, Found>();
  findings.set(owner, known);
  const found = known.get(name ?? curve) ?? { state: 'none', calibration: null, interruptions: 0 };
  known.set(name ?? curve, found);
  return found;
};

/** Settles as a store does; with null if it takes too long. */
const inTime = async <Value>(asked: Promise<Value>): Promise<Value | null> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, STORE_MS, null);
  });
  try {
    return await Promise.race([asked, late]);
  } finally {
    clearTimeout(timer);
  }
};

/** The calibration of one engine. */
export class FirstUse {
  /** The remembered calibration, which the engine uses; null: none. */
  readonly calibration: Calibration | null;
  readonly #subject: FirstUseSubject;
  readonly #name: string | null;
  readonly #found: Found;
  readonly #idleness: DeviceIdleness;
  /** Numbers of the calls that wait or run. */
  readonly #calls = new Set<number>();
  /** Numbers of these whose sums the GPU has computed. */
  readonly #onGpu = new Set<number>();
  #hasSummed = false;

  private constructor(subject: FirstUseSubject, name: string | null, found: Found, calibration: Calibration | null) {
    this.#subject = subject;
    this.#name = name;
    this.#found = found;
    this.calibration = calibration;
    this.#idleness = DeviceIdleness.of(subject.device);
  }

  /** Asks the page and the store for a calibration. Never rejects. */
  static async begin(given: FirstUseSubject): Promise<FirstUse> {
    const subject = { ...given, store: given.store === undefined ? indexedDbStore() : given.store };
    const { device, curve, store } = subject;
    const name = rememberedName(subject);
    const found = foundOn(device, name, curve);
    return new FirstUse(subject, name, found, found.calibration ?? (await inTime(recall(store, name, subject))));
  }

  get state(): EngineStats['calibration'] {
    return this.calibration === null ? this.#found.state : 'remembered';
  }

  /** True while a call of the engine waits or runs. */
  get isBusy(): boolean {
    return this.#calls.size > 0;
  }

  /** True if the engine should measure when the device is idle. */
  get isDue(): boolean {
    return this.#hasSummed && this.state === 'none';
  }

  /** Number of measurements that a call has ended. */
  get interruptions(): number {
    return this.#found.interruptions;
  }

  isDeviceBusy(): boolean {
    return this.#subject.isBusy();
  }

  /** Follows a call of the engine. */
  note({ event, call, kind, error }: EngineEvent): void {
    if (event === 'ended' || event === 'refused') {
      this.#calls.delete(call);
      if (this.#onGpu.delete(call) && error === null) this.#hasSummed = true;
    } else {
      this.#calls.add(call);
      if (event === 'computed' && (kind === 'msm' || kind === 'msmBatch')) this.#onGpu.add(call);
    }
    this.#idleness.note(this);
  }

  /** Measures, and remembers the result. Never rejects. */
  async measure(signal: AbortSignal): Promise<void> {
    const found = this.#found;
    found.state = 'measuring';
    try {
      const checkpoint = (): void => {
        if (signal.aborted) throw signal.reason;
      };
      const calibration = await measure(this.#subject, { signal, checkpoint });
      if (!hasWorked(calibration)) throw new Error('no setting worked');
      found.calibration = calibration;
      found.state = 'measured';
      // the store may take as long as it likes
      void remember(this.#subject.store ?? null, this.#name, calibration);
    } catch {
      found.state = signal.aborted ? 'none' : 'failed';
      if (signal.aborted) found.interruptions++;
    }
  }

  /** Ends the measurement of this engine. */
  destroy(): void {
    this.#idleness.leave(this);
  }
}

/** An engine as the idleness of its device knows it. */
interface IdleUser {
  /** True while a call of the engine waits or runs. */
  readonly isBusy: boolean;
  /** True if the engine should measure. */
  readonly isDue: boolean;
  /** Number of measurements that a call has ended. */
  readonly interruptions: number;
  /** Returns true while the device has work, of whichever engine. */
  isDeviceBusy(): boolean;
  /** Measures until the signal aborts. Never rejects. */
  measure(signal: AbortSignal): Promise<void>;
}

/**
 * Time without a call after which a device is idle, in ms; twice as long after each measurement
 * that a call has ended, so that a page with a call every few seconds does not compile for ever.
 */
const IDLE_MS = 1000;

const idlenesses = new WeakMap<GPUDevice, DeviceIdleness>();

/** Lets the engines of a device measure, one at a time, while none of them has a call. */
class DeviceIdleness {
  readonly #users = new Set<IdleUser>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #measuring: { readonly user: IdleUser; readonly controller: AbortController } | null = null;

  /** Returns that of a device. */
  static of(device: GPUDevice): DeviceIdleness {
    const known = idlenesses.get(device) ?? new DeviceIdleness();
    idlenesses.set(device, known);
    return known;
  }

  /** Notes that a call of an engine came or ended. */
  note(user: IdleUser): void {
    this.#users.add(user);
    this.#wait();
  }

  /** Forgets an engine, and ends its measurement. */
  leave(user: IdleUser): void {
    this.#users.delete(user);
    if (this.#measuring?.user === user) this.#measuring.controller.abort();
    this.#wait();
  }

  /** Ends a measurement if there is a call, or else waits for the next one. */
  #wait(): void {
    clearTimeout(this.#timer);
    const users = [...this.#users];
    if (users.some(({ isBusy }) => isBusy)) {
      this.#measuring?.controller.abort();
      return;
    }
    const user = users.find(({ isDue }) => isDue);
    if (user === undefined || this.#measuring !== null) return;
    this.#timer = setTimeout(() => void this.#measure(user), IDLE_MS * 2 ** user.interruptions);
    // a program of Node may end meanwhile
    (this.#timer as { unref?(): void }).unref?.();
  }

  async #measure(user: IdleUser): Promise<void> {
    // engines that do not measure, and those of vectors, have calls of their own
    if (user.isDue && !user.isDeviceBusy()) {
      const controller = new AbortController();
      this.#measuring = { user, controller };
      await user.measure(controller.signal);
      this.#measuring = null;
    }
    this.#wait();
  }
}
