/**
 * The device that a session works on now, with what was set up, tested and learned on it, and the
 * source of the next one after a loss.
 */
import { MsmError } from '../errors.js';
import type { OpenDevice } from '../gpu/device.js';
import { watchOf } from '../gpu/device-watch.js';
import type { Runner } from '../gpu/runner.js';
import type { DeviceView } from './operation.js';

/** Devices in a row that stopped answering, after which a session with an alternative gives up. */
const MOST_SILENT = 2;

/** Makes the setup of a device: its arithmetic, kernels and knobs. */
export interface Configure<Setup> {
  make(open: OpenDevice): Setup;
  /** Returns a simpler setup for a device that failed its self-test; null if there is none. */
  simpler(setup: Setup, open: OpenDevice): Setup | null;
  /** Names the setup in the report of a self-test. */
  nameOf(setup: Setup): string;
}

/** Settings by which a session gets and sets up its devices. */
export interface DeviceOptions<Setup> {
  readonly source: DeviceSource;
  readonly configure: Configure<Setup>;
  /** Creates the runner of submissions on a device. `afterLoss` is the advice of its errors. */
  runnerFor(device: GPUDevice, afterLoss: string): Runner;
  /** Advice of the error when a device of its own was lost, such as 'call again'. */
  readonly adviceAfterLoss: string;
  /** True if calls may go on elsewhere when the GPU stops answering. */
  readonly hasAlternative: boolean;
}

/** Result of the self-tests on the current device. */
interface TestReport {
  /** Name of the setup that passed; null if none did. */
  readonly passed: string | null;
  /** Name of the first setup that failed, and the reason; null if none did. */
  readonly failed: string | null;
  readonly ms: number;
}

/** The current device of a session, which extends this class. It is replaced when it is lost. */
export class CurrentDevice<Setup> {
  readonly #options: DeviceOptions<Setup>;
  #open: OpenDevice;
  #setup: Setup;
  #runner: Runner;
  #testReport: TestReport | null = null;
  /** Keys of the known answers that the current setup has computed. */
  readonly #tested = new Set<string>();
  readonly #rates = new Map<string, number | null>();
  /** Number of devices in a row before this one that stopped answering. */
  #silent = 0;
  /** Peak of scratch on devices that were lost, in bytes. */
  #peakOfLost = 0;
  #freesOfLost = 0;
  #isDestroyed = false;

  constructor(open: OpenDevice, options: DeviceOptions<Setup>) {
    this.#options = options;
    this.#open = open;
    this.#setup = options.configure.make(open);
    this.#runner = this.createRunner();
  }

  get open(): OpenDevice {
    return this.#open;
  }

  get setup(): Setup {
    return this.#setup;
  }

  get runner(): Runner {
    return this.#runner;
  }

  get testReport(): TestReport | null {
    return this.#testReport;
  }

  /** Peak of scratch, in bytes, on all devices so far. */
  get peak(): number {
    return Math.max(this.#runner.ledger.peak, this.#peakOfLost);
  }

  /** Number of scratch buffers that were freed, on all devices so far. */
  get frees(): number {
    return this.#freesOfLost + this.#runner.frees;
  }

  /** True if the device was lost and the session can open another. */
  get isGone(): boolean {
    return this.#runner.isLost && this.#open.owned;
  }

  /** True if another device can take over. */
  get mayReplace(): boolean {
    return !this.#isDestroyed && this.#open.owned;
  }

  /** True after a caller's device stopped answering, or several of the session's own in a row. */
  get isAbandoned(): boolean {
    if (!this.#options.hasAlternative || !this.#runner.isSilent) return false;
    return !this.#open.owned || this.#silent + 1 >= MOST_SILENT;
  }

  /** @throws MsmError `device-lost` where no other device can take over */
  assertUsable(): void {
    if (!this.#isDestroyed && !this.#open.owned && !this.isAbandoned) this.#runner.assertAlive();
  }

  /** Returns the device as operations see it. */
  view(): DeviceView<Setup> {
    const runner = this.#runner;
    return {
      setup: this.#setup,
      adapter: this.#open.adapter,
      limits: this.#open.device.limits,
      allowance: runner.room,
      bufferOf: (resident) => resident.bufferOn(runner),
      rateOf: (unit) => this.#rates.get(unit) ?? null,
    };
  }

  /** Returns another runner on the device. */
  protected createRunner(): Runner {
    const { device, owned } = this.#open;
    const again = this.#options.adviceAfterLoss;
    const afterLoss = owned
      ? `${again}, and the engine gets itself a new one`
      : 'it was yours: request another, and create a new engine on it';
    return this.#options.runnerFor(device, afterLoss);
  }

  /** Opens the next device after the loss of this one. */
  protected async replace(): Promise<void> {
    if (this.#runner.isSilent) this.#silent++;
    const open = await this.#options.source.after(this.#open);
    if (this.#isDestroyed) {
      throw new MsmError('destroyed', 'the engine was destroyed; create a new one');
    }
    this.#testReport = null;
    this.#begin(open, this.#options.configure.make(open));
  }

  /** Notes that an operation succeeded, which ends a row of silent devices. */
  protected noteAnswer(): void {
    this.#silent = 0;
  }

  /** Keeps the rate at which the device computes, in units a millisecond. */
  protected learnRate(unit: string, rate: number | null): void {
    this.#rates.set(unit, rate);
  }

  /** Returns true if the current setup has computed the known answer with this key. */
  protected hasTested(key: string): boolean {
    return this.#tested.has(key);
  }

  /**
   * Notes the result of a self-test. After the first failure on a device a simpler setup takes
   * over.
   *
   * @param name name of the setup that was tested
   * @param wrong reason of the failure; null: the test passed
   * @throws MsmError `internal` where the simpler setup failed as well, or there is none
   */
  protected noteTest(key: string, name: string, wrong: string | null, testMs: number): void {
    const { failed = null, ms = 0 } = this.#testReport ?? {};
    this.#testReport = {
      passed: wrong === null ? name : null,
      failed: failed ?? (wrong === null ? null : `with ${name} products: ${wrong}`),
      ms: ms + testMs,
    };
    if (wrong === null) {
      this.#tested.add(key);
      return;
    }
    const simpler = failed === null ? this.#options.configure.simpler(this.#setup, this.#open) : null;
    if (simpler === null) {
      const reasons = failed === null ? wrong : `${failed}; ${wrong}`;
      throw new MsmError(
        'internal',
        `the self-test failed on this device: ${reasons}. Please report it, with the adapter`,
      );
    }
    this.#begin(this.#open, simpler);
  }

  destroy(): void {
    this.#isDestroyed = true;
    this.#runner.destroy();
  }

  /** Starts over on a device. Residents are brought to it when a call needs them. */
  #begin(open: OpenDevice, setup: Setup): void {
    this.#peakOfLost = this.peak;
    if (open !== this.#open) this.#freesOfLost = this.frees;
    this.#runner.destroy();
    this.#open = open;
    this.#setup = setup;
    this.#rates.clear();
    this.#runner = this.createRunner();
    this.#tested.clear();
  }
}

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
