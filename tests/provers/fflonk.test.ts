/** Whole FFLONK proofs, against snarkjs. */
import fc from 'fast-check';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { places, readFflonkCircuit } from '../../src/fflonk/circuit.js';
import { openProvingKeyWith } from '../../src/fflonk/open-proving-key.js';
import { openProvingKey, type ProvingKeyOptions } from '../../src/fflonk.js';
import type { PlonkZkey } from '../../src/formats/zkey.js';
import { openZkey } from '../../src/formats.js';
import { sendAllChains } from '../support/all-workers.js';
import { firstUnsatisfied, selectorsIn } from '../support/first-unsatisfied.js';
import { type LeasedDevice, leaseGpu } from '../support/leased-gpu.js';
import { refusesAndEnds } from '../support/plonkish-refusals.js';
import {
  endCurves,
  ffCurveOf,
  makeStatement,
  memoryFile,
  powersOf,
  type Statement,
  sameDraws,
  snarkjs,
  withSameRandomness,
} from '../support/proving.js';
import { randomCircuit } from '../support/random-circuit.js';

afterAll(endCurves);

const expectSame = async (statement: Statement, options: ProvingKeyOptions = { backend: 'cpu' }): Promise<void> => {
  const theirs = await withSameRandomness('bn254', statement.prove);
  const { zkey, circuit } = statement;
  using key = await openProvingKeyWith(zkey.data, options, sameDraws());
  const ours = await key.prove(circuit.witness);
  expect(ours).toEqual(theirs);
  expect(JSON.stringify(ours)).toBe(JSON.stringify(theirs));
  expect(await statement.verify(ours)).toBe(true);
  expect(await key.verify(ours.proof, ours.publicSignals)).toBe(true);
};

describe('proofs', () => {
  test.each([
    [4, 'dense'],
    [8, 'dense'],
    [8, 'sparse'],
  ] as const)('of 2^%i constraints with a %s witness equal those of snarkjs, and verify', async (power, kind) => {
    await expectSame(await makeStatement('fflonk', 'bn254', power, kind));
  });

  test('of random circuits equal those of snarkjs, and verify', async () => {
    const shapes = fc.record({
      publicInputs: fc.integer({ min: 0, max: 5 }),
      privateInputs: fc.integer({ min: 0, max: 3 }),
      constraints: fc.integer({ min: 1, max: 9 }),
      seed: fc.bigInt({ min: 1n, max: 2n ** 64n }),
    });
    const { r } = await ffCurveOf('bn254');
    const ptau = await powersOf('bn254', 7, 9 * 2 ** 7 + 18, false);
    await fc.assert(
      fc.asyncProperty(shapes, async (shape) => {
        const { r1cs, witness, publicSignals } = randomCircuit(BigInt(r), shape);
        const zkey = memoryFile() as { data?: Uint8Array };
        await snarkjs.fflonk.setup(memoryFile(r1cs), memoryFile(ptau), zkey);
        const theirs = await withSameRandomness('bn254', () => snarkjs.fflonk.prove(zkey, memoryFile(witness)));
        using key = await openProvingKeyWith(zkey.data as Uint8Array, { backend: 'cpu' }, sameDraws());
        const ours = await key.prove(witness);
        expect(ours).toEqual(theirs);
        expect(ours.publicSignals).toEqual(publicSignals.map(String));
        const verificationKey = await snarkjs.zKey.exportVerificationKey(zkey);
        expect(await snarkjs.fflonk.verify(verificationKey, ours.publicSignals, ours.proof)).toBe(true);
        expect(await key.verify(ours.proof, ours.publicSignals)).toBe(true);
      }),
      {
        ...{ numRuns: 7, seed: 37 },
        examples: [0, 1].map((constraints) => [{ publicInputs: 0, privateInputs: 0, constraints, seed: 1n }]),
      },
    );
  });

  test('are random, and those at once verify', async () => {
    const statement = await makeStatement('fflonk', 'bn254', 6, 'dense');
    using key = await openProvingKey(statement.zkey.data, { backend: 'cpu' });
    const proofs = await Promise.all([0, 1, 2].map(() => key.prove(statement.circuit.witness)));
    expect(new Set(proofs.map(({ proof }) => proof.polynomials.C1[0])).size).toBe(3);
    for (const each of proofs) expect(await statement.verify(each)).toBe(true);
  });
});

