/** Vectors on a GPU as scalars of sums there. */

import type { Runner } from '../../gpu/runner.js';
import type { DeviceVector, ScalarsPart } from '../../msm/inputs/scalars.js';
import { type Ticket, ticketOf } from '../../scheduling/edf.js';
import type { CallContext } from '../../session/call.js';
import type { Command } from '../../shaders/commands.js';
import { groupsFor } from '../../shaders/limits.js';
import { THREADS } from '../stages/element.js';
import { packScalarsConfig } from '../stages/scalars.js';
import type { FieldSetup } from './setup.js';
import type { VectorBuffer } from './vector-buffer.js';

/** The engine of vectors that are scalars of sums. */
export interface ScalarsOwner {
  setup(): FieldSetup;
  /** @throws MsmError `destroyed` */
  assertUsable(): void;
  /** Brings a buffer to the engine's device, in the engine's turn. */
  bring(buffer: VectorBuffer, ticket: Ticket): Promise<void>;
}

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
  readonly #owner: ScalarsOwner;

  constructor(placed: Placed, owner: ScalarsOwner) {
    this.#placed = placed;
    this.#owner = owner;
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

  async bring(runner: Runner, call: CallContext): Promise<void> {
    await this.#owner.bring(this.#placed.buffer, ticketOf(call.ticket));
    // the device may have been lost again, and the vectors have moved on
    if (this.bufferOn(runner) === null) runner.assertAlive();
  }

  assertAlive(): void {
    this.#owner.assertUsable();
  }

  destroy(): void {}

  convert(name: string, { length, first, out, firstOut, vector, firstBase, account }: ScalarsPart): Command {
    const { field, kernels } = this.#owner.setup();
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
