/** Self-test: the pipelines of a device compute a known answer before they compute for a call. */
import { MsmError } from '../errors.js';
import type { Runner } from '../gpu/runner.js';
import type { CallContext } from './call-context.js';
import type { DeviceView, KnownAnswer, Operation, Step } from './operation.js';
import { bringResidents, runSteps } from './run-steps.js';

/** Results of the self-tests of a device by key: null, or the reason of a failure. */
const remembered = new WeakMap<GPUDevice, Map<string, string | null>>();

const compute = async <Input, Result, Setup, Planned extends Step, Part>(
  operation: Operation<Input, Result, Setup, Planned, Part>,
  known: KnownAnswer<Input, Result>,
  runner: Runner,
  device: DeviceView<Setup>,
  call: CallContext,
): Promise<string | null> => {
  const input = known.input();
  try {
    await bringResidents(operation, input, runner, call);
    const steps: readonly Planned[] = await operation.plan(input, device, call);
    const { result } = await runSteps(operation, input, steps, runner, device, call, () => call.checkpoint());
    return known.check(result);
  } finally {
    for (const resident of operation.residents(input)) resident.destroy();
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
export const selfTest = async <Input, Result, Setup, Planned extends Step, Part>(
  operation: Operation<Input, Result, Setup, Planned, Part>,
  known: KnownAnswer<Input, Result>,
  runner: Runner,
  device: DeviceView<Setup>,
  call: CallContext,
): Promise<string | null> => {
  const findings = remembered.get(runner.device) ?? new Map<string, string | null>();
  remembered.set(runner.device, findings);
  const before = findings.get(known.key);
  if (before !== undefined) return before;
  let wrong: string | null = null;
  for (let left = 2; left > 0; left--) {
    try {
      wrong = await compute(operation, known, runner, device, call.detached());
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
