/** Runs the steps of an operation, one after the other. */
import { GpuFault } from '../errors.js';
import type { Runner } from '../gpu/runner.js';
import type { SubmissionResult } from '../gpu/submission.js';
import type { CallContext } from './call-context.js';
import type { DeviceView, Operation, Report, Step } from './operation.js';
import { timelineOf } from './timeline.js';

/** The result of an operation, and facts about its steps. */
export interface Ran<Result> {
  readonly result: Result;
  readonly report: Report;
  /** The buffer that the operation filled; null: none. */
  readonly output: GPUBuffer | null;
}

/** Creates the buffer that an operation fills; null: none. */
const createOutput = async <Input, Result, Setup, Planned extends Step, Part>(
  operation: Operation<Input, Result, Setup, Planned, Part>,
  input: Input,
  runner: Runner,
  device: DeviceView<Setup>,
  call: CallContext,
): Promise<GPUBuffer | null> => {
  const output = operation.output?.(input, device) ?? null;
  if (output === null) return null;
  const wait = { checkpoint: () => call.checkpoint(), ticket: call.ticket };
  return runner.createResident(output.account, output.label, output.bytes, wait);
};

/** Loads the residents that are not on the device, or whose contents there changed. */
export const bringResidents = async <Input, Result, Setup, Planned extends Step, Part>(
  operation: Operation<Input, Result, Setup, Planned, Part>,
  input: Input,
  runner: Runner,
  call: CallContext,
): Promise<void> => {
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
const confirmResidents = async <Input, Result, Setup, Planned extends Step, Part>(
  operation: Operation<Input, Result, Setup, Planned, Part>,
  input: Input,
  runner: Runner,
  call: CallContext,
): Promise<void> => {
  const residents = operation.residents(input).filter(({ canConfirm }) => canConfirm);
  const buffers = residents.map((resident) => resident.bufferOn(runner));
  for (const resident of residents) resident.suspect();
  await bringResidents(operation, input, runner, call);
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
export const runSteps = async <Input, Result, Setup, Planned extends Step, Part>(
  operation: Operation<Input, Result, Setup, Planned, Part>,
  input: Input,
  steps: readonly Planned[],
  runner: Runner,
  device: DeviceView<Setup>,
  call: CallContext,
  tick: (done: number) => void,
): Promise<Ran<Result>> => {
  const { clock, ticket } = call;
  const output = await createOutput(operation, input, runner, device, call);
  try {
    const done: { readonly step: Planned; readonly part: Part }[] = [];
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
      const result = await runner.run({ ...submission, expectedMs, ticket, onSubmitted }, clock);
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
    if (operation.mustConfirm?.(result) === true) await confirmResidents(operation, input, runner, call);
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
