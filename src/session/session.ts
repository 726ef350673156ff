/** A session: a device that outlives its loss, with what was compiled, tested and learned on it. */
import type { AdapterDescription } from '../api/device.js';
import { MsmError, NoRoom } from '../errors.js';
import type { OpenDevice } from '../gpu/device.js';
import type { Runner } from '../gpu/runner.js';
import type { Kernel } from '../shaders/kernel.js';
import { Admission } from './admission.js';
import { Attempts } from './attempts.js';
import type { CallContext } from './call-context.js';
import type { DeviceSource } from './device-source.js';
import { compileAndDispatch } from './first-dispatch.js';
import type { DeviceView, KnownAnswer, Operation, Report, Step } from './operation.js';
import { bringResidents, runSteps } from './run-steps.js';
import { selfTest } from './self-test.js';

/** Replacements of a plan that no longer fits, at most. */
const MOST_PLANS = 20;

/** Devices in a row that stopped answering, after which a session with an alternative gives up. */
const MOST_SILENT = 2;

/** Makes the setup of a device: its arithmetic, kernels and knobs. */
export interface Configure<Setup> {
  make(open: OpenDevice): Setup;
  /** Returns a simpler setup for a device that failed its self-test; null: there is none. */
  simpler(setup: Setup, open: OpenDevice): Setup;
  /** Names the setup in the report of a self-test. */
  nameOf(setup: Setup): string;
}

/** Settings of a session. */
export interface SessionOptions<Setup> {
  readonly source: DeviceSource;
  readonly configure: Configure<Setup>;
  /** Creates what runs submissions on a device. `afterLoss` is the advice of its errors. */
  runnerFor(device: GPUDevice, afterLoss: string): Runner;
  readonly selfTests: boolean;
  /** Attempts of a call after the first, when the GPU computed wrongly. */
  readonly retries: number;
  /** True if inputs are loaded again after the loss of a device. */
  readonly restores: boolean;
  /** True if calls may go on elsewhere when the GPU stops answering. */
  readonly hasAlternative: boolean;
}

/** Result of the self-tests on the current device. */
export interface TestReport {
  /** Name of the setup that passed; null if none did. */
  readonly passed: string | null;
  /** Name of the first setup that failed, and how; null if none did. */
  readonly failed: string | null;
  readonly ms: number;
}

/** Outcome of an operation. */
export interface Executed<Result, Setup> {
  readonly result: Result;
  /** Facts about the run on the device; null if `onCpu` computed the result. */
  readonly report: (Report & { readonly setup: Setup; readonly runner: Runner }) | null;
  /** Reason of a repetition, or of going on on the CPU; null: neither. */
  readonly retried: string | null;
}

/** Returns the known answer to test a setup with; null: none. */
export type Known<Input, Result, Setup> = (setup: Setup) => KnownAnswer<Input, Result> | null;

export class Session<Setup> {
  readonly #options: SessionOptions<Setup>;
  readonly #admission: Admission;
  #open: OpenDevice;
  #setup: Setup;
  #runner: Runner;
  /** Runners of calls that warm up. */
  readonly #warming = new Set<Runner>();
  #testReport: TestReport | null = null;
  /** Keys of the known answers that the current setup has computed. */
  readonly #tested = new Set<string>();
  readonly #rates = new Map<string, number | null>();
  /** Devices in a row before this one that stopped answering. */
  #silent = 0;
  /** Peak of scratch on devices that were lost. */
  #peakOfLost = 0;
  #freesOfLost = 0;
  #isDestroyed = false;

