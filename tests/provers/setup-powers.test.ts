/** Powers of tau, byte for byte as those of snarkjs for the same randomness. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  applyBeaconToPowers,
  contributeToPowers,
  newKey,
  newPowers,
  preparePhase2,
  truncatePowers,
  verifyPowers,
} from '../../src/setup.js';
import { endCurves, ffCurveOf, memoryFile, snarkjs } from '../support/proving.js';
import { randomCircuit } from '../support/random-circuit.js';
import { drawSame, expectSame, made, quiet } from '../support/setups.js';
import { sectionsOf } from '../support/snarkjs-files.js';

/** The part of snarkjs that makes powers of tau. */
const powersOfTau = (snarkjs as unknown as { readonly powersOfTau: unknown }).powersOfTau as {
  newAccumulator(curve: unknown, power: number, to: unknown): Promise<Uint8Array>;
  contribute(from: unknown, to: unknown, name: string, entropy: string): Promise<Uint8Array>;
  beacon(from: unknown, to: unknown, name: string, beacon: string, iterations: number): Promise<Uint8Array>;
  preparePhase2(from: unknown, to: unknown): Promise<void>;
  truncate(from: unknown, template: string): Promise<true>;
  verify(from: unknown): Promise<boolean>;
};

const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-powers-'));

afterEach(() => {
  vi.restoreAllMocks();
});

afterAll(async () => {
  await endCurves();
  rmSync(folder, { recursive: true });
});

const beacon = '0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20';

describe.each(['bn254', 'bls12-381'] as const)('powers of tau on %s', (curve) => {
  const areThoseOfSnarkjs = async (power: number): Promise<void> => {
    const ff = await ffCurveOf(curve);
    const first = await newPowers({ curve, power }, quiet);
    expectSame(first, await made((file) => powersOfTau.newAccumulator(ff, power, file)));
    drawSame(1);
    const second = await contributeToPowers(first, { name: 'Ada ☃', entropy: 'dice' }, quiet);
    let hash: Uint8Array = new Uint8Array();
    const theirs = await made(async (file) => {
      hash = await powersOfTau.contribute(memoryFile(first), file, 'Ada ☃', 'dice');
    });
    expectSame(second.ptau, theirs);
    expectSame(second.hash, hash);
    drawSame(2);
    const third = await contributeToPowers(second.ptau, { entropy: 'more' }, quiet);
    expectSame(third.ptau, await made((file) => powersOfTau.contribute(memoryFile(theirs), file, '', 'more')));
    const last = await applyBeaconToPowers(third.ptau, { name: 'end', beacon, iterations: 10 }, quiet);
    expectSame(last.ptau, await made((file) => powersOfTau.beacon(memoryFile(third.ptau), file, 'end', beacon, 10)));
    vi.restoreAllMocks();
    const prepared = await preparePhase2(last.ptau, quiet);
    expectSame(prepared, await made((file) => powersOfTau.preparePhase2(memoryFile(last.ptau), file)));
    expect(await powersOfTau.verify(memoryFile(prepared))).toBe(true);
    const verdict = await verifyPowers(prepared, quiet);
    expect(verdict).toMatchObject({ isValid: true, why: null, isPrepared: true });
    expect(verdict.contributions.map(({ name }) => name)).toEqual(['Ada ☃', null, 'end']);
    expect(verdict.contributions.map((each) => each.hash)).toEqual([second.hash, third.hash, last.hash]);
    const template = join(folder, `${curve}-${power}-`);
    await powersOfTau.truncate(memoryFile(prepared), template);
    for (let smaller = 1; smaller < power; smaller++) {
      const cut = await truncatePowers(prepared, { power: smaller }, quiet);
      expectSame(cut, readFileSync(`${template}0${smaller}.ptau`));
      expect(await verifyPowers(cut, quiet)).toMatchObject({ isValid: true, isPrepared: true });
    }
    if (power === 1) return;
    // snarkjs refuses what it prepares of such a file, and takes what this library does
    const again = await preparePhase2(await truncatePowers(prepared, { power: 1 }, quiet), quiet);
    expect(await verifyPowers(again, quiet)).toMatchObject({ isValid: true, isPrepared: true });
    expect(await powersOfTau.verify(memoryFile(again))).toBe(true);
  };
  const title = 'up to 2^%i are those of snarkjs at every step';
  const isFirst = curve === 'bn254';
  it.each([3])(title, { tags: isFirst ? [] : 'long' }, areThoseOfSnarkjs);
  it.each([1])(title, { tags: 'long' }, areThoseOfSnarkjs);

  it('of one are prepared as snarkjs does: sums with themselves, and to infinity', {
    tags: isFirst ? [] : 'long',
  }, async () => {
    const first = await newPowers({ curve, power: 3 }, quiet);
    expectSame(
      await preparePhase2(first, quiet),
      await made((file) => powersOfTau.preparePhase2(memoryFile(first), file)),
    );
  });
});

const POINT = 64;

