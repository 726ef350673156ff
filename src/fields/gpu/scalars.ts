/** Scalars: elements of a vector on a GPU as scalars of a sum there. */
import template from '../../../wgsl/fields/scalars.wgsl?template';
import type { Modulus } from '../../field/modulus.js';
import { range } from '../../field/straight-line.js';
import type { Runner } from '../../gpu/runner.js';
import type { DeviceVector, ScalarsPart } from '../../msm/inputs/scalars.js';
import type { Call } from '../../scheduling/call.js';
import type { Ticket } from '../../scheduling/edf.js';
import { stageKernel } from '../../shaders/hash-chain.js';
import type { Command, Kernel } from '../../shaders/kernel.js';
import { groupsFor } from '../../shaders/limits.js';
import { elementPartials, elementView, factorConfig, montgomeryWords, THREADS, vectorBinding } from './element.js';
import type { FieldSetup } from './emitter.js';
import type { VectorBuffer } from './vector-buffer.js';

/** Words of a scalar. */
export const SCALAR_WORDS = 8;

const documented = {
  length: 'number of scalars',
  first: 'index of the first element',
  first_out: 'index of the first scalar in the output',
  vector: 'index of the vector in the batch',
  first_base: 'index of the base that the first scalar multiplies',
  account: 'account of the digest of the scalars, in lanes',
};

/** Parameters of a dispatch. */
type ScalarsValues = Readonly<Record<keyof typeof documented, number>>;

const ScalarsConfig = /* @__PURE__ */ factorConfig('ScalarsConfig', documented);

export const packScalarsConfig = (field: Modulus, values: ScalarsValues): Uint32Array<ArrayBuffer> =>
  // a Montgomery product with 1 divides by R
  ScalarsConfig.pack(values, montgomeryWords(field, field.rInverse));

export const scalarsKernel = (field: Modulus): Kernel =>
  stageKernel({
    name: 'scalars',
    template,
    config: ScalarsConfig.structOf(field),
    bindings: [vectorBinding('a', 'read'), { name: 'out', access: 'write', type: 'array<u32>' }],
    view: {
      ...elementView(field, THREADS),
      scalarWords: SCALAR_WORDS,
      parts: range(SCALAR_WORDS).map((w) => ({
        w,
        word: w < field.words ? `packed.v${w >> 2}.${'xyzw'[w & 3]}` : '0u',
      })),
    },
    partials: elementPartials,
  });

/** The engine of vectors that are scalars of sums. */
interface ScalarsOwner {
  setup(): FieldSetup;
  /** @throws MsmError `destroyed` */
  assertUsable(): void;
  /** Tests the conversion on the engine's device, in the engine's turn. */
  prepare(ticket: Ticket): Promise<void>;
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

  prepare(ticket: Ticket): Promise<void> {
    return this.#owner.prepare(ticket);
  }

  suspect(): void {}

  async bring(runner: Runner, call: Call): Promise<void> {
    await this.#owner.bring(this.#placed.buffer, call);
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
