/**
 * Batch inversion at every scope: each inverse is right, and 0 stays 0 without an effect on others.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import {
  type BatchInversion,
  batchKernel,
  describeBatch,
  type Scope,
} from '../../dev/field-bench/batch-inverse/kernel.js';
import { ChainConfig } from '../../dev/field-bench/kernels.js';
import { Random } from '../../dev/oracle/known-bases.js';
import { bn254 } from '../../src/curves/bn254.js';
import { digitsOf, LIMB_BITS, type Modulus, mod, modulus, readWords } from '../../src/field/modulus.js';
import { getDevice } from '../support/gpu.js';
import { primes } from '../support/primes.js';
import { compileKernel, runKernel } from '../support/run-kernel.js';

const fields: [string, bigint][] = [
  ['BN254', bn254.p],
  ['BLS12-381', primes['BLS12-381 base, 381 bits'] as bigint],
];

const form = (scope: Scope, size: number, threads: number, roots = 1): BatchInversion => ({
  scope,
  size,
  threads,
  roots,
});

const forms: BatchInversion[] = [
  form('thread', 1, 16),
  form('thread', 5, 16),
  form('workgroup columns', 1, 1, 1),
  form('workgroup columns', 3, 16, 4),
  form('workgroup columns', 2, 64, 64),
  form('workgroup columns', 1, 64, 1),
];

let device: GPUDevice;

beforeAll(async () => {
  device = await getDevice({ label: 'batch inversion' });
});

/**
 * Numbers that a batch may hold: with zeros at both ends, alone, in pairs, everywhere or nowhere.
 */
const inputs = ({ p, r }: Modulus, count: number): Record<string, bigint[]> => {
  const random = new Random(count);
  const edges = [0n, 1n, p - 1n, r, mod(-r, p), 0n, 0n, 2n, p - 2n];
  const list = (value: (i: number) => bigint): bigint[] => Array.from({ length: count }, (_, i) => value(i));
  return {
    random: list(() => random.belowBig(p - 1n) + 1n),
    edges: list((i) => edges[i % edges.length] as bigint),
    'edges among random numbers': list((i) => (i % 3 === 0 ? (edges[(i / 3) % 9] as bigint) : random.belowBig(p))),
    zeros: list(() => 0n),
    'zeros but for the last': list((i) => (i === count - 1 ? p - 1n : 0n)),
    'one zero, the last': list((i) => (i === count - 1 ? 0n : random.belowBig(p - 1n) + 1n)),
    'ones in Montgomery form': list(() => r),
  };
};

class Inverter {
  readonly #m: Modulus;
  readonly #perGroup: number;
  readonly #pipeline: GPUComputePipeline;

  private constructor(m: Modulus, perGroup: number, pipeline: GPUComputePipeline) {
    this.#m = m;
    this.#perGroup = perGroup;
    this.#pipeline = pipeline;
  }

  static async make(
    m: Modulus,
    batch: BatchInversion,
    change: (source: string) => string = (source) => source,
  ): Promise<Inverter> {
    const { source, name } = batchKernel(m, batch);
    return new Inverter(m, batch.size * batch.threads, await compileKernel(device, change(source), name));
  }

  async words(values: readonly bigint[]): Promise<Uint32Array> {
    const data = Uint32Array.from(values.flatMap((value) => digitsOf(value, 32, this.#m.words)));
    const config = { data: new Uint32Array(ChainConfig.pack({ steps: 1 })), usage: 'uniform' as const };
    const groups = Math.ceil(values.length / this.#perGroup);
    const [, results] = await runKernel(device, this.#pipeline, [config, { data }], [groups]);
    return results as Uint32Array;
  }

  /** Whether each is canonical, and times the number R²: both are in Montgomery form. */
  async isRight(values: readonly bigint[]): Promise<boolean> {
    const { p, words, limbs } = this.#m;
    const results = await this.words(values);
    const rSquared = mod(1n << BigInt(2 * LIMB_BITS * limbs), p);
    return values.every((x, i) => {
      const inverse = readWords(results, i * words, words);
      return x === 0n ? inverse === 0n : inverse < p && mod(inverse * x, p) === rSquared;
    });
  }
}

const title = (batch: BatchInversion): string =>
  `${describeBatch(batch)}, ${batch.threads} threads, ${batch.size} each`;

const inversions = (_: string, p: bigint): void => {
  const m = modulus(p);
  test.for(forms.map((batch): [string, BatchInversion] => [title(batch), batch]))('%s', async ([, batch]) => {
    const inverter = await Inverter.make(m, batch);
    const perGroup = batch.size * batch.threads;
    const counts = [1, batch.size + 1, perGroup - 1, perGroup, perGroup + 1, 3 * perGroup].filter((n) => n > 0);
    for (const count of new Set(counts)) {
      for (const [name, values] of Object.entries(inputs(m, count)))
        expect(await inverter.isRight(values), `${count} numbers: ${name}`).toBe(true);
    }
    const again = inputs(m, 3 * perGroup).random as bigint[];
    expect(await inverter.words(again)).toEqual(await inverter.words(again));
  });
};

describe.each(fields)('the base field of %s', { tags: 'long' }, inversions);