describe('changed powers of tau', () => {
  let files: { readonly one: Uint8Array; readonly two: Uint8Array; readonly other: Uint8Array };

  beforeAll(async () => {
    const first = await newPowers({ curve: 'bn254', power: 3 }, quiet);
    const { ptau: one } = await contributeToPowers(first, {}, quiet);
    const { ptau } = await contributeToPowers(one, {}, quiet);
    const { ptau: other } = await contributeToPowers(first, {}, quiet);
    files = { one, two: await preparePhase2(ptau, quiet), other: await preparePhase2(other, quiet) };
  });

  /** Swaps two points of a section, behind its first bytes. */
  const swap =
    (id: number, i: number, j: number, bytes = POINT, start = 0) =>
    (file: Uint8Array): void => {
      const section = (sectionsOf(file).get(id) as Uint8Array).subarray(start);
      const first = section.slice(i * bytes, (i + 1) * bytes);
      section.copyWithin(i * bytes, j * bytes, (j + 1) * bytes);
      section.set(first, j * bytes);
    };

  const changes: readonly [what: string, change: (file: Uint8Array) => unknown, why: RegExp][] = [
    ['swapped powers in G1', swap(2, 3, 4), /section tauG1: the points are not powers/],
    ['another generator', swap(2, 0, 1), /section tauG1: point 0/],
    ['swapped powers in G2', swap(3, 2, 5, 128), /section tauG2: the points are not powers/],
    ['swapped powers of alpha', swap(4, 3, 4), /section alphaTauG1: the points are not powers/],
    ['another alpha', swap(4, 0, 1), /section alphaTauG1: point 0/],
    ['swapped powers of beta', swap(5, 3, 4), /section betaTauG1: the points are not powers/],
    ['swapped Lagrange points', swap(12, 10, 11), /section 12 .*is not that of the powers/],
    ['swapped Lagrange points in G2', swap(13, 10, 11, 128), /section 13 .*is not that of the powers/],
    ['swapped Lagrange points of alpha', swap(14, 10, 11), /section 14 .*is not that of the powers/],
    ['swapped Lagrange points of beta', swap(15, 10, 11), /section 15 .*is not that of the powers/],
    [
      'powers of another ceremony',
      (file) =>
        sectionsOf(file)
          .get(2)
          ?.set(sectionsOf(files.other).get(2) as Uint8Array),
      /section tauG1: point 1/,
    ],
    [
      'Lagrange points of another ceremony',
      (file) =>
        sectionsOf(file)
          .get(12)
          ?.set(sectionsOf(files.other).get(12) as Uint8Array),
      /section 12/,
    ],
    ['a proof of another secret', swap(7, 7, 9, POINT, 4), /contribution 0: nobody has proved to know its secret tau/],
    [
      'another challenge',
      (file) => {
        const section = sectionsOf(file).get(7) as Uint8Array;
        // of the first contribution: three points of G1 and two of G2, six and three, and a hash
        const at = 4 + 3 * POINT + 4 * POINT + 6 * POINT + 6 * POINT + 216;
        section[at] = (section[at] as number) ^ 1;
      },
      /contribution 1: nobody has proved/,
    ],
  ];

  const areRefused = async (...[, change, why]: (typeof changes)[number]): Promise<void> => {
    const file = files.two.slice();
    change(file);
    const verdict = await verifyPowers(file, quiet);
    expect(verdict.why).toMatch(why);
    expect(verdict.isValid).toBe(false);
    expect(await powersOfTau.verify(memoryFile(file)).catch(() => false)).toBe(false);
  };
  // one change of each section in the second tier
  const others = /in G2|of alpha|another alpha|of beta|Lagrange points of/;
  const changeTitle = 'with %s are refused, as by snarkjs';
  it.each(changes.filter(([what]) => !others.test(what)))(changeTitle, areRefused);
  it.each(changes.filter(([what]) => others.test(what)))(changeTitle, { tags: 'long' }, areRefused);

  it('with any other bit are refused', { tags: 'long' }, async () => {
    const places = Array.from({ length: 40 }, (_, i) => Math.floor(((i + 0.5) * files.two.length) / 40));
    for (const place of places) {
      const file = files.two.slice();
      file[place] = (file[place] as number) ^ (1 << (place % 8));
      const { isValid, why } = await verifyPowers(file, { ...quiet, onWarning: () => undefined });
      expect({ place, isValid, isString: typeof why }).toEqual({ place, isValid: false, isString: 'string' });
    }
  });

  it('without contributions are refused', async () => {
    const first = await newPowers({ curve: 'bn254', power: 3 }, quiet);
    expect(await verifyPowers(first, quiet)).toEqual({
      ...{ isValid: false, why: 'nobody has contributed', isPrepared: false, contributions: [] },
    });
    expect(await powersOfTau.verify(memoryFile(first))).toBe(false);
    expect(await verifyPowers(files.one, quiet)).toMatchObject({ isValid: true, isPrepared: false });
  });
});

it('powers of more than one round are those of snarkjs', { tags: 'long' }, async () => {
  const [curve, power] = ['bls12-381', 13] as const;
  const ff = await ffCurveOf(curve);
  const first = await newPowers({ curve, power }, quiet);
  expectSame(first, await made((file) => powersOfTau.newAccumulator(ff, power, file)));
  drawSame(3);
  const { ptau } = await contributeToPowers(first, { entropy: 'dice' });
  expectSame(ptau, await made((file) => powersOfTau.contribute(memoryFile(first), file, '', 'dice')));
});

it('refuses files that are cut off, and sizes that they do not have', async () => {
  const first = await newPowers({ curve: 'bn254', power: 3 }, quiet);
  const prepared = await preparePhase2(first, quiet);
  const smaller = await truncatePowers(prepared, { power: 2 }, quiet);
  await expect(contributeToPowers(smaller, {}, quiet)).rejects.toThrow(/cut from powers up to 2\^3/);
  await expect(truncatePowers(prepared, { power: 3 }, quiet)).rejects.toThrow(/less than 3/);
  await expect(truncatePowers(first, { power: 2 }, quiet)).rejects.toThrow(/section 12 is missing/);
  await expect(newPowers({ curve: 'bn254', power: 0 }, quiet)).rejects.toThrow(/power/);
  const { r } = await ffCurveOf('bn254');
  const { r1cs } = randomCircuit(BigInt(r), { publicInputs: 1, privateInputs: 2, constraints: 3, seed: 1n });
  expect((await newKey({ system: 'groth16', r1cs, ptau: prepared }, quiet)).length).toBeGreaterThan(0);
});
