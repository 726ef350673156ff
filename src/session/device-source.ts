import type { OpenDevice } from '../gpu/device.js';
import { watchOf } from '../gpu/device-watch.js';

/** Where engines get their device from that share one: the same for all, and for all the next one when it is lost. */
export class DeviceSource {
  readonly #request: (again: boolean) => Promise<OpenDevice>;
  #current: Promise<OpenDevice> | null = null;
  /** The same, once it is there. */
  #open: OpenDevice | null = null;
  /** Those that are lost: what is lost need not be destroyed, and Dawn has been seen to crash when it was. */
  readonly #lost = new WeakSet<OpenDevice>();
  #users = 0;

  /** @param request @throws MsmError; its argument says whether there was one before */
  constructor(request: (again: boolean) => Promise<OpenDevice>) {
    this.#request = request;
  }

  /** The first device of another engine. @throws what requests throw; then nobody joined */
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

  /** The device that comes after one that is lost. @throws what requests throw */
  async after(lost: OpenDevice): Promise<OpenDevice> {
    const current = this.#current;
    const open = await current;
    // the last engine has left, and nobody would ever let go of another
    if (this.#users <= 0) return lost;
    // another engine may have asked meanwhile
    if (this.#current !== current) return this.after(lost);
    return open === null || open === lost ? this.#next(true) : open;
  }

  /** An engine has no need of it any more; with the last one it goes, unless it is the caller's. */
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
