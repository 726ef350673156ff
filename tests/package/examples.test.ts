/**
 * The examples of the docstrings: each compiles without a type error, runs against the built
 * package, and prints what its comments say.
 *
 * @module-tag long
 */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { format } from 'node:util';
import ts from 'typescript';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { oracleOf } from '../../dev/oracle/curves.js';
import type { OracleCurve } from '../../dev/oracle/known-bases.js';
import {
  contribute,
  contributeToChallenge,
  contributeToPowers,
  exportChallenge,
  newKey,
  newPowers,
} from '../../src/setup.js';
import { buildLibrary } from '../support/build-library.js';
import { compileCircuit } from '../support/circom.js';
import { makeZkey } from '../support/circom-keys.js';
import { type LeasedDevice, leaseGpu } from '../support/leased-gpu.js';
import { makePowersOfTau } from '../support/powers-of-tau.js';
import { ffCurveOf, makeStatement } from '../support/proving.js';
import { randomCircuit } from '../support/random-circuit.js';
import { inProject } from '../support/run-script.js';

const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-examples-'));
const before = process.cwd();

interface Example {
  /** Path and line. */
  readonly at: string;
  readonly code: string;
  /** The code, and before it what it takes for granted. */
  readonly program: string;
  /** Lines that it prints. */
  readonly printed: readonly string[];
}

const has = (code: string, name: string): boolean =>
  new RegExp(`\\b${name}\\b`).test(code) && !new RegExp(`(const|let) (\\{.*)?\\b${name}\\b.* =`).test(code);

/** Returns an example with the engines, bases, vectors and sections that it does not make. */
const withContext = (code: string): string => {
  const [engine, bases, section, fr, a, b] = ['engine', 'bases', 'section', 'fr', 'a', 'b'].map((name) =>
    has(code, name),
  );
  return [
    ...(fr ? ["import { createFieldEngine } from 'webgpu-msm/fields';"] : []),
    ...(fr ? ['const fr = await createFieldEngine();'] : []),
    ...(fr && a ? ['const a = await fr.load([1n, 2n, 3n, 4n]);'] : []),
    ...(fr && b ? ['const b = await fr.load([5n, 6n, 7n, 8n]);'] : []),
    ...(engine && !/import .*createMsmEngine/.test(code) ? ["import { createMsmEngine } from 'webgpu-msm';"] : []),
    ...(section ? ["import { openAsBlob } from 'node:fs';", "import { openPtau } from 'webgpu-msm/formats';"] : []),
    ...(section ? ["const file = new Uint8Array(await (await openAsBlob('powers.ptau')).arrayBuffer());"] : []),
    ...(section ? ['const section = (await openPtau(file)).sections.tauG1;'] : []),
    ...(engine ? ["const engine = await createMsmEngine({ curve: 'bn254' });"] : []),
    ...(bases ? ['const G = { x: 1n, y: 2n, infinity: false };'] : []),
    ...(bases ? ['const bases = await engine.loadBases([G, G]);'] : []),
    code,
    ...(engine ? ['engine.destroy();'] : []),
    'export {};',
  ].join('\n');
};

