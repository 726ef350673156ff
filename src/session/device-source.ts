import type { OpenDevice } from '../gpu/device.js';
import { watchOf } from '../gpu/device-watch.js';

/**
 * Gives engines that share a device the same one. After a loss all of them get the same next one.
 */
export class DeviceSource {
  readonly #request: (again: boolean) => Promise<OpenDevice>;
  #current: Promise<OpenDevice> | null = null;
  /** The current device after its request has resolved; null before. */
  #open: OpenDevice | null = null;
  /** Lost devices. They are never destroyed: Dawn has crashed on `destroy` after a loss. */
  readonly #lost = new WeakSet<OpenDevice>();
  #users = 0;

  /** @param request requests a device; `again` is true after a loss. It throws `MsmError` */
  constructor(request: (again: boolean) => Promise<OpenDevice>) {
    this.#request = request;
  }

  /**
   * Returns the device to one more engine.
   *
   * @throws MsmError of the request; the engine then has not joined
   */
  async join(): Promise<OpenDevice> {
    this.#users++;
    try {
      const open = await (this.#current ?? this.#next(false));
      return this.#lost.has(open) ? await this.after(open) : open;
    } catch (error) {
      this.leave();
      throw error;
    }
  }

  /** Returns the device that follows a lost one. @throws MsmError of the request */
  async after(lost: OpenDevice): Promise<OpenDevice> {
    const current = this.#current;
    const open = await current;
    // the last engine has left, so no engine would destroy another device
    if (this.#users <= 0) return lost;
    // another engine may have requested the next device meanwhile
    if (this.#current !== current) return this.after(lost);
    return open === null || open === lost ? this.#next(true) : open;
  }

  /**
   * Notes that an engine has ended. The last one destroys the device, unless it is the caller's.
   */
  leave(): void {
    if (--this.#users > 0) return;
    const [current, open] = [this.#current, this.#open];
    [this.#current, this.#open] = [null, null];
    if (open !== null) this.#end(open);
    else current?.then((late) => this.#end(late)).catch(() => undefined);
  }

  #end(open: OpenDevice): void {
    if (open.owned && !this.#lost.has(open)) open.device.destroy();
  }

  #next(again: boolean): Promise<OpenDevice> {
    const requested = this.#request(again).then((open) => {
      void watchOf(open.device).loss.then(({ isSilent }) => {
        if (isSilent) this.#end(open);
        this.#lost.add(open);
      });
      if (this.#current === requested) this.#open = open;
      return open;
    });
    this.#open = null;
    this.#current = requested;
    requested.catch(() => {
      if (this.#current === requested) this.#current = null;
    });
    return requested;
  }
}

/** Device sources of engines, for `deviceOf`; engines without a GPU have none. */
export const sourcesOfEngines = new WeakMap<object, DeviceSource>();
