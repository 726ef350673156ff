/** Challenges and responses of the second phase, byte for byte as those of snarkjs. */
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { openProvingKey } from '../../src/groth16.js';
import {
  applyBeacon,
  contribute,
  contributeToChallenge,
  exportChallenge,
  importResponse,
  newKey,
  verifyKey,
} from '../../src/setup.js';
import {
  describeCurves,
  endCurves,
  ffCurveOf,
  memoryFile,
  type ProverCurve,
  powersOf,
  snarkjs,
} from '../support/proving.js';
import { type CircuitShape, randomCircuit } from '../support/random-circuit.js';
import { drawSame, expectSame, made, quiet } from '../support/setups.js';

/** The part of snarkjs that exchanges files with bellman. */
const { zKey } = snarkjs as unknown as {
  readonly zKey: {
    contribute(from: unknown, to: unknown, name: string, entropy: string): Promise<Uint8Array>;
    exportBellman(zkey: unknown, to: unknown): Promise<void>;
    bellmanContribute(curve: unknown, challenge: unknown, to: unknown, entropy: string): Promise<Uint8Array>;
    importBellman(from: unknown, response: unknown, to: unknown, name: string): Promise<boolean>;
    verifyFromInit(init: unknown, ptau: unknown, zkey: unknown): Promise<boolean>;
  };
};

const beacon = '0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20';

afterEach(() => {
  vi.restoreAllMocks();
});

afterAll(endCurves);

const makeFiles = async (curve: ProverCurve, shape: CircuitShape) => {
  const { r } = await ffCurveOf(curve);
  const circuit = randomCircuit(BigInt(r), shape);
  // these powers have Lagrange points of one domain
  const power = Math.ceil(Math.log2(shape.constraints + shape.publicInputs + 1));
  const ptau = await powersOf(curve, power, 2 ** (power + 1) - 1, true);
  return { ...circuit, ptau, initial: await newKey({ system: 'groth16', r1cs: circuit.r1cs, ptau }, quiet) };
};

const shapes: readonly [what: string, shape: Omit<CircuitShape, 'seed'>][] = [
  ['some public signals', { publicInputs: 2, privateInputs: 3, constraints: 10 }],
  ['one constraint', { publicInputs: 0, privateInputs: 1, constraints: 1 }],
  ['no private signals', { publicInputs: 3, privateInputs: 0, constraints: 4 }],
];

describeCurves('a challenge on %s', (curve) => {
  it.each(shapes)('of a circuit with %s is that of snarkjs at every step', async (_, shape) => {
    const { r1cs, ptau, initial, witness } = await makeFiles(curve, { ...shape, seed: 3n });
    const { zkey: one } = await contribute(initial, { name: 'Ada ☃', entropy: 'dice' }, quiet);
    const { zkey: two } = await applyBeacon(one, { beacon, iterations: 10 }, quiet);

    const seen: number[] = [];
    const onProgress = ({ done, total }: { done: number; total: number }) => void seen.push(done / total);
    const challenge = await exportChallenge(two, { ...quiet, onProgress });
    expect(seen.at(-1)).toBe(1);
    expectSame(challenge, await made((file) => zKey.exportBellman(memoryFile(two), file)));
    drawSame(1);
    const { response, hash } = await contributeToChallenge({ challenge, curve }, { entropy: 'more' }, quiet);
    let theirHash: Uint8Array = new Uint8Array();
    const theirs = await made(async (file) => {
      const of = await ffCurveOf(curve);
      theirHash = await zKey.bellmanContribute(of, memoryFile(challenge), file, 'more');
    });
    vi.restoreAllMocks();
    expectSame(response, theirs);
    expectSame(hash, theirHash);
    const zkey = await importResponse({ zkey: two, response, name: 'Bob' }, quiet);
    const imported = await made((file) => zKey.importBellman(memoryFile(two), memoryFile(response), file, 'Bob'));
    expectSame(zkey, imported);

    const verdict = await verifyKey({ zkey, r1cs, ptau }, quiet);
    expect(verdict).toMatchObject({ isValid: true, why: null });
    expect(verdict.contributions.map(({ name }) => name)).toEqual(['Ada ☃', null, 'Bob']);
    expectSame(verdict.contributions[2]?.hash as Uint8Array, hash);
    expect(await zKey.verifyFromInit(memoryFile(initial), memoryFile(ptau), memoryFile(zkey))).toBe(true);
    using key = await openProvingKey(zkey, { backend: 'cpu' });
    const { proof, publicSignals } = await key.prove(witness);
    expect(await key.verify(proof, publicSignals)).toBe(true);

    // the ceremony goes on with either kind of file
    const { zkey: next } = await contribute(zkey, { entropy: 'last' }, quiet);
    expect(await verifyKey({ zkey: next, initial, ptau }, quiet)).toMatchObject({ isValid: true, why: null });
    const again = await exportChallenge(next, quiet);
    expectSame(again, await made((file) => zKey.exportBellman(memoryFile(next), file)));
    expectSame(
      await importResponse({ zkey: next, response: again }, quiet),
      await made((file) => zKey.importBellman(memoryFile(next), memoryFile(again), file, '')),
    );
  });
});

describe('wrong responses', () => {
  it('are refused by name', async () => {
    const shape = { publicInputs: 2, privateInputs: 3, constraints: 10 };
    const { initial } = await makeFiles('bn254', { ...shape, seed: 3n });
    const { initial: other } = await makeFiles('bn254', { ...shape, seed: 4n });
    const { zkey } = await contribute(initial, {}, quiet);
    const challenge = await exportChallenge(zkey, quiet);
    const refused = (given: Parameters<typeof importResponse>[0], why: RegExp) =>
      expect(importResponse(given, quiet)).rejects.toThrow(why);
    await refused({ zkey: other, response: challenge }, /response: it is of another circuit/);
    const { zkey: sibling } = await contribute(initial, {}, quiet);
    await refused({ zkey: sibling, response: challenge }, /response: contribution 0 is not that of the key/);
    await refused(
      { zkey, response: await exportChallenge(initial, quiet) },
      /it has 0 contributions, and the key has 1/,
    );
    await refused({ zkey, response: challenge.subarray(0, 1000) }, /response: .* is cut off/);
    const longer = new Uint8Array(challenge.length + 1);
    longer.set(challenge);
    await refused({ zkey, response: longer }, /has 1 bytes too many/);
    const wrong = challenge.slice();
    // first byte of the first point of H, behind alpha to delta and IC
    const at = 3 * 64 + 3 * 128 + 4 + 3 * 64 + 4 + 63;
    wrong[at] = (wrong[at] as number) ^ 1;
    await refused({ zkey, response: wrong }, /response: H has a point that is not on the curve/);
    await expect(contributeToChallenge({ challenge: wrong, curve: 'bn254' }, {}, quiet)).rejects.toThrow(
      /challenge: H/,
    );
    await expect(contributeToChallenge({ challenge, curve: 'bls12-381' }, {}, quiet)).rejects.toThrow(/challenge: /);
    // a challenge has no names
    await expect(
      contributeToChallenge({ challenge, curve: 'bn254' }, { name: 'Ada' } as never, quiet),
    ).rejects.toMatchObject({ code: 'bad-argument', message: expect.stringContaining('contributeToChallenge') });
    const fewer = challenge.slice();
    fewer[3 * 64 + 3 * 128 + 3] = 2;
    await refused({ zkey, response: fewer }, /response: (IC has 2 points, and the key's circuit 3|.* is cut off)/);
  });
});
