/**
 * The package as it would be published: its files, its size, tree shaking, types that need nothing
 * else, and build tools that run on the Node version it promises.
 */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
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
import { inspect } from 'node:util';
import { build as esbuild, transform } from 'esbuild';
import { rollup } from 'rollup';
import semver from 'semver';
import { parseAst, Visitor, build as vite } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundleLimits, sizeLimits } from '../../scripts/package/size-limits.mjs';
import { weigh } from '../../scripts/package/weigh.mjs';
import { buildLibrary } from '../support/build-library.js';
import { buildTypes } from '../support/build-types.js';
import { inProject } from '../support/run-script.js';

/** Shaders that every MSM needs. */
const SHADERS_OF_INDEX = 9;
/** Limit for a program that imports one constant of the package; uncompressed. */
const MOST_BYTES_OF_VERSION = 1024;
/** Limit for a line of a module. */
const MOST_COLUMNS = 400;

const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-package-'));
const installed = join(folder, 'node_modules/webgpu-msm');
const dist = join(installed, 'dist');
const manifest = JSON.parse(readFileSync(inProject('package.json'), 'utf8'));

beforeAll(async () => {
  await buildLibrary(dist);
  await buildTypes(dist);
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

/**
 * A program as bundlers make it of one that imports the package, made as small as each can; without
 * what it loads later, where that is another file.
 */
const bundlers: Readonly<Record<string, (entry: string) => Promise<string>>> = {
  vite: async (entry) => {
    const built = await vite({
      configFile: false,
      root: folder,
      logLevel: 'error',
      build: { write: false, modulePreload: { polyfill: false }, rolldownOptions: { input: entry } },
    });
    if (!('output' in built)) throw new Error('vite built no bundle');
    return built.output.map((file) => (file.type === 'chunk' && !file.isDynamicEntry ? file.code : '')).join('');
  },
  esbuild: async (entry) => {
    const built = await esbuild({ entryPoints: [entry], bundle: true, minify: true, format: 'esm', write: false });
    return built.outputFiles.map(({ text }) => text).join('');
  },
  rollup: async (entry) => {
    const bundle = await rollup({
      input: entry,
      plugins: [
        {
          name: 'installed',
          resolveId: (name) => {
            const [, entry] = /^webgpu-msm(?:\/(\w+))?$/.exec(name) ?? [];
            return name.startsWith('webgpu-msm') ? join(dist, `${entry ?? 'index'}.js`) : null;
          },
        },
      ],
    });
    const { output } = await bundle.generate({ format: 'es' });
    const code = output.map((file) => (file.type === 'chunk' && !file.isDynamicEntry ? file.code : '')).join('');
    // rollup leaves that to a plugin
    return (await transform(code, { minify: true, format: 'esm' })).code;
  },
};

const words = (text: string): string[] => text.trim().split(/\s+/);

describe('the files of the package', () => {
  test('are one module, its map and its types for each entry, and modules that are loaded later', () => {
    const entries = words(`
      calibrate circom fflonk fields formats groth16 index noble node plonk setup snarkjs-drop-in snarkjs
      webgpu-msm-worker
    `);
    const later = words(`
      arithmetic circuit compact-chunks compact-key compact-writer constraints cpu-backend disk-file encodings
      exported-key more-curves open-scaler open-vectors pairing plonkish point-decompressor prepared-matrices proofs
      provers r1cs remote-file sha256 sink stored-keys streamed-quotient threads vectors verifiers worker-text
    `);
    const wanted = [
      ...[...entries, ...later].flatMap((name) => [`${name}.js`, `${name}.js.map`]),
      ...[...entries, 'service-worker'].map((name) => `${name}.d.ts`),
      // made of others in one file each
      ...['command.js', 'service-worker.js', 'webgpu-msm-circuit-worker.js'],
    ];
    expect(readdirSync(dist, { recursive: true }).sort()).toEqual(wanted.sort());
  });

  test('have no dependencies', () => {
    for (const kind of ['dependencies', 'peerDependencies', 'optionalDependencies', 'bundleDependencies']) {
      expect(manifest[kind]).toBeUndefined();
    }
  });

  test('have no code of others: every source of the modules is in this repository', () => {
    for (const name of readdirSync(dist).filter((each) => each.endsWith('.js.map'))) {
      const { sources } = JSON.parse(readFileSync(join(dist, name), 'utf8'));
      expect(sources).not.toEqual([]);
      const foreign = sources
        .map((path: string) => path.replace(/^(\.\.\/)+/, ''))
        .filter((path: string) => !/^(src|wgsl)\//.test(path) || !existsSync(inProject(path)));
      expect(foreign).toEqual([]);
    }
  });

  test.each([['index.js', 300]])('have no comment and no indentation of a shader in %s', (name, least) => {
    const texts: string[] = [];
    new Visitor({
      TemplateElement: ({ value }) => void texts.push(value.cooked ?? ''),
    }).visit(parseAst(readFileSync(join(dist, name), 'utf8')));
    const shaders = texts.filter((text) => /\n(let|fn|@compute) /.test(text)).flatMap((text) => text.split('\n'));
    const lines = shaders.filter((line) => /^\s*(let|var|fn|for|if|return)\b.*[;{]$/.test(line));
    expect(lines.length).toBeGreaterThan(least);
    expect(lines.filter((line) => /^\s|\/\//.test(line))).toEqual([]);
  });

  test('have short lines, as Node prints the line that made an uncaught error', () => {
    for (const name of readdirSync(dist).filter((each) => /\.js$/.test(each))) {
      const lines = readFileSync(join(dist, name), 'utf8').split('\n');
      expect(Math.max(...lines.map(({ length }) => length)), name).toBeLessThan(MOST_COLUMNS);
    }
  });

  test.each([
    ['an argument', "await createMsmEngine({ curve: 'bn255' });", "curve: 'bn255' is unknown"],
    [
      'a refused point',
      "const engine = await createMsmEngine({ curve: 'bn254', backend: 'cpu' });\n" +
        'await engine.loadBases([{ x: 1n, y: 3n, infinity: false }]);',
      'points[0] is not on bn254',
    ],
  ])('have Node print little where nothing catches an error of %s', (_, call, message) => {
    const program = write('uncaught.js', `import { createMsmEngine } from 'webgpu-msm';\n${call}\n`);
    const { status, stderr } = spawnSync(process.execPath, [program], { encoding: 'utf8' });
    expect(status).toBe(1);
    expect(stderr).toContain(`MsmError: ${message}`);
    expect(stderr.length).toBeLessThan(2048);
  });

  test('have no stage checks, which are a tool of kernel authors', () => {
    const modules = readdirSync(dist).filter((name) => name.endsWith('.js'));
    for (const name of modules) {
      const code = readFileSync(join(dist, name), 'utf8');
      for (const own of ['fn check_sorted(', 'fn note_writer(', 'a bucket was written twice', 'bucketWriters']) {
        expect(code, name).not.toContain(own);
      }
    }
  });

  test('keep calibrate and the main module apart', () => {
    const [index, calibrate] = ['index.js', 'calibrate.js'].map((name) => readFileSync(join(dist, name), 'utf8'));
    for (const own of ['indexedDB', 'B is faster', 'times must be positive and finite']) {
      expect(calibrate).toContain(own);
      expect(index).not.toContain(own);
    }
    for (const shared of ['fn field_pack(', 'extends Error', 'unsupported-device', 'createShaderModule']) {
      expect(index).toContain(shared);
      expect(calibrate).not.toContain(shared);
    }
  });

  test('keep the readers of files and the main module apart', () => {
    const [index, formats] = ['index.js', 'formats.js'].map((name) => readFileSync(join(dist, name), 'utf8'));
    for (const own of ['is it cut off?', 'write them in SerdeFormat', 'the file must begin with']) {
      expect(formats).toContain(own);
      expect(index).not.toContain(own);
    }
    for (const shared of ['extends Error', 'was its buffer transferred?', 'unsupported-device']) {
      expect(index).toContain(shared);
      expect(formats).not.toContain(shared);
    }
  });

  test('share the error class of the main module with calibrate and the readers', async () => {
    const load = (name: string) => import(/* @vite-ignore */ pathToFileURL(join(dist, name)).href);
    const [{ MsmError }, { calibrate }, { openZkey }] = await Promise.all(
      ['index.js', 'calibrate.js', 'formats.js'].map(load),
    );
    await expect(calibrate({})).rejects.toBeInstanceOf(MsmError);
    await expect(openZkey(new Uint8Array())).rejects.toBeInstanceOf(MsmError);
  });

  test('keep the adapter of snarkjs, the main module and snarkjs apart', () => {
    const textOf = (name: string): string => readFileSync(join(dist, name), 'utf8');
    const [index, adapter] = [textOf('index.js'), textOf('snarkjs.js') + textOf('provers.js')];
    for (const own of ['curve_bn128', 'multiExpAffine', 'is accelerated already']) {
      expect(adapter).toContain(own);
      expect(index).not.toContain(own);
    }
    for (const shared of ['fn field_pack(', 'extends Error', 'unsupported-device'])
      expect(adapter).not.toContain(shared);
    for (const name of ['snarkjs', 'snarkjs-drop-in', 'provers']) {
      const { sources } = JSON.parse(readFileSync(join(dist, `${name}.js.map`), 'utf8'));
      expect(sources.filter((path: string) => path.includes('node_modules'))).toEqual([]);
    }
    // an alias of the name would lead back
    for (const name of ['snarkjs-drop-in', 'provers', 'verifiers'])
      expect(textOf(`${name}.js`)).not.toMatch(/^(import|\}).* from ["']snarkjs["']|import\(["']snarkjs["']\)/m);
  });

  test('keep the name of the error class, as consoles print it', async () => {
    const { MsmError } = await import(/* @vite-ignore */ pathToFileURL(join(dist, 'index.js')).href);
    expect([MsmError.name, inspect(new MsmError('aborted', 'why')).split('\n')[0]]).toEqual([
      'MsmError',
      'MsmError: why',
    ]);
  });

  test('have a map that leads back to the sources', () => {
    const { sources, sourcesContent } = JSON.parse(readFileSync(join(dist, 'index.js.map'), 'utf8'));
    const at = sources.findIndex((path: string) => path.endsWith('/src/engine/create-engine.ts'));
    expect(sourcesContent[at]).toBe(readFileSync(inProject('src/engine/create-engine.ts'), 'utf8'));
  });
});

describe('the size of the package', () => {
  test.each(Object.entries(sizeLimits))('is within its limit as bundlers make it: %s', (name, { bytes }) => {
    expect(weigh(readFileSync(join(dist, `${name}.js`), 'utf8'))).toBeLessThanOrEqual(bytes);
  });

  test('is limited for every module but that of Node', () => {
    const modules = readdirSync(dist).filter((name) => name.endsWith('.js'));
    expect(modules.sort()).toEqual([...Object.keys(sizeLimits), 'node'].map((name) => `${name}.js`).sort());
  });

  test.each(Object.keys(bundlers))('is within its limit in a program of %s', async (name) => {
    const entry = write('all.js', "import * as all from 'webgpu-msm';\nconsole.log(Object.values(all));\n");
    const code = (await bundlers[name]?.(entry)) as string;
    // nothing that is needed was left out
    expect(
      ['fn field_pack(', 'unsupported-device', 'template variable '].filter((part) => !code.includes(part)),
    ).toEqual([]);
    expect(weigh(code)).toBeLessThanOrEqual(name === 'esbuild' ? bundleLimits.oneFile : bundleLimits.split);
    // those of index.js side by side, which gzip needs them to be: its window is 32 KB
    const shaders = [...code.matchAll(/@compute/g)].map(({ index }) => index);
    const spans = shaders.slice(SHADERS_OF_INDEX - 1).map((last, i) => last - (shaders[i] as number));
    expect(shaders.length).toBeGreaterThanOrEqual(SHADERS_OF_INDEX);
    expect(Math.min(...spans)).toBeLessThan(2 ** 15);
  });

  test.each(Object.keys(bundlers))('has the engine once with calibrate, in a program of %s', async (name) => {
    const entry = write(
      'calibrate.js',
      "import { calibrate } from 'webgpu-msm/calibrate';\nimport { createMsmEngine } from 'webgpu-msm';\nconsole.log(calibrate, createMsmEngine);\n",
    );
    const code = (await bundlers[name]?.(entry)) as string;
    for (const part of ['packed_is_zero(a:', 'the knobs and the inputs', 'times must be positive and finite']) {
      expect(code.split(part), part).toHaveLength(2);
    }
  });

  test.each(Object.keys(bundlers))('is small for a program of %s that imports the version', async (name) => {
    const entry = write('version.js', "import { version } from 'webgpu-msm';\nconsole.log(version);\n");
    const code = (await bundlers[name]?.(entry)) as string;
    expect(code).toContain(manifest.version);
    expect(code.length).toBeLessThan(MOST_BYTES_OF_VERSION);
  });

  test.each(Object.keys(bundlers))('has no shader in a program of %s that reads files', async (name) => {
    const entry = write('read.js', "import { openZkey } from 'webgpu-msm/formats';\nconsole.log(openZkey);\n");
    const code = (await bundlers[name]?.(entry)) as string;
    expect(code).toContain('is it cut off?');
    expect(code).not.toContain('@compute');
  });
});

describe('the types of the package, with libraries checked as well', { tags: 'long' }, () => {
  /**
   * Returns the errors of TypeScript for a program in a project with this package and the named
   * ones.
   */
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
    import { calibrate } from 'webgpu-msm/calibrate';
    import { type FileSource, openPtau, openZkey } from 'webgpu-msm/formats';
    const find = async (device: GPUDevice) =>
      createMsmEngine({ curve: 'bn254', device, tuning: (await calibrate(device, { curve: 'bn254' })).tuning });
    const createWorker = () => new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
    const engine = await createMsmEngine({ curve: 'bn254', tuning: { windowBits: 8 }, createWorker });
    using bases = await engine.loadBases([{ x: 1n, y: 2n, infinity: false }]);
    const { x }: { x: bigint } = await engine.msm(bases, [2n]);
    const read = async (file: File | FileSource) => {
      const zkey = await openZkey(file);
      if (zkey.protocol !== 'groth16') return engine.loadBases(zkey.sections.ptau.pages(), { encoding: 'le-montgomery' });
      const { a } = zkey.sections;
      for await (const chunk of a.chunks({ chunkBytes: 2 ** 20 })) console.assert(chunk.length % a.pointBytes === 0);
      const { tauG1 } = (await openPtau(file)).sections;
      return engine.loadBases(await tauG1.points(0, a.count), { encoding: a.encoding });
    };
    const code: MsmErrorCode = new MsmError('aborted', version).code;
    // @ts-expect-error: no such curve
    createMsmEngine({ curve: 'bn255' });
    // @ts-expect-error: no such knob
    createMsmEngine({ curve: 'bn254', tuning: { checks: true } });
    export { code, find, read, x };
  `;
  const inNode = `import { create } from 'webgpu';
    import { createMsmEngine } from 'webgpu-msm';
    import { type CalibrationStore } from 'webgpu-msm/calibrate';
    import { fileStore } from 'webgpu-msm/node';
    const gpu = create([]);
    const device: GPUDevice | undefined = await (await gpu.requestAdapter())?.requestDevice();
    const store: CalibrationStore = fileStore('calibration.json');
    export const engine = await createMsmEngine({ curve: 'bn254', gpu });
    export { device, store };
  `;
  const node = ['webgpu', '@webgpu/types', '@types/node', 'undici-types'];

  test('compile in a page', () => {
    expect(check({ skipLibCheck: false, lib: ['ES2022', 'DOM'] }, program)).toBe('');
  });

  test('compile in a worker', { tags: 'long' }, () => {
    expect(check({ skipLibCheck: false, lib: ['ES2022', 'WebWorker'] }, program)).toBe('');
  });

  test('compile with a bundler’s resolution', { tags: 'long' }, () => {
    expect(check({ module: 'esnext', moduleResolution: 'bundler', lib: ['ES2022', 'DOM'] }, program)).toBe('');
  });

  test('compile with npm’s webgpu and skipLibCheck, as docs/how-to/bundlers-workers-csp.md says', () => {
    const options = { skipLibCheck: true, lib: ['ES2022', 'DOM'], types: ['node'] };
    expect(check(options, inNode, node)).toBe('');
  });

  test('compile with npm’s webgpu and without its types, as docs/how-to/bundlers-workers-csp.md says', {
    tags: 'long',
  }, () => {
    const paths = { '@webgpu/types': ['./no-types.d.ts'] };
    expect(check({ skipLibCheck: false, lib: ['ES2022', 'DOM'], types: ['node'], paths }, inNode, node)).toBe('');
  });

  test('need one of the two with npm’s webgpu: TypeScript rejects @webgpu/types', {
    tags: 'long',
  }, () => {
    const said = check({ skipLibCheck: false, lib: ['ES2022', 'DOM'], types: ['node'] }, inNode, node);
    expect(said).toContain('@webgpu/types');
    expect(said).not.toContain('webgpu-msm/dist');
  });

  test('accept snarkjs as it is imported, with its types and without', () => {
    const prover = `import * as snarkjs from 'snarkjs';
      import { openZkey } from 'webgpu-msm/formats';
      import { type Accelerated, accelerate, type AccelerateStats } from 'webgpu-msm/snarkjs';
      const restore: Accelerated = await accelerate(snarkjs, { basesBudget: 2 ** 30 });
      await accelerate.prepare(await openZkey(new Uint8Array()));
      const { proof, publicSignals } = await snarkjs.groth16.fullProve({ a: 1 }, 'circuit.wasm', 'circuit.zkey');
      const ok: boolean = await snarkjs.groth16.verify({}, publicSignals, proof);
      const whole = await restore.groth16.fullProve({ a: 1 }, 'circuit.wasm', 'circuit.zkey');
      const { fflonk, groth16, plonk } = restore;
      const both: [boolean, boolean] = [
        await snarkjs.groth16.verify({}, whole.publicSignals, whole.proof),
        await snarkjs.plonk.verify({}, [], (await plonk.prove(new Uint8Array(), { type: 'mem' })).proof),
      ];
      const { on, workers, compileMs }: AccelerateStats = accelerate.stats;
      restore();
      // @ts-expect-error: no snarkjs
      await accelerate({ groth17: {} });
      // @ts-expect-error: no such option
      await accelerate(snarkjs, { basesBudgt: 5 });
      export { both, compileMs, fflonk, groth16, ok, on, workers };
    `;
    for (const options of [{}, { module: 'esnext', moduleResolution: 'bundler' }]) {
      const all = { skipLibCheck: false, lib: ['ES2022', 'DOM'], ...options };
      expect(check(all, prover, ['@types/snarkjs'])).toBe('');
    }
    // without types, as in a project that declares the module itself
    const untyped = `import { accelerate } from 'webgpu-msm/snarkjs';
      declare const snarkjs: any;
      export const restore: () => void = await accelerate(snarkjs);
    `;
    expect(check({ skipLibCheck: false, lib: ['ES2022', 'ESNext.Disposable', 'DOM'] }, untyped)).toBe('');
  });

  test('name nothing internal', () => {
    const types = ['calibrate.d.ts', 'formats.d.ts', 'index.d.ts', 'noble.d.ts', 'snarkjs.d.ts']
      .map((name) => readFileSync(join(dist, name), 'utf8'))
      .join('');
    expect(types).not.toMatch(/@internal|from '\.|declare const named/);
  });
});

describe('the Node version of the package', () => {
  const { packages } = JSON.parse(readFileSync(inProject('package-lock.json'), 'utf8'));
  const promised = semver.minVersion(manifest.engines.node)?.version as string;

  test('is allowed by every tool of this repository', () => {
    const refusing = Object.entries<{ engines?: { node?: string } }>(packages)
      .filter(([, { engines }]) => engines?.node !== undefined && !semver.satisfies(promised, engines.node))
      .map(([path, { engines }]) => `${path}: ${engines?.node}`);
    expect(promised).toBe('20.19.0');
    expect(refusing).toEqual([]);
  });
});
