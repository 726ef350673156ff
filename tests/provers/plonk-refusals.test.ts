/** Proving keys of PLONK and FFLONK that are damaged or too large. */
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { openProvingKey as openFflonk } from '../../src/fflonk.js';
import { MsmError, openProvingKey as openPlonk } from '../../src/plonk.js';
import { endCurves, makeStatement } from '../support/proving.js';
import { passFrames } from '../support/time.js';

const systems = {
  plonk: {
    openProvingKey: openPlonk,
    ptau: 14,
    powers: (n: number) => n + 6,
    sections: { 7: 'Qm', 11: 'Qc', 12: 'sigma' },
    tooLarge: (n: number) => `zkey: a domain of ${n} is too large for the field`,
  },
  fflonk: {
    openProvingKey: openFflonk,
    ptau: 16,
    powers: (n: number) => 9 * n + 18,
    sections: { 7: 'QL', 11: 'QC', 12: 'sigma 1', 14: 'sigma 3' },
    tooLarge: (n: number) => `zkey: a domain of ${n} is too large; at most ${2 ** 23} is supported`,
  },
} as const;

afterAll(endCurves);

describe.each(['plonk', 'fflonk'] as const)('keys of %s', (system) => {
  const { openProvingKey, ptau: ptauId, powers, sections, tooLarge } = systems[system];
  let zkey: Uint8Array;
  let witness: Uint8Array;

  beforeAll(async () => {
    const statement = await makeStatement(system, 'bn254', 5, 'dense');
    zkey = statement.zkey.data;
    ({ witness } = statement.circuit);
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  /** Opens a key and proves; returns the error. */
  const errorOf = async (file: Uint8Array): Promise<unknown> => {
    try {
      using key = await openProvingKey(file, { backend: 'cpu' });
      await key.prove(witness);
      return null;
    } catch (error) {
      return error;
    }
  };

  const flipped = (at: number, bit: number): Uint8Array => {
    const copy = zkey.slice();
    copy[at] = (copy[at] as number) ^ (1 << bit);
    return copy;
  };

  /** Position of a section's content. */
  const sectionAt = (wanted: number): number => {
    const view = new DataView(zkey.buffer, zkey.byteOffset);
    for (let at = 12; ; at += 12 + Number(view.getBigUint64(at + 4, true))) {
      if (view.getUint32(at, true) === wanted) return at + 12;
    }
  };

  test('that are cut off anywhere are refused', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: zkey.length - 1 }), async (end) => {
        const cut = openProvingKey(zkey.subarray(0, end), { backend: 'cpu' });
        await expect(cut).rejects.toMatchObject({ code: 'bad-argument' });
      }),
      { numRuns: 100, seed: 37 },
    );
  });

  test('with infinity among the powers of τ are refused by its index', async () => {
    for (const i of [0, 1, 20]) {
      const infinite = zkey.slice();
      infinite.fill(0, sectionAt(ptauId) + i * 64, sectionAt(ptauId) + (i + 1) * 64);
      expect(await errorOf(infinite)).toMatchObject({
        ...{ code: 'bad-argument', message: expect.stringContaining(`(ptau): points[${i}] is infinity`) },
      });
    }
  });

  const areRefused = async (numRuns: number, seed: number): Promise<void> => {
    const header = sectionAt(2);
    const places = fc.oneof(
      fc.integer({ min: 0, max: zkey.length - 1 }),
      // the numbers that sizes follow from
      fc.integer({ min: 0, max: header + 72 + 20 }),
    );
    await fc.assert(
      fc.asyncProperty(places, fc.integer({ min: 0, max: 7 }), async (at, bit) => {
        const error = await errorOf(flipped(at, bit));
        if (error !== null && !(error instanceof MsmError)) throw error;
      }),
      { numRuns, seed },
    );
  };
  const title = 'with any bit flipped, %i drawn by the seed %i, are refused by a typed error, or prove';
  test.each([[50, 37]])(title, areRefused);
  test.each([[100, 38]])(title, { tags: 'long' }, areRefused);

  test('each bit of the counts in the header', async () => {
    const counts = sectionAt(2) + 72;
    for (let at = counts; at < counts + 20; at++) {
      for (let bit = 0; bit < 8; bit++) {
        const error = await errorOf(flipped(at, bit));
        if (error === null || !(error instanceof MsmError)) throw new Error(`${at - counts} ${bit} ${String(error)}`);
      }
    }
  });

  test('more public signals than constraints are refused: the wire a begins with them', async () => {
    const counts = sectionAt(2) + 72;
    const wrong = zkey.slice();
    const view = new DataView(wrong.buffer);
    const publicSignals = view.getUint32(counts + 4, true);
    view.setUint32(counts + 16, publicSignals - 1, true);
    expect(await errorOf(wrong)).toMatchObject({
      ...{ code: 'bad-argument' },
      message: `zkey: the header says ${publicSignals} public signals in ${publicSignals - 1} constraints`,
    });
  });

  test('a number or point that is wrong is refused by the name of its section', async () => {
    const numbers = Object.entries(sections).map(([id, name]) => [Number(id), name, 'bad-argument'] as const);
    for (const [id, name, code] of [...numbers, [ptauId, 'ptau', 'not-on-curve'] as const]) {
      const at = sectionAt(id);
      const wrong = zkey.slice();
      if (code === 'bad-argument') wrong.fill(255, at, at + 32);
      else wrong[at] = (wrong[at] as number) ^ 1;
      expect(await errorOf(wrong)).toMatchObject({
        code,
        message: expect.stringContaining(`zkey: section ${id} (${name}): `),
      });
    }
  });

  test('a domain without a coset in the field is refused', async () => {
    const header = sectionAt(2);
    const ptau = sectionAt(ptauId);
    const big = zkey.slice();
    const view = new DataView(big.buffer);
    const n = 2 ** 27;
    view.setUint32(header + 72 + 8, n, true);
    const more = powers(n) * 64 - Number(view.getBigUint64(ptau - 8, true));
    view.setBigUint64(ptau - 8, BigInt(powers(n) * 64), true);
    // the section's further points are not there, and nothing reads them
    const file = {
      byteLength: big.length + more,
      read: (from: number, to: number) => (from < ptau ? big.slice(from, to) : big.slice(from - more, to - more)),
    };
    await expect(openProvingKey(file, { backend: 'cpu' })).rejects.toMatchObject({
      ...{ code: 'bad-argument', message: tooLarge(n) },
    });
  });

  test('many additions are read in turns, and an abort ends them', async () => {
    const additions = sectionAt(3);
    const view = new DataView(zkey.buffer, zkey.byteOffset);
    const before = Number(view.getBigUint64(additions - 8, true));
    const count = 10_000;
    const more = count * 72 - before;
    const header = sectionAt(2) + (sectionAt(2) > additions ? more : 0);
    const many = new Uint8Array(zkey.length + more);
    many.set(zkey.subarray(0, additions));
    many.set(zkey.subarray(additions + before), additions + count * 72);
    const numbers = new DataView(many.buffer);
    numbers.setBigUint64(additions - 8, BigInt(count * 72), true);
    numbers.setUint32(header + 72 + 12, count, true);
    passFrames();
    let looks = 0;
    const signal = {
      reason: 'enough',
      get aborted() {
        return ++looks === 20;
      },
    };
    const aborted = openProvingKey(many, { backend: 'cpu', signal: signal as AbortSignal });
    await expect(aborted).rejects.toMatchObject({ code: 'aborted', cause: 'enough' });
    expect(looks).toBe(20);
  });
});
