/** Keys of PLONK and FFLONK, byte for byte as those of snarkjs. */
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { knownPowers } from '../../dev/bench/known-powers.js';
import { openProvingKey as openFflonkKey } from '../../src/fflonk.js';
import { openProvingKey as openPlonkKey } from '../../src/plonk.js';
import { exportVerificationKey, newKey } from '../../src/setup.js';
import { endCurves, ffCurveOf, memoryFile, type ProverCurve, powersOf, snarkjs } from '../support/proving.js';
import { type CircuitShape, r1csOf, randomCircuit, unevenCircuit } from '../support/random-circuit.js';

type System = 'plonk' | 'fflonk';

const cases: readonly (readonly [System, ProverCurve])[] = [
  ['plonk', 'bn254'],
  ['fflonk', 'bn254'],
];

const quiet = { maxWorkers: 0 } as const;

/** Powers of tau for domains of 2^power; FFLONK takes nine times as many. */
const ptauFor = (system: System, curve: ProverCurve, power: number): Promise<Uint8Array> => {
  const whole = system === 'plonk' ? power : power + 4;
  return powersOf(curve, whole, 2 ** (whole + 1) - 1, false);
};

beforeEach(() => {
  // snarkjs tells of each variable that is not used
  vi.spyOn(console, 'log').mockImplementation(() => undefined);
});

afterAll(endCurves);

const expectSame = async (system: System, r1cs: Uint8Array, ptau: Uint8Array): Promise<Uint8Array> => {
  const file = memoryFile() as { data?: Uint8Array };
  await snarkjs[system].setup(memoryFile(r1cs), memoryFile(ptau), file);
  const theirs = file.data as Uint8Array;
  const ours = await newKey({ system, r1cs, ptau }, quiet);
  const at = ours.findIndex((byte, i) => byte !== theirs[i]);
  expect({ length: ours.length, firstDifference: at }).toEqual({ length: theirs.length, firstDifference: -1 });
  return ours;
};

const shapes: readonly [what: string, shape: Omit<CircuitShape, 'seed'>][] = [
  ['some public signals', { publicInputs: 2, privateInputs: 3, constraints: 4 }],
  ['no public signals', { publicInputs: 0, privateInputs: 3, constraints: 3 }],
  ['one constraint', { publicInputs: 1, privateInputs: 1, constraints: 1 }],
  ['no private signals', { publicInputs: 3, privateInputs: 0, constraints: 3 }],
];

const declare = (system: System, curve: ProverCurve): void => {
  it.each(shapes)('of a circuit with %s is that of snarkjs', async (_, shape) => {
    const { r } = await ffCurveOf(curve);
    const { r1cs } = randomCircuit(BigInt(r), { ...shape, seed: 11n });
    await expectSame(system, r1cs, await ptauFor(system, curve, 5));
  });

  it.each([7, 8, 9, 6, 14, 15])('with %i gates is that of snarkjs', async (gates) => {
    const { r } = await ffCurveOf(curve);
    const rows = Array.from({ length: gates }, (_, i) => [[[1, BigInt(i)]], [[2, 1n]], [[3, 1n]]] as const);
    const r1cs = r1csOf(BigInt(r), { variables: 5, publicInputs: 0, privateInputs: 4, rows });
    await expectSame(system, r1cs, await ptauFor(system, curve, 5));
  });

  it('with duplicate terms, zeros, constants and unused variables is that of snarkjs', async () => {
    const { r } = await ffCurveOf(curve);
    const ptau = await ptauFor(system, curve, 5);
    for (const seed of [1n, 2n, 3n, 4n]) {
      const shape = { publicInputs: Number(seed % 3n), privateInputs: 4, constraints: 6, seed };
      await expectSame(system, unevenCircuit(BigInt(r), shape, 5), ptau);
    }
  });

  it('proves and verifies', async () => {
    const { r } = await ffCurveOf(curve);
    const { r1cs, witness } = randomCircuit(BigInt(r), {
      ...{ publicInputs: 2, privateInputs: 3, constraints: 5, seed: 3n },
    });
    const zkey = await newKey({ system, r1cs, ptau: await ptauFor(system, curve, 5) }, quiet);
    using key = await (system === 'plonk' ? openPlonkKey : openFflonkKey)(zkey, { backend: 'cpu' });
    const { proof, publicSignals } = await key.prove(witness);
    expect(await key.verify(proof as never, publicSignals)).toBe(true);
    const verifying = await snarkjs.zKey.exportVerificationKey(memoryFile(zkey));
    expect(JSON.stringify(await exportVerificationKey(zkey))).toBe(JSON.stringify(verifying));
    expect(await snarkjs[system].verify(verifying, publicSignals, proof)).toBe(true);
  });
};
describe.each(cases)('a key of %s on %s', declare);
// it repeats those of the first curve
describe('a key of plonk on bls12-381', { tags: 'long' }, () => declare('plonk', 'bls12-381'));

it.each([
  ['plonk', 2001, 11],
  ['fflonk', 1000, 13],
] as const)('a key of %s with %i terms in a sum is that of snarkjs', { tags: 'long' }, async (system, terms, power) => {
  const { r } = await ffCurveOf('bn254');
  const row = Array.from({ length: terms }, (__, i) => [1 + (i % 2000), BigInt(i % 7)] as const);
  const rows = [[[[1, 1n]], [[2, 1n]], row]] as const;
  const r1cs = r1csOf(BigInt(r), { variables: 2001, publicInputs: 1, privateInputs: 1999, rows });
  await expectSame(system, r1cs, await knownPowers('bn254', power));
});

it('refuses circuits that are too large, and curves that a system does not have', async () => {
  const { r } = await ffCurveOf('bn254');
  const circuit = (constraints: number): Uint8Array =>
    randomCircuit(BigInt(r), { publicInputs: 1, privateInputs: 1, constraints, seed: 1n }).r1cs;
  const ptau = await powersOf('bn254', 3, 15, false);
  await expect(newKey({ system: 'plonk', r1cs: circuit(20), ptau }, quiet)).rejects.toThrow(/ptau: .*domain of 2\^/);
  await expect(newKey({ system: 'fflonk', r1cs: circuit(1), ptau }, quiet)).rejects.toThrow(/takes 90 powers/);
  const other = await powersOf('bls12-381', 3, 15, false);
  await expect(newKey({ system: 'plonk', r1cs: circuit(1), ptau: other }, quiet)).rejects.toThrow(/prime/);
  const { r: order } = await ffCurveOf('bls12-381');
  const { r1cs } = randomCircuit(BigInt(order), { publicInputs: 1, privateInputs: 1, constraints: 1, seed: 1n });
  await expect(newKey({ system: 'fflonk', r1cs, ptau: other }, quiet)).rejects.toThrow(/bn254 alone/);
  const empty = r1csOf(BigInt(r), { variables: 2, publicInputs: 0, privateInputs: 1, rows: [] });
  await expect(newKey({ system: 'plonk', r1cs: empty, ptau }, quiet)).rejects.toThrow(/neither constraints/);
});
