/** A toy operation: the sum of a vector of words, modulo 2^32, on the GPU or on the CPU. */
import { GpuFault } from '../../src/errors.js';
import type { Submission, SubmissionResult } from '../../src/gpu/submission.js';
import type { Call } from '../../src/scheduling/call.js';
import type { DeviceView, KnownAnswer, Operation, Step } from '../../src/session/operation.js';
import { stageKernel } from '../../src/shaders/hash-chain.js';
import { type Kernel, RESULT, struct } from '../../src/shaders/kernel.js';
import template from './vector-sum.wgsl?template';

/** Words of the known answer, and their sum. */
const KNOWN = { words: Uint32Array.of(0xffffffff, 2, 40), sum: 41 };

const THREADS = 64;
const Config = struct('VectorSumConfig', { length: 'words of the vector' });

/** Setup of a device: the kernel. */
export interface VectorSetup {
  readonly kernel: Kernel;
}

export const vectorSetup = (): VectorSetup => ({
  kernel: stageKernel({
    name: 'vector_sum',
    template,
    config: Config,
    bindings: [
      { name: 'words', access: 'read', type: 'array<u32>' },
      { name: 'total', access: 'write', type: 'array<atomic<u32>>' },
    ],
    view: { threads: THREADS },
  }),
});

interface VectorSumTypes {
  readonly input: Uint32Array;
  readonly result: number;
  readonly step: Step;
  readonly expected: unknown;
  readonly part: number;
}

export class VectorSum implements Operation<VectorSumTypes, VectorSetup> {
  declare readonly types?: VectorSumTypes;
  readonly name = 'vector sum';
  readonly unit = 'words';
  readonly residents = () => [];
  readonly cost = (words: Uint32Array) => words.length / 1000;

  plan(words: Uint32Array, { allowance }: DeviceView<VectorSetup>): readonly Step[] {
    if (words.byteLength > allowance.bytes) throw new RangeError(`words: more than ${allowance.bytes} bytes`);
    return [{ submits: 1 }];
  }

  record(words: Uint32Array, _: Step, { setup }: DeviceView<VectorSetup>): Submission {
    const bindings = { words: { buffer: 'words' }, total: { buffer: RESULT } };
    const groups = [Math.max(1, Math.ceil(words.length / THREADS)), 1] as const;
    const config = Config.pack({ length: words.length });
    return {
      scratch: { words: Math.max(4, words.byteLength) },
      uploads: [{ to: { buffer: 'words' }, data: words }],
      commands: [{ kind: 'dispatch', phase: 'vector sum', kernel: setup.kernel, config, bindings, groups }],
      result: 4,
    };
  }

  read(_: Uint32Array, __: Step, { result }: SubmissionResult): number {
    if (result.length !== 1) throw new GpuFault('vector sum', 'no sum came back');
    return result[0] as number;
  }

  finish(_: Uint32Array, [done]: readonly { readonly part: number }[]): number {
    return (done as { readonly part: number }).part;
  }

  knownAnswer(): KnownAnswer<Uint32Array, number> {
    const check = (sum: number) => (sum === KNOWN.sum ? null : `the sum of known words came out as ${sum}`);
    return { key: 'vector sum', input: () => KNOWN.words, check };
  }

  async onCpu(words: Uint32Array, call: Call): Promise<number> {
    call.checkpoint();
    return words.reduce((sum, word) => (sum + word) >>> 0, 0);
  }
}
