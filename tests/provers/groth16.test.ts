/** Whole Groth16 proofs, against snarkjs and noble's pairings. */
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { verifiesByNoble } from '../../dev/oracle/groth16-verifier.js';
import { openProvingKeyWith } from '../../src/groth16/open-proving-key.js';
import { openProvingKey, type ProofResult, type ProvingKeyOptions } from '../../src/groth16.js';
import { leaseGpu } from '../support/leased-gpu.js';
import {
  describeCurves,
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

const POWER = 6;

const statements = new Map<string, Promise<Statement>>();
const statementOf = (
  curve: ProverCurve = 'bn254',
  kind: 'dense' | 'sparse' = 'dense',
  keys: 'example' | 'snarkjs' = 'example',
): Promise<Statement> => {
  const name = `${curve} ${kind} ${keys}`;
  const statement = statements.get(name) ?? makeStatement('groth16', curve, POWER, kind, keys);
  statements.set(name, statement);
  return statement;
};

afterAll(endCurves);

const isVerified = async (zkey: unknown, { publicSignals, proof }: ProofResult): Promise<boolean> => {
  const key = await snarkjs.zKey.exportVerificationKey(zkey);
  const verdicts = [
    await snarkjs.groth16.verify(key, publicSignals, proof),
    verifiesByNoble(key, publicSignals, proof),
  ];
  expect(verdicts[0]).toBe(verdicts[1]);
  return verdicts[0] as boolean;
};

const expectSame = async (curve: ProverCurve, statement: Statement, options: ProvingKeyOptions): Promise<void> => {
  const theirs = await withSameRandomness(curve, statement.prove);
  const { zkey, circuit } = statement;
  using key = await openProvingKeyWith(zkey.data, options, sameDraws());
  const ours = await key.prove(circuit.witness);
  expect(ours).toEqual(theirs);
  expect(ours.publicSignals).toEqual(circuit.publicSignals.map(String));
  expect(await isVerified(zkey, ours)).toBe(true);
};

describeCurves('proofs on %s', (curve) => {
  test.each([
    ['dense', 'example'],
    ['sparse', 'example'],
    ['dense', 'snarkjs'],
  ] as const)('of a %s witness with keys of %s equal those of snarkjs, and verify', async (kind, keys) => {
    await expectSame(curve, await statementOf(curve, kind, keys), { backend: 'cpu' });
  });

  test('are random, and those at once verify', async () => {
    const { zkey, circuit } = await statementOf(curve);
    using key = await openProvingKey(zkey.data);
    const proofs = await Promise.all(Array.from({ length: 3 }, () => key.prove(circuit.witness)));
    expect(new Set(proofs.map(({ proof }) => proof.pi_a[0])).size).toBe(3);
    for (const each of proofs) expect(await isVerified(zkey, each)).toBe(true);
  });

  test('of random circuits equal those of snarkjs, and verify', async () => {
    const shapes = fc.record({
      publicInputs: fc.integer({ min: 0, max: 5 }),
      privateInputs: fc.integer({ min: 0, max: 3 }),
      spare: fc.integer({ min: 0, max: 4 }),
      seed: fc.bigInt({ min: 1n, max: 2n ** 64n }),
    });
    const [{ r }, ptau] = [await ffCurveOf(curve), await powersOf(curve, 4, 32, true)];
    await fc.assert(
      fc.asyncProperty(shapes, async ({ spare, ...shape }) => {
        const constraints = 15 - shape.publicInputs - spare;
        const circuit = randomCircuit(BigInt(r), { ...shape, constraints });
        const zkey = memoryFile() as { data?: Uint8Array };
        await snarkjs.zKey.newZKey(memoryFile(circuit.r1cs), memoryFile(ptau), zkey);
        const theirs = await withSameRandomness(curve, () => snarkjs.groth16.prove(zkey, memoryFile(circuit.witness)));
        using key = await openProvingKeyWith(zkey.data as Uint8Array, { backend: 'cpu' }, sameDraws());
        const ours = await key.prove(circuit.witness);
        expect(ours).toEqual(theirs);
        expect(ours.publicSignals).toEqual(circuit.publicSignals.map(String));
        expect(await isVerified(zkey, ours)).toBe(true);
        expect(await key.verify(ours.proof, ours.publicSignals)).toBe(true);
      }),
      { numRuns: 6, seed: 37, examples: [[{ publicInputs: 2, privateInputs: 0, spare: 0, seed: 1n }]] },
    );
  });
});

test.each(['gpu', 'both'] as const)(
  'with the backend %s they equal those of snarkjs',
  { tags: 'long' },
  async (backend) => {
    const [compiled, passes] = [new Set<string>(), new Set<string>()];
    const { gpu } = await leaseGpu((lease) => {
      lease.tap = (call) => {
        if (call.method === 'createComputePipelineAsync') compiled.add(call.label);
        if (call.method === 'beginComputePass') passes.add(call.label);
        return call.proceed();
      };
    });
    const tuning = { walkerSlots: 4, walkerThreadsPerWorkgroup: 8 };
    await expectSame('bn254', await statementOf(), { backend, gpu, tuning });
    // the quotient is computed on the GPU on request only
    expect([...compiled].filter((name) => ['transform', 'rows'].includes(name)).sort()).toEqual(
      backend === 'gpu' ? ['rows', 'transform'] : [],
    );
    // and does not leave it before the sum
    expect(passes.has('scalars')).toBe(backend === 'gpu');
  },
);

describe('a witness', () => {
  /** Position of the values in the file. */
  const AT = 76;

  test('may be a file or its values, in memory or read in parts', async () => {
    const { zkey, circuit } = await statementOf();
    const { witness } = circuit;
    const readInParts = (data: Uint8Array, isLater: boolean) => ({
      byteLength: data.length,
      read: (from: number, to: number) => {
        const bytes = data.slice(from, to);
        return isLater ? Promise.resolve(bytes) : bytes;
      },
    });
    const sources = (data: Uint8Array) => [
      data,
      new Blob([data as Uint8Array<ArrayBuffer>]),
      readInParts(data, false),
      readInParts(data, true),
    ];
    const proofs: ProofResult[] = [];
    for (const source of sources(zkey.data)) {
      using key = await openProvingKeyWith(source, { backend: 'cpu' }, sameDraws());
      proofs.push(await key.prove(witness));
    }
    for (const source of [...sources(witness), witness.slice(AT), witness.slice(AT).buffer]) {
      using key = await openProvingKeyWith(zkey.data, { backend: 'cpu' }, sameDraws());
      proofs.push(await key.prove(source));
    }
    for (const proof of proofs) expect(proof).toEqual(proofs[0]);
  });

  test('is copied by the call, and r and s are overwritten after it', async () => {
    const { zkey, circuit } = await statementOf();
    const drawn: Uint8Array[] = [];
    const draw = sameDraws();
    using key = await openProvingKeyWith(zkey.data, { backend: 'cpu' }, (order) => {
      const made = draw(order);
      drawn.push(made);
      return made;
    });
    const witness = circuit.witness.slice();
    const proving = key.prove(witness);
    witness.fill(0);
    expect(await isVerified(zkey, await proving)).toBe(true);
    expect(drawn.map((bytes) => bytes.some((byte) => byte !== 0))).toEqual([false, false]);
  });

  test('that does not satisfy the circuit has a proof that does not verify', async () => {
    const { zkey, circuit } = await statementOf();
    using key = await openProvingKey(zkey.data, { backend: 'cpu' });
    const witness = circuit.witness.slice();
    witness[AT + 5 * 32] = (witness[AT + 5 * 32] as number) ^ 1;
    expect(await isVerified(zkey, await key.prove(witness))).toBe(false);
  });
});

test('a proof during which the device is lost is made or rejects, and the next one verifies', {
  tags: 'long',
}, async () => {
  const { zkey, circuit } = await statementOf();
  const leased = await leaseGpu();
  const tuning = { walkerSlots: 4, walkerThreadsPerWorkgroup: 8 };
  using key = await openProvingKey(zkey.data, { backend: 'gpu', gpu: leased.gpu, tuning });
  expect(await isVerified(zkey, await key.prove(circuit.witness))).toBe(true);
  for (const device of leased.devices) {
    device.tap = (call) => {
      const result = call.proceed();
      if (call.method === 'submit') device.takeAway('at once');
      return result;
    };
  }
  const lost = await key.prove(circuit.witness).catch((error: unknown) => error);
  if (lost instanceof Error) expect(lost).toMatchObject({ code: 'device-lost' });
  else expect(await isVerified(zkey, lost as ProofResult)).toBe(true);
  expect(await isVerified(zkey, await key.prove(circuit.witness))).toBe(true);
});
