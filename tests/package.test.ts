/**
 * The package as it would be published: what is in it, what it weighs, that it leaves nothing behind where little of it is used, that
 * its types stand by themselves, and that the tools which make it run on the Node that it promises.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build as esbuild } from 'esbuild';
import { rollup } from 'rollup';
import semver from 'semver';
import { build as vite } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildLibrary } from './support/build-library.js';
import { inProject } from './support/run-script.js';

/** 40 KB, compressed as servers do. */
const MOST_BYTES = 40 * 1024;
/** What a bundler makes of it that writes again what was small already. */
const MOST_BYTES_AGAIN = 42_000;
/** Of a program that takes one constant from the package; bytes, not compressed. */
const MOST_BYTES_OF_VERSION = 1000;

const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-package-'));
const installed = join(folder, 'node_modules/webgpu-msm');
const dist = join(installed, 'dist');
const manifest = JSON.parse(readFileSync(inProject('package.json'), 'utf8'));

beforeAll(async () => {
  await buildLibrary(dist);
  const types = spawnSync(
    process.execPath,
    [
      inProject('node_modules/rollup/dist/bin/rollup'),
      '-c',
      'scripts/package/types.config.mjs',
      '--silent',
      '--configTo',
      dist,
    ],
    { cwd: inProject('.'), encoding: 'utf8' },
  );
  expect(types.stderr).toBe('');
  cpSync(inProject('package.json'), join(installed, 'package.json'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a file of the project that has the package installed. */
const write = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

/** A program as bundlers make it of one that imports the package, made as small as each can. */
const bundlers: Readonly<Record<string, (entry: string) => Promise<string>>> = {
  vite: async (entry) => {
    const built = await vite({
      configFile: false,
      root: folder,
      logLevel: 'error',
      build: { write: false, modulePreload: { polyfill: false }, rolldownOptions: { input: entry } },
    });
    if (!('output' in built)) throw new Error('vite built no bundle');
    return built.output.map((file) => (file.type === 'chunk' ? file.code : '')).join('');
  },
  esbuild: async (entry) => {
    const built = await esbuild({ entryPoints: [entry], bundle: true, minify: true, format: 'esm', write: false });
    return built.outputFiles.map(({ text }) => text).join('');
  },
  rollup: async (entry) => {
    const bundle = await rollup({
      input: entry,
      plugins: [{ name: 'installed', resolveId: (name) => (name === 'webgpu-msm' ? join(dist, 'index.js') : null) }],
    });
    const { output } = await bundle.generate({ format: 'es' });
    return output.map((file) => (file.type === 'chunk' ? file.code : '')).join('');
  },
};

describe('what is in it', () => {
  test('one module, its map and its types for each entry, and the licence of what is inside', () => {
    expect(readdirSync(dist, { recursive: true }).sort()).toEqual([
      'THIRD-PARTY.txt',
      'index.d.ts',
      'index.js',
      'index.js.map',
      'node.d.ts',
      'node.js',
      'node.js.map',
    ]);
  });

  test('nothing that it depends on', () => {
    for (const kind of ['dependencies', 'peerDependencies', 'optionalDependencies', 'bundleDependencies']) {
      expect(manifest[kind]).toBeUndefined();
    }
  });

  test('the licence of mustache: the copyright in the module, all of it in a file', () => {
    const licence = readFileSync(inProject('node_modules/mustache/LICENSE'), 'utf8').trim();
    expect(readFileSync(join(dist, 'THIRD-PARTY.txt'), 'utf8')).toContain(licence);
    const notice = /\/\*! mustache\.js .*?\*\//s.exec(readFileSync(join(dist, 'index.js'), 'utf8'))?.[0];
    for (const holder of licence.match(/^Copyright .*$/gm) as string[]) expect(notice).toContain(holder);
  });

  test('no comment and no indentation of a shader', () => {
    const code = readFileSync(join(dist, 'index.js'), 'utf8');
    const lines = code.split('\n').filter((line) => /^\s*(let|var|fn|for|if|return) .*[;{]$/.test(line));
    expect(lines.length).toBeGreaterThan(300);
    expect(lines.filter((line) => /^\s|\/\//.test(line))).toEqual([]);
  });

  test('the error by its name, as consoles print it', async () => {
    const { MsmError } = await import(/* @vite-ignore */ pathToFileURL(join(dist, 'index.js')).href);
    expect([MsmError.name, inspect(new MsmError('aborted', 'why')).split('\n')[0]]).toEqual([
      'MsmError',
      'MsmError: why',
    ]);
  });

  test('a map that leads back to the sources', () => {
    const { sources, sourcesContent } = JSON.parse(readFileSync(join(dist, 'index.js.map'), 'utf8'));
    const at = sources.findIndex((path: string) => path.endsWith('/src/engine/engine.ts'));
    expect(sourcesContent[at]).toBe(readFileSync(inProject('src/engine/engine.ts'), 'utf8'));
  });
});

describe('what it weighs', () => {
  const weigh = (code: string): number => gzipSync(code, { level: 9 }).length;

  test('as it is served', () => {
    expect(weigh(readFileSync(join(dist, 'index.js'), 'utf8'))).toBeLessThanOrEqual(MOST_BYTES);
  });

  test.each(Object.keys(bundlers))('all of it in a program of %s', async (name) => {
    const entry = write('all.js', "import * as all from 'webgpu-msm';\nconsole.log(Object.values(all));\n");
    const code = (await bundlers[name]?.(entry)) as string;
    // nothing that is needed was left out
    expect(['fn field_pack(', 'out-of-memory', 'Unclosed tag at '].filter((part) => !code.includes(part))).toEqual([]);
    expect(weigh(code)).toBeLessThanOrEqual(name === 'vite' ? MOST_BYTES : MOST_BYTES_AGAIN);
  });

  test.each(Object.keys(bundlers))('its version in a program of %s', async (name) => {
    const entry = write('version.js', "import { version } from 'webgpu-msm';\nconsole.log(version);\n");
    const code = (await bundlers[name]?.(entry)) as string;
    expect(code).toContain(manifest.version);
    expect(code.length).toBeLessThan(MOST_BYTES_OF_VERSION);
  });
});

describe('its types, with the libraries checked as well', () => {
  /** What TypeScript says of a program in a project that has the package, and those named. */
  const check = (options: object, program: string, packages: readonly string[] = []): string => {
    const project = mkdtempSync(join(folder, 'project-'));
    for (const name of packages) {
      const link = join(project, 'node_modules', name);
      mkdirSync(join(link, '..'), { recursive: true });
      symlinkSync(inProject(`node_modules/${name}`), link);
    }
    writeFileSync(join(project, 'program.ts'), program);
    writeFileSync(join(project, 'no-types.d.ts'), 'export {};\n');
    writeFileSync(
      join(project, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: { noEmit: true, strict: true, target: 'ES2022', module: 'nodenext', types: [], ...options },
        files: ['program.ts'],
      }),
    );
    return spawnSync(process.execPath, [inProject('node_modules/typescript/bin/tsc'), '-p', project], {
      encoding: 'utf8',
    }).stdout;
  };
  const program = `import { createMsmEngine, MsmError, type MsmErrorCode, version } from 'webgpu-msm';
    const engine = await createMsmEngine({ curve: 'bn254' });
    using bases = await engine.loadBases([{ x: 1n, y: 2n, infinity: false }]);
    const { x }: { x: bigint } = await engine.msm(bases, [2n]);
    const code: MsmErrorCode = new MsmError('aborted', version).code;
    // @ts-expect-error: no such curve
    createMsmEngine({ curve: 'bn255' });
    export { code, x };
  `;
  const inNode = `import { create } from 'webgpu';
    import { createMsmEngine } from 'webgpu-msm';
    import { fileStore } from 'webgpu-msm/node';
    const gpu = create([]);
    const device: GPUDevice | undefined = await (await gpu.requestAdapter())?.requestDevice();
    const store = fileStore('calibration.json');
    export const engine = await createMsmEngine({ curve: 'bn254', gpu });
    export { device, store };
  `;
  const node = ['webgpu', '@webgpu/types', '@types/node', 'undici-types'];

  test('in a page', () => {
    expect(check({ skipLibCheck: false, lib: ['ES2022', 'DOM'] }, program)).toBe('');
  });

  test('in a worker', { tags: 'long' }, () => {
    expect(check({ skipLibCheck: false, lib: ['ES2022', 'WebWorker'] }, program)).toBe('');
  });

  test('a bundler’s resolution', { tags: 'long' }, () => {
    expect(check({ module: 'esnext', moduleResolution: 'bundler', lib: ['ES2022', 'DOM'] }, program)).toBe('');
  });

  test('with npm’s webgpu, as the README says: skipLibCheck', () => {
    const options = { skipLibCheck: true, lib: ['ES2022', 'DOM'], types: ['node'] };
    expect(check(options, inNode, node)).toBe('');
  });

  test('with npm’s webgpu, as the README says: its types out of the way', { tags: 'long' }, () => {
    const paths = { '@webgpu/types': ['./no-types.d.ts'] };
    expect(check({ skipLibCheck: false, lib: ['ES2022', 'DOM'], types: ['node'], paths }, inNode, node)).toBe('');
  });

  test('with npm’s webgpu and neither, it is @webgpu/types that TypeScript complains of: what the README says is needed', {
    tags: 'long',
  }, () => {
    const said = check({ skipLibCheck: false, lib: ['ES2022', 'DOM'], types: ['node'] }, inNode, node);
    expect(said).toContain('@webgpu/types');
    expect(said).not.toContain('webgpu-msm/dist');
  });

  test('nothing internal is told', () => {
    const types = readFileSync(join(dist, 'index.d.ts'), 'utf8');
    expect(types).not.toMatch(/@internal|from '\.|declare const named/);
  });
});

describe('the Node that it promises', () => {
  const { packages } = JSON.parse(readFileSync(inProject('package-lock.json'), 'utf8'));
  const promised = semver.minVersion(manifest.engines.node)?.version as string;

  test('is one that no tool of this repository refuses', () => {
    const refusing = Object.entries<{ engines?: { node?: string } }>(packages)
      .filter(([, { engines }]) => engines?.node !== undefined && !semver.satisfies(promised, engines.node))
      .map(([path, { engines }]) => `${path}: ${engines?.node}`);
    expect(promised).toBe('20.19.0');
    expect(refusing).toEqual([]);
  });
});
