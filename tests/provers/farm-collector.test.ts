/**
 * Collector of examples/farm/: it finds wrong sums, and ignores messages from before a statement
 * was repaired.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { bn254G1 } from '../../dev/oracle/known-bases.js';
import {
  collector,
  database,
  deliver,
  generator,
  hold,
  makeStatement,
  modules,
  open,
  partialsOf,
  postgres,
  query,
  said,
  startWorker,
  sumOf,
  until,
  useFarm,
  waiting,
  wrong,
} from '../support/farm.js';
import { sleep } from '../support/time.js';

describe('the collector', { tags: 'long' }, () => {
  useFarm();

  /** As the second delivery of another sum does. */
  const doubt = (id: string, first: number) =>
    query(`update farm.partial set state = 'doubted' where statement = $1 and first = $2`, [id, first]);
  const tellsOf = (event: string) => until(event, () => said.some((each) => each.event === event));
  const lettersIn = (state: string) =>
    query('select from pgboss.job where name = $1 and state = $2', [modules.DEAD_LETTERS, state]);

  test('finds wrong sums by a second delivery, and doubts the other sums of their worker', async () => {
    await open();
    const { statement, expected, scalars } = await makeStatement(200, 2);
    await modules.submit(database, statement, { leaseSeconds: 1, retryLimit: 10, retryDelay: 0 });
    await deliver(statement.id, 0, generator(bn254G1));
    await tellsOf('accepted');
    // it keeps the other range for longer than its lease, and lies then
    const go = scalars.replace('.bin', '.go');
    const liar = await startWorker(
      'liar',
      0,
      'cpu',
      `async () => {
        const { existsSync } = await import('node:fs');
        while (!existsSync('${go}')) await new Promise((settle) => setTimeout(settle, 20));
        return { sum: Buffer.from('${generator(bn254G1)}', 'hex'), on: 'cpu' };
      }`,
    );
    await until('it has a range', () => liar.of('taken').length === 1);
    const honest = await startWorker('honest', 1);
    await until('the honest one delivers', () => honest.of('delivered').length === 1);
    writeFileSync(go, '');
    await until('the liar delivers', () => liar.of('delivered').length === 1);
    expect(liar.of('delivered')).toMatchObject([{ first: 100, counted: false, agreed: false }]);
    await until('both lies are found', () => wrong().length === 2);
    expect(wrong().map(({ first, worker }) => [worker, first])).toEqual([
      ['liar', 100],
      ['liar', 0],
    ]);
    expect(await sumOf(statement.id)).toBe(expected);
    expect(await query('select worker, first from farm.wrong order by first')).toMatchObject([
      { first: 0 },
      { first: 100 },
    ]);
  });

  test('computes sums again that are said to be infinity, at any share of audits', async () => {
    await open({ auditShare: 0 });
    const { statement, expected, scalars } = await makeStatement(200, 2);
    await modules.submit(database, statement);
    const zeros = '00'.repeat(64);
    await deliver(statement.id, 100, zeros);
    await until('it is found', () => wrong().length === 1);
    expect(wrong()).toMatchObject([{ first: 100, worker: 'liar', why: expect.stringMatching(/differs from the sum/) }]);
    await startWorker('honest', 0);
    expect(await sumOf(statement.id)).toBe(expected);
    // and it may be
    const path = `${scalars}.zero`;
    writeFileSync(path, new Uint8Array(32 * 100));
    const bases = { path: statement.tasks[0]?.bases.path as string, pointBytes: 64 };
    const none = await modules.describe({ curve: 'bn254', bases, scalars: { path }, ranges: 1 });
    await modules.submit(database, none);
    expect(await sumOf(none.id)).toBe(zeros);
    expect(wrong()).toHaveLength(1);
  });

  test('doubts all deliveries of a lying worker for a statement, also for a finished one', async () => {
    await open();
    const { statement, expected } = await makeStatement(300, 3);
    await modules.submit(database, statement);
    for (const first of [0, 100, 200]) await deliver(statement.id, first, generator(bn254G1));
    await tellsOf('done');
    expect(await sumOf(statement.id)).not.toBe(expected);
    await doubt(statement.id, 0);
    await until('all lies are found', () => wrong().length === 3);
    expect(await sumOf(statement.id)).toBe(expected);
  });

  test('leaves a sum that it published where it cannot compute it again, and says so', async () => {
    await open();
    const { statement, expected, scalars } = await makeStatement(200, 2);
    await modules.submit(database, statement);
    await startWorker('worker', 0);
    expect(await sumOf(statement.id)).toBe(expected);
    rmSync(scalars);
    await doubt(statement.id, 0);
    await tellsOf('trouble');
    expect(said.at(-1)).toMatchObject({
      code: 'unverifiable',
      message: expect.stringMatching(
        /is done, but the sum of worker worker for the range from 0 on .* cannot be opened/,
      ),
    });
    expect(await sumOf(statement.id)).toBe(expected);
    expect(await query('select distinct state from farm.partial')).toEqual([{ state: 'accepted' }]);
  });

  test('ignores a dead letter of a statement from before its repair', async () => {
    const { statement, expected, scalars } = await makeStatement(200, 2);
    const whole = readFileSync(scalars);
    writeFileSync(
      scalars,
      whole.map((byte) => byte ^ 1),
    );
    await open();
    const early = await startWorker('early', 0);
    await collector?.close();
    await modules.submit(database, statement, { retryLimit: 0, retryDelay: 0 });
    await until('both ranges failed', async () => (await lettersIn('created')).length === 2);
    early.child.kill('SIGKILL');
    // it ends as soon as it read the first letter
    let closing: Promise<void> | undefined;
    await open({
      report: (event) => {
        if (event.event === 'failed') closing = collector?.close();
      },
    });
    await until('the statement failed', () => closing !== undefined);
    await closing;
    expect(await lettersIn('created')).toHaveLength(1);
    writeFileSync(scalars, whole);
    await modules.submit(database, statement);
    await open();
    await until('the second letter is read', async () => (await lettersIn('completed')).length === 2);
    await startWorker('worker', 0);
    expect(await sumOf(statement.id)).toBe(expected);
  });

  test('does not fail a statement that another collector finishes at that moment, and can finish a failed one that is complete', async () => {
    await open();
    const { statement, expected } = await makeStatement(200, 1);
    const letter = { name: modules.DEAD_LETTERS, data: statement.tasks[0] as object };
    await modules.submit(database, statement);
    const held = await hold(`update farm.statement set state = 'done' where id = $1`, [statement.id]);
    await database.boss.insert([letter]);
    await until('it stands before the statement', async () => (await waiting()) === 1);
    await held.release();
    await until('the letter is read', async () => (await lettersIn('completed')).length === 1);
    expect(await query('select state from farm.statement')).toEqual([{ state: 'done' }]);
    expect(said).toEqual([]);

    await query(`update farm.statement set state = 'open'`);
    await startWorker('worker', 0);
    expect(await sumOf(statement.id)).toBe(expected);
    await query(`update farm.statement set state = 'failed', sum = null`);
    await modules.submit(database, statement);
    expect(await sumOf(statement.id)).toBe(expected);
    expect(await partialsOf(statement.id)).toHaveLength(1);
  });

  test('keeps jobs for years', async () => {
    await open();
    const { statement } = await makeStatement(100, 1);
    await modules.submit(database, statement);
    expect(await query(`select keep_until > now() + interval '9 years' as kept from pgboss.job`)).toEqual([
      { kept: true },
    ]);
  });

  test('opens as soon as there is a database', async () => {
    await postgres.stop();
    await expect(query('select 1')).rejects.toThrow();
    let opened = false;
    const opening = open().then(() => {
      opened = true;
    });
    await sleep(300);
    expect(opened).toBe(false);
    await postgres.start();
    await opening;
    const { statement, expected } = await makeStatement(100, 1);
    await modules.submit(database, statement);
    await startWorker('worker', 0);
    expect(await sumOf(statement.id)).toBe(expected);
  });
});
