/**
 * The programs of README.md and docs/, word for word, in Node, in a project that has the package;
 * and all programs of all pages, against the types of the library.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { bn254 } from '@noble/curves/bn254.js';
import { build as esbuild } from 'esbuild';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pagePaths } from '../../scripts/docs/site-pages.js';
import { buildLibrary } from '../support/build-library.js';
import { compileCircuit } from '../support/circom.js';
import { makeZkey } from '../support/circom-keys.js';
import { programsOf, programWith } from '../support/page-programs.js';
import { makePowersOfTau } from '../support/powers-of-tau.js';
import { ffCurveOf, makeStatement } from '../support/proving.js';
import { inProject, type Outcome, runNode } from '../support/run-script.js';

const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-pages-'));

/** Packages that programs of pages import, besides this one. */
const PACKAGES = ['webgpu', 'snarkjs', '@noble/curves'];

beforeAll(async () => {
  const modules = join(folder, 'node_modules');
  for (const name of PACKAGES) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(inProject(`node_modules/${name}`), join(modules, name));
  }
  await buildLibrary(join(modules, 'webgpu-msm/dist'));
  cpSync(inProject('package.json'), join(modules, 'webgpu-msm/package.json'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the only program of a page that contains a text. */
const run = (page: string, text: string, environment: Readonly<Record<string, string>> = {}): Promise<Outcome> => {
  writeFileSync(join(folder, 'program.mjs'), programWith(page, text));
  return runNode(['program.mjs'], { cwd: folder, env: { ...process.env, ...environment }, timeout: 120_000 });
};

/** Checks that a program ended and printed five times the generator of BN254. */
const expectFiveG = ({ code, stdout, stderr }: Outcome): void => {
  const { x, y } = bn254.G1.Point.BASE.multiply(5n).toAffine();
  expect(code, stderr).toBe(0);
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(`{ x: ${x}n, y: ${y}n, infinity: false }`);
};

describe('README.md', () => {
  const inNode = '// msm.mjs';

  test('computes a sum', async () => {
    const outcome = await run('README.md', '// once: checked');
    expectFiveG(outcome);
    expect(outcome.stdout).toMatch(/ cpu\s*$/);
  });

  test('in Node, with an adapter, prints the sum and ends', async () => expectFiveG(await run('README.md', inNode)));

  test.runIf(process.platform === 'linux')('in Node, without a driver, computes on the CPU', async () => {
    const nowhere = join(folder, 'no-driver.json');
    const none = { VK_ICD_FILENAMES: nowhere, VK_DRIVER_FILES: nowhere, LD_LIBRARY_PATH: '' };
    const outcome = await run('README.md', inNode, none);
    expectFiveG(outcome);
    // what there is are warnings of Dawn's
    expect(outcome.stderr).not.toMatch(/\.m?js:\d/);
  });
});

test('the program of README.md for inputs proves, and the process ends', async () => {
  const { wasm, r1cs } = await compileCircuit(`pragma circom 2.0.0;
    template Product() { signal input a; signal input b; signal output product; product <== a * b; }
    component main = Product();`);
  writeFileSync(join(folder, 'circuit.wasm'), wasm);
  writeFileSync(join(folder, 'circuit.zkey'), await makeZkey('groth16', 'bn254', r1cs));
  const { code, stdout, stderr } = await run('README.md', '// prove-input.mjs');
  expect([code, stdout], stderr).toEqual([0, "groth16 [ '33' ]\n"]);
});

test('the tutorial of the first sum computes on the CPU, and is right', async () => {
  const { code, stdout, stderr } = await run('docs/tutorials/first-sum.md', '// sum.mjs');
  expect(code, stderr).toBe(0);
  expect(stdout).toMatch(/^available: cpu; computed on: cpu, in \d+\.\d ms\nright\n$/);
});

test('the program for noble computes what it says', async () => {
  const { code, stdout, stderr } = await run('docs/how-to/noble.md', 'nobleMsm');
  expect([code, stdout], stderr).toEqual([0, 'true\ntrue\n']);
});

test('the program for field vectors computes what it says', async () => {
  const { code, stdout, stderr } = await run('docs/how-to/field-vectors.md', '// quotient.mjs');
  expect([code, stdout], stderr).toEqual([0, '128 40\n']);
});

describe('docs/how-to/snarkjs.md', () => {
  const page = 'docs/how-to/snarkjs.md';
  const curvesAlone = `
    import { curves, groth16 } from 'snarkjs';
    import { accelerate } from 'webgpu-msm/snarkjs';
    await accelerate({ curves });`;

  beforeAll(async () => {
    const { circuit, zkey } = await makeStatement('groth16', 'bn254', 8, 'dense');
    await (await ffCurveOf('bn254')).terminate();
    writeFileSync(join(folder, 'circuit.zkey'), zkey.data);
    writeFileSync(join(folder, 'witness.wtns'), circuit.witness);
  });

  test('proves, and the process ends', async () => {
    const { code, stdout, stderr } = await run(page, '// prove.js');
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/^true \{\s+wholeProofs: 1,\s+snarkjsProofs: 0,.*\bfallbacks: 0,/s);
  });

  test('proves and verifies without snarkjs, and the process ends', async () => {
    const program = programWith('docs/how-to/prove-groth16.md', '// prove-groth16.js');
    writeFileSync(join(folder, 'prove-groth16.js'), program);
    writeFileSync(
      join(folder, 'main.js'),
      `import { openAsBlob, readFileSync } from 'node:fs';
       import { proveAll } from './prove-groth16.js';
       const witness = readFileSync('witness.wtns');
       const proofs = await proveAll(await openAsBlob('circuit.zkey'), [witness, await openAsBlob('witness.wtns')]);
       console.log(proofs.map(({ proof, publicSignals }) => [proof.protocol, publicSignals.length]).join());
       // the values are at the end of the file
       const wrong = Uint8Array.from(witness, (byte, i) => (i === witness.length - 32 ? byte ^ 1 : byte));
       await proveAll(readFileSync('circuit.zkey'), [wrong]).catch(({ code }) => console.log(code));
      `,
    );
    const { code, stdout, stderr } = await runNode(['main.js'], { cwd: folder, timeout: 60_000 });
    expect([code, stdout], stderr).toEqual([0, 'groth16,1,groth16,1\nbad-argument\n']);
  });

  test('accelerates with the curves alone', async () => {
    writeFileSync(
      join(folder, 'main.js'),
      `${curvesAlone}
       await groth16.prove('circuit.zkey', 'witness.wtns');
       console.log(accelerate.stats.calls, accelerate.stats.fallbacks);
       await globalThis.curve_bn128.terminate();
      `,
    );
    const { code, stdout, stderr } = await runNode(['main.js'], { cwd: folder, timeout: 60_000 });
    expect([code, stdout], stderr).toEqual([0, '5 0\n']);
  });

  test('is right that bundlers leave out more than 40 KB if the curves alone are passed', async () => {
    const [whole, small] = await Promise.all(
      [programWith(page, '// prove.js'), `${curvesAlone}\nconsole.log(groth16.prove);`].map(async (contents) => {
        const stdin = { contents, resolveDir: folder };
        const options = { stdin, bundle: true, minify: true, format: 'esm', target: 'es2022', write: false } as const;
        const { outputFiles } = await esbuild({ ...options, logLevel: 'error' });
        return gzipSync(outputFiles[0]?.contents as Uint8Array).length;
      }),
    );
    expect((whole as number) - (small as number)).toBeGreaterThan(40 * 1024);
  });
});

describe('docs/how-to/files-and-encodings.md', () => {
  const page = 'docs/how-to/files-and-encodings.md';

  test('adds points of Zcash, and returns the sum as it writes them', async () => {
    writeFileSync(join(folder, 'bytes.js'), programWith(page, '// bytes.js'));
    const { BASE } = bls12_381.G1.Point;
    writeFileSync(
      join(folder, 'main.js'),
      `import { createMsmEngine } from 'webgpu-msm';
       import { sumOf } from './bytes.js';
       const engine = await createMsmEngine({ curve: 'bls12-381' });
       const points = Buffer.from('${BASE.toHex(true)}${BASE.double().toHex(true)}', 'hex');
       const scalars = Buffer.from('${['2', '3'].map((digit) => digit.padStart(64, '0')).join('')}', 'hex');
       console.log(Buffer.from(await sumOf(engine, points, scalars)).toString('hex'));
      `,
    );
    const { code, stdout, stderr } = await runNode(['main.js'], { cwd: folder, timeout: 60_000 });
    expect([code, stdout], stderr).toEqual([0, `${BASE.multiply(8n).toHex(true)}\n`]);
  });

  test('loads powers of tau', async () => {
    const { Fn } = bn254.G1.Point;
    const power = 3;
    // of order 2^4: 5 is no square modulo r
    const root = Fn.pow(5n, (Fn.ORDER - 1n) / 2n ** BigInt(power + 1));
    writeFileSync(
      join(folder, 'setup.ptau'),
      makePowersOfTau({ curve: 'bn254', power, powers: 2 ** (power + 1) - 1, root, seed: 5 }),
    );
    writeFileSync(join(folder, 'setup.js'), programWith(page, '// setup.js'));
    writeFileSync(
      join(folder, 'main.js'),
      `import { openAsBlob } from 'node:fs';
       import { loadPowers } from './setup.js';
       const { engine, bases } = await loadPowers(await openAsBlob('setup.ptau'));
       const { x, y } = await engine.msm(bases, [1n]);
       console.log(bases.length, x, y);
      `,
    );
    const { code, stdout, stderr } = await runNode(['main.js'], { cwd: folder, timeout: 60_000 });
    expect([code, stdout], stderr).toEqual([0, '15 1n 2n\n']);
  });
});

describe('docs/how-to/many-calls.md', () => {
  const page = 'docs/how-to/many-calls.md';

  test('calls again when the queue is full', async () => {
    writeFileSync(join(folder, 'service.js'), programWith(page, '// service.js').replace('calls: 100', 'calls: 1'));
    writeFileSync(
      join(folder, 'main.js'),
      `import { commit, load } from './service.js';
       const bases = await load([{ x: 1n, y: 2n, infinity: false }]);
       const sums = await Promise.all([1n, 2n, 3n, 4n, 5n].map((scalar) => commit(bases, [scalar])));
       console.log(sums.map(({ x }) => x % 1000n).join());
      `,
    );
    const { code, stdout, stderr } = await runNode(['main.js'], { cwd: folder, timeout: 60_000 });
    const wanted = [1n, 2n, 3n, 4n, 5n].map((k) => bn254.G1.Point.BASE.multiply(k).toAffine().x % 1000n);
    expect(code, stderr).toBe(0);
    expect(stdout).toContain('refused');
    expect(stdout.trim().split('\n').at(-1)).toBe(wanted.join());
  });
});

test('all programs of all pages agree with the types of the library', () => {
  const programs = pagePaths(inProject('.'))
    .flatMap(programsOf)
    .filter(({ language }) => ['js', 'ts'].includes(language));
  expect(programs.length).toBeGreaterThan(10);
  const types = programsOf('docs/how-to/snarkjs.md').find(({ file }) => file === 'curves.d.ts');
  writeFileSync(join(folder, 'curves.d.ts'), types?.text as string);
  writeFileSync(
    join(folder, 'globals.d.ts'),
    '/** By snarkjs. */ declare var curve_bn128: any;\n/** In workers. */ declare var FileReaderSync: any;\n',
  );
  writeFileSync(
    join(folder, 'witness_calculator.d.ts'),
    `/** By circom. */
     type Calculator = { calculateWTNSBin(input: object, sanityCheck: 0 | 1): Promise<Uint8Array> };
     export default function makeCalculator(program: Uint8Array): Promise<Calculator>;`,
  );
  const places = new Map(
    programs.map(({ place, language, text, file }) => {
      // a module, also if it imports nothing, as the names of its variables are its own
      const path = join(folder, `${place.replaceAll(/[^\w]/g, '-')}.${file?.endsWith('.d.ts') ? 'd.ts' : language}`);
      writeFileSync(path, /^(?:im|ex)port /m.test(text) ? text : `${text}export {};\n`);
      return [path, place] as const;
    }),
  );
  const program = ts.createProgram({
    rootNames: [...places.keys(), join(folder, 'curves.d.ts'), join(folder, 'globals.d.ts')],
    options: {
      ...{ noEmit: true, allowJs: true, checkJs: true, strict: false, skipLibCheck: true },
      target: ts.ScriptTarget.ESNext,
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      lib: ['lib.esnext.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
      types: [],
      paths: {
        'webgpu-msm': [inProject('src/index.ts')],
        'webgpu-msm/worker': [inProject('src/msm/cpu/worker.ts')],
        'webgpu-msm/*': [inProject('src/*.ts')],
        snarkjs: [inProject('node_modules/@types/snarkjs/index.d.ts')],
        '*': [inProject('node_modules/*')],
      },
    },
  });
  const found = [...places].flatMap(([path, place]) => {
    const file = program.getSourceFile(path);
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].map(
      ({ messageText }) => `${place}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
    );
  });
  expect(found).toEqual([]);
});