  constructor(open: OpenDevice, options: SessionOptions<Setup>) {
    this.#options = options;
    this.#open = open;
    this.#setup = options.configure.make(open);
    this.#runner = this.#runnerOn(open);
    this.#admission = new Admission({
      currentRunner: () => this.#runner,
      mayReplace: () => !this.#isDestroyed && this.#open.owned,
    });
  }

  get adapter(): AdapterDescription {
    return this.#open.adapter;
  }

  get device(): GPUDevice {
    return this.#open.device;
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

  /** Returns the bytes of an account on the device now. */
  bytesOf(account: string): number {
    return this.#runner.ledger.bytesOf(account);
  }

  /** Scratch buffers that were freed on its devices. */
  get frees(): number {
    return this.#freesOfLost + this.#runner.frees;
  }

  /** True once it gave up on GPUs: a caller's device stopped answering, or several of its own in a row. */
  get isAbandoned(): boolean {
    if (!this.#options.hasAlternative || !this.#runner.isSilent) return false;
    return !this.#open.owned || this.#silent + 1 >= MOST_SILENT;
  }

  /** @throws MsmError `device-lost` where no other device can take over */
  assertUsable(): void {
    if (!this.#isDestroyed && !this.#open.owned && !this.isAbandoned) this.#runner.assertAlive();
  }

  /** Returns the current device as operations see it. */
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

  /**
   * Runs an operation. A loss of the device that is not its own doing repeats it on the next device;
   * a wrong computation repeats it within `retries`; a device that stops answering sends it to
   * `operation.onCpu`, where there is one.
   *
   * @throws MsmError what planning, runners and self-tests throw
   */
  async execute<Input, Result, Planned extends Step, Part>(
    operation: Operation<Input, Result, Setup, Planned, Part>,
    input: Input,
    call: CallContext,
  ): Promise<Executed<Result, Setup>> {
    const onCpu = operation.onCpu?.bind(operation);
    const elsewhere = async (why: string | null): Promise<Executed<Result, Setup>> => ({
      result: await (onCpu as NonNullable<typeof onCpu>)(input, call),
      report: null,
      retried: why,
    });
    if (onCpu !== undefined && this.isAbandoned) return elsewhere(null);
    const work = (admitted: CallContext) => this.#replanned(() => this.#run(operation, input, admitted));
    const mayLeave = onCpu !== undefined && this.#options.hasAlternative;
    return this.#admission.admit(call, work, mayLeave ? elsewhere : null);
  }

  /** Brings a resident to the device, in its turn. */
  async place(bring: (runner: Runner) => Promise<void>, call: CallContext): Promise<void> {
    await bring(await this.#liveRunner(call));
  }

  /**
   * Returns the runner to work on, once its pipelines have computed a known answer.
   *
   * @throws MsmError `internal` where the simpler setup fails as well
   */
  async test<Input, Result, Planned extends Step, Part>(
    operation: Operation<Input, Result, Setup, Planned, Part>,
    knownOf: Known<Input, Result, Setup>,
    call: CallContext,
  ): Promise<Runner> {
    for (;;) {
      const runner = await this.#liveRunner(call);
      if (!this.#options.selfTests) return runner;
      const known = knownOf(this.#setup);
      const isTested = (): boolean => known === null || this.#tested.has(known.key);
      if (isTested()) return runner;
      await call.exclusive(async () => {
        if (!isTested()) await this.#test(operation, known as NonNullable<typeof known>, call);
      });
    }
  }

  /** Compiles kernels, dispatches each once on nothing, and tests the device with `operation`. */
  async warmUp<Input, Result, Planned extends Step, Part>(
    kernelsOf: (device: DeviceView<Setup>) => readonly Kernel[],
    operation: Operation<Input, Result, Setup, Planned, Part>,
    known: Known<Input, Result, Setup>,
    call: CallContext,
  ): Promise<Runner> {
    const runner = await this.#liveRunner(call);
    // a runner of its own, so that no scratch is kept
    const apart = this.#runnerOn(this.#open);
    this.#warming.add(apart);
    try {
      await compileAndDispatch(runner, apart, kernelsOf(this.view()), () => runner.assertAlive());
    } catch (error) {
      runner.assertAlive(error);
      throw error;
    } finally {
      this.#warming.delete(apart);
      apart.destroy();
    }
    return this.test(operation, known, call);
  }

  /** Frees the scratch that is kept for the next call. */
  async trim(): Promise<void> {
    if (!this.isAbandoned) await this.#runner.trim();
  }

  destroy(): void {
    this.#isDestroyed = true;
    this.#runner.destroy();
    for (const each of this.#warming) each.destroy();
    this.#options.source.leave();
  }

  /** Plans and runs again what does not fit, as others may have put residents into its room. */
  async #replanned<Outcome>(work: () => Promise<Outcome>): Promise<Outcome> {
    for (let left = MOST_PLANS; ; left--) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof NoRoom) || left === 0) throw error;
      }
    }
  }

  async #run<Input, Result, Planned extends Step, Part>(
    operation: Operation<Input, Result, Setup, Planned, Part>,
    input: Input,
    call: CallContext,
  ): Promise<Executed<Result, Setup>> {
    const runner = await this.test(operation, (setup) => operation.knownAnswer(input, setup), call);
    const attempts = new Attempts(this.#options.retries);
    const residents = operation.residents(input);
    await attempts.run(() => bringResidents(operation, input, runner, call));
    call.checkpoint();
    const device = this.view();
    const steps: readonly Planned[] = await operation.plan(input, device, call);
    const total = steps.reduce((sum, { submits }) => sum + submits, 0);
    const tick = (done: number): void => {
      call.checkpoint();
      call.progress(operation.name, done, total);
    };
    const compute = async () => {
      await bringResidents(operation, input, runner, call);
      return runSteps(operation, input, steps, runner, device, call, tick);
    };
    const repair = (): void => {
      for (const resident of residents) resident.suspect();
      runner.discard();
    };
    const { result, report, output } = await attempts.run(compute, repair).catch((error: unknown) => {
      // WebGPU refuses commands whose residents were destroyed meanwhile
      if (error instanceof MsmError && error.code === 'internal') {
        for (const resident of residents) resident.assertAlive();
      }
      throw error;
    });
    this.#silent = 0;
    try {
      tick(total);
      call.checkpoint();
    } catch (error) {
      if (output !== null) runner.ledger.destroy(output);
      throw error;
    }
    const rate = operation.learn?.(result, report, device.rateOf(operation.unit));
    if (rate !== undefined) this.#rates.set(operation.unit, rate);
    return { result, report: { ...report, setup: device.setup, runner }, retried: attempts.retried };
  }

  #runnerOn({ device, owned }: OpenDevice): Runner {
    const again = this.#options.restores ? 'call again' : 'as retainBases is false, load the bases again';
    const afterLoss = owned
      ? `${again}, and the engine gets itself a new one`
      : 'it was yours: request another, and create a new engine on it';
    return this.#options.runnerFor(device, afterLoss);
  }

  /** Returns the runner to work on: a new device's, if its own was lost since the last call. */
  async #liveRunner(call: CallContext): Promise<Runner> {
    const isGone = (): boolean => this.#runner.isLost && this.#open.owned;
    if (isGone()) await call.exclusive(async () => isGone() && this.#replace());
    this.#runner.assertAlive();
    return this.#runner;
  }

  async #replace(): Promise<void> {
    if (this.#runner.isSilent) this.#silent++;
    const open = await this.#options.source.after(this.#open);
    if (this.#isDestroyed) {
      throw new MsmError('destroyed', 'the engine was destroyed; create a new one');
    }
    this.#testReport = null;
    this.#begin(open, this.#options.configure.make(open));
  }

  /** Starts over on a device. Residents are brought to it when they are needed. */
  #begin(open: OpenDevice, setup: Setup): void {
    this.#peakOfLost = this.peak;
    if (open !== this.#open) this.#freesOfLost = this.frees;
    this.#runner.destroy();
    this.#open = open;
    this.#setup = setup;
    this.#rates.clear();
    this.#runner = this.#runnerOn(open);
    this.#tested.clear();
  }

  async #test<Input, Result, Planned extends Step, Part>(
    operation: Operation<Input, Result, Setup, Planned, Part>,
    known: KnownAnswer<Input, Result>,
    call: CallContext,
  ): Promise<void> {
    const begun = performance.now();
    const { configure } = this.#options;
    const name = configure.nameOf(this.#setup);
    const wrong = await selfTest(operation, known, this.#runner, this.view(), call);
    const { failed = null, ms = 0 } = this.#testReport ?? {};
    this.#testReport = {
      passed: wrong === null ? name : null,
      failed: failed ?? (wrong === null ? null : `with ${name} products: ${wrong}`),
      ms: ms + performance.now() - begun,
    };
    if (wrong === null) this.#tested.add(known.key);
    else if (failed === null) this.#begin(this.#open, configure.simpler(this.#setup, this.#open));
    else {
      const text = `the self-test failed on this device: ${failed}; ${wrong}`;
      throw new MsmError('internal', `${text}. Please report it, with the adapter`);
    }
  }
}
