/**
 * The packed package in fresh projects, each with a bundler that npm installs, without
 * configuration: built, and served by its development server. The program of tests/bundlers/
 * computes in the page and in a worker of its own, and in both the workers of the package take
 * part. Vite, webpack and esbuild run always; `BUNDLERS=all` adds Parcel and Next.
 *
 * @module-tag long
 */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  bn254G1,
  encodeScalars,
  expectedMsm,
  makeKnownBases,
  makeRandomScalars,
} from '../../dev/oracle/known-bases.js';
import { launchChromium } from '../../scripts/browser/launch.js';
import { installProject, packPackage } from '../support/packed-package.js';
import { programWith } from '../support/page-programs.js';
import { runIn, whileFolderServed, whileProjectServed } from '../support/project-server.js';
import { inProject } from '../support/run-script.js';
import { type Headers, saidBy } from '../support/worker-place.js';

/** Enough for two workers, of few points and scalars: bundlers copy them again and again. */
const N = 8192;
const POINTS = 64;
const SCALARS = 61;

const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-bundlers-'));
let packed: string;
let browser: Browser;
let expected: string;

beforeAll(async () => {
  packed = await packPackage();
  ({ browser } = await launchChromium('software'));
});
afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

const { logs, bytes } = makeKnownBases(bn254G1, POINTS, 41);
const scalars = makeRandomScalars(bn254G1, SCALARS, 42);
{
  const tiled = <Item>(items: readonly Item[]): Item[] =>
    Array.from({ length: N }, (_, i) => items[i % items.length] as Item);
  const { x, y } = expectedMsm(bn254G1, tiled(logs), tiled(scalars));
  expected = `${x},${y}`;
}

const CASE = `const tile = (bytes, size) => {
  const tiled = new Uint8Array(${N} * size);
  for (let i = 0; i < tiled.length; i += bytes.length) tiled.set(bytes.subarray(0, tiled.length - i), i);
  return tiled;
};
export const points = tile(Uint8Array.of(${bytes}), 64);
export const scalars = tile(Uint8Array.of(${encodeScalars(bn254G1, scalars)}), 32);
`;

/** Makes a project with the package and its bundler. */
const makeProject = async (name: string, packages: readonly string[], sources = '.'): Promise<string> => {
  const project = join(folder, name);
  await installProject(project, [...packages, packed]);
  const to = join(project, sources);
  cpSync(inProject('tests/package/bundlers'), to, { recursive: true });
  writeFileSync(join(to, 'case.js'), CASE);
  return project;
};

const withWorkers = {
  sums: [expected],
  workers: expect.toSatisfy((workers: number) => workers === 1 || workers === 2, 'one worker or two'),
  noWorkers: null,
  warnings: [],
};

const expectWorkers = async (url: string, where: readonly ('inPage' | 'inWorker')[] = ['inPage', 'inWorker']) => {
  const { outcome, uncaught } = await saidBy(browser, url);
  expect(outcome).toEqual(Object.fromEntries(where.map((each) => [each, withWorkers])));
  expect(uncaught).toEqual([]);
};

/** Opens a page of a folder that a bundler wrote. */
const expectWorkersOf = async (
  built: string,
  page = 'index.html',
  where: readonly ('inPage' | 'inWorker')[] = ['inPage', 'inWorker'],
  headers: Headers = {},
): Promise<void> => {
  const visit = (origin: string) => expectWorkers(`${origin}/${page}`, where);
  await whileFolderServed(built, visit, () => headers);
};

/** Starts a server of a project, and opens a page of it once it answers. */
const expectWorkersServed = (
  project: string,
  commandOf: (port: string) => readonly string[],
  path = '',
): Promise<void> => whileProjectServed(project, commandOf, (url) => expectWorkers(url), path);

describe.each(['6.4.6', '7.3.8', '8.3.8'])('Vite %s', (version) => {
  let project: string;
  /** Before 8 Vite makes scripts of one file of workers by default, which cannot load others. */
  const splits = version.startsWith('8');
  beforeAll(async () => {
    project = await makeProject(`vite-${version}`, [`vite@${version}`]);
    writeFileSync(
      join(project, 'page.config.js'),
      "export default { build: { rollupOptions: { input: 'page.html' } } };",
    );
    const configOfPage = programWith('docs/how-to/bundlers-workers-csp.md', '// vite.config.js');
    writeFileSync(join(project, 'es.config.js'), configOfPage);
  });

  it('builds a page', async () => {
    await runIn(project, ['vite', 'build', '--config', 'page.config.js', '--outDir', 'page']);
    await expectWorkersOf(join(project, 'page'), 'page.html', ['inPage']);
  });

  it(`builds a page and a worker of the program${splits ? '' : ", with worker: { format: 'es' }"}`, async () => {
    const config = splits ? [] : ['--config', 'es.config.js'];
    await runIn(project, ['vite', 'build', ...config, '--outDir', 'built']);
    await expectWorkersOf(join(project, 'built'));
  });

  it.runIf(!splits)('says itself which option it wants where that is missing', async () => {
    await expect(runIn(project, ['vite', 'build', '--outDir', 'none'])).rejects.toThrow(
      'Invalid value "iife" for option "worker.format"',
    );
  });

  it.each([
    ['without configuration', []],
    ['as the page on bundlers configures it', ['--config', 'es.config.js']],
  ])('serves both %s', (_, config) =>
    expectWorkersServed(project, (port) => [
      ...['vite', ...config, '--host', '127.0.0.1', '--port', port, '--strictPort'],
    ]),
  );
});

