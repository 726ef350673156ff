/** Whole proofs as jobs of examples/farm/: computed once, verified, and not lost with a worker. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { database, folder, modules, open, query, startWorker, until, useFarm } from '../support/farm.js';
import { ffCurveOf, makeStatement, type SystemName } from '../support/proving.js';

describe('proofs of the farm', { tags: 'long' }, () => {
  useFarm();
  afterAll(async () => (await ffCurveOf('bn254')).terminate());

  /** A circuit with its files, and the job of its proof. */
  const makeProof = async (system: SystemName = 'groth16') => {
    const statement = await makeStatement(system, 'bn254', 4, 'dense');
    const [zkey, witness] = [join(folder, `${system}.zkey`), join(folder, `${system}.wtns`)];
    writeFileSync(zkey, statement.zkey.data);
    writeFileSync(witness, statement.circuit.witness);
    return { statement, zkey, witness, proof: await modules.describeProof({ zkey, witness }) };
  };
  const proofOf = (id: string) => modules.proofOf(database, id, { pollMs: 20 });

  test('of each system are computed once by either worker, and verify', async () => {
    await open();
    const all = [await startWorker('one', 0), await startWorker('two', 1)];
    const made = [await makeProof('groth16'), await makeProof('plonk'), await makeProof('fflonk')];
    for (const { proof } of [...made, ...made]) await modules.submitProof(database, proof);
    for (const { statement, proof } of made) expect(await statement.verify(await proofOf(proof.id))).toBe(true);
    // a third time, when it is done
    for (const { proof } of made) await modules.submitProof(database, proof);
    for (const { statement, proof } of made) expect(await statement.verify(await proofOf(proof.id))).toBe(true);
    const proved = all.flatMap(({ of }) => of('proved')).map(({ statement }) => statement);
    expect(proved.sort()).toEqual(made.map(({ proof }) => proof.id).sort());
  });

  test('with a higher priority go first', async () => {
    await open();
    const { proof } = await makeProof();
    const proofs = [0, 1, 2].map((i) => ({ ...proof, id: proof.id.replace(/^./, String(i)) }));
    for (const [i, each] of proofs.entries()) await modules.submitProof(database, each, { priority: i === 2 ? 5 : 0 });
    const worker = await startWorker('one', 0);
    for (const { id } of proofs) await proofOf(id);
    expect(worker.of('proved').map(({ statement: id }) => id)).toEqual([2, 0, 1].map((i) => proofs[i]?.id));
  });

  test('are computed by another worker if one is killed in the middle', async () => {
    await open();
    const { statement, proof } = await makeProof();
    const forever = '() => new Promise(() => setInterval(() => {}, 1000))';
    const stuck = await startWorker('stuck', 0, 'cpu', forever, 'prove');
    await modules.submitProof(database, proof, { leaseSeconds: 2, retryDelay: 0 });
    await until('it proves', () => stuck.of('taken').length === 1);
    stuck.child.kill('SIGKILL');
    await until('it is gone', stuck.gone);
    const other = await startWorker('other', 1);
    expect(await statement.verify(await proofOf(proof.id))).toBe(true);
    expect(other.of('proved')).toMatchObject([{ statement: proof.id, attempt: 2 }]);
  });

  test('of a wrong witness or a changed file fail with their cause, and can be submitted again', async () => {
    await open();
    const { statement, zkey, witness } = await makeProof();
    const worker = await startWorker('worker', 0);
    const wrong = statement.circuit.witness.slice();
    wrong[76 + 5 * 32] = (wrong[76 + 5 * 32] as number) ^ 1;
    writeFileSync(witness, wrong);
    const unsatisfied = await modules.describeProof({ zkey, witness });
    await modules.submitProof(database, unsatisfied, { retryLimit: 1, retryDelay: 0 });
    await expect(proofOf(unsatisfied.id)).rejects.toMatchObject({
      code: 'poisoned',
      message: expect.stringMatching(/failed 2 times, the last time on worker worker with bad-argument: witness/),
    });

    const changed = join(folder, 'changed.wtns');
    writeFileSync(changed, statement.circuit.witness);
    const proof = await modules.describeProof({ zkey, witness: changed });
    writeFileSync(changed, wrong);
    await modules.submitProof(database, proof, { retryLimit: 0 });
    await expect(proofOf(proof.id)).rejects.toMatchObject({ cause: { code: 'file-changed' } });
    writeFileSync(changed, statement.circuit.witness);
    await modules.submitProof(database, proof, { retryLimit: 0 });
    expect(await statement.verify(await proofOf(proof.id))).toBe(true);
    expect(worker.of('proved').length).toBe(1);

    await expect(proofOf('01234567-89ab-cdef-0123-456789abcdef')).rejects.toMatchObject({ code: 'unknown-statement' });
    await database.boss.insert([{ name: modules.PROOFS, data: { zkey: 'x' }, retryLimit: 0 }]);
    await until('it has failed', () => worker.of('failed').some(({ message }) => /does not contain/.test(message)));
    expect(await query('select from farm.statement')).toEqual([]);
  });
});
