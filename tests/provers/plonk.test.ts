/** Whole PLONK proofs, against snarkjs. */
import fc from 'fast-check';
import { afterAll, describe, expect, test, vi } from 'vitest';
import type { PlonkZkey } from '../../src/formats/zkey.js';
import { openZkey } from '../../src/formats.js';
import { places, readPlonkCircuit } from '../../src/plonk/circuit.js';
import { openProvingKeyWith } from '../../src/plonk/open-proving-key.js';
import { openProvingKey, type ProvingKeyOptions } from '../../src/plonk.js';
import { sendAllChains } from '../support/all-workers.js';
import { firstUnsatisfied, selectorsIn } from '../support/first-unsatisfied.js';
import { type LeasedDevice, leaseGpu } from '../support/leased-gpu.js';
import { refusesAndEnds } from '../support/plonkish-refusals.js';
import {
  endCurves,
  ffCurveOf,
  makeStatement,
  memoryFile,
  type ProverCurve,
  powersOf,
  type Statement,
  sameDraws,
  snarkjs,
  withSameRandomness,
} from '../support/proving.js';
import { randomCircuit } from '../support/random-circuit.js';

afterAll(endCurves);

const expectSame = async (
  curve: ProverCurve,
  statement: Statement,
  options: ProvingKeyOptions = { backend: 'cpu' },
): Promise<void> => {
  const theirs = await withSameRandomness(curve, statement.prove);
  const { zkey, circuit } = statement;
  using key = await openProvingKeyWith(zkey.data, options, sameDraws());
  const ours = await key.prove(circuit.witness);
  expect(ours).toEqual(theirs);
  expect(await statement.verify(ours)).toBe(true);
};

const areSame = (curve: 'bn254' | 'bls12-381'): void => {
  test.each([
    [4, 'dense'],
    [7, 'dense'],
    [7, 'sparse'],
  ] as const)('of 2^%i constraints with a %s witness equal those of snarkjs, and verify', async (power, kind) => {
    await expectSame(curve, await makeStatement('plonk', curve, power, kind));
  });

  test('of random circuits equal those of snarkjs, and verify', async () => {
    const shapes = fc.record({
      publicInputs: fc.integer({ min: 0, max: 5 }),
      privateInputs: fc.integer({ min: 0, max: 3 }),
      constraints: fc.integer({ min: 1, max: 9 }),
      seed: fc.bigInt({ min: 1n, max: 2n ** 64n }),
    });
    const { r } = await ffCurveOf(curve);
    const ptau = await powersOf(curve, 7, 2 ** 7 + 6, false);
    await fc.assert(
      fc.asyncProperty(shapes, async (shape) => {
        const { r1cs, witness, publicSignals } = randomCircuit(BigInt(r), shape);
        const zkey = memoryFile() as { data?: Uint8Array };
        await snarkjs.plonk.setup(memoryFile(r1cs), memoryFile(ptau), zkey);
        const proving = withSameRandomness(curve, () => snarkjs.plonk.prove(zkey, memoryFile(witness)));
        proving.catch(() => undefined);
        using key = await openProvingKeyWith(zkey.data as Uint8Array, { backend: 'cpu' }, sameDraws());
        const ours = await key.prove(witness);
        // snarkjs proves no circuit without public values, and verifies proofs of such circuits
        if (shape.publicInputs === 0) await expect(proving).rejects.toThrow('out of bounds');
        else expect(ours).toEqual(await proving);
        expect(ours.publicSignals).toEqual(publicSignals.map(String));
        const verificationKey = await snarkjs.zKey.exportVerificationKey(zkey);
        expect(await snarkjs.plonk.verify(verificationKey, ours.publicSignals, ours.proof)).toBe(true);
        expect(await key.verify(ours.proof, ours.publicSignals)).toBe(true);
      }),
      { numRuns: 6, seed: 37, examples: [[{ publicInputs: 0, privateInputs: 0, constraints: 1, seed: 1n }]] },
    );
  });
};
describe.each(['bn254'] as const)('proofs on %s', areSame);
describe.each(['bls12-381'] as const)('proofs on %s', { tags: 'long' }, areSame);