describe('esbuild, which does not bring the file of the worker along', () => {
  let project: string;
  beforeAll(async () => {
    project = await makeProject('esbuild', ['esbuild@0.28.2']);
  });

  const build = (...options: string[]) =>
    runIn(project, ['esbuild', 'main.js', 'worker.js', '--bundle', '--format=esm', '--log-level=warning', ...options]);

  it.each([
    ['one file each', []],
    ['files in common', ['--splitting', '--minify']],
  ])('builds a page and a worker, %s', async (name, options) => {
    const built = join(project, `built ${name}`);
    await build(...options, `--outdir=${built}`);
    cpSync(inProject('tests/package/bundlers/index.html'), join(built, 'index.html'));
    await expectWorkersOf(built);
  });

  it('serves both', async () => {
    cpSync(inProject('tests/package/bundlers/index.html'), join(project, 'served/index.html'));
    await expectWorkersServed(project, (port) => [
      ...['esbuild', 'main.js', 'worker.js', '--bundle', '--format=esm', '--outdir=served'],
      ...['--servedir=served', `--serve=127.0.0.1:${port}`],
    ]);
  });
});

describe('webpack 5', () => {
  let project: string;
  beforeAll(async () => {
    project = await makeProject('webpack', ['webpack@5.112.2', 'webpack-cli@7.3.1', 'webpack-dev-server@5.2.7']);
    // the page is not webpack's: it makes scripts
    cpSync(inProject('tests/package/bundlers/index.html'), join(project, 'public/index.html'));
  });
  const entry = ['--entry', './main.js'];

  it('builds a page and a worker', async () => {
    await runIn(project, ['webpack', ...entry, '--mode', 'production', '--output-path', 'built']);
    cpSync(inProject('tests/package/bundlers/index.html'), join(project, 'built/index.html'));
    await expectWorkersOf(join(project, 'built'));
  });

  it('serves both', () =>
    expectWorkersServed(project, (port) => [
      ...['webpack', 'serve', ...entry, '--mode', 'development', '--host', '127.0.0.1', '--port', port],
    ]));
});

const isAll = process.env.BUNDLERS === 'all';

describe.runIf(isAll)('Parcel 2', () => {
  let project: string;
  beforeAll(async () => {
    project = await makeProject('parcel', ['parcel@2'], 'src');
  });

  // what it builds of a worker of the program's own lacks a module of this package that is in a
  // bundle of its own
  it('builds a page', async () => {
    await runIn(project, ['parcel', 'build', 'src/page.html', '--dist-dir', 'built', '--no-cache']);
    await expectWorkersOf(join(project, 'built'), 'page.html', ['inPage']);
  });

  it('serves both', () =>
    expectWorkersServed(project, (port) => [
      ...['parcel', 'serve', 'src/index.html', '--dist-dir', 'served', '--no-cache'],
      ...['--host', '127.0.0.1', '--port', port],
    ]));
});

describe.runIf(isAll).each(['turbopack', 'webpack'])('Next 16 with %s', (bundler) => {
  let project: string;
  beforeAll(async () => {
    project = await makeProject(`next-${bundler}`, ['next@16', 'react@19', 'react-dom@19'], 'app');
    for (const name of ['layout.jsx', 'page.jsx']) cpSync(join(project, 'app/next', name), join(project, 'app', name));
    rmSync(join(project, 'app/next'), { recursive: true });
  });
  const at = (port: string) => ['-H', '127.0.0.1', '-p', port];

  it('builds a page and a worker', async () => {
    await runIn(project, ['next', 'build', `--${bundler}`]);
    await expectWorkersServed(project, (port) => ['next', 'start', ...at(port)]);
  });

  it('serves both', () => expectWorkersServed(project, (port) => ['next', 'dev', `--${bundler}`, ...at(port)]));
});
