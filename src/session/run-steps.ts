/**
 * Runs the steps of an operation, one after the other, and the known answer by which a device is
 * tested before it computes for a call.
 */

import type { PhaseTime, TimelineEntry } from '../api/run-record.js';
import { GpuFault, MsmError } from '../errors.js';
import type { Runner } from '../gpu/runner.js';
import type { SubmissionResult } from '../gpu/submission.js';
import type { Call } from '../scheduling/call.js';
import type { DeviceView, KnownAnswer, Operation, OperationTypes, Report } from './operation.js';

/** The result of an operation, and facts about its steps. */
interface Ran<Result> {
  readonly result: Result;
  readonly report: Report;
  /** The buffer that the operation filled; null: none. */
  readonly output: GPUBuffer | null;
}

/** A run of an operation: its input, where it runs, and the call that it runs for. */
interface OperationRun<Of extends OperationTypes, Setup> {
  readonly operation: Operation<Of, Setup>;
  readonly input: Of['input'];
  readonly runner: Runner;
  readonly device: DeviceView<Setup>;
  readonly call: Call;
}

/** Creates the buffer that an operation fills; null: none. */
const createOutput = async <Of extends OperationTypes, Setup>(
  run: OperationRun<Of, Setup>,
): Promise<GPUBuffer | null> => {
  const { operation, input, runner, device, call } = run;
  const output = operation.output?.(input, device) ?? null;
  if (output === null) return null;
  const wait = { checkpoint: () => call.checkpoint(), ticket: call };
  return runner.createResident(output.account, output.label, output.bytes, wait);
};

/** Loads the residents that are not on the device, or whose contents there changed. */
export const bringResidents = async <Of extends OperationTypes, Setup>(
  run: Omit<OperationRun<Of, Setup>, 'device'>,
): Promise<void> => {
  const { operation, input, runner, call } = run;
  for (const resident of operation.residents(input)) {
    resident.assertAlive();
    const before = resident.bufferOn(runner);
    if (before !== null && (!resident.isSuspect || (await resident.confirm(runner, call)))) continue;
    await call.exclusive(async () => {
      if (resident.bufferOn(runner) === before) await resident.bring(runner, call);
    });
  }
};

/** Compares the residents with what was loaded. Called after a check found the result right. */
const confirmResidents = async <Of extends OperationTypes, Setup>(run: OperationRun<Of, Setup>): Promise<void> => {
  const { operation, input, runner } = run;
  const residents = operation.residents(input).filter(({ canConfirm }) => canConfirm);
  const buffers = residents.map((resident) => resident.bufferOn(runner));
  for (const resident of residents) resident.suspect();
  await bringResidents(run);
  if (residents.some((resident, i) => resident.bufferOn(runner) !== buffers[i])) {
    const nouns = [...new Set(residents.map(({ noun }) => noun))].join(', ');
    throw new GpuFault('verify', `the ${nouns} were no longer what was loaded`);
  }
};

/**
 * Runs the steps of a plan and makes the result.
 *
 * @param tick called before each submit with the number of submits so far; throws to end the run
 * @throws GpuFault where the device computed wrongly, and the errors of the runner
 */
export const runSteps = async <Of extends OperationTypes, Setup>(
  run: OperationRun<Of, Setup>,
  steps: readonly Of['step'][],
  tick: (done: number) => void,
): Promise<Ran<Of['result']>> => {
  const { operation, input, runner, device, call } = run;
  const { clock } = call;
  const output = await createOutput(run);
  try {
    const done: { readonly step: Of['step']; readonly part: Of['part'] }[] = [];
    const counted: SubmissionResult[] = [];
    let submits = 0;
    let { hostTimes } = clock.read();
    for (const step of steps) {
      clock.enter('encodeMs');
      tick(submits);
      if (step.startsAfresh) runner.discard();
      const before = submits;
      const submission = operation.record(input, step, device, call, output);
      const expectedMs = operation.cost(input, step, device) / step.submits;
      const onSubmitted = (more: number): void => tick(before + more);
      const result = await runner.run({ ...submission, expectedMs, ticket: call, onSubmitted }, clock);
      try {
        done.push({ step, part: await operation.read(input, step, result, device, call) });
      } catch (error) {
        if (error instanceof GpuFault) runner.discard();
        throw error;
      }
      submits += result.submits;
      if (step.isCheck) continue;
      counted.push(result);
      ({ hostTimes } = clock.read());
    }
    const isChecked = steps.some(({ isCheck }) => isCheck);
    if (isChecked) runner.discard();
    const result = await operation.finish(input, done, call, output);
    if (operation.mustConfirm?.(result) === true) await confirmResidents(run);
    const timeline = timelineOf(counted, hostTimes.submitToResultMs);
    const total = (what: 'dispatches' | 'submits' | 'uploadedBytes'): number =>
      counted.reduce((sum, each) => sum + each[what], 0);
    const counts = {
      dispatches: total('dispatches'),
      submits: total('submits'),
      uploadedBytes: total('uploadedBytes'),
    };
    return { result, output, report: { ...counts, timeline, hostTimes } };
  } catch (error) {
    if (output !== null) runner.ledger.destroy(output);
    throw error;
  }
};

