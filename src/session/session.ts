/** A session: a device that is replaced when it is lost, and the operations that run on it. */
import type { AdapterDescription } from '../api/device.js';
import { GpuFault, MsmError, NoAnswerError, NoRoom } from '../errors.js';
import { addCompileTime, type OpenDevice } from '../gpu/device.js';
import type { Runner } from '../gpu/runner.js';
import type { Submission } from '../gpu/submission.js';
import type { Call } from '../scheduling/call.js';
import type { Kernel, Slice } from '../shaders/kernel.js';
import { CurrentDevice, type DeviceOptions } from './current-device.js';
import type { DeviceView, KnownAnswer, Operation, OperationTypes, Report } from './operation.js';
import { bringResidents, runSteps, selfTest } from './run-steps.js';

/** Maximum number of new plans in place of one that no longer fits. */
const MOST_PLANS = 20;

/** Settings of a session. */
interface SessionOptions<Setup> extends DeviceOptions<Setup> {
  readonly selfTests: boolean;
  /** Attempts of a call after the first, when the GPU computed wrongly. */
  readonly retries: number;
}

/** Outcome of an operation. */
export interface Executed<Result, Setup> {
  readonly result: Result;
  /** Facts about the run on the device; null if `onCpu` computed the result. */
  readonly report: (Report & { readonly setup: Setup; readonly runner: Runner }) | null;
  /** Reason of a repetition, or of computing on the CPU; null: neither. */
  readonly retried: string | null;
}

/** Returns the known answer to test a setup with; null: none. */
type Known<Of extends OperationTypes, Setup> = (setup: Setup) => KnownAnswer<Of['input'], Of['result']> | null;

export class Session<Setup> extends CurrentDevice<Setup> {
  readonly #options: SessionOptions<Setup>;
  readonly #admission: Admission;
  /** Runners of calls that warm up. */
  readonly #warming = new Set<Runner>();

  constructor(open: OpenDevice, options: SessionOptions<Setup>) {
    super(open, options);
    this.#options = options;
    this.#admission = new Admission(this);
  }

  get adapter(): AdapterDescription {
    return this.open.adapter;
  }

  get device(): GPUDevice {
    return this.open.device;
  }

  /** Returns the bytes of an account on the device now. */
  bytesOf(account: string): number {
    return this.runner.ledger.bytesOf(account);
  }

  /**
   * Runs an operation. After a loss of the device that the operation did not cause it runs again
   * on the next device. After a wrong computation it runs again, at most `retries` times. When the
   * device stops answering, `operation.onCpu` computes it, where there is one.
   *
   * @throws MsmError of planning, runners and self-tests
   */
  async execute<Of extends OperationTypes>(
    operation: Operation<Of, Setup>,
    input: Of['input'],
    call: Call,
  ): Promise<Executed<Of['result'], Setup>> {
    const onCpu = operation.onCpu?.bind(operation);
    const elsewhere = async (why: string | null): Promise<Executed<Of['result'], Setup>> => ({
      result: await (onCpu as NonNullable<typeof onCpu>)(input, call),
      report: null,
      retried: why,
    });
    if (onCpu !== undefined && this.isAbandoned) return elsewhere(null);
    const work = (admitted: Call) => {
      const run = () => this.#run(operation, input, admitted);
      return operation.canShrink === true ? this.#replanned(run) : run();
    };
    const mayLeave = onCpu !== undefined && this.#options.hasAlternative;
    return this.#admission.admit(call, work, mayLeave ? elsewhere : null);
  }

  /** Brings a resident to the device. */
  async place(bring: (runner: Runner) => Promise<void>, call: Call): Promise<void> {
    await bring(await this.#liveRunner(call));
  }

  /**
   * Returns the runner to work on, once its pipelines have computed a known answer.
   *
   * @throws MsmError `internal` where the simpler setup fails as well
   */
  async test<Of extends OperationTypes>(
    operation: Operation<Of, Setup>,
    knownOf: Known<Of, Setup>,
    call: Call,
  ): Promise<Runner> {
    for (;;) {
      const runner = await this.#liveRunner(call);
      if (!this.#options.selfTests) return runner;
      if (this.#untested(knownOf) === null) return runner;
      await call.exclusive(async () => {
        // another call may have tested meanwhile, or changed the setup
        const known = this.#untested(knownOf);
        if (known !== null) await this.#test(operation, known, call);
      });
    }
  }

  /**
   * Compiles kernels, dispatches each without workgroups, and tests the device with `operation`.
   */
  async warmUp<Of extends OperationTypes>(
    kernelsOf: (device: DeviceView<Setup>) => readonly Kernel[],
    operation: Operation<Of, Setup>,
    known: Known<Of, Setup>,
    call: Call,
  ): Promise<Runner> {
    const runner = await this.#liveRunner(call);
    // a separate runner, so that the session's pool keeps none of its scratch
    const apart = this.createRunner();
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

  /** Frees the scratch that the pool keeps for the next call. */
  async trim(): Promise<void> {
    if (!this.isAbandoned) await this.runner.trim();
  }

  override destroy(): void {
    super.destroy();
    for (const each of this.#warming) each.destroy();
    this.#options.source.leave();
  }

  /** Plans and runs again where a plan does not fit: other calls may have put residents there. */
  async #replanned<Outcome>(work: () => Promise<Outcome>): Promise<Outcome> {
    for (let left = MOST_PLANS; ; left--) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof NoRoom) || left === 0) throw error;
      }
    }
  }

