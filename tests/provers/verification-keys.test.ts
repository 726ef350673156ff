/** Verification keys out of proving keys: the JSON of snarkjs, and how little of the file is read. */
import { afterAll, describe, expect, test } from 'vitest';
import { fileOf } from '../../src/formats/zkey.js';
import { openZkey } from '../../src/formats.js';
import { exportVerificationKey, readVerificationKey } from '../../src/verifiers/exported-key.js';
import { verifyByJsonKey } from '../../src/verifiers/json-key.js';
import { compileCircuit, shapes } from '../support/circom.js';
import { makeZkey } from '../support/circom-keys.js';
import { endCurves, memoryFile, type ProverCurve, type SystemName, snarkjs } from '../support/proving.js';

afterAll(endCurves);

const kinds: readonly (readonly [SystemName, ProverCurve])[] = [
  ['groth16', 'bn254'],
  ['groth16', 'bls12-381'],
  ['plonk', 'bn254'],
  ['plonk', 'bls12-381'],
  ['fflonk', 'bn254'],
];

describe.each(kinds)('a verification key of %s on %s', (system, curve) => {
  test('is the JSON of snarkjs, and reads neither points of sums nor polynomials', async () => {
    const { r1cs } = await compileCircuit(shapes, { prime: curve === 'bn254' ? 'bn128' : 'bls12381' });
    const bytes = await makeZkey(system, curve, r1cs);
    const reads: (readonly [from: number, to: number])[] = [];
    const zkey = await openZkey({
      byteLength: bytes.length,
      read: async (from, to) => {
        reads.push([from, to]);
        return bytes.slice(from, to);
      },
    });
    const ours = await exportVerificationKey(zkey);
    const theirs = await snarkjs.zKey.exportVerificationKey(memoryFile(bytes));
    expect(JSON.stringify(ours)).toBe(JSON.stringify(theirs));
    const first = system === 'groth16' ? 4 : 3;
    const unread = [...fileOf(zkey).sections].filter(([id]) => id >= first && !(system === 'groth16' && id === 10));
    expect(unread.length).toBeGreaterThan(5);
    for (const [id, { at, byteLength }] of unread)
      expect([id, reads.filter(([from, to]) => from < at + byteLength && at < to)]).toEqual([id, []]);
  });
});

test('a key verifies without e(α, β), as the caller says of which proof system, and by other names of curves', async () => {
  const { r1cs } = await compileCircuit(shapes);
  const key = await readVerificationKey(await openZkey(await makeZkey('groth16', 'bn254', r1cs)));
  expect(key).not.toHaveProperty('vk_alphabeta_12');
  const { protocol: _, ...nameless } = key;
  const proof = {
    pi_a: [1, 2],
    pi_b: [
      [0, 0],
      [0, 0],
    ],
    pi_c: [1, 2],
  };
  const signals = Array.from({ length: key.nPublic as number }, () => 0);
  for (const curve of ['bn128', 'BN254', 'alt-bn128'])
    expect(await verifyByJsonKey({ ...nameless, curve }, proof, signals, 'groth16')).toBe(false);
  await expect(verifyByJsonKey(nameless, proof, signals)).rejects.toThrow('key: protocol must be groth16');
  await expect(verifyByJsonKey({ ...key, curve: 'bn12' }, proof, signals)).rejects.toThrow('key: curve must be');
});
