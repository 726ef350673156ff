/** Runs of operations on vectors, as operations of a session. */
import { GpuFault, MsmError } from '../../errors.js';
import type { Submission, SubmissionResult } from '../../gpu/submission.js';
import { digestOfItems } from '../../msm/stages/entry.js';
import { sumInSlices, TimeSlice } from '../../scheduling/time-slice.js';
import type { CallContext } from '../../session/call.js';
import type { DeviceView, Operation, Step } from '../../session/operation.js';
import { sumOfLanes } from '../../shaders/hash-chain.js';
import { Emitter, type Part } from './emitter.js';
import type { FieldJob, FieldOutcome } from './field-job.js';
import { knownVectors } from './known-vectors.js';
import type { FieldSetup } from './setup.js';

/** Account of the ledger that counts vectors. */
export const VECTORS = 'vectors';

type Setup = FieldSetup;

/** The commands of a job. */
export interface JobPlan extends Step {
  readonly emitted: Emitter;
  readonly read: readonly Part[];
  /** Digests of what was sent, computed while the GPU has it. */
  readonly digests: number[];
}

/** Name of the buffer that stays, in commands. */
const OUTPUT = 'output';

/**
 * @param isCheck true for the second evaluation
 * @throws MsmError `out-of-memory` if the scratch exceeds the allowance, or a buffer the device
 */
export const planOf = (job: FieldJob, { setup, allowance, limits }: DeviceView<Setup>, isCheck: boolean): JobPlan => {
  const emitted = new Emitter(setup, isCheck);
  const output = job.outputBytes === 0 ? null : { buffer: OUTPUT, offset: 0, size: job.outputBytes };
  const read = (isCheck && job.check ? job.check : job.emit)(emitted, output);
  const sizes = Object.values(emitted.scratch);
  const scratch = sizes.reduce((sum, bytes) => sum + bytes, 0) - emitted.leftBytes;
  if (scratch > allowance.bytes) {
    throw new MsmError(
      'out-of-memory',
      `the run takes ${scratch} bytes of scratch, and ${allowance.name} leaves ${allowance.bytes}; raise it, or record fewer operations a run`,
    );
  }
  const largest = Math.max(job.outputBytes, emitted.resultBytes, ...sizes);
  if (largest > Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize)) {
    throw new MsmError('out-of-memory', `the device binds no ${largest} bytes at a time; use shorter vectors`);
  }
  const submits = 1 + emitted.commands.filter(({ kind }) => kind === 'submit').length;
  return { emitted, read, digests: [], submits, isCheck };
};

const areEqual = (some: Uint32Array, others: Uint32Array): boolean => some.every((word, i) => word === others[i]);

const digestInSlices = (words: Uint32Array, itemWords: number, slice: TimeSlice): Promise<number> => {
  const part = (begin: number, end: number): number =>
    digestOfItems(words.subarray(begin * itemWords, end * itemWords), itemWords, begin);
  return sumInSlices(words.length / itemWords, slice, part);
};

/** Returns emitted commands with their memory. @param output the buffer that stays; null: none */
export const submissionOf = (emitted: Emitter, output: GPUBuffer | null): Submission => {
  const { scratch, uploads, commands, external, resultBytes, accountBytes } = emitted;
  return {
    ...{ scratch, uploads, commands, accounts: accountBytes, result: resultBytes },
    read: emitted.left.map(({ part }) => part),
    external: { ...external, ...(output === null ? {} : { [OUTPUT]: output }) },
  };
};

/** Computes jobs. */
export const fieldOperation: Operation<FieldJob, FieldOutcome, Setup, JobPlan, readonly Uint32Array[]> = {
  name: 'vectors',
  unit: 'products',
  residents: ({ residents }) => residents,
  output: ({ outputBytes }) => (outputBytes === 0 ? null : { account: VECTORS, label: 'vectors', bytes: outputBytes }),
  plan: (job, device) => [planOf(job, device, false), ...(job.check ? [planOf(job, device, true)] : [])],
  record(_, { emitted, digests }, __, call, output): Submission {
    const { sent } = emitted;
    return {
      ...submissionOf(emitted, output),
      meanwhile: async () => {
        const slice = new TimeSlice(() => call.checkpoint());
        for (const [k, { words, itemWords }] of sent.entries()) {
          if (digests[k] !== undefined) continue;
          digests[k] = await digestInSlices(words, itemWords, slice);
        }
      },
    };
  },
  cost: (_, { emitted }, { setup }) => emitted.products / setup.productsPerMs,
  async read(_, { emitted, read, digests }, { accounts, result, data }: SubmissionResult, { setup }, call) {
    if (emitted.sent.some(({ account }, k) => sumOfLanes(accounts, account) !== digests[k])) {
      throw new GpuFault('vectors', 'other numbers arrived than those that were sent');
    }
    const slice = new TimeSlice(() => call.checkpoint());
    for (const [k, { account }] of emitted.left.entries()) {
      const digest = await digestInSlices(data[k] as Uint32Array, setup.field.words, slice);
      if (sumOfLanes(accounts, account) === digest) continue;
      throw new GpuFault('vectors', 'other numbers were read than those that were computed');
    }
    const places = emitted.left.map(({ part }) => part.buffer);
    return read.map(
      ({ buffer, offset, size }) => data[places.indexOf(buffer)] ?? result.subarray(offset / 4, (offset + size) / 4),
    );
  },
  finish: (_, [done, check], __: CallContext, output) => {
    const { step, part } = done as { readonly step: JobPlan; readonly part: readonly Uint32Array[] };
    for (let i = 0; check !== undefined && i < check.part.length; i += 2) {
      if (!areEqual(check.part[i] as Uint32Array, check.part[i + 1] as Uint32Array)) {
        throw new GpuFault('verify', 'a second evaluation gives another result');
      }
    }
    return { output, data: part, products: step.emitted.products, passes: step.emitted.passes };
  },
  knownAnswer: ({ kinds }, setup) => knownVectors(setup, kinds),
};
