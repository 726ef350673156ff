/** Workers of examples/farm/ that are halted, broken, late or given nonsense: the others go on. */
import { describe, expect, test } from 'vitest';
import {
  collector,
  database,
  delivering,
  folder,
  holdDeliveries,
  makeStatement,
  modules,
  open,
  partialsOf,
  postgres,
  query,
  startWorker,
  sumOf,
  until,
  useFarm,
  waiting,
} from '../support/farm.js';
import { runNode } from '../support/run-script.js';
import { sleep } from '../support/time.js';

describe('workers', { tags: 'long' }, () => {
  useFarm();

  test('a worker that is halted in the middle of its delivery delays no other', async () => {
    await open();
    const { statement, expected } = await makeStatement(200, 1);
    const halted = await startWorker('halted', 0);
    const held = await holdDeliveries();
    await modules.submit(database, statement, { leaseSeconds: 1, retryLimit: 10, retryDelay: 0 });
    await until('it delivers', async () => (await delivering()) === 1);
    halted.child.kill('SIGSTOP');
    await held.release();
    const other = await startWorker('other', 1);
    // its sum is there, and not for others: who has the range next waits for the end of its
    // transaction
    await until('the other one waits', async () => (await waiting()) === 1);
    expect(
      await query(
        `select from pg_stat_activity where state = 'idle in transaction' and query like 'insert into farm.partial%'`,
      ),
    ).toHaveLength(1);
    expect(await partialsOf(statement.id)).toEqual([]);

    expect(await sumOf(statement.id)).toBe(expected);
    expect(await partialsOf(statement.id)).toEqual([{ first: 0, worker: 'other' }]);
    expect(other.of('delivered')).toMatchObject([{ counted: true }]);
    halted.child.kill('SIGCONT');
    await until('it delivers after all', () => halted.of('delivered').length === 1);
    expect(halted.of('lost').length).toBeGreaterThan(0);
    expect(halted.of('delivered')).toMatchObject([{ counted: false, agreed: true }]);
  });

  test('a worker that fails at everything leaves the others time to come first', async () => {
    await open();
    const { statement, expected } = await makeStatement(1200, 12);
    const broken = await startWorker('broken', 0, 'cpu', `async () => { throw new Error('it is broken'); }`);
    const healthy = await startWorker('healthy', 1);
    // so that it is alone for a second
    const held = await holdDeliveries();
    await modules.submit(database, statement, { retryLimit: 5, retryDelay: 0 });
    await until('the healthy one delivers', async () => (await delivering()) === 1);
    await sleep(1000);
    await held.release();
    expect(await sumOf(statement.id)).toBe(expected);
    expect(broken.of('failed')).toContainEqual(expect.objectContaining({ message: 'it is broken' }));
    expect(broken.of('delivered')).toEqual([]);
    expect(healthy.of('delivered')).toHaveLength(12);
  });

  test('a worker that cannot compute ends, and takes nothing', async () => {
    await open();
    const { statement } = await makeStatement(100, 1);
    await modules.submit(database, statement);
    const working = modules.work({
      url: postgres.url,
      name: 'deviceless',
      engine: { backend: 'cpu', maxWorkers: -1 },
      signal: new AbortController().signal,
    });
    await expect(working).rejects.toMatchObject({
      code: 'no-engine',
      message: expect.stringMatching(/^worker deviceless cannot compute: .*maxWorkers/),
    });
    expect(await query('select state, retry_count from pgboss.job')).toEqual([{ state: 'created', retry_count: 0 }]);
  });

  test('invalid jobs become dead letters, and end no worker', async () => {
    await open();
    const worker = await startWorker('worker', 0);
    const [{ statement, expected }, unknown] = [await makeStatement(100, 1), await makeStatement(100, 1)];
    const [task] = unknown.statement.tasks;
    const nonsense = [null, { ...task, statement: 'x' }, task];
    await database.boss.insert(
      nonsense.map((data) => ({ name: modules.queueOf(0), data: data as object, retryLimit: 0 })),
    );
    await until('it has failed at all', () => worker.of('failed').length === nonsense.length);
    expect(
      worker
        .of('failed')
        .map(({ code }) => code)
        .sort(),
    ).toEqual(['23503', 'bad-argument', 'bad-argument']);
    await until('the letters are done with', async () => {
      const letters = await query<{ state: string }>('select state from pgboss.job where name = $1', [
        modules.DEAD_LETTERS,
      ]);
      return letters.length === nonsense.length && letters.every(({ state }) => state === 'completed');
    });
    await modules.submit(database, statement);
    expect(await sumOf(statement.id)).toBe(expected);
    expect(worker.of('delivered')).toHaveLength(1);
  });

  test('invalid jobs do not make a lone worker rest', async () => {
    await open();
    const worker = await startWorker('worker', 0);
    const { statement, expected } = await makeStatement(100, 1);
    const unknown = await makeStatement(100, 1);
    const [task] = unknown.statement.tasks;
    const nonsense = [
      ...[null, {}, { ...task, statement: 'x' }, { ...task, scalars: null }, { ...task, bases: {} }, task],
      ...[{ ...task, curve: 'none' }, { ...task, count: '3' }, { statement: task?.statement, first: 0 }, 'junk'],
    ];
    await database.boss.insert(
      nonsense.map((data) => ({ name: modules.queueOf(0), data: data as object, retryLimit: 0 })),
    );
    // rests of 0.25 s and twice as long each time would be two minutes in all
    await until('all have failed', () => worker.of('failed').length === nonsense.length, 20_000);
    await modules.submit(database, statement);
    expect(await sumOf(statement.id)).toBe(expected);
  });

  test('workers wait for a database with too many clients', async () => {
    await open();
    await query(`create role crowd login password 'crowd' connection limit 1`);
    const { host, pathname } = new URL(postgres.url);
    const url = `postgres://crowd:crowd@${host}${pathname}`;
    const lost: unknown[] = [];
    const [first, second] = [
      new modules.Database(url),
      new modules.Database(url, { onLost: (error) => lost.push(error) }),
    ];
    await first.transaction(({ query }) => query('select 1'));
    const answer = second.transaction(async ({ query }) => (await query('select 1 as one')).rows);
    await until('it is refused', () => lost.length > 0);
    expect(lost[0]).toMatchObject({ code: '53300' });
    await first.close();
    expect(await answer).toEqual([{ one: 1 }]);
    await second.close();
  });

  test('a program without workers is served by workers of other machines', async () => {
    const running = runNode(
      ['farm/main.js', '--workers', '0', '--shards', '2', '--n', '200', '--statements', '1', '--audit', '0'],
      { cwd: folder, env: { ...process.env, FARM_DATABASE: postgres.url }, timeout: 60_000 },
    );
    const elsewhere = await startWorker('elsewhere', 1);
    expect(await running).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(/200 points in 8 ranges, right/),
    });
    expect(elsewhere.of('delivered')).toHaveLength(8);
    // nobody else on the machine is shown the password
    expect(elsewhere.child.spawnargs.join(' ')).not.toContain(new URL(postgres.url).password);
  });

  test('workers serve queues that open later', async () => {
    await open({ shards: 2 });
    const early = await startWorker('early', 0);
    await collector?.close();
    await open({ shards: 3 });
    const { statement, expected } = await makeStatement(300, 6);
    await modules.submit(database, statement);
    expect(await query('select from farm.range where queue = $1', [modules.queueOf(2)])).toHaveLength(2);
    expect(await sumOf(statement.id)).toBe(expected);
    expect(early.of('delivered')).toHaveLength(6);
  });
});
