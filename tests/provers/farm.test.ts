/**
 * The farm of examples/farm/, with a real PostgreSQL, workers that are processes, and everything
 * that goes wrong.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { FpIsSquare } from '@noble/curves/abstract/modular.js';
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { describe, expect, test } from 'vitest';
import { bls12381Oracle } from '../../dev/oracle/curves.js';
import { type AffinePoint, bn254G1 } from '../../dev/oracle/known-bases.js';
import { cutRanges } from '../../examples/farm/ranges.js';
import { namesRange } from '../../examples/farm/statement.js';
import {
  bigEndian,
  collector,
  database,
  deliver,
  delivering,
  generator,
  holdDeliveries,
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
  wrong,
} from '../support/farm.js';

describe('ranges', () => {
  test.each([
    [1, 1],
    [7, 1],
    [7, 7],
    [7, 3],
    [3, 7],
    [65_536, 100],
    [2 ** 31 + 1, 97],
  ])('of %i in %i cover it once', (count, parts) => {
    const ranges = cutRanges(count, parts);
    expect(ranges.length).toBe(Math.min(count, parts));
    let next = 0;
    for (const range of ranges) {
      expect(range.first).toBe(next);
      next += range.count;
    }
    expect(next).toBe(count);
    const lengths = ranges.map((range) => range.count);
    expect(Math.min(...lengths)).toBeGreaterThan(0);
    expect(Math.max(...lengths) - Math.min(...lengths)).toBeLessThanOrEqual(1);
  });

  test.each([
    [0, 1],
    [1, 0],
    [1.5, 1],
    [Number.NaN, 1],
  ])('there are none of %d in %d', (count, parts) => {
    expect(() => cutRanges(count, parts)).toThrow(expect.objectContaining({ code: 'bad-argument' }));
  });
});

test('a job names a range by a UUID and a whole number that fit the tables', () => {
  const statement = '01234567-89ab-cdef-0123-456789abcdef';
  for (const first of [0, 2 ** 31 - 1]) expect(namesRange({ statement, first })).toBe(true);
  const others = [null, {}, { statement }, { statement: 'x', first: 0 }, { statement: `${statement}0`, first: 0 }];
  for (const data of others) expect(namesRange(data)).toBe(false);
  for (const first of [2 ** 31, 0.5, '0', null]) expect(namesRange({ statement, first })).toBe(false);
});

describe('the farm', { tags: 'long' }, () => {
  useFarm();

  test('a GPU and a CPU compute one sum', async () => {
    await open();
    const gpu = await startWorker('gpu', 0, 'gpu');
    const cpu = await startWorker('cpu', 1);
    const { statement, expected } = await makeStatement(2000, 4);
    // so that neither does it alone
    const held = await holdDeliveries();
    await modules.submit(database, statement);
    await until('both deliver', async () => (await delivering()) === 2);
    await held.release();
    expect(await sumOf(statement.id)).toBe(expected);
    expect(gpu.of('delivered').map(({ on }) => on)).toContain('gpu');
    expect(new Set(cpu.of('delivered').map(({ on }) => on))).toEqual(new Set(['cpu']));
    expect((await partialsOf(statement.id)).length).toBe(4);
  });

  test('a worker that is killed in the middle of a range loses nothing', async () => {
    await open();
    const { statement, expected } = await makeStatement(1000, 5);
    const killed = await startWorker('killed', 0);
    const held = await holdDeliveries();
    await modules.submit(database, statement, { leaseSeconds: 2, retryLimit: 10, retryDelay: 0 });
    await until('it delivers', async () => (await delivering()) === 1);
    killed.child.kill('SIGKILL');
    await until('it is gone', killed.gone);
    expect(killed.child.signalCode).toBe('SIGKILL');
    expect(killed.of('taken').length).toBe(1);
    expect(killed.of('delivered')).toEqual([]);
    const first = killed.of('taken')[0]?.first as number;
    // nobody has told the database
    const job = modules.jobOf({ statement: statement.id, first });
    expect(await query('select state from pgboss.job where id = $1', [job])).toEqual([{ state: 'active' }]);

    const other = await startWorker('other', 1);
    await held.release();
    expect(await sumOf(statement.id)).toBe(expected);
    const again = other.of('delivered').filter((event) => event.first === first);
    expect(again.length).toBe(1);
    expect(again[0]?.attempt).toBeGreaterThan(1);
    const by = statement.tasks.map((task) => ({ first: task.first, worker: 'other' }));
    expect(await partialsOf(statement.id)).toEqual(by);
  });

  test('a range that is submitted, delivered and inserted twice counts once', async () => {
    await open();
    const { statement, expected } = await makeStatement(300, 1);
    const first = await startWorker('first', 0);
    const held = await holdDeliveries();
    const options = { leaseSeconds: 1, retryLimit: 10, retryDelay: 0 };
    await Promise.all([1, 2, 3].map(() => modules.submit(database, statement, options)));
    expect(await query('select from pgboss.job')).toHaveLength(1);
    await until('the first delivers', async () => (await delivering()) === 1);
    // it holds the range for longer than its lease, so that a second worker gets it as well
    const second = await startWorker('second', 1);
    await until('the second delivers', async () => (await delivering()) === 2);
    expect([first, second].map(({ of }) => of('taken').length)).toEqual([1, 1]);
    await held.release();
    const delivered = () => [first, second].flatMap(({ of }) => of('delivered'));
    await until('both have delivered', () => delivered().length === 2);
    expect(delivered().map(({ counted }) => counted)).toEqual(expect.arrayContaining([true, false]));
    expect(delivered().map(({ agreed }) => agreed)).toEqual([true, true]);
    expect(await sumOf(statement.id)).toBe(expected);
    expect(await partialsOf(statement.id)).toHaveLength(1);

    // and once more, as another job
    const skipped = () => [first, second].flatMap(({ of }) => of('skipped')).length;
    const before = skipped();
    const [task] = statement.tasks;
    await database.boss.insert([{ name: modules.queueOf(0), data: task as object }]);
    await until('it is skipped', () => skipped() > before);
    expect(delivered().length).toBe(2);
    expect(await partialsOf(statement.id)).toHaveLength(1);
    expect(await sumOf(statement.id)).toBe(expected);
  });

  test('poisoned ranges become dead letters, and other statements continue', async () => {
    await open();
    const [changed, off, good] = [
      await makeStatement(400, 4),
      await makeStatement(400, 4),
      await makeStatement(400, 4),
    ];
    // a bit of the last scalar
    const whole = readFileSync(changed.scalars);
    writeFileSync(
      changed.scalars,
      whole.map((byte, i) => (i === whole.length - 32 ? byte ^ 1 : byte)),
    );
    // (1, 1), in the second range
    const points = readFileSync(off.bases.path);
    points.fill(0, 64 * 150, 64 * 151);
    points[64 * 150] = points[64 * 150 + 32] = 1;
    writeFileSync(off.bases.path, points);
    const poisoned = await modules.describe({
      curve: 'bn254',
      bases: off.bases,
      scalars: { path: off.scalars },
      ranges: 4,
    });
    const all = [await startWorker('one', 0), await startWorker('two', 1)];
    for (const statement of [changed.statement, poisoned, good.statement])
      await modules.submit(database, statement, { retryLimit: 2, retryDelay: 0 });

    expect(await sumOf(good.statement.id)).toBe(good.expected);
    await expect(sumOf(changed.statement.id)).rejects.toMatchObject({
      code: 'poisoned',
      message: expect.stringMatching(
        /range 300 to 400 failed 3 times, .* on worker (one|two) with file-changed: .*scalars/,
      ),
      cause: { code: 'file-changed' },
    });
    await expect(sumOf(poisoned.id)).rejects.toMatchObject({
      code: 'poisoned',
      message: expect.stringMatching(/range 100 to 200 failed 3 times, .* with not-on-curve: .*50/),
      cause: { code: 'not-on-curve' },
    });
    for (const [{ id }, at] of [
      [changed.statement, 300],
      [poisoned, 100],
    ] as const) {
      const failed = all.flatMap(({ of }) => of('failed')).filter(({ statement }) => statement === id);
      expect(failed.map(({ first, attempt }) => [first, attempt]).sort()).toEqual([1, 2, 3].map((n) => [at, n]));
    }
    expect(await query('select from pgboss.job where name = $1', [modules.DEAD_LETTERS])).toHaveLength(2);

    // mended, it is taken up where it was
    const before = (await partialsOf(changed.statement.id)).length;
    const taken = () => all.flatMap(({ of }) => of('taken')).filter((each) => each.statement === changed.statement.id);
    const already = taken().length;
    writeFileSync(changed.scalars, whole);
    await modules.submit(database, changed.statement);
    expect(await sumOf(changed.statement.id)).toBe(changed.expected);
    expect(taken().length - already).toBe(4 - before);
  });

  test('a restart of the database loses nothing', async () => {
    await open();
    const { statement, expected } = await makeStatement(1200, 6);
    const all = [await startWorker('one', 0), await startWorker('two', 1)];
    await holdDeliveries();
    await modules.submit(database, statement);
    const sum = sumOf(statement.id);
    await until('both deliver', async () => (await delivering()) === 2);
    const started = 'select pg_postmaster_start_time()::text as at';
    const before = await query(started);
    await postgres.stop();
    await until('both have lost it', () => all.every(({ of }) => of('lost').length > 0));
    await expect(query('select 1')).rejects.toThrow();
    await postgres.start();
    expect(await query(started)).not.toEqual(before);

    expect(await sum).toBe(expected);
    expect(await partialsOf(statement.id)).toHaveLength(6);
    // a sum and the end of its job come together
    expect(await query('select distinct state, retry_count from pgboss.job')).toEqual([
      { state: 'completed', retry_count: 0 },
    ]);
    // the same processes, and what they had in hand was not computed again
    expect(all.map(({ child }) => child.exitCode)).toEqual([null, null]);
    const taken = all.flatMap(({ of }) => of('taken')).map(({ first, attempt }) => [first, attempt]);
    expect(taken.sort(([a], [b]) => (a as number) - (b as number))).toEqual(
      statement.tasks.map(({ first }) => [first, 1]),
    );
  });

  test('a delivery that is no point is found, and with it all earlier sums of its worker', async () => {
    await open();
    const { statement, expected } = await makeStatement(300, 3);
    await modules.submit(database, statement);
    await deliver(statement.id, 0, generator(bn254G1));
    await until('it is believed', () => said.some(({ event }) => event === 'accepted'));
    expect(wrong()).toEqual([]);
    // x and y in the wrong order
    await deliver(statement.id, 100, generator(bn254G1).replace(/^(.{64})(.{64})$/, '$2$1'));
    await until('both are found', () => wrong().length === 2);
    expect(wrong()).toMatchObject([
      { first: 100, worker: 'liar', why: expect.stringMatching(/^not-on-curve/) },
      { first: 0, worker: 'liar', why: expect.stringMatching(/differs from the sum/) },
    ]);
    await startWorker('honest', 0);
    expect(await sumOf(statement.id)).toBe(expected);
  });

  test('a delivered point outside the group is found', async () => {
    await open();
    const { statement, expected } = await makeStatement(64, 2, bls12381Oracle);
    await modules.submit(database, statement);
    const { Fp } = bls12_381.G1.Point;
    const outside = [...Array(100).keys()].flatMap((i) => {
      const [x, square] = [BigInt(i), Fp.create(BigInt(i) ** 3n + 4n)];
      if (!FpIsSquare(Fp, square)) return [];
      const point = bls12_381.G1.Point.fromAffine({ x, y: Fp.sqrt(square) });
      return point.isTorsionFree() ? [] : [{ x, y: Fp.sqrt(square), infinity: false }];
    })[0] as AffinePoint;
    await deliver(statement.id, 32, bigEndian(bls12381Oracle, outside));
    await until('it is found', () => wrong().length === 1);
    expect(wrong()).toMatchObject([{ first: 32, why: expect.stringMatching(/^not-in-subgroup/) }]);
    await startWorker('honest', 1);
    expect(await sumOf(statement.id)).toBe(expected);
  });

  test('a wrong sum is found by an audit, and by a second delivery', async () => {
    await open({ auditShare: 1 });
    const audited = await makeStatement(200, 2);
    await modules.submit(database, audited.statement);
    await deliver(audited.statement.id, 0, generator(bn254G1));
    await startWorker('honest', 0);
    expect(await sumOf(audited.statement.id)).toBe(audited.expected);
    expect(wrong()).toMatchObject([{ statement: audited.statement.id, first: 0, worker: 'liar' }]);
    await collector?.close();

    await open({ auditShare: 0 });
    const { statement, expected } = await makeStatement(200, 1);
    const held = await holdDeliveries();
    await modules.submit(database, statement);
    await until('it delivers', async () => (await delivering()) === 1);
    await held.client.query(`insert into farm.partial (statement, first, sum, worker) values ($1, 0, $2, 'liar')`, [
      statement.id,
      Buffer.from(generator(bn254G1), 'hex'),
    ]);
    await held.release();
    // it may have been believed in between, and the statement done: then that is mended
    await until('it is found', () => wrong().length === 2);
    expect(await sumOf(statement.id)).toBe(expected);
    expect(wrong().slice(1)).toMatchObject([{ statement: statement.id, first: 0, worker: 'liar' }]);
  });
});
