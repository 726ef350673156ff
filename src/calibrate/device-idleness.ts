/** An engine as the idleness of its device knows it. */
export interface IdleUser {
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
export class DeviceIdleness {
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
