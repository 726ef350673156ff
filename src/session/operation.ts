/** Operations: computations that a session runs on a device. Multi-scalar multiplication is one of them. */
import type { AdapterDescription } from '../api/device.js';
import type { HostTimes, TimelineEntry } from '../api/run-record.js';
import type { Allowance } from '../gpu/device-memory.js';
import type { Submission, SubmissionResult } from '../gpu/submission.js';
import type { CallContext } from './call-context.js';
import type { Resident } from './resident.js';

/** The device of a session, as operations see it. */
export interface DeviceView<Setup> {
  readonly setup: Setup;
  readonly adapter: AdapterDescription;
  readonly limits: GPUSupportedLimits;
  /** Bytes of scratch that a submission may hold now, and the option that says so. */
  readonly allowance: Allowance;
  /** Returns where a resident is, or null if it is not on the device. */
  bufferOf(resident: Resident): GPUBuffer | null;
  /** Returns units of cost a millisecond that runs have shown; null before any was long enough. */
  rateOf(unit: string): number | null;
}

/** One submission of a plan. */
export interface Step {
  /** Calls of `queue.submit`. */
  readonly submits: number;
  /** True for a step that only checks the result; it counts in no report. */
  readonly isCheck?: boolean;
  /** True to give back the scratch of earlier steps first. */
  readonly startsAfresh?: boolean;
}

/** A buffer that an operation fills and that outlives it. */
export interface Output {
  /** What its bytes are counted as. */
  readonly account: string;
  readonly label: string;
  readonly bytes: number;
}

/** An input whose result is known, for the self-test of a device. */
export interface KnownAnswer<Input, Result> {
  /** Names what was tested: two inputs with one key run the same pipelines. */
  readonly key: string;
  /** Makes the input. Residents in it are given up after the test. */
  input(): Input;
  /** Returns null, or what is wrong with the result. */
  check(result: Result): string | null;
}

/** Facts about steps that ran. */
export interface Report {
  readonly dispatches: number;
  readonly submits: number;
  /** Passes of all steps; null without timestamps. */
  readonly timeline: readonly TimelineEntry[] | null;
  /** Host times up to the end of the last step that is no check. */
  readonly hostTimes: HostTimes;
}

/** A computation on a device. `Planned` is a step of its plan, `Part` the outcome of one step. */
export interface Operation<Input, Result, Setup, Planned extends Step = Step, Part = unknown> {
  /** Names it in progress and errors. */
  readonly name: string;
  /** Unit of its work. Operations with one unit share what was learned about the device's rate. */
  readonly unit: string;
  /** Returns the residents that the input needs on the device. */
  residents(input: Input): readonly Resident[];
  /** Returns the buffer that it fills, or null. */
  output?(input: Input, device: DeviceView<Setup>): Output | null;
  /**
   * Plans the steps: sizes, counts and order.
   *
   * @throws MsmError `bad-argument` where no plan fits the device or the budget
   */
  plan(input: Input, device: DeviceView<Setup>, call: CallContext): readonly Planned[] | Promise<readonly Planned[]>;
  /** Records a step: what goes up, which commands run, what comes back. */
  record(
    input: Input,
    step: Planned,
    device: DeviceView<Setup>,
    call: CallContext,
    output: GPUBuffer | null,
  ): Submission;
  /** Returns the milliseconds that a step takes at most, as far as is known. */
  cost(input: Input, step: Planned, device: DeviceView<Setup>): number;
  /**
   * Reads what a step brought back.
   *
   * @throws GpuFault where the device computed wrongly
   */
  read(
    input: Input,
    step: Planned,
    result: SubmissionResult,
    device: DeviceView<Setup>,
    call: CallContext,
  ): Part | Promise<Part>;
  /**
   * Makes the result of the parts of all steps.
   *
   * @throws GpuFault where the parts do not agree
   */
  finish(
    input: Input,
    done: readonly { readonly step: Planned; readonly part: Part }[],
    call: CallContext,
    output: GPUBuffer | null,
  ): Result | Promise<Result>;
  /** Returns the rate of the device after a run, in units a millisecond. */
  learn?(result: Result, report: Report, before: number | null): number | null;
  /** Returns the test that the device has to pass first; null: none. */
  knownAnswer(input: Input, setup: Setup): KnownAnswer<Input, Result> | null;
  /** Computes the same on the CPU. Absent where nothing but the device has the data. */
  onCpu?(input: Input, call: CallContext): Promise<Result>;
}
