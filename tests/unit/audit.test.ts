/** The audit of a job's accounts by the host: any wrong word is a fault that names the stages. */
import { describe, expect, test } from 'vitest';
import { stageChecks } from '../../dev/checks/instrument.js';
import { bn254 } from '../../src/curves/bn254.js';
import { curveContext } from '../../src/curves/curve.js';
import { GpuFault } from '../../src/errors.js';
import { audit, auditSums, expectedOf } from '../../src/msm/gpu/audit.js';
import { accountsBytes, accountsOf } from '../../src/msm/plan/planner.js';
import type { Batch, Job } from '../../src/msm/plan/schedule.js';
import type { SurveyedVector } from '../../src/msm/plan/workload.js';
import { TimeSlice } from '../../src/scheduling/time-slice.js';
import { LANES } from '../../src/shaders/hash-chain.js';
import { digestOfScalars, digestOfSums } from '../reference/digest.js';

const curve = curveContext(bn254);
const [first, offset, bound] = [3, 7, 4];

describe('expected digests equal a direct computation, for any number of scalars and time slices', () => {
  const length = 2 ** 16 + 5;
  const words = Uint32Array.from({ length: 8 * (first + length) }, (_, i) => Math.imul(i + 1, 0x9e3779b9));
  const scalars = new Uint8Array(words.buffer);
  const third = Uint32Array.from({ length: first + length }, (_, i) => 3 * i);
  const piece = (vector: number) => ({ vector, first, length });

  test('expected digests of a batch of two vectors, one with picked scalars', async () => {
    const part = { chunks: [piece(1), piece(0)], bases: { first: bound, count: 0 } };
    const job = { batches: [part, part] } as unknown as Job;
    const vectors = [null, third].map((indices) => ({ scalars, indices, offset })) as unknown as SurveyedVector[];
    const found = await expectedOf(curve, job, vectors, new TimeSlice(() => undefined));
    const own = words.subarray(8 * first);
    const wanted = [
      digestOfScalars(own, 8, 0, 0, (i) => offset + 3 * (first + i) - bound),
      digestOfScalars(own, 8, 1, 0, (i) => offset + first + i - bound),
    ];
    expect(found).toEqual([wanted, wanted]);
  });
});

describe.each([undefined, stageChecks])('the accounts of a job, with stage checks or without', (instrument) => {
  // two vectors of three windows in groups of four: the first vector is in the first group alone,
  // the second in both
  const plan = {
    ...{ groups: 2, windows: 6, windowsPerGroup: 4, vectorWindows: 3 },
    ...{ levelTasks: [20, 2, 1], instrument, reduce: { bitSums: 9, walks: [{}, {}, {}] } },
  };
  const at = 40;
  const accounts = accountsOf(plan, at);
  const lanes = (account: number): number[] => Array.from({ length: LANES }, (_, lane) => account + lane);
  const { groups, reduce, finitePoints, readBack } = accounts;
  const carries: readonly (readonly [stage: string | null, words: readonly number[]])[] = [
    ...groups.flatMap(
      ({ scalars, entries, length, checksum }) =>
        [
          ['decompose', lanes(scalars)],
          ['sort, walk or combine', [...lanes(entries), checksum]],
          [null, [length]],
        ] as const,
    ),
    ['walk or reduce', [finitePoints]],
    ['reduce', [...lanes(reduce.entries), reduce.checksum]],
  ];

  test('each word belongs to one account, and the last word ends the batch', () => {
    const all = [...carries.flatMap(([, words]) => words), readBack];
    expect(new Set(all).size).toBe(all.length);
    expect(Math.max(...all)).toBe((at + accountsBytes(plan)) / 4 - 1);
    // the findings are in front
    expect(Math.min(...all) > at / 4).toBe(instrument !== undefined);
  });

  const digests = [0xfedcba98, 0x89abcdef];
  const sent = [digests[0] as number, 0].map((digest) => (digest + (digests[1] as number)) >>> 0);
  const words = new Uint32Array((at + accountsBytes(plan)) / 4);
  /** Puts a sum into lanes: it exceeds 32 bits on the way. */
  const put = (account: number, sum: number): void => {
    for (const lane of lanes(account)) words[lane] = 0xf0000000 + lane;
    const others = lanes(account).slice(1);
    words[account] = others.reduce((rest, lane) => (rest - (words[lane] as number)) | 0, sum);
  };
  groups.forEach(({ scalars, entries, length, checksum }, i) => {
    put(scalars, sent[i] as number);
    put(entries, 1000 + i);
    words.set([100 + i], length);
    words.set([1000 + i], checksum);
  });
  put(reduce.entries, 77);
  words[reduce.checksum] = 77;
  const part = { plan, at: { accounts: at } } as unknown as Batch;

  test('right accounts pass and give the number of walked entries', () => {
    expect(audit(part, digests, words)).toBe(201);
  });

  test('any changed word is a fault that names the stages', () => {
    for (const [stage, of] of carries) {
      for (const word of of) {
        const changed = words.slice();
        changed[word] = (changed[word] as number) + 1;
        if (stage === null) expect(audit(part, digests, changed)).toBe(202);
        else expect(() => audit(part, digests, changed), `${word}`).toThrow(new RegExp(`in ${stage}: `));
        if (stage !== null) expect(() => audit(part, digests, changed)).toThrow(GpuFault);
      }
    }
  });

  describe('audited sums', () => {
    const { pointWords } = curve;
    // the words behind them belong to another batch
    const sums = Uint32Array.from({ length: 11 * pointWords }, (_, i) => Math.imul(i + 1, 0x9e3779b9));
    sums.fill(0, 3 * pointWords, 4 * pointWords);
    const own = 9 * pointWords;
    words[readBack] = digestOfSums(sums.subarray(0, own), pointWords);
    const auditOf = (changed: Uint32Array, accounts = words): Promise<void> =>
      auditSums(curve, part, accounts, changed, new TimeSlice(() => undefined));
    const expectFault = async (changed: Uint32Array, what: string): Promise<void> => {
      await expect(auditOf(changed), what).rejects.toThrow(/in read-back: other sums came back/);
      await expect(auditOf(changed), what).rejects.toThrow(GpuFault);
    };

    test('unchanged sums pass, with any bytes after them', async () => {
      await auditOf(sums);
      const changed = sums.slice();
      changed.fill(7, own);
      await auditOf(changed);
    });

    test('any flipped bit of a sum or of the account is a fault', async () => {
      for (let bit = 0; bit < 32 * own; bit += 7) {
        const changed = sums.slice();
        changed[bit >> 5] = ((changed[bit >> 5] as number) ^ (1 << (bit & 31))) >>> 0;
        await expectFault(changed, `bit ${bit}`);
      }
      const accounts = words.slice();
      accounts[readBack] = (accounts[readBack] as number) ^ 1;
      await expect(auditOf(sums, accounts)).rejects.toThrow(GpuFault);
    });

    test('swapped sums, a repeated sum, and zeros instead of a sum are faults', async () => {
      const point = (at: number): Uint32Array => sums.slice(at * pointWords, (at + 1) * pointWords);
      for (let a = 0; a < 9; a++) {
        for (let b = 0; b < 9; b++) {
          if (a === b) continue;
          const over = sums.slice();
          over.set(point(a), b * pointWords);
          await expectFault(over, `${a} over ${b}`);
          over.set(point(b), a * pointWords);
          await expectFault(over, `${a} and ${b}`);
        }
        if (a === 3) continue;
        await expectFault(sums.slice().fill(0, a * pointWords, (a + 1) * pointWords), `no ${a}`);
      }
    });
  });
});
