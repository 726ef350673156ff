/** New keys and contributions, byte for byte as those of snarkjs for the same randomness. */
import { afterAll, afterEach, expect, it, vi } from 'vitest';
import { knownPowers } from '../../dev/bench/known-powers.js';
import { Bytes, fileOf } from '../../dev/trial-keys/bytes.js';
import { bn254 } from '../../src/curves/bn254.js';
import { openProvingKey } from '../../src/groth16.js';
import { applyBeacon, contribute, exportVerificationKey, newKey, verifyKey } from '../../src/setup.js';
import {
  describeCurves,
  endCurves,
  ffCurveOf,
  memoryFile,
  type ProverCurve,
  powersOf,
  snarkjs,
} from '../support/proving.js';
import { type CircuitShape, type Row, r1csOf, randomCircuit } from '../support/random-circuit.js';
import { drawSame, expectSame, made, quiet } from '../support/setups.js';
import { sectionsOf } from '../support/snarkjs-files.js';

/** The part of snarkjs that makes keys. */
const zKey = snarkjs.zKey as unknown as {
  newZKey(r1cs: unknown, ptau: unknown, zkey: unknown): Promise<Uint8Array>;
  contribute(from: unknown, to: unknown, name: string, entropy: string): Promise<Uint8Array>;
  beacon(from: unknown, to: unknown, name: string, beacon: string, iterations: number): Promise<Uint8Array>;
  verifyFromInit(init: unknown, ptau: unknown, zkey: unknown): Promise<boolean>;
};

afterEach(() => {
  vi.restoreAllMocks();
});

afterAll(endCurves);

const makeFiles = async (curve: ProverCurve, shape: CircuitShape, power: number) => {
  const { r } = await ffCurveOf(curve);
  const circuit = randomCircuit(BigInt(r), shape);
  const ptau = await powersOf(curve, power, 2 ** (power + 1) - 1, true);
  const theirs = await made((file) => zKey.newZKey(memoryFile(circuit.r1cs), memoryFile(ptau), file));
  return { ...circuit, ptau, theirs };
};

const shapes: readonly [what: string, shape: Omit<CircuitShape, 'seed'>][] = [
  ['some public signals', { publicInputs: 2, privateInputs: 3, constraints: 10 }],
  ['no public signals', { publicInputs: 0, privateInputs: 3, constraints: 5 }],
  ['one constraint', { publicInputs: 1, privateInputs: 1, constraints: 1 }],
  ['no private signals', { publicInputs: 3, privateInputs: 0, constraints: 4 }],
  ['2^4 rows', { publicInputs: 1, privateInputs: 2, constraints: 14 }],
  ['2^4 + 1 rows', { publicInputs: 1, privateInputs: 2, constraints: 15 }],
];

