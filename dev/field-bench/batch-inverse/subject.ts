import { digitsOf, invert, LIMB_BITS, type Modulus, mod, readWords } from '../../../src/field/modulus.js';
import { Random } from '../../oracle/known-bases.js';
import { libraryVariant } from '../kernels.js';
import type { Subject } from '../rig.js';
import { type BatchInversion, batchKernel, describeBatch } from './kernel.js';

/** What the kernel makes of a number x·R: the inverse is 1/x·R, and that of 0 is 0. */
export const batchApplied = (m: Modulus, x: bigint, steps: number): bigint => {
  const r = 1n << BigInt(LIMB_BITS * m.limbs);
  let value = x;
  for (let step = 0; step < steps; step++) {
    value ^= BigInt(step & 1);
    if (value !== 0n) value = mod(invert(value, m.p) * r * r, m.p);
  }
  return value;
};

/**
 * Different operands: BigInts take long to make, and these do for any number of threads. Prime, so that no two threads of a workgroup
 * begin with the same.
 */
const OPERANDS = 4099;

/** Threads of a dispatch at most, so that the numbers fit in a binding of any device. */
const MOST_THREADS = 65_536;

export const batchSubject = (m: Modulus, batch: BatchInversion, wanted: number): Subject => {
  const threads = Math.min(wanted, MOST_THREADS);
  const random = new Random(batch.size);
  const operands = Array.from({ length: OPERANDS }, (_, i) => (i === 0 ? 0n : random.belowBig(m.p)));
  const words = operands.map((value) => digitsOf(value, 32, m.words));
  const values = new Uint32Array(threads * batch.size * m.words);
  for (let i = 0; i < threads * batch.size; i++) values.set(words[i % OPERANDS] as number[], i * m.words);
  const [variant, name] = [libraryVariant(batch.carry), `batch inversion, ${describeBatch(batch)}`];
  return {
    variant,
    name,
    multiplyAdds: null,
    threads,
    groupThreads: batch.threads,
    chains: batch.size,
    perStep: 1,
    kernel: batchKernel(m, batch),
    values,
    check: (results, steps) => {
      // the ends of the batches of a few threads, as BigInts take long for each
      for (const thread of [0, batch.threads - 1, threads - 1]) {
        for (const s of new Set([0, batch.size - 1])) {
          const at = thread * batch.size + s;
          const x = batchApplied(m, operands[at % OPERANDS] as bigint, steps);
          const got = readWords(results, at * m.words, m.words);
          if (got !== x)
            throw new Error(`WRONG: ${name} (${variant}), ${batch.size} a thread, thread ${thread}: ${got} for ${x}`);
        }
      }
    },
  };
};
