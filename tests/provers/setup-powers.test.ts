/** Powers of tau, byte for byte as those of snarkjs for the same randomness. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import {
  applyBeaconToPowers,
  contributeToPowers,
  newKey,
  newPowers,
  preparePhase2,
  truncatePowers,
} from '../../src/setup.js';
import { ffCurveOf, memoryFile, snarkjs } from '../support/proving.js';
import { randomCircuit } from '../support/random-circuit.js';
import { drawSame, expectSame, made, quiet } from '../support/setups.js';

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
  for (const curve of ['bn254', 'bls12-381'] as const) await (await ffCurveOf(curve)).terminate();
  rmSync(folder, { recursive: true });
});

const beacon = '0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20';

describe.each(['bn254', 'bls12-381'] as const)('powers of tau on %s', (curve) => {
  it.each([1, 2, 4])('up to 2^%i are those of snarkjs at every step', async (power) => {
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
    const template = join(folder, `${curve}-${power}-`);
    await powersOfTau.truncate(memoryFile(prepared), template);
    for (let smaller = 1; smaller < power; smaller++) {
      expectSame(
        await truncatePowers(prepared, { power: smaller }, quiet),
        readFileSync(`${template}0${smaller}.ptau`),
      );
    }
  });

  it('of one are prepared as snarkjs does: sums with themselves, and to infinity', async () => {
    const first = await newPowers({ curve, power: 3 }, quiet);
    expectSame(
      await preparePhase2(first, quiet),
      await made((file) => powersOfTau.preparePhase2(memoryFile(first), file)),
    );
  });
});

it('powers of more than one round are those of snarkjs, and make keys', { tags: 'long' }, async () => {
  const ff = await ffCurveOf('bn254');
  const first = await newPowers({ curve: 'bn254', power: 13 }, quiet);
  expectSame(first, await made((file) => powersOfTau.newAccumulator(ff, 13, file)));
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
