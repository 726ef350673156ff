/**
 * The farm of examples/farm/, with a real PostgreSQL, workers that are processes, and everything
 * that goes wrong.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FpIsSquare } from '@noble/curves/abstract/modular.js';
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { afterAll, describe, expect, test } from 'vitest';
import { bls12381Oracle } from '../../dev/oracle/curves.js';
import { type AffinePoint, bn254G1 } from '../../dev/oracle/known-bases.js';
import {
  bigEndian,
  database,
  FOREVER,
  farm,
  folder,
  lie,
  makeStatement,
  postgres,
  startWorker,
  sumOf,
  until,
  useFarm,
  useFarmProject,
} from '../support/farm.js';
import { ffCurveOf, makeStatement as makeProofStatement, type SystemName } from '../support/proving.js';
import { runNode } from '../support/run-script.js';
import { sleep } from '../support/time.js';

/** A point of the group that is the sum of no range. */
const generator = bigEndian(bn254G1, bn254G1.Point.BASE.toAffine() as AffinePoint);
const short = { leaseSeconds: 2, retryLimit: 10, retryDelay: 0 };
const noRetry = { retryLimit: 0, retryDelay: 0 };

describe('the farm', { tags: 'long' }, () => {
  useFarm();
  afterAll(async () => (await ffCurveOf('bn254')).terminate());

  const jobsThere = async () => (await database.query('select from pgboss.job')).rowCount;

  test('cuts an MSM into ranges that cover it once', async () => {
    for (const [n, ranges] of [
      [1, 1],
      [7, 3],
      [3, 7],
      [200, 9],
    ] as const) {
      const { jobs } = await makeStatement(n, ranges);
      expect(jobs).toHaveLength(Math.min(n, ranges));
      let next = 0;
      for (const { task } of jobs) {
        if (task.kind !== 'range') throw new Error('it is no range');
        expect([task.scalars.from, task.bases.from]).toEqual([32 * next, 64 * next]);
        next = task.scalars.to / 32;
      }
      expect(next).toBe(n);
    }
    await expect(makeStatement(7, 0)).rejects.toMatchObject({ code: 'bad-argument' });
  });

  test('a GPU and a CPU compute one sum', async () => {
    const both = [await startWorker('gpu', 'gpu'), await startWorker('cpu')];
    const { jobs, expected } = await makeStatement(4000, 12);
    await farm.submit(database, jobs);
    expect(await sumOf(jobs)).toMatchObject({ sum: expected, wrong: [] });
    // the database has a sum before its worker says so
    await until('all are said', () => both.flatMap(({ of }) => of('delivered')).length === 12);
  });

  test.each([
    ['killed', 'SIGKILL'],
    ['halted', 'SIGSTOP'],
  ] as const)('a worker that is %s in the middle of a range loses nothing', async (name, signal) => {
    const { jobs, expected } = await makeStatement(600, 3);
    const lost = await startWorker(name, 'cpu', FOREVER);
    await farm.submit(database, jobs, short);
    await until('it computes', () => lost.of('taken').length === 1);
    lost.child.kill(signal);
    const other = await startWorker('other');
    expect(await sumOf(jobs)).toMatchObject({ sum: expected, workers: ['other', 'other', 'other'] });
    await until('all are said', () => other.of('delivered').length === 3);
    const again = other.of('delivered').filter(({ id }) => id === lost.of('taken')[0]?.id);
    expect(again).toMatchObject([{ attempt: 2 }]);
  });

  test('a range that is submitted and delivered twice counts once', async () => {
    const { jobs, describeIt, expected } = await makeStatement(300, 1);
    await Promise.all([jobs, jobs, await describeIt()].map((each) => farm.submit(database, each, short)));
    expect(await jobsThere()).toBe(1);
    // it keeps the range for longer than its lease, and lies then
    const go = join(folder, 'late.go');
    const late = await startWorker(
      'late',
      'cpu',
      `async () => {
        const { existsSync } = await import('node:fs');
        while (!existsSync('${go}')) await new Promise((settle) => setTimeout(settle, 20));
        return { sum: Buffer.from('${generator}', 'hex'), on: 'cpu' };
      }`,
    );
    await until('it has the range', () => late.of('taken').length === 1);
    const other = await startWorker('other');
    await until('the other one has delivered', () => other.of('delivered').length === 1);
    writeFileSync(go, '');
    await until('the late one has, too', () => late.of('delivered').length === 1);
    expect(await sumOf(jobs)).toMatchObject({ sum: expected, workers: ['other'] });
  });

  test('ranges that always fail are told with their cause, and others go on', async () => {
    const [changed, off, good] = [
      await makeStatement(400, 4),
      await makeStatement(400, 4),
      await makeStatement(400, 4),
    ];
    const whole = readFileSync(changed.scalars);
    writeFileSync(
      changed.scalars,
      whole.map((byte, i) => (i === whole.length - 32 ? byte ^ 1 : byte)),
    );
    // (1, 1), in the second range
    const points = readFileSync(off.bases);
    points.fill(0, 64 * 150, 64 * 151);
    points[64 * 150] = points[64 * 150 + 32] = 1;
    writeFileSync(off.bases, points);
    const poisoned = await off.describeIt();
    const all = [await startWorker('one'), await startWorker('two')];
    for (const jobs of [changed.jobs, poisoned, good.jobs])
      await farm.submit(database, jobs, { retryLimit: 2, retryDelay: 0 });
    expect(await sumOf(good.jobs)).toMatchObject({ sum: good.expected });
    await expect(sumOf(changed.jobs)).rejects.toMatchObject({
      code: 'poisoned',
      message: expect.stringMatching(/failed 3 times, .* on worker (one|two) with file-changed: .*scalars/),
    });
    await expect(sumOf(poisoned)).rejects.toMatchObject({ code: 'poisoned', cause: { code: 'not-on-curve' } });
    // what is done is kept
    const delivered = () => all.flatMap(({ of }) => of('delivered').map(({ id }) => id));
    const before = changed.jobs.filter(({ id }) => delivered().includes(id)).length;
    writeFileSync(changed.scalars, whole);
    await farm.submit(database, changed.jobs);
    expect(await sumOf(changed.jobs)).toMatchObject({ sum: changed.expected });
    // a worker says so after the database has it
    await until('all ranges are delivered', () => changed.jobs.every(({ id }) => delivered().includes(id)));
    expect(before).toBeLessThan(4);
    await expect(sumOf((await makeStatement(4, 1)).jobs)).rejects.toMatchObject({ code: 'unknown-job' });
  });

  test('a restart of the database loses nothing', async () => {
    const { jobs, expected } = await makeStatement(1200, 6);
    const go = join(folder, 'restart.go');
    const slow = `async () => {
      const { existsSync } = await import('node:fs');
      while (!existsSync('${go}')) await new Promise((settle) => setTimeout(settle, 20));
      throw new Error('not now');
    }`;
    const all = [await startWorker('one'), await startWorker('slow', 'cpu', slow)];
    await farm.submit(database, jobs, { ...short, leaseSeconds: 30 });
    await until('a range is held', () => all[1]?.of('taken').length === 1);
    const sum = sumOf(jobs);
    await postgres.stop();
    writeFileSync(go, '');
    await until('both have lost it', () => all.every(({ of }) => of('lost').length > 0));
    await postgres.start();
    expect(await sum).toMatchObject({ sum: expected });
    expect(all.map(({ child }) => child.exitCode)).toEqual([null, null]);
  });

  test('sums that are no points of the group are found, and with them all others of their worker', async () => {
    const { jobs, expected } = await makeStatement(300, 3);
    await farm.submit(database, jobs);
    await lie(generator);
    // x and y in the wrong order
    await lie(generator.replace(/^(.{64})(.{64})$/, '$2$1'));
    await startWorker('honest');
    const { sum, wrong } = await sumOf(jobs);
    expect(sum).toBe(expected);
    expect(wrong.map(({ worker, why }) => `${worker} ${why}`).sort()).toEqual([
      'liar it differs from the sum that was computed again',
      expect.stringMatching(/^liar not-on-curve/),
    ]);

    const outside = await makeStatement(64, 2, bls12381Oracle);
    await farm.submit(database, outside.jobs);
    const { Fp } = bls12_381.G1.Point;
    const point = [...Array(100).keys()].flatMap((i) => {
      const [x, square] = [BigInt(i), Fp.create(BigInt(i) ** 3n + 4n)];
      if (!FpIsSquare(Fp, square)) return [];
      const found = bls12_381.G1.Point.fromAffine({ x, y: Fp.sqrt(square) });
      return found.isTorsionFree() ? [] : [{ x, y: Fp.sqrt(square), infinity: false }];
    })[0] as AffinePoint;
    // the honest worker is quick: whichever range is left
    await database.query(`update pgboss.job set output = $1 where id = $2`, [
      JSON.stringify({ sum: bigEndian(bls12381Oracle, point), worker: 'liar' }),
      (await waitFor(outside.jobs))[0],
    ]);
    const found = await sumOf(outside.jobs);
    expect(found).toMatchObject({ sum: outside.expected, wrong: [{ why: expect.stringMatching(/^not-in-subgroup/) }] });
  });

  /** Waits until jobs are completed, and returns their ids. */
  const waitFor = async (jobs: readonly { readonly id: string }[]): Promise<string[]> => {
    const ids = jobs.map(({ id }) => id);
    await until('all are done', async () =>
      [...(await database.outcomes(ids)).values()].every(({ state }) => state === 'completed'),
    );
    return ids;
  };

  test('wrong sums are found by an audit, and infinity at any share', async () => {
    const [audited, infinite] = [await makeStatement(200, 2), await makeStatement(200, 2)];
    await farm.submit(database, audited.jobs);
    await lie(generator);
    await startWorker('honest');
    expect(await sumOf(audited.jobs, 1)).toMatchObject({
      ...{ sum: audited.expected, audited: 2 },
      wrong: [{ worker: 'liar', why: expect.stringMatching(/differs/) }],
    });
    await farm.submit(database, infinite.jobs);
    const [first] = await waitFor(infinite.jobs);
    const zeros = JSON.stringify({ sum: '00'.repeat(64), worker: 'liar' });
    await database.query('update pgboss.job set output = $1 where id = $2', [zeros, first]);
    expect(await sumOf(infinite.jobs)).toMatchObject({ sum: infinite.expected, wrong: [{ id: first }] });
  });

  test('a worker that fails at everything leaves the others time to come first', async () => {
    const { jobs, expected } = await makeStatement(1200, 12);
    const broken = await startWorker('broken', 'cpu', `async () => { throw new Error('it is broken'); }`);
    await farm.submit(database, jobs, { retryLimit: 5, retryDelay: 0 });
    await until('it fails', () => broken.of('failed').length > 0);
    await sleep(500);
    const healthy = await startWorker('healthy');
    expect(await sumOf(jobs)).toMatchObject({ sum: expected });
    await until('all are said', () => healthy.of('delivered').length === 12);
  });

  test('a worker that cannot compute ends, and takes nothing', async () => {
    const { jobs } = await makeStatement(100, 1);
    await farm.submit(database, jobs);
    const { code, stderr } = await runNode(['farm/worker.js', '--name', 'x', '--backend', 'cpu', '--max-workers=-1'], {
      cwd: folder,
      env: { ...process.env, FARM_DATABASE: postgres.url },
      timeout: 60_000,
    });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/worker x cannot compute: .*maxWorkers/),
    });
    expect((await database.query('select state, retry_count from pgboss.job')).rows).toEqual([
      { state: 'created', retry_count: 0 },
    ]);
  });

  test('invalid jobs end no worker, and make none rest', async () => {
    const worker = await startWorker('worker');
    const { jobs, expected } = await makeStatement(100, 1);
    const [job] = jobs as [(typeof jobs)[0]];
    const nonsense = [null, {}, 'junk', { ...job.task, curve: 'none' }, { ...job.task, kind: 'proof' }];
    await database.boss.insert(nonsense.map((data) => ({ name: farm.QUEUE, data: data as object, ...noRetry })));
    await until('all have failed', () => worker.of('failed').length === nonsense.length, 20_000);
    await farm.submit(database, jobs);
    expect(await sumOf(jobs)).toMatchObject({ sum: expected });
  });

  /** A circuit with its files, and the job of its proof. */
  const makeProof = async (system: SystemName = 'groth16') => {
    const statement = await makeProofStatement(system, 'bn254', 4, 'dense');
    const [zkey, witness] = [join(folder, `${system}.zkey`), join(folder, `${system}.wtns`)];
    writeFileSync(zkey, statement.zkey.data);
    writeFileSync(witness, statement.circuit.witness);
    return { statement, zkey, witness, proof: await farm.describeProof({ zkey, witness }) };
  };
  const proofOf = (id: string) => farm.proofOf(database, id, { pollMs: 20 });

  test('proofs of each system are computed once by either worker, and verify', async () => {
    const all = [await startWorker('one'), await startWorker('two')];
    const made = [await makeProof('groth16'), await makeProof('plonk'), await makeProof('fflonk')];
    for (let times = 0; times < 3; times++) {
      for (const { proof } of [...made, ...made]) await farm.submit(database, [proof]);
      for (const { statement, proof } of made) expect(await statement.verify(await proofOf(proof.id))).toBe(true);
    }
    const delivered = () => all.flatMap(({ of }) => of('delivered')).map(({ id }) => id);
    await until('all are said', () => delivered().length >= made.length);
    expect(delivered().sort()).toEqual(made.map(({ proof }) => proof.id).sort());
  });

  test('proofs with a higher priority go first', async () => {
    const { proof } = await makeProof();
    const proofs = [0, 1, 2].map((i) => ({ ...proof, id: proof.id.replace(/^./, String(i)) }));
    for (const [i, each] of proofs.entries()) await farm.submit(database, [each], { priority: i === 2 ? 5 : 0 });
    const worker = await startWorker('one');
    for (const { id } of proofs) await proofOf(id);
    await until('all proofs are delivered', () => worker.of('delivered').length === 3);
    expect(worker.of('delivered').map(({ id }) => id)).toEqual([2, 0, 1].map((i) => proofs[i]?.id));
  });

  test('a wrong witness fails with its cause, and a repaired file can be submitted again', async () => {
    const { statement, zkey, witness } = await makeProof();
    await startWorker('worker');
    const wrong = statement.circuit.witness.slice();
    wrong[76 + 5 * 32] = (wrong[76 + 5 * 32] as number) ^ 1;
    writeFileSync(witness, wrong);
    const unsatisfied = await farm.describeProof({ zkey, witness });
    await farm.submit(database, [unsatisfied], { retryLimit: 1, retryDelay: 0 });
    await expect(proofOf(unsatisfied.id)).rejects.toMatchObject({
      code: 'poisoned',
      message: expect.stringMatching(/failed 2 times, the last time on worker worker with bad-argument: witness/),
    });
    writeFileSync(witness, statement.circuit.witness);
    const proof = await farm.describeProof({ zkey, witness });
    writeFileSync(witness, wrong);
    await farm.submit(database, [proof], noRetry);
    await expect(proofOf(proof.id)).rejects.toMatchObject({ cause: { code: 'file-changed' } });
    writeFileSync(witness, statement.circuit.witness);
    await farm.submit(database, [proof], noRetry);
    expect(await statement.verify(await proofOf(proof.id))).toBe(true);
  });
});

