/**
 * The types of the packed package in projects of others: with each TypeScript from 5.4 to 7, with
 * `@webgpu/types` and without, resolved as bundlers do and as Node does, and with the libraries
 * checked (no `skipLibCheck`), but for TypeScript's own.
 *
 * @module-tag long
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { installProject, packPackage } from '../support/packed-package.js';

/** The last of each minor version. */
const VERSIONS = ['5.4.5', '5.5.4', '5.6.3', '5.7.3', '5.8.3', '5.9.3', '6.0.3', '7.0.2'];

const PROGRAM = `import { type Bases, createMsmEngine, MsmError, type MsmErrorCode, version } from 'webgpu-msm';
import { calibrate } from 'webgpu-msm/calibrate';
import { type Circuit, openCircuit } from 'webgpu-msm/circom';
import * as fflonk from 'webgpu-msm/fflonk';
import { createFieldEngine, type FieldVector } from 'webgpu-msm/fields';
import { type FileSource, openPtau, openZkey } from 'webgpu-msm/formats';
import * as groth16 from 'webgpu-msm/groth16';
import { nobleMsm } from 'webgpu-msm/noble';
import * as plonk from 'webgpu-msm/plonk';
import { contribute, newKey, verifyKey } from 'webgpu-msm/setup';
import { type Accelerated, accelerate } from 'webgpu-msm/snarkjs';
import * as dropIn from 'webgpu-msm/snarkjs-drop-in';
import 'webgpu-msm/worker';

export const compute = async (device: GPUDevice, gpu: GPU): Promise<bigint> => {
  const calibration = await calibrate(device, { curve: 'bn254' });
  const powerPreference = 'low-power';
  const tuning = { windowBits: 8 };
  const options = { device, gpu, powerPreference, tuning: { ...calibration.tuning, ...tuning } } as const;
  using engine = await createMsmEngine({ curve: 'bn254', ...options });
  using bases: Bases = await engine.loadBases([{ x: 1n, y: 2n, infinity: false }]);
  const { x }: { x: bigint } = await engine.msm(bases, [2n]);
  const bytes: Uint8Array = await engine.msm(bases, [2n], { result: 'le' });
  const batch: Uint8Array[] = await engine.msmBatch(bases, [[2n]], { result: 'be' });
  // bytes that may be shared are no part of a Blob, from TypeScript 5.9 on
  console.log(new Blob([await engine.msm(bases, [2n], { result: 'le' })]), bytes, batch);
  bases[Symbol.dispose]();
  // @ts-expect-error: a device is no number
  createMsmEngine({ curve: 'bn254', device: 1 });
  // @ts-expect-error: no such preference
  createMsmEngine({ curve: 'bn254', powerPreference: 'most-power' });
  return x;
};
export const read = async (file: File | FileSource) => [await openPtau(file), await openZkey(file)];
export const proveInput = async (wasm: File, zkey: URL): Promise<string[]> => {
  await using circuit: Circuit = await openCircuit({ wasm, zkey }, { backend: 'cpu' });
  return (await circuit.prove({ a: [1, 2n, ['3']], b: true })).publicSignals;
};
export const prove = async (zkey: FileSource, witness: File): Promise<string[]> => {
  using key: groth16.ProvingKey = await groth16.openProvingKey(zkey, { backend: 'cpu' });
  const { proof, publicSignals }: groth16.ProofResult = await key.prove(witness, {
    ...{ priority: 'background', verifyProof: true },
    onProgress: ({ part, done }) => console.log(part, done),
  });
  const isRight: boolean = await key.verify(proof, publicSignals, { signal: AbortSignal.timeout(1000) });
  using other: plonk.ProvingKey = await plonk.openProvingKey(zkey);
  const second: plonk.ProofResult = await other.prove(witness);
  // @ts-expect-error: a proof of another system
  plonk.exportSolidityCallData(proof, publicSignals);
  // @ts-expect-error: a proof of another system
  if (isRight) await other.verify(proof, publicSignals);
  using last: fflonk.ProvingKey = await fflonk.openProvingKey(zkey);
  const third: fflonk.ProofResult = await last.prove(witness);
  console.log(fflonk.exportSolidityCallData(third.proof, third.publicSignals), third.proof.evaluations.inv);
  // @ts-expect-error: no such option
  groth16.openProvingKey(zkey, { speed: 1 });
  return [groth16.exportSolidityCallData(proof, publicSignals), second.proof.T3[0] ?? '', other.curve];
};
export const proveAsSnarkjs = async (zkey: string): Promise<boolean> => {
  const { proof, publicSignals } = await dropIn.groth16.fullProve({ a: 1 }, 'circuit.wasm', zkey);
  const key: object = await dropIn.zKey.exportVerificationKey(zkey);
  const other: never = await dropIn.zKey.newZKey('circuit.r1cs', 'powers.ptau', zkey);
  return other || dropIn.groth16.verify(key, publicSignals, proof);
};
export const square = async (numbers: readonly bigint[]): Promise<Uint8Array> => {
  using fr = await createFieldEngine({ field: 'bn254-fr' });
  using vector: FieldVector = await fr.load(numbers);
  return fr.read(await fr.run((ops) => ops.keep(ops.multiply(vector, vector))));
};
export const setUp = async (r1cs: FileSource, ptau: FileSource, sink: WritableStream<Uint8Array>): Promise<boolean> => {
  const first: Uint8Array = await newKey({ system: 'groth16', r1cs, ptau });
  const { zkey, hash } = await contribute(first, { name: 'Ada' }, { signal: AbortSignal.timeout(1000) });
  const toStream: { readonly zkey: Uint8Array | undefined } = await contribute(zkey, {}, { sink });
  return hash.length === 64 && toStream.zkey === undefined && (await verifyKey({ zkey, r1cs, ptau })).isValid;
};
export const fullProve = ({ groth16: prover }: Accelerated) => prover.fullProve({ a: 1 }, 'a.wasm', 'a.zkey');
export const code: MsmErrorCode = new MsmError('aborted', version).code;
export { accelerate, nobleMsm };
`;