  async #run<Of extends OperationTypes>(
    operation: Operation<Of, Setup>,
    input: Of['input'],
    call: Call,
  ): Promise<Executed<Of['result'], Setup>> {
    await operation.testFirst?.(this, input, call);
    const runner = await this.test(operation, (setup) => operation.knownAnswer(input, setup), call);
    const attempts = new Attempts(this.#options.retries);
    const residents = operation.residents(input);
    // operations that fill residents again may have moved the session to the next device
    const hasMoved = (): boolean => this.runner !== runner;
    const work = { operation, input, runner, call };
    await attempts.run(() => bringResidents(work));
    if (hasMoved()) return this.#run(operation, input, call);
    call.checkpoint();
    const device = this.view();
    const steps: readonly Of['step'][] = await operation.plan(input, device, call);
    const total = steps.reduce((sum, { submits }) => sum + submits, 0);
    const tick = (done: number): void => {
      call.checkpoint();
      call.progress(operation.name, done, total);
    };
    const compute = async () => {
      await bringResidents(work);
      if (hasMoved()) return null;
      return runSteps({ ...work, device }, steps, tick);
    };
    const repair = (): void => {
      for (const resident of operation.suspects?.(input) ?? residents) resident.suspect();
      runner.discard();
    };
    const ran = await attempts.run(compute, repair).catch((error: unknown) => {
      // WebGPU refuses commands if one of their residents was destroyed meanwhile
      if (error instanceof MsmError && error.code === 'internal') {
        for (const resident of residents) resident.assertAlive();
      }
      throw error;
    });
    if (ran === null) return this.#run(operation, input, call);
    const { result, report, output } = ran;
    if (operation.showsHealth === true) this.noteAnswer();
    try {
      tick(total);
      call.checkpoint();
    } catch (error) {
      if (output !== null) runner.ledger.destroy(output);
      throw error;
    }
    const rate = operation.learn?.(result, report, device.rateOf(operation.unit));
    if (rate !== undefined) this.learnRate(operation.unit, rate);
    return { result, report: { ...report, setup: device.setup, runner }, retried: attempts.retried };
  }

  /** Returns the runner to work on, on a new device if the last one was lost. */
  async #liveRunner(call: Call): Promise<Runner> {
    if (this.isGone) await call.exclusive(async () => this.isGone && this.replace());
    this.runner.assertAlive();
    return this.runner;
  }

  /** Returns the known answer that the current setup has still to compute; null: none. */
  #untested<Of extends OperationTypes>(knownOf: Known<Of, Setup>): KnownAnswer<Of['input'], Of['result']> | null {
    const known = knownOf(this.setup);
    return known === null || this.hasTested(known.key) ? null : known;
  }

  async #test<Of extends OperationTypes>(
    operation: Operation<Of, Setup>,
    known: KnownAnswer<Of['input'], Of['result']>,
    call: Call,
  ): Promise<void> {
    const begun = performance.now();
    const name = this.#options.configure.nameOf(this.setup);
    const wrong = await selfTest(known, { operation, runner: this.runner, device: this.view(), call });
    this.noteTest(known.key, name, wrong, performance.now() - begun);
  }
}

/** Most devices that may be lost before a call fails that has not begun on any of them. */
const MOST_DEVICES = 3;

/**
 * Admits calls to the device. When a device is lost, the first running call fails, because its work
 * may be the cause. The other calls begin again on the next device.
 */
class Admission {
  readonly #current: CurrentDevice<unknown>;
  /** The runner whose loss has failed a call. */
  #blamed: Runner | null = null;

  constructor(current: CurrentDevice<unknown>) {
    this.#current = current;
  }