describeCurves('a key on %s', (curve) => {
  it.each(shapes)('of a circuit with %s is that of snarkjs', async (_, shape) => {
    const { r1cs, ptau, theirs } = await makeFiles(curve, { ...shape, seed: 5n }, 5);
    expectSame(await newKey({ system: 'groth16', r1cs, ptau }, quiet), theirs);
  });

  it('has the contributions of snarkjs, proves and verifies', async () => {
    const shape = { publicInputs: 2, privateInputs: 3, constraints: 20, seed: 7n };
    const { r1cs, ptau, theirs, witness } = await makeFiles(curve, shape, 5);
    drawSame(1);
    const [first, theirFirst] = [
      await contribute(theirs, { name: 'Ada ☃', entropy: 'dice' }, quiet),
      await made((file) => zKey.contribute(memoryFile(theirs), file, 'Ada ☃', 'dice')),
    ];
    expectSame(first.zkey, theirFirst);
    drawSame(2);
    let theirHash: Uint8Array = new Uint8Array();
    const second = await contribute(first.zkey, { entropy: 'more' }, quiet);
    const theirSecond = await made(async (file) => {
      theirHash = await zKey.contribute(memoryFile(theirFirst), file, '', 'more');
    });
    expectSame(second.zkey, theirSecond);
    expectSame(second.hash, theirHash);
    const beacon = '0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20';
    const last = await applyBeacon(second.zkey, { name: 'end', beacon, iterations: 10 }, quiet);
    expectSame(last.zkey, await made((file) => zKey.beacon(memoryFile(theirSecond), file, 'end', beacon, 10)));
    vi.restoreAllMocks();
    expect(await zKey.verifyFromInit(memoryFile(theirs), memoryFile(ptau), memoryFile(last.zkey))).toBe(true);
    using key = await openProvingKey(last.zkey, { backend: 'cpu' });
    const { proof, publicSignals } = await key.prove(witness);
    expect(await key.verify(proof, publicSignals)).toBe(true);
    const theirProof = await snarkjs.groth16.prove(memoryFile(last.zkey), memoryFile(witness));
    expect(await key.verify(theirProof.proof as typeof proof, theirProof.publicSignals)).toBe(true);
    const verdict = await verifyKey({ zkey: last.zkey, r1cs, ptau }, quiet);
    expect(verdict).toMatchObject({ isValid: true, why: null });
    expect(verdict.contributions.map(({ name }) => name)).toEqual(['Ada ☃', null, 'end']);
    expect(verdict.contributions.map(({ hash }) => hash)).toEqual([first.hash, second.hash, last.hash]);
    const verifying = await snarkjs.zKey.exportVerificationKey(memoryFile(last.zkey));
    expect(JSON.stringify(await exportVerificationKey(last.zkey))).toBe(JSON.stringify(verifying));
    const fromInitial = await verifyKey({ zkey: last.zkey, initial: theirs, ptau }, quiet);
    expect(fromInitial).toEqual(verdict);
  });
});

/**
 * Returns powers of tau up to 2^power with the points of small ones again and again. They are no powers of one number,
 * at which nobody looks who makes a key.
 */
const repeatedPowers = async (power: number): Promise<Uint8Array> => {
  const sections = sectionsOf(await knownPowers('bn254', 5));
  const size = 2 ** power;
  for (const [id, count, bytes] of [
    [2, 2 * size - 1, 64],
    [3, size, 128],
    [4, size, 64],
    [5, size, 64],
    [12, 4 * size - 1, 64],
    [13, 2 * size - 1, 128],
    [14, 2 * size - 1, 64],
    [15, 2 * size - 1, 64],
  ] as const) {
    const before = sections.get(id) as Uint8Array;
    // an odd number, so that points half a section apart differ; Lagrange points are behind zeros
    const some = id < 12 ? before.slice(0, 31 * bytes) : before.slice(-31 * bytes);
    const all = new Uint8Array(count * bytes);
    for (let at = 0; at < all.length; at += some.length) all.set(some.subarray(0, all.length - at), at);
    sections.set(id, all);
  }
  const prime = (sections.get(1) as Uint8Array).subarray(0, -8);
  sections.set(1, new Bytes().raw(prime).u32(power).u32(power).done());
  return fileOf('ptau', 1, [...sections]);
};

it('a key of a domain above 2^14 is that of snarkjs, which reads past the last power', { tags: 'long' }, async () => {
  const ptau = await repeatedPowers(15);
  const row: Row = [[[1, 1n]], [[2, 3n]], [[3, 5n]]];
  const rows = Array.from({ length: 2 ** 14 }, (_, i): Row => (i % 100 === 0 ? row : [[], [], []]));
  const r1cs = r1csOf(bn254.order, { variables: 4, publicInputs: 1, privateInputs: 2, rows });
  const theirs = await made((file) => zKey.newZKey(memoryFile(r1cs), memoryFile(ptau), file));
  expectSame(await newKey({ system: 'groth16', r1cs, ptau }, quiet), theirs);
});