const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-types-'));

beforeAll(async () => {
  const compilers = VERSIONS.map((version) => `typescript-${version}@npm:typescript@${version}`);
  await installProject(folder, [...compilers, '@webgpu/types@0.1.74', await packPackage()]);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the output of a compiler for the program. */
const check = (version: string, resolution: string, types: readonly string[]): Promise<string> => {
  const project = join(folder, `${version}-${resolution}-${types.length}`);
  mkdirSync(project);
  writeFileSync(join(project, 'program.ts'), PROGRAM);
  const compilerOptions = {
    ...{
      noEmit: true,
      strict: true,
      skipLibCheck: false,
      skipDefaultLibCheck: true,
      types,
      target: 'ES2022',
      lib: ['ES2022', 'DOM'],
    },
    ...{ module: resolution === 'bundler' ? 'esnext' : 'nodenext', moduleResolution: resolution },
  };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }));
  return new Promise((settle, reject) => {
    const child = spawn(process.execPath, [join(folder, `node_modules/typescript-${version}/bin/tsc`), '-p', project], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    child.stdout.on('data', (data) => (said += data));
    child.once('error', reject);
    child.once('close', () => settle(said));
  });
};

/**
 * Resolutions and types, each pair of which the oldest and the newest compilers are tried with;
 * those between with one of two in turns.
 */
const PROJECTS = VERSIONS.flatMap((version, i) => {
  const none: readonly string[] = [];
  const some = [
    { version, resolution: 'bundler', types: none },
    { version, resolution: 'nodenext', types: ['@webgpu/types'] },
  ];
  const others = [
    { version, resolution: 'nodenext', types: none },
    { version, resolution: 'bundler', types: ['@webgpu/types'] },
  ];
  return ['5.4.5', '6.0.3', '7.0.2'].includes(version) ? [...some, ...others] : some.slice(i % 2, (i % 2) + 1);
});

it.concurrent.each(PROJECTS)(
  'TypeScript $version finds nothing wrong of ours: resolution $resolution, types $types',
  async ({ version, resolution, types }) => {
    const said = await check(version, resolution, types);
    // since TypeScript 6 its own DOM library declares what @webgpu/types does, not quite alike
    const isTwice = types.length > 0 && Number.parseInt(version, 10) >= 6;
    expect(isTwice ? said.split('\n').filter((line) => /webgpu-msm\/|program\.ts/.test(line)) : said).toEqual(
      isTwice ? [] : '',
    );
  },
);