  /**
   * Does the work of a call.
   *
   * @param elsewhere computes the call without the GPU when that stops answering, and receives the
   * reason; null: nothing can
   */
  async admit<Result>(
    call: Call,
    work: (call: Call) => Promise<Result>,
    elsewhere: ((why: string) => Promise<Result>) | null,
  ): Promise<Result> {
    for (let left = MOST_DEVICES; ; left--) {
      const [watched, seen] = watch(call);
      try {
        return await work(watched);
      } catch (error) {
        const isSilence = error instanceof NoAnswerError;
        if (isSilence && elsewhere !== null) {
          call.checkpoint();
          return elsewhere(error.message);
        }
        const isLoss = error instanceof MsmError && (error.code === 'device-lost' || seen.wasRefused);
        if (!isLoss || left === 0 || !this.#current.mayReplace) throw error;
        const runner = this.#current.runner;
        const wasBehind = isSilence && !error.isStuck;
        const isInnocent = wasBehind || (seen.wasRefused && !seen.hasBegun) || this.#blamed === runner;
        if (isInnocent) continue;
        this.#blamed = runner;
        throw error;
      }
    }
  }
}

/** Returns the call, noting whether the device began or refused it. */
const watch = (call: Call): [Call, { hasBegun: boolean; wasRefused: boolean }] => {
  const seen = { hasBegun: false, wasRefused: false };
  const watched = call.with({
    onBegun: () => {
      seen.hasBegun = true;
    },
    onRefused: () => {
      seen.wasRefused = true;
    },
  });
  return [watched, seen];
};

/** Repeats the work of a call after the GPU computed wrongly, a limited number of times. */
class Attempts {
  #left: number;
  #retried: string | null = null;

  /** @param retries attempts after the first */
  constructor(retries: number) {
    this.#left = retries;
  }

  /** Reason of the first repetition; null: there was none. */
  get retried(): string | null {
    return this.#retried;
  }

  /**
   * Runs `work` until it succeeds or no attempt is left.
   *
   * @param repair called with each fault, before the next attempt
   * @throws GpuFault of the last attempt; anything else that `work` throws
   */
  async run<Result>(work: () => Promise<Result>, repair?: () => void): Promise<Result> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof GpuFault)) throw error;
        repair?.();
        if (this.#left === 0) throw error;
        this.#left--;
        this.#retried ??= error.message;
      }
    }
  }
}

/** Size of every buffer, in bytes: at least one element of any binding. */
const TINY_BYTES = 256;

const NO_GROUPS = 'no groups';

/**
 * Returns a submission that dispatches a kernel with all bindings and no workgroup. The dispatch is
 * indirect, because a driver may skip a dispatch whose count it knows to be 0. Without workgroups
 * no invocation reads the empty buffers.
 */
const emptyDispatch = (kernel: Kernel): Submission => {
  const bindings: Record<string, Slice> = {};
  const scratch: Record<string, number> = { [NO_GROUPS]: TINY_BYTES };
  kernel.bindings.forEach(({ name }, i) => {
    bindings[name] = { buffer: `nothing ${i}` };
    scratch[`nothing ${i}`] = TINY_BYTES;
  });
  return {
    scratch,
    uploads: [{ to: { buffer: NO_GROUPS }, data: new Uint32Array(3) }],
    commands: [{ kind: 'dispatch', phase: 'first dispatch', kernel, bindings, groups: { buffer: NO_GROUPS } }],
    read: [{ buffer: NO_GROUPS, size: 4 }],
  };
};

/** Pipelines that were dispatched before. */
const dispatched = new WeakSet<GPUComputePipeline>();

/**
 * Compiles kernels and dispatches each without workgroups, once for each pipeline: some drivers
 * compile a kernel only at its first dispatch, lavapipe for seconds. The time of the dispatch counts
 * as compile time.
 *
 * @param runner runner that gets the pipelines
 * @param apart another runner on the same device, whose buffers are not pooled
 * @param checkpoint called after each step; throws to end the work
 */
const compileAndDispatch = async (
  runner: Runner,
  apart: Runner,
  kernels: readonly Kernel[],
  checkpoint: () => void,
): Promise<void> => {
  for (const [kernel, pipeline] of await runner.compile(kernels)) {
    checkpoint();
    if (dispatched.has(pipeline)) continue;
    let [submitted, done] = [0, 0];
    await apart.run(emptyDispatch(kernel), {
      enter: (part) => {
        if (part === 'submitToResultMs') submitted = performance.now();
        else done = performance.now();
      },
    });
    dispatched.add(pipeline);
    addCompileTime(pipeline, done - submitted);
  }
  checkpoint();
};