test('proofs whose vectors workers compute by messages equal those of snarkjs', async () => {
  const rounds = sendAllChains();
  try {
    await expectSame(await makeStatement('fflonk', 'bn254', 7, 'dense'), { backend: 'cpu', maxWorkers: 2 });
    expect(rounds.mock.calls.length).toBeGreaterThan(2);
  } finally {
    vi.restoreAllMocks();
    vi.unstubAllGlobals();
  }
});

test('a witness that does not satisfy the circuit is refused, with the first constraint that it fails', async () => {
  const { zkey, circuit } = await makeStatement('fflonk', 'bn254', 6, 'dense');
  using key = await openProvingKey(zkey.data, { backend: 'cpu' });
  const file = (await openZkey(zkey.data)) as PlonkZkey;
  const circuitOf = await readFflonkCircuit(file, undefined);
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
      ...{ code: 'bad-argument', message: `witness: it does not satisfy constraint ${first} of the key` },
    });
  }
  expect(failed.size).toBeGreaterThan(1);
  expect(firstOf(circuit.witness)).toBe(-1);
  expect((await key.prove(circuit.witness)).proof.protocol).toBe('fflonk');
});

test('a key whose permutation contradicts its wires proves nothing', async () => {
  const { zkey, circuit } = await makeStatement('fflonk', 'bn254', 5, 'dense');
  const wrong = zkey.data.slice();
  const view = new DataView(wrong.buffer);
  let at = 12;
  while (view.getUint32(at, true) !== 12) at += 12 + Number(view.getBigUint64(at + 4, true));
  // σ1 in place of σ2, whose section follows
  wrong.copyWithin(at + 24 + Number(view.getBigUint64(at + 4, true)), at + 12, at + 12 + 16 * 32);
  using key = await openProvingKey(wrong, { backend: 'cpu' });
  expect(key.domainSize).toBe(16);
  await expect(key.prove(circuit.witness)).rejects.toMatchObject({
    ...{ code: 'bad-argument', message: 'witness: it does not satisfy the circuit' },
  });
});

test('values on cosets that no key keeps lead to the same proof', async () => {
  const { zkey, circuit } = await makeStatement('fflonk', 'bn254', 5, 'dense');
  const [one, other] = await Promise.all(
    [undefined, 8].map(async (mostKept) => {
      using key = await openProvingKeyWith(zkey.data, { backend: 'cpu' }, sameDraws(), mostKept);
      expect(key.domainSize).toBe(16);
      return await key.prove(circuit.witness);
    }),
  );
  expect(one).toEqual(other);
});

describe('what is refused, and what ends early', () => {
  const statement = makeStatement('fflonk', 'bn254', 5, 'dense');

  test('keys of other protocols and curves', async () => {
    const plonk = await makeStatement('plonk', 'bn254', 5, 'dense');
    await expect(openProvingKey(plonk.zkey.data)).rejects.toMatchObject({
      ...{ code: 'bad-argument', message: expect.stringContaining('opens keys of fflonk') },
    });
    const other = await makeStatement('fflonk', 'bls12-381', 4, 'dense');
    await expect(openProvingKey(other.zkey.data)).rejects.toMatchObject({
      ...{ code: 'bad-argument', message: expect.stringContaining('zkey is a key on bls12-381') },
    });
  });

  refusesAndEnds(openProvingKey, statement);
});

test('proofs computed on a GPU equal those of snarkjs', { tags: 'long' }, async () => {
  const { gpu } = await leaseGpu();
  const tuning = { walkerSlots: 4, walkerThreadsPerWorkgroup: 8 };
  await expectSame(await makeStatement('fflonk', 'bn254', 6, 'dense'), { backend: 'gpu', gpu, tuning });
});

test('a repeated proof on a GPU takes twelve jobs', { tags: 'long' }, async () => {
  const { gpu, devices } = await leaseGpu();
  const { zkey, circuit, verify } = await makeStatement('fflonk', 'bn254', 5, 'dense');
  const tuning = { walkerSlots: 4, walkerThreadsPerWorkgroup: 8 };
  using key = await openProvingKey(zkey.data, { backend: 'gpu', gpu, tuning });
  // the first two make the buffers
  for (let i = 0; i < 3; i++) await key.prove(circuit.witness);
  let maps = 0;
  (devices[0] as LeasedDevice).tap = ({ method, proceed }) => {
    if (method === 'mapAsync') maps++;
    return proceed();
  };
  expect(await verify(await key.prove(circuit.witness))).toBe(true);
  // a load, five runs, two reads and four sums
  expect(maps).toBe(12);
});
