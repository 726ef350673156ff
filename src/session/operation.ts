/**
 * The interface of computations that a session runs on a device, such as an MSM, and of the data
 * that stays there for many calls: bases, scalars, and vectors computed there.
 */
import type { AdapterDescription } from '../api/device.js';
import type { HostTimes, TimelineEntry } from '../api/run-record.js';
import type { Allowance } from '../gpu/device-memory.js';
import type { Runner } from '../gpu/runner.js';
import type { Submission, SubmissionResult } from '../gpu/submission.js';
import type { Call } from '../scheduling/call.js';

/** The device of a session, as operations see it. */
export interface DeviceView<Setup> {
  readonly setup: Setup;
  readonly adapter: AdapterDescription;
  readonly limits: GPUSupportedLimits;
  /** Bytes of scratch that a submission may hold now, and the option that limits them. */
  readonly allowance: Allowance;
  /** Returns the buffer of a resident, or null if it is not on the device. */
  bufferOf(resident: Resident): GPUBuffer | null;
  /** Returns the measured rate, in units of cost a millisecond; null before a long enough run. */
  rateOf(unit: string): number | null;
}

/** One submission of a plan. */
export interface Step {
  /** Number of calls of `queue.submit`. */
  readonly submits: number;
  /** True for a step that only checks the result; reports leave it out. */
  readonly isCheck?: boolean;
  /** True to free the scratch of earlier steps first. */
  readonly startsAfresh?: boolean;
}

/** A buffer that an operation fills and leaves on the device. */
export interface Output {
  /** Account of the ledger that counts its bytes. */
  readonly account: string;
  readonly label: string;
  readonly bytes: number;
}

/** An input whose result is known, for the self-test of a device. */
export interface KnownAnswer<Input, Result> {
  /** Name of the test: two inputs with the same key run the same pipelines. */
  readonly key: string;
  /** Makes the input. Its residents are destroyed after the test. */
  input(): Input;
  /** Returns the reason why the result is wrong, or null if it is right. */
  check(result: Result): string | null;
}

/** Facts about steps that ran. */
export interface Report {
  readonly dispatches: number;
  readonly submits: number;
  /** Bytes that were uploaded. */
  readonly uploadedBytes: number;
  /** Passes of all steps; null without timestamps. */
  readonly timeline: readonly TimelineEntry[] | null;
  /** Host times until the end of the last step that is not a check. */
  readonly hostTimes: HostTimes;
}

/** Tests a device by an operation's known answer. */
export interface DeviceTester<Setup> {
  test<Of extends OperationTypes>(
    operation: Operation<Of, Setup>,
    knownOf: (setup: Setup) => KnownAnswer<Of['input'], Of['result']> | null,
    call: Call,
  ): Promise<unknown>;
}

/** Types of an operation. */
export interface OperationTypes {
  readonly input: unknown;
  readonly result: unknown;
  /** One submission of its plan. */
  readonly step: Step;
  /** Values that the host computes while the device runs a step, and compares with the result. */
  readonly expected: unknown;
  /** Outcome of a step. */
  readonly part: unknown;
}

