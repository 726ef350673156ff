/** Vectors on a GPU as scalars of sums there. */

import type { Runner } from '../../gpu/runner.js';
import type { DeviceVector, ScalarsPart } from '../../msm/inputs/field-scalars.js';
import type { CallContext } from '../../session/call-context.js';
import type { Command } from '../../shaders/commands.js';
import { groupsFor } from '../../shaders/limits.js';
import { THREADS } from '../stages/element.js';
import { packScalarsConfig } from '../stages/scalars.js';
import type { FieldSetup } from './setup.js';
import type { VectorBuffer } from './vector-buffer.js';

/** Part of a buffer that stays. */
export interface Placed {
  readonly buffer: VectorBuffer;
  readonly offset: number;
  readonly size: number;
}

export class PlacedScalars implements DeviceVector {
  readonly noun = 'vectors';
  readonly label = 'vectors';
  readonly isSuspect = false;
  readonly canConfirm = false;
  readonly #placed: Placed;
  readonly #setup: () => FieldSetup;
  readonly #assertUsable: () => void;

  /**
   * @param setup returns that of the device
   * @param assertUsable throws if the engine was destroyed
   */
  constructor(placed: Placed, setup: () => FieldSetup, assertUsable: () => void) {
    this.#placed = placed;
    this.#setup = setup;
    this.#assertUsable = assertUsable;
  }

  isOn(device: GPUDevice): boolean {
    return this.#placed.buffer.on(device) !== null;
  }

  bufferOn({ device }: Runner): GPUBuffer | null {
    return this.#placed.buffer.on(device);
  }

  async confirm(): Promise<boolean> {
    return true;
  }

  suspect(): void {}

  bring(runner: Runner, call: CallContext): Promise<void> {
    return this.#placed.buffer.bring(runner, call);
  }

  assertAlive(): void {
    this.#assertUsable();
  }

  destroy(): void {}

  convert(name: string, { length, first, out, firstOut, vector, firstBase, account }: ScalarsPart): Command {
    const { field, kernels } = this.#setup();
    const { offset, size } = this.#placed;
    const values = { length, first, first_out: firstOut, vector, first_base: firstBase, account };
    return {
      kind: 'dispatch',
      phase: 'scalars',
      kernel: kernels.scalars(),
      config: packScalarsConfig(field, values),
      bindings: { a: { buffer: name, offset, size }, out },
      groups: groupsFor(length, THREADS),
    };
  }
}
