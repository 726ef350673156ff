/** Runs of operations on vectors, as operations of a session. */
import { GpuFault, MsmError } from '../../errors.js';
import type { Submission, SubmissionResult } from '../../gpu/submission.js';
import type { CallContext } from '../../session/call-context.js';
import type { DeviceView, Operation, Step } from '../../session/operation.js';
import type { Resident } from '../../session/resident.js';
import { Emitter, type Part } from './emitter.js';
import { type KnownKind, knownVectors } from './known-vectors.js';
import type { FieldSetup } from './setup.js';

/** One run, load or read. */
export interface FieldJob {
  /** Bytes of the buffer that stays; 0: none. */
  readonly outputBytes: number;
  readonly residents: readonly Resident[];
  /** Kernels whose known answers are wanted first. */
  readonly kinds: ReadonlySet<KnownKind>;
  /** Emits the commands. @returns the scratch to read back */
  emit(emit: Emitter, output: Part | null): readonly Part[];
}

/** What a job leaves. */
export interface FieldOutcome {
  readonly output: GPUBuffer | null;
  /** Words of each part that was read. */
  readonly data: readonly Uint32Array[];
  readonly products: number;
}

/** Account of the ledger that counts vectors. */
export const VECTORS = 'vectors';

type Setup = FieldSetup;

/** The commands of a job. */
interface FieldPlan extends Step {
  readonly emitted: Emitter;
  readonly read: readonly Part[];
}

/** Name of the buffer that stays, in commands. */
const OUTPUT = 'output';

const planOf = (job: FieldJob, { setup, allowance, limits }: DeviceView<Setup>): FieldPlan => {
  const emitted = new Emitter(setup);
  const output = job.outputBytes === 0 ? null : { buffer: OUTPUT, offset: 0, size: job.outputBytes };
  const read = job.emit(emitted, output);
  const sizes = Object.values(emitted.scratch);
  const scratch = sizes.reduce((sum, bytes) => sum + bytes, 0);
  if (scratch > allowance.bytes) {
    throw new MsmError(
      'out-of-memory',
      `the run takes ${scratch} bytes of scratch, and ${allowance.name} leaves ${allowance.bytes}; raise it, or record fewer operations a run`,
    );
  }
  const largest = Math.max(job.outputBytes, ...sizes);
  if (largest > Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize)) {
    throw new MsmError('out-of-memory', `the device binds no ${largest} bytes at a time; use shorter vectors`);
  }
  const submits = 1 + emitted.commands.filter(({ kind }) => kind === 'submit').length;
  return { emitted, read, submits };
};

/** Computes jobs. */
export const fieldOperation: Operation<FieldJob, FieldOutcome, Setup, FieldPlan, readonly Uint32Array[]> = {
  name: 'vectors',
  unit: 'products',
  residents: ({ residents }) => residents,
  output: ({ outputBytes }) => (outputBytes === 0 ? null : { account: VECTORS, label: 'vectors', bytes: outputBytes }),
  plan: (job, device) => [planOf(job, device)],
  record(_, { emitted, read }, __, ___, output): Submission {
    const { scratch, uploads, commands, external } = emitted;
    return {
      ...{ scratch, uploads, commands, read },
      external: { ...external, ...(output === null ? {} : { [OUTPUT]: output }) },
    };
  },
  cost: (_, { emitted }, { setup }) => emitted.products / setup.productsPerMs,
  read(_, { read }, { data }: SubmissionResult): readonly Uint32Array[] {
    if (data.length !== read.length) throw new GpuFault('vectors', 'fewer vectors came back than were read');
    return data;
  },
  finish: (_, [done], __: CallContext, output) => {
    const { step, part } = done as { readonly step: FieldPlan; readonly part: readonly Uint32Array[] };
    return { output, data: part, products: step.emitted.products };
  },
  knownAnswer: ({ kinds }, setup) => knownVectors(setup, kinds),
};