/** A computation on a device. */
export interface Operation<Of extends OperationTypes, Setup> {
  /** For the compiler alone, which infers `Of` by it. */
  readonly types?: Of;
  /** Name in progress and errors. */
  readonly name: string;
  /** Unit of its work. Operations with the same unit share the learned rate of the device. */
  readonly unit: string;
  /** True if a later plan may need less room. Then the operation is planned again in short room. */
  readonly canShrink?: boolean;
  /** True if its success shows that the device answers again. */
  readonly showsHealth?: boolean;
  /** Returns the residents that must be on the device. */
  residents(input: Of['input']): readonly Resident[];
  /** Returns the residents that a fault may come from; default: `residents`. */
  suspects?(input: Of['input']): readonly Resident[];
  /** Tests the device for other operations that will use the result. Runs before the plan. */
  testFirst?(device: DeviceTester<Setup>, input: Of['input'], call: Call): Promise<void>;
  /** Returns true if the residents must equal what was loaded before the result counts. */
  mustConfirm?(result: Of['result']): boolean;
  /** Describes the buffer that the operation fills; null: none. */
  output?(input: Of['input'], device: DeviceView<Setup>): Output | null;
  /**
   * Plans the steps: sizes, counts and order.
   *
   * @throws MsmError `bad-argument` where no plan fits the device or the budget
   */
  plan(
    input: Of['input'],
    device: DeviceView<Setup>,
    call: Call,
  ): readonly Of['step'][] | Promise<readonly Of['step'][]>;
  /** Records a step: uploads, commands, and the slices to read back. */
  record(
    input: Of['input'],
    step: Of['step'],
    device: DeviceView<Setup>,
    call: Call,
    output: GPUBuffer | null,
  ): Submission<Of['expected']>;
  /** Returns an upper estimate of the time of a step, in ms. */
  cost(input: Of['input'], step: Of['step'], device: DeviceView<Setup>): number;
  /**
   * Reads the result of a step.
   *
   * @throws GpuFault where the device computed wrongly
   */
  read(
    input: Of['input'],
    step: Of['step'],
    result: SubmissionResult<Of['expected']>,
    device: DeviceView<Setup>,
    call: Call,
  ): Of['part'] | Promise<Of['part']>;
  /**
   * Makes the result from the parts of all steps.
   *
   * @throws GpuFault where the parts do not agree
   */
  finish(
    input: Of['input'],
    done: readonly { readonly step: Of['step']; readonly part: Of['part'] }[],
    call: Call,
    output: GPUBuffer | null,
  ): Of['result'] | Promise<Of['result']>;
  /** Returns the new rate of the device after a run, in units a millisecond. */
  learn?(result: Of['result'], report: Report, before: number | null): number | null;
  /** Returns the test that the device must pass first; null: none. */
  knownAnswer(input: Of['input'], setup: Setup): KnownAnswer<Of['input'], Of['result']> | null;
  /** Computes the result on the CPU. Absent where only the device has the data. */
  onCpu?(input: Of['input'], call: Call): Promise<Of['result']>;
}

/** The interface of a resident to the session. */
export interface Resident {
  /** Plural noun for errors, such as `bases`. */
  readonly noun: string;
  readonly label: string;
  /** Returns the buffer on the runner's device; null if the resident is not there. */
  bufferOn(runner: Runner): GPUBuffer | null;
  /** True if the contents on the device must be compared with what was loaded. */
  readonly isSuspect: boolean;
  /** True if `confirm` compares anything. */
  readonly canConfirm: boolean;
  /** Compares the contents with what was loaded. Returns false and stays suspect if they differ. */
  confirm(runner: Runner, call: Call): Promise<boolean>;
  /** Notes an error that wrong contents may have caused. */
  suspect(): void;
  /**
   * Loads the resident to the device, from its copy in main memory.
   *
   * @throws MsmError `device-lost`, `internal` where there is no copy
   */
  bring(runner: Runner, call: Call): Promise<void>;
  /** @throws MsmError `destroyed` */
  assertAlive(): void;
  /** Frees the buffer. */
  destroy(): void;
}

/** Counts suspicions, so that one raised during a comparison is not lost. */
export class Suspicion {
  #raised = 0;
  #cleared = 0;

  get isRaised(): boolean {
    return this.#raised > this.#cleared;
  }

  raise(): void {
    this.#raised++;
  }

  /** Withdraws all suspicions, after the contents were loaded again. */
  reset(): void {
    this.#cleared = this.#raised;
  }

  /**
   * Withdraws the suspicions raised before the call if `areRight` returns true.
   *
   * @returns the result of `areRight`
   */
  async clear(areRight: () => Promise<boolean>): Promise<boolean> {
    const seen = this.#raised;
    const found = await areRight();
    if (found) this.#cleared = Math.max(this.#cleared, seen);
    return found;
  }
}
