import { bn254 } from '../../src/curves/bn254.js';
import { type CurveContext, curveContext } from '../../src/curves/curve.js';
import { bufferUsage } from '../../src/gpu/device-memory.js';
import { Runner } from '../../src/gpu/runner.js';
import { softwareKnobs } from '../../src/msm/plan/device-profiles.js';
import type { Plan, PlanLimits, ScratchName } from '../../src/msm/plan/planner.js';
import type { Knobs } from '../../src/msm/plan/tuning.js';
import { fullWorkload } from '../../src/msm/plan/workload.js';
import { createKernels } from '../../src/msm/stages/kernels.js';
import type { Command, Dispatch } from '../../src/shaders/kernel.js';
import { planOne, recordPlan } from './record-plan.js';

export const limits: PlanLimits = {
  knobs: softwareKnobs,
  product: 'unsigned',
  additionsPerMs: null,
  maxComputeInvocationsPerWorkgroup: 256,
  maxComputeWorkgroupSizeX: 256,
  maxComputeWorkgroupStorageSize: 16384,
  maxStorageBufferBindingSize: 2 ** 27,
  maxBufferSize: 2 ** 28,
};

/**
 * Runs single stages of an MSM over buffers that the test fills, typically with what the CPU
 * references of the stages before left.
 */
export class StageBench {
  readonly curve: CurveContext = curveContext(bn254);
  readonly plan: Plan;
  readonly commands: readonly (Dispatch & { kind: 'dispatch' })[];
  readonly #runner: Runner;
  readonly #bases: GPUBuffer;

  constructor(device: GPUDevice, n: number, tuning: Knobs, bases: Uint32Array) {
    this.plan = planOne(fullWorkload(n, this.curve), this.curve, limits, tuning);
    this.#runner = new Runner(device, Number.POSITIVE_INFINITY);
    this.#bases = device.createBuffer({
      label: 'bases',
      size: Math.max(64, bases.byteLength),
      usage: bufferUsage.storage | bufferUsage.copyDst,
    });
    device.queue.writeBuffer(this.#bases, 0, bases as Uint32Array<ArrayBuffer>);
    const all: readonly Command[] = recordPlan(createKernels(this.curve), this.plan, n);
    this.commands = all.filter((command) => command.kind === 'dispatch');
  }

  /** The dispatches of a stage, in order. */
  stage(phase: string): readonly Dispatch[] {
    return this.commands.filter((command) => command.phase === phase);
  }

  /**
   * Fills buffers, runs dispatches, reads one buffer back. Every buffer that is not filled is
   * poisoned: what a stage leaves unwritten or reads unwritten shows.
   */
  async run(
    dispatches: readonly Dispatch[],
    fill: Partial<Record<ScratchName, Uint32Array>>,
    read: ScratchName,
    words: number,
  ): Promise<Uint32Array> {
    const { accounts: accountsBytes, bitSums, ...scratch } = this.plan.scratch;
    const uploads = (Object.keys(scratch) as (keyof typeof scratch & ScratchName)[]).flatMap((name) => [
      { to: { buffer: name }, data: new Uint32Array((scratch[name] as number) / 4).fill(0xdeadbeef) },
      ...(fill[name] ? [{ to: { buffer: name }, data: fill[name] }] : []),
    ]);
    const { accounts, result, data } = await this.#runner.run({
      scratch,
      external: { bases: this.#bases },
      uploads,
      commands: dispatches.map((dispatch) => ({ kind: 'dispatch', ...dispatch })),
      accounts: accountsBytes,
      result: bitSums,
      read: read === 'accounts' || read === 'bitSums' ? [] : [{ buffer: read, size: 4 * words }],
    });
    const own: Partial<Record<ScratchName, Uint32Array>> = { accounts, bitSums: result };
    return own[read] ?? (data[0] as Uint32Array);
  }

  destroy(): void {
    this.#runner.destroy();
    this.#bases.destroy();
  }
}
