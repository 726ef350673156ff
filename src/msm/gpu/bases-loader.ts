import type { PointSource } from '../../curves/point-source.js';
import type { Runner } from '../../gpu/runner.js';
import type { CallContext } from '../../session/call-context.js';
import type { DeviceView } from '../../session/operation.js';
import { runSteps } from '../../session/run-steps.js';
import { LANES, sumOfLanes } from '../../shaders/hash-chain.js';
import type { BasesLoader, BasesOnDevice, LoadedBases } from '../inputs/loaded-bases.js';
import { digestCommand, loadOperation } from './load-operation.js';
import type { MsmSetup } from './setup.js';

/** Loads bases to a session's device again, and compares their contents with what was loaded. */
export class SessionBasesLoader implements BasesLoader {
  readonly #view: () => DeviceView<MsmSetup>;

  /** @param view returns the session's current device */
  constructor(view: () => DeviceView<MsmSetup>) {
    this.#view = view;
  }

  async load(
    runner: Runner,
    source: PointSource,
    { tables, label }: LoadedBases,
    call: CallContext,
  ): Promise<BasesOnDevice> {
    const device = this.#view();
    const input = { source, tables, label, checkSubgroup: false };
    const steps = await loadOperation.plan(input, device, call);
    const tick = (): void => call.checkpoint();
    const { result } = await runSteps(loadOperation, input, steps, runner, device, call, tick);
    return result.onDevice as BasesOnDevice;
  }

  async isAsLoaded(runner: Runner, { buffer, digests }: BasesOnDevice, call: CallContext): Promise<boolean> {
    const { setup } = this.#view();
    for (const { digest, ...slice } of digests) {
      const { accounts } = await runner.run({
        scratch: {},
        external: { bases: buffer },
        uploads: [],
        commands: [digestCommand(setup, slice, 0)],
        accounts: 4 * LANES,
        ticket: call.ticket,
      });
      if (sumOfLanes(accounts, 0) !== digest) return false;
    }
    return true;
  }
}