const examples: readonly Example[] = readdirSync(inProject('src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .sort()
  .flatMap((path) => {
    const text = readFileSync(inProject(`src/${path}`), 'utf8');
    return [...text.matchAll(/\* @example\n\s*\* ```ts\n(.*?)\n\s*\* ```/gs)].map(({ 1: block = '', index }) => {
      const code = block.replaceAll(/^\s*\* ?/gm, '');
      const printed = [...code.matchAll(/console\.log\(.*; \/\/ (.*)$/gm)].map(([, line = '']) => line);
      const at = `src/${path}:${text.slice(0, index).split('\n').length}`;
      return { at, code, program: withContext(code), printed };
    });
  });

/** Files that examples open, by name. */
const writeFiles = async (): Promise<void> => {
  const { zkey, circuit } = await makeStatement('groth16', 'bn254', 6, 'dense');
  const plonk = await makeStatement('plonk', 'bn254', 6, 'dense');
  const fflonk = await makeStatement('fflonk', 'bn254', 6, 'dense');
  const { r1cs } = randomCircuit((oracleOf({ curve: 'bn254', group: 'g1' }) as OracleCurve).Point.Fn.ORDER, {
    publicInputs: 1,
    privateInputs: 2,
    constraints: 9,
    seed: 3n,
  });
  const { Fn } = (oracleOf({ curve: 'bn254', group: 'g1' }) as OracleCurve).Point;
  const root = Fn.pow(5n, (Fn.ORDER - 1n) / 2n ** 5n);
  const vector = (name: string) => readFileSync(inProject(`tests/vectors/files/${name}`));
  const ptau = makePowersOfTau({ curve: 'bn254', power: 4, powers: 31, root, seed: 12 });
  const first = await newKey({ system: 'groth16', r1cs, ptau });
  const { zkey: ceremony } = await contribute(first);
  const challenge = await exportChallenge(ceremony);
  const { response } = await contributeToChallenge({ challenge, curve: 'bn254' });
  const product = await compileCircuit(`pragma circom 2.0.0;
    template Product() { signal input a; signal input b; signal output product; product <== a * b; }
    component main = Product();`);
  const files = {
    'product.wasm': product.wasm,
    'product.r1cs': product.r1cs,
    'product.sym': product.sym,
    'product.zkey': await makeZkey('groth16', 'bn254', product.r1cs),
    'circuit.r1cs': r1cs,
    'ceremony.zkey': ceremony,
    challenge,
    response,
    'circuit.zkey': zkey.data,
    'witness.wtns': circuit.witness,
    'plonk.zkey': plonk.zkey.data,
    'plonk.wtns': plonk.circuit.witness,
    'fflonk.zkey': fflonk.zkey.data,
    'fflonk.wtns': fflonk.circuit.witness,
    'powers.ptau': ptau,
    'ceremony.ptau': (await contributeToPowers(await newPowers({ curve: 'bn254', power: 3 }))).ptau,
    'kzg.srs': vector('gnark-0.12-bn254.srs'),
    'kzg.params': vector('halo2-bn254-raw.params'),
    'bn254_g1.dat': vector('aztec-g1.dat'),
    'bn254_g2.dat': vector('aztec-g2.dat'),
  };
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(folder, name), bytes);
};

beforeAll(async () => {
  const installed = join(folder, 'node_modules/webgpu-msm');
  await buildLibrary(join(installed, 'dist'));
  cpSync(inProject('package.json'), join(installed, 'package.json'));
  for (const name of ['@noble', 'snarkjs'])
    symlinkSync(inProject(`node_modules/${name}`), join(folder, 'node_modules', name));
  await writeFiles();
  process.chdir(folder);
});
afterEach(() => vi.unstubAllGlobals());
afterAll(async () => {
  process.chdir(before);
  rmSync(folder, { recursive: true, force: true });
  await (await ffCurveOf('bn254')).terminate();
});

/** Has a device compile nothing: a calibration tries every setting, and measures none. */
const compilesNothing = (device: LeasedDevice): void => {
  device.tap = (call) => {
    if (call.method !== 'createShaderModule') return call.proceed();
    const [{ code, ...rest }] = call.args as [GPUShaderModuleDescriptor];
    return call.proceed([{ ...rest, code: `${code} fn broken() -> u32 {}` }]);
  };
};

/** Returns a GPU for an example; calibrate.test.ts has the minute of a calibration's kernels. */
const gpuFor = async (code: string): Promise<GPU> =>
  (await leaseGpu(code.includes('await calibrate(') ? compilesNothing : undefined)).gpu;

describe('examples of the docstrings', () => {
  test.each(examples.map((example) => [example.at, example] as const))('%s', async (_, { code, program, printed }) => {
    if (code.includes('navigator.gpu')) vi.stubGlobal('navigator', { gpu: await gpuFor(code) });
    const said: string[] = [];
    const log = vi.spyOn(console, 'log').mockImplementation((...words) => void said.push(format(...words)));
    const path = join(folder, `example-${crypto.randomUUID()}.mjs`);
    writeFileSync(path, program);
    await import(/* @vite-ignore */ pathToFileURL(path).href).finally(() => log.mockRestore());
    expect(said).toEqual(printed);
  });

  test('have the types that the package declares', () => {
    // within the project, where TypeScript finds the types of other packages
    const place = inProject(`node_modules/.cache/webgpu-msm/examples-${process.pid}`);
    mkdirSync(place, { recursive: true });
    const paths = examples.map(({ program }, i) => {
      const path = join(place, `example-${i}.ts`);
      writeFileSync(path, program);
      return path;
    });
    const tsconfig = inProject('tsconfig.json');
    const { config } = ts.readConfigFile(tsconfig, ts.sys.readFile);
    const { options } = ts.parseJsonConfigFileContent(config, ts.sys, inProject('.'), undefined, tsconfig);
    const wgsl = inProject('src/shaders/wgsl.d.ts');
    const program = ts.createProgram([...paths, wgsl], { ...options, noUnusedLocals: false });
    const faults = paths.flatMap((path, i) =>
      ts.getPreEmitDiagnostics(program, program.getSourceFile(path)).map(({ messageText }) => {
        return `${examples[i]?.at}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
      }),
    );
    rmSync(place, { recursive: true });
    expect(faults).toEqual([]);
  });
});
