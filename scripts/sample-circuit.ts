/**
 * Compiles the sample circuit of examples/prover/, and makes its key of powers of tau whose secrets everybody
 * knows: it is for trials only. The files are made once, in examples/prover/public/.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { knownPowers } from '../dev/bench/known-powers.js';
import { contribute, newKey } from '../src/setup.js';

const inProject = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** Power of the domain of the sample. */
const POWER = 12;

const publicFolder = inProject('examples/prover/public');
const modules = inProject('node_modules');

const makeFiles = async (folder: string): Promise<Readonly<Record<string, Uint8Array | string>>> => {
  const source = join(folder, 'sample.circom');
  writeFileSync(source, readFileSync(inProject('examples/prover/sample.circom')));
  const compiler = [join(modules, 'circom2/cli.js'), source, '--wasm', '--r1cs', '--O2', '-l', modules, '-o', folder];
  // the compiler sees this folder alone, and those below it
  execFileSync(process.execPath, compiler, { cwd: '/', stdio: 'pipe' });
  const r1cs = readFileSync(join(folder, 'sample.r1cs'));
  const key = await newKey({ system: 'groth16', r1cs, ptau: await knownPowers('bn254', POWER) });
  return {
    'sample.wasm': readFileSync(join(folder, 'sample_js/sample.wasm')),
    'sample.json': '{ "first": "7" }\n',
    // the last one: with it all are there
    'sample.zkey': (await contribute(key)).zkey,
  };
};

if (!existsSync(join(publicFolder, 'sample.zkey'))) {
  console.log('making a sample circuit and its key');
  const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-sample-'));
  mkdirSync(publicFolder, { recursive: true });
  for (const [name, content] of Object.entries(await makeFiles(folder))) {
    writeFileSync(join(publicFolder, name), content);
  }
  rmSync(folder, { recursive: true });
}