describe('the program', { tags: 'long' }, () => {
  afterAll(async () => (await ffCurveOf('bn254')).terminate());
  const project = useFarmProject();

  /** A folder for temporary files. As root, PostgreSQL runs as another user, who has to get there. */
  const makeTemporary = () => {
    const own = mkdtempSync(join(project, 'tmp-'));
    for (const path of [project, own]) chmodSync(path, 0o755);
    return own;
  };
  const options = (own: string) => ({ cwd: project, env: { ...process.env, TMPDIR: own }, timeout: 120_000 });
  const small = ['farm/main.js', '--n', '200', '--backend', 'cpu', '--max-workers', '0'];

  test('shows the whole farm, and leaves nothing behind', async () => {
    const own = makeTemporary();
    const { code, stdout, stderr } = await runNode(
      [...small, '--n', '2000', '--statements', '2', '--audit', '1'],
      options(own),
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.match(/2000 points in 8 ranges, right.* 8 ranges computed once more.*worker-\d/g)).toHaveLength(2);
    expect(readdirSync(own)).toEqual([]);
  });

  test('proves with a key and witnesses, and prints the proofs', async () => {
    const own = makeTemporary();
    const statement = await makeProofStatement('groth16', 'bn254', 4, 'dense');
    const [zkey, witness] = [join(project, 'circuit.zkey'), join(project, 'witness.wtns')];
    writeFileSync(zkey, statement.zkey.data);
    writeFileSync(witness, statement.circuit.witness);
    const files = ['--zkey', zkey, '--witness', `${witness},${witness}`];
    const { code, stdout, stderr } = await runNode([...small, ...files], options(own));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const proofs = stdout.split('\n').filter((line) => line.startsWith('{'));
    expect(proofs).toHaveLength(2);
    for (const proof of proofs) expect(await statement.verify(JSON.parse(proof))).toBe(true);
  });

  test('interrupted, it leaves nothing behind', async () => {
    const own = makeTemporary();
    const program = spawn(process.execPath, [...small, '--statements', '1000'], options(own));
    let said = '';
    for (const stream of [program.stdout, program.stderr]) stream.on('data', (data) => (said += data));
    await until('it computes', () => /statement 1: .*right/.test(said));
    program.kill('SIGINT');
    expect(await once(program, 'close')).toEqual([130, null]);
    expect(said).not.toMatch(/Error|waiting|lost/);
    expect(readdirSync(own)).toEqual([]);
  });

  test.skipIf(process.getuid?.() !== 0)('as root, names the folder that PostgreSQL cannot read', async () => {
    const own = makeTemporary();
    chmodSync(own, 0o700);
    const { code, stderr } = await runNode(small, options(own));
    expect(code).toBe(1);
    expect(stderr).toMatch(/^PostgreSQL runs as the user postgres, who may not enter \S+\/tmp-\w+\. .*\n$/);
  });

  test('reports a wrong argument in one line', async () => {
    const wrong = [
      ['farm/main.js', '--n', '0'],
      ['farm/main.js', '--statements', 'abc'],
      ['farm/main.js', '--what'],
      ['farm/main.js', '--zkey', 'circuit.zkey'],
      ['farm/worker.js'],
    ];
    const outcomes = await Promise.all(wrong.map((args) => runNode(args, options(project))));
    for (const { code, stderr } of outcomes) {
      expect(code).toBe(2);
      expect(stderr).toMatch(/^(--n|--statements|Unknown option '--what'|--zkey|FARM_DATABASE).*\n$/);
    }
    const help = await runNode(['farm/main.js', '--help'], options(project));
    expect(help).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/--workers.*FARM_DATABASE/s) });
  });
});