/** Plans an operation and runs its steps inside another call, without progress. */
export const runInside = async <Of extends OperationTypes, Setup>(
  run: OperationRun<Of, Setup>,
): Promise<Of['result']> => {
  const { operation, input, device, call } = run;
  const steps: readonly Of['step'][] = await operation.plan(input, device, call);
  const { result } = await runSteps(run, steps, () => call.checkpoint());
  return result;
};

/** Results of the self-tests of a device by key: null, or the reason of a failure. */
const remembered = new WeakMap<GPUDevice, Map<string, string | null>>();

const computeKnown = async <Of extends OperationTypes, Setup>(
  known: KnownAnswer<Of['input'], Of['result']>,
  place: Omit<OperationRun<Of, Setup>, 'input'>,
): Promise<string | null> => {
  const run = { ...place, input: known.input() };
  try {
    await bringResidents(run);
    return known.check(await runInside(run));
  } finally {
    for (const resident of run.operation.residents(run.input)) resident.destroy();
  }
};

/**
 * Runs an operation on an input with a known answer and compares the result. A difference counts
 * only if a second run differs as well, because one lost dispatch does not
 * mean that a pipeline is wrong. The result is kept as long as the device lives.
 *
 * @returns the reason of a failure, or null
 * @throws MsmError of the runner, except `internal`
 */
export const selfTest = async <Of extends OperationTypes, Setup>(
  known: KnownAnswer<Of['input'], Of['result']>,
  place: Omit<OperationRun<Of, Setup>, 'input'>,
): Promise<string | null> => {
  const { runner, call } = place;
  const findings = remembered.get(runner.device) ?? new Map<string, string | null>();
  remembered.set(runner.device, findings);
  const before = findings.get(known.key);
  if (before !== undefined) return before;
  let wrong: string | null = null;
  for (let left = 2; left > 0; left--) {
    try {
      wrong = await computeKnown(known, { ...place, call: call.detached() });
    } catch (error) {
      if (!(error instanceof MsmError) || error.code !== 'internal') throw error;
      wrong = error.message;
    }
    // the scratch of a small input is too small for the next call
    runner.discard();
    if (wrong === null) break;
  }
  findings.set(known.key, wrong);
  return wrong;
};

/** Converts to milliseconds. Clocks of some GPUs go back, so negative times become 0. */
const milliseconds = (ns: bigint): number => (ns > 0n ? Number(ns) / 1e6 : 0);

/** Tolerance for GPU times above the host's time, because clocks of browsers are coarse. */
const LEEWAY = { factor: 1.25, ms: 20 } as const;

/**
 * Joins the passes of jobs that ran one after the other on one device.
 *
 * @param submitToResultMs time of all jobs by the host's clock; it contains all work of the GPU
 * @returns null if a job has no times, or if together they exceed `submitToResultMs`. Some GPUs
 * report ticks as nanoseconds: with ticks of 19.2 MHz times are wrong by a factor of 52
 */
export const timelineOf = (
  jobs: readonly Pick<SubmissionResult, 'passes' | 'submits'>[],
  submitToResultMs: number,
): TimelineEntry[] | null => {
  const timeline: TimelineEntry[] = [];
  let origin: bigint | undefined;
  let submitsBefore = 0;
  for (const { passes, submits } of jobs) {
    if (passes === null) return null;
    for (const { phase, submit, begin, end } of passes) {
      // subtracts BigInts: a double cannot hold the nanoseconds of a GPU that ran for months
      origin ??= begin;
      timeline.push({
        name: phase,
        startMs: milliseconds(begin - origin),
        ms: milliseconds(end - begin),
        submit: submitsBefore + submit,
      });
    }
    submitsBefore += submits;
  }
  const busyMs = timeline.reduce((sum, { ms }) => sum + ms, 0);
  return busyMs <= LEEWAY.factor * submitToResultMs + LEEWAY.ms ? timeline : null;
};

/**
 * Sums a timeline by name, in the order in which the names first come. The time of combining
 * windows is last.
 */
export const phasesOf = (timeline: readonly TimelineEntry[], combineMs: number): PhaseTime[] => {
  const phases = new Map<string, number>();
  for (const { name, ms } of timeline) phases.set(name, (phases.get(name) ?? 0) + ms);
  return [...[...phases].map(([name, ms]) => ({ name, ms })), { name: 'combine windows (CPU)', ms: combineMs }];
};
