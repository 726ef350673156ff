/** Setups under a limit of memory: the same bytes, and a floor that is said. */
import { afterAll, expect, it } from 'vitest';
import { planRounds } from '../../src/setup/memory.js';
import { contribute, contributeToPowers, exportChallenge, newKey, newPowers, preparePhase2 } from '../../src/setup.js';
import { ffCurveOf, powersOf } from '../support/proving.js';
import { randomCircuit } from '../support/random-circuit.js';
import { expectSame, quiet } from '../support/setups.js';

afterAll(async () => (await ffCurveOf('bn254')).terminate());

it('computes the same under a limit, and says what a call takes at least', async () => {
  const { r } = await ffCurveOf('bn254');
  const { r1cs } = randomCircuit(BigInt(r), { publicInputs: 1, privateInputs: 3, constraints: 6, seed: 2n });
  const ptau = await powersOf('bn254', 3, 15, true);
  const powers = await newPowers({ curve: 'bn254', power: 3 }, quiet);
  const zkey = await newKey({ system: 'groth16', r1cs, ptau }, quiet);
  const calls = {
    newKey: (options: object) => newKey({ system: 'groth16', r1cs, ptau }, options),
    newPowers: (options: object) => newPowers({ curve: 'bn254', power: 3 }, options),
    preparePhase2: (options: object) => preparePhase2(powers, options),
    exportChallenge: (options: object) => exportChallenge(zkey, options),
    contribute: async (options: object) => (await contribute(zkey, {}, options)).zkey,
    contributeToPowers: async (options: object) => (await contributeToPowers(powers, {}, options)).ptau,
  };
  for (const [name, call] of Object.entries(calls)) {
    const error = (await call({ ...quiet, memoryLimit: 2 ** 20 }).catch((thrown: unknown) => thrown)) as Error;
    expect(error).toMatchObject({ name: 'MsmError', code: 'out-of-memory' });
    expect(error.message).toMatch(
      /^options\.memoryLimit is 1048576 bytes, and this call takes \d+ bytes on one thread$/,
    );
    const floor = Number(/takes (\d+) bytes/.exec(error.message)?.[1]);
    await expect(call({ ...quiet, memoryLimit: floor - 1 })).rejects.toMatchObject({ code: 'out-of-memory' });
    const bytes = await call({ ...quiet, memoryLimit: floor });
    const expected = (await call(quiet)) as Uint8Array;
    expect([name, bytes?.length]).toEqual([name, expected.length]);
    if (!name.startsWith('contribute')) expectSame(bytes as Uint8Array, expected);
  }
});

it('refuses a limit for keys whose memory is not planned', async () => {
  const { r } = await ffCurveOf('bn254');
  const { r1cs } = randomCircuit(BigInt(r), { publicInputs: 1, privateInputs: 3, constraints: 6, seed: 2n });
  const ptau = await powersOf('bn254', 5, 63, false);
  const call = newKey({ system: 'plonk', r1cs, ptau }, { ...quiet, memoryLimit: 2 ** 30 });
  await expect(call).rejects.toMatchObject({ code: 'bad-argument', message: expect.stringContaining('memoryLimit') });
  for (const memoryLimit of [0, -1, 1.5, '1G']) {
    await expect(newPowers({ curve: 'bn254', power: 1 }, { memoryLimit } as never)).rejects.toThrow(/memoryLimit/);
  }
});

it('plans fewer workers, and then shorter rounds', () => {
  const tables = { bytes: 2 ** 26, pointBytes: 128 };
  const plan = (limit: number) => planRounds({ maxWorkers: 4, createWorker: () => ({}) as never }, limit, tables);
  const plans = Array.from({ length: 60 }, (_, i) => plan(2 ** 26 + 2 ** 27 + 2 ** 22 + i * 2 ** 23));
  expect(plans[0]).toMatchObject({ workers: 0 });
  expect(plans.at(-1)).toEqual({ workers: 4, pointsPerRound: 2 ** 15 });
  for (const [i, { workers }] of plans.entries()) expect(workers).toBeGreaterThanOrEqual(plans[i - 1]?.workers ?? 0);
  expect(planRounds({ maxWorkers: 0 }, undefined, tables)).toEqual({ workers: 0, pointsPerRound: 2 ** 15 });
});