test('proofs are random, and those at once verify', async () => {
  const statement = await makeStatement('plonk', 'bn254', 6, 'dense');
  using key = await openProvingKey(statement.zkey.data, { backend: 'cpu' });
  const proofs = await Promise.all([0, 1, 2].map(() => key.prove(statement.circuit.witness)));
  expect(new Set(proofs.map(({ proof }) => proof.A[0])).size).toBe(3);
  for (const each of proofs) expect(await statement.verify(each)).toBe(true);
});

test('proofs whose vectors workers compute by messages equal those of snarkjs', async () => {
  const rounds = sendAllChains();
  try {
    await expectSame('bn254', await makeStatement('plonk', 'bn254', 7, 'dense'), { backend: 'cpu', maxWorkers: 2 });
    expect(rounds.mock.calls.length).toBeGreaterThan(2);
  } finally {
    vi.restoreAllMocks();
    vi.unstubAllGlobals();
  }
});

test('a witness that does not satisfy the circuit is refused, with the first constraint that it fails', async () => {
  const { zkey, circuit } = await makeStatement('plonk', 'bn254', 6, 'dense');
  using key = await openProvingKey(zkey.data, { backend: 'cpu' });
  const file = (await openZkey(zkey.data)) as PlonkZkey;
  const circuitOf = await readPlonkCircuit(file, undefined);
  const selectors = await selectorsIn(file, places);
  const firstOf = (values: Uint8Array): number =>
    firstUnsatisfied(circuitOf, selectors, key.domainSize, values.subarray(76), key.publicSignals);
  const failed = new Set<number>();
  const variables = (circuit.witness.length - 76) / 32;
  for (const variable of [1, variables >> 1, variables - 1]) {
    const wrong = circuit.witness.slice();
    const at = 76 + 32 * variable;
    wrong[at] = (wrong[at] as number) ^ 1;
    const first = firstOf(wrong);
    failed.add(first);
    await expect(key.prove(wrong)).rejects.toMatchObject({
      code: 'bad-argument',
      message: `witness: it does not satisfy constraint ${first} of the key`,
    });
  }
  expect(failed.size).toBeGreaterThan(1);
  expect(firstOf(circuit.witness)).toBe(-1);
  expect((await key.prove(circuit.witness)).proof.protocol).toBe('plonk');
});

describe('what is refused, and what ends early', () => {
  const statement = makeStatement('plonk', 'bn254', 5, 'dense');

  test('keys of other protocols', async () => {
    const groth16 = await makeStatement('groth16', 'bn254', 5, 'dense');
    await expect(openProvingKey(groth16.zkey.data)).rejects.toMatchObject({
      ...{ code: 'bad-argument', message: expect.stringContaining('opens keys of plonk') },
    });
  });

  refusesAndEnds(openProvingKey, statement);
});

test('proofs computed on a GPU equal those of snarkjs', { tags: 'long' }, async () => {
  const { gpu } = await leaseGpu();
  const tuning = { walkerSlots: 4, walkerThreadsPerWorkgroup: 8 };
  await expectSame('bn254', await makeStatement('plonk', 'bn254', 6, 'dense'), { backend: 'gpu', gpu, tuning });
});

test('a repeated proof on a GPU takes ten jobs, and few bind groups', { tags: 'long' }, async () => {
  const { gpu, devices } = await leaseGpu();
  const { zkey, circuit, verify } = await makeStatement('plonk', 'bn254', 5, 'dense');
  const tuning = { walkerSlots: 4, walkerThreadsPerWorkgroup: 8 };
  using key = await openProvingKey(zkey.data, { backend: 'gpu', gpu, tuning });
  // the first two make the buffers
  for (let i = 0; i < 3; i++) await key.prove(circuit.witness);
  const counts: Record<string, number> = {};
  (devices[0] as LeasedDevice).tap = ({ method, proceed }) => {
    counts[method] = (counts[method] ?? 0) + 1;
    return proceed();
  };
  expect(await verify(await key.prove(circuit.witness))).toBe(true);
  // a load, five runs and four sums
  expect(counts.mapAsync).toBe(10);
  // all others are those of the proof before; these have vectors of this proof
  expect(counts.createBindGroup).toBeLessThan((counts.dispatchWorkgroups as number) / 2);
});
