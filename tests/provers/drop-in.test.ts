/** The interface of snarkjs without snarkjs: the same names, files, verdicts and bytes as snarkjs 0.7.6. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import * as dropIn from '../../src/snarkjs-drop-in.js';
import { type CompiledCircuit, compileCircuit } from '../support/circom.js';
import { makeZkey } from '../support/circom-keys.js';
import { ffCurveOf, memoryFile, systems, snarkjs as typed } from '../support/proving.js';

/** All of snarkjs by name. */
const snarkjs = typed as unknown as Readonly<
  Record<string, Readonly<Record<string, (...given: unknown[]) => unknown>>>
>;
const ours = dropIn as unknown as typeof snarkjs;

const provers = { groth16: dropIn.groth16, plonk: dropIn.plonk, fflonk: dropIn.fflonk };

const source = `pragma circom 2.0.0;
template Powers() {
  signal input a; signal input b[2]; signal output c; signal output d;
  signal square; square <== a * a;
  c <== square * b[0]; d <== c * b[1] + a; c === square * b[0];
}
component main { public [a] } = Powers();`;
const input = { a: '0x10', b: ['-3', 21] };

const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-drop-in-'));
let circuit: CompiledCircuit;
beforeAll(async () => {
  circuit = await compileCircuit(source);
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await (await ffCurveOf('bn254')).terminate();
});

test('has every namespace of snarkjs and every function in it', () => {
  const namesOf = (module: typeof snarkjs, namespace: string) => Object.keys(module[namespace] ?? {}).sort();
  const namespaces = Object.keys(snarkjs).filter((name) => name !== 'default');
  expect(namespaces.length).toBe(8);
  for (const namespace of namespaces)
    expect([namespace, namesOf(ours, namespace)]).toEqual([namespace, namesOf(snarkjs, namespace)]);
});

test('what it does not have throws an error that names it and says what to do', async () => {
  const here = new Set([
    ...['prove', 'fullProve', 'verify', 'exportSolidityCallData', 'exportVerificationKey'],
    ...['wtns.calculate', 'wtns.check', 'wtns.exportJson'],
  ]);
  const missing = Object.entries(ours).flatMap(([namespace, functions]) =>
    namespace === 'MsmError'
      ? []
      : Object.entries(functions)
          .filter(([name]) => !(here.has(`${namespace}.${name}`) || (namespace !== 'powersOfTau' && here.has(name))))
          .map(([name, call]) => [`${namespace}.${name}`, call] as const),
  );
  expect(missing.length).toBe(31);
  for (const [name, call] of missing) {
    const error = await Promise.resolve(call({})).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'MsmError', code: 'bad-argument' });
    expect((error as Error).message).toMatch(`${name} of snarkjs is not in webgpu-msm/snarkjs-drop-in`);
    expect((error as Error).message).toMatch('install snarkjs under a name of its own');
  }
});

describe.each(systems)('%s', (system) => {
  test('proves from inputs and witnesses what snarkjs verifies, and verifies what snarkjs proves', async () => {
    const zkey = await makeZkey(system, 'bn254', circuit.r1cs);
    const path = join(folder, `${system}.zkey`);
    writeFileSync(path, zkey);
    const wasm = join(circuit.folder, 'circuit_js/circuit.wasm');
    const key = await ours.zKey?.exportVerificationKey?.(path);
    expect(JSON.stringify(key)).toBe(JSON.stringify(await typed.zKey.exportVerificationKey(path)));

    const results = [];
    const witness: { readonly type: string; data?: Uint8Array } = { type: 'mem' };
    await dropIn.wtns.calculate(input, circuit.wasm, witness);
    results.push(await provers[system].fullProve(input, wasm, path));
    results.push(
      await provers[system].fullProve(input, circuit.wasm, zkey, undefined, { memorySize: 1 }, { singleThread: true }),
    );
    results.push(await provers[system].prove({ type: 'file', fileName: path } as never, witness));
    const theirs = (await snarkjs[system]?.fullProve?.(input, wasm, path)) as (typeof results)[number];
    for (const result of [...results, theirs]) {
      expect(result.publicSignals).toEqual(theirs.publicSignals);
      const { proof, publicSignals } = result;
      expect(await typed[system].verify(key as object, publicSignals, proof)).toBe(true);
      expect(await provers[system].verify(key as object, publicSignals, proof as never)).toBe(true);
      const other = publicSignals.with(0, '5');
      expect(await provers[system].verify(key as object, other, proof as never)).toBe(false);
      const given = system === 'fflonk' ? [publicSignals, proof] : [proof, publicSignals];
      const calldata = ours[system]?.exportSolidityCallData;
      expect(await calldata?.(...given)).toBe(await snarkjs[system]?.exportSolidityCallData?.(...given));
    }
  });

  test('rejects what snarkjs rejects, with typed errors', async () => {
    const zkey = await makeZkey(system, 'bn254', circuit.r1cs);
    const wasm = circuit.wasm;
    const witness: { readonly type: string; data?: Uint8Array } = { type: 'mem' };
    await dropIn.wtns.calculate(input, wasm, witness);
    const short = (witness.data as Uint8Array).slice(0, -32);
    const other = await makeZkey(system === 'plonk' ? 'fflonk' : 'plonk', 'bn254', circuit.r1cs);
    const calls: readonly (readonly [string, readonly unknown[], string, string | RegExp])[] = [
      ['fullProve', [{ a: 1 }, wasm, zkey], 'bad-argument', /input/],
      ['fullProve', [{ ...input, e: 1 }, wasm, zkey], 'bad-argument', 'e'],
      ['fullProve', [{ ...input, b: [1, 2, 3] }, wasm, zkey], 'bad-argument', 'b'],
      ['prove', [zkey, short], 'bad-argument', 'witness'],
      ['prove', [other, witness], 'bad-argument', /zkey is a key of/],
      ['prove', [join(folder, 'none.zkey'), witness], '', 'ENOENT'],
      ['verify', [{ curve: 'bn129' }, [], {}], 'bad-argument', 'key: curve'],
    ];
    for (const [name, given, code, message] of calls) {
      const [mine, theirs] = [ours, snarkjs].map((module) => module[system]?.[name] as (...all: unknown[]) => unknown);
      await expect(Promise.resolve(theirs?.(...given)), name).rejects.toThrow();
      const error = await Promise.resolve(mine?.(...given)).catch((thrown: unknown) => thrown);
      expect((error as Error).message).toMatch(message);
      if (code !== '') expect(error).toMatchObject({ name: 'MsmError', code });
    }
  });
});

test('a signal ends a proof, and the next one works', async () => {
  const zkey = await makeZkey('groth16', 'bn254', circuit.r1cs);
  const { groth16 } = dropIn;
  const prove = (signal: AbortSignal) => groth16.fullProve(input, circuit.wasm, zkey, undefined, undefined, { signal });
  await expect(prove(AbortSignal.abort())).rejects.toMatchObject({ code: 'aborted' });
  const ending = new AbortController();
  const proving = prove(ending.signal);
  ending.abort();
  await expect(proving).rejects.toMatchObject({ code: 'aborted' });
  expect((await prove(new AbortController().signal)).publicSignals).toHaveLength(3);
});

describe('configure', () => {
  const zkeyOf = () => makeZkey('groth16', 'bn254', circuit.r1cs);
  afterAll(() => dropIn.configure());

  test('chooses what computes, whether proofs are verified, and how much keys keep', async () => {
    const zkey = await zkeyOf();
    const warnings: string[] = [];
    const onWarning = (message: string) => void warnings.push(message);
    const prove = () => dropIn.groth16.fullProve(input, circuit.wasm, zkey);
    const workers: unknown[] = [];
    const createWorker = (): never => {
      workers.push(null);
      throw new Error('of the caller');
    };
    await dropIn.configure({
      backend: 'cpu',
      maxWorkers: 2,
      createWorker,
      basesBudget: 1,
      verifyProof: true,
      onWarning,
    });
    const { proof, publicSignals } = await prove();
    expect(await typed.groth16.verify(await typed.zKey.exportVerificationKey(zkey), publicSignals, proof)).toBe(true);
    await prove();
    expect(warnings.filter((each) => each.includes('they exceed basesBudget, 1 bytes; set it to'))).toHaveLength(1);
    await dropIn.configure({ backend: 'cpu', memoryLimit: 1, onWarning });
    await expect(prove()).rejects.toMatchObject({ code: 'out-of-memory' });
    await dropIn.configure({ backend: 'gpu', gpu: { requestAdapter: async () => null } as never, onWarning });
    await expect(prove()).rejects.toMatchObject({ code: 'no-webgpu' });
    await dropIn.configure();
    expect((await prove()).publicSignals).toEqual(publicSignals);
  });

  test('ends the proofs that a key computes', async () => {
    const zkey = await zkeyOf();
    const witness: { readonly type: string; data?: Uint8Array } = { type: 'mem' };
    await dropIn.wtns.calculate(input, circuit.wasm, witness);
    const proving = dropIn.groth16.prove(zkey, witness);
    const ended = expect(proving).rejects.toMatchObject({ code: 'aborted' });
    await new Promise(setImmediate);
    await dropIn.configure({ backend: 'cpu' });
    await ended;
    expect((await dropIn.groth16.prove(zkey, witness)).publicSignals).toHaveLength(3);
  });

  test.each(systems)('proves by %s in circuits, which stay open, and prints what they log', async (system) => {
    const { wasm, r1cs } = await compileCircuit(source.replace('c === square', 'log("c", a); c === square'));
    const zkey = await makeZkey(system, 'bn254', r1cs);
    const warnings: string[] = [];
    const onWarning = (message: string) => void warnings.push(message);
    // the sources have no file of the worker, so that the circuit computes here
    await dropIn.configure({ worker: true, backend: 'cpu', maxWorkers: 0, verifyProof: true, onWarning });
    const prove = (values: object, options = {}) =>
      provers[system].fullProve(values, wasm, zkey, undefined, undefined, options);
    const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    try {
      const results = [await prove(input), await prove(input)];
      expect(log.mock.calls).toEqual([['c 16'], ['c 16']]);
      const key = await typed.zKey.exportVerificationKey(zkey);
      for (const { proof, publicSignals } of results)
        expect(await typed[system].verify(key as object, publicSignals, proof)).toBe(true);
      expect(warnings.filter((each) => each.includes('circuits have no worker'))).toHaveLength(1);
      await expect(prove({ a: 1 })).rejects.toMatchObject({ code: 'bad-argument' });
      await expect(prove(input, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'aborted' });
      const ending = new AbortController();
      const aborted = expect(prove(input, { signal: ending.signal })).rejects.toMatchObject({ code: 'aborted' });
      ending.abort();
      await aborted;
      const other = system === 'groth16' ? 'plonk' : 'groth16';
      const wrong = provers[other].fullProve(input, wasm, zkey);
      await expect(wrong).rejects.toThrow(`zkey is a key of ${system}, not of ${other}`);
      const proving = expect(prove({ ...input, a: 3 })).rejects.toMatchObject({ code: 'aborted' });
      await new Promise(setImmediate);
      await dropIn.configure({ backend: 'cpu' });
      await proving;
    } finally {
      log.mockRestore();
    }
  });

  test.each(systems)('limits the memory of circuits with keys of %s', async (system) => {
    const zkey = await makeZkey(system, 'bn254', circuit.r1cs);
    const onWarning = (): void => undefined;
    await dropIn.configure({ worker: true, backend: 'cpu', maxWorkers: 0, memoryLimit: 1, onWarning });
    const proving = provers[system].fullProve(input, circuit.wasm, zkey);
    await expect(proving).rejects.toMatchObject({ code: 'out-of-memory' });
  });

  test('refuses other options, and changes nothing', async () => {
    const prove = async () => dropIn.groth16.fullProve(input, circuit.wasm, await zkeyOf());
    await dropIn.configure({ backend: 'cpu', memoryLimit: 1 });
    for (const [options, message] of [
      [{ backend: 'tpu' }, 'options.backend'],
      [{ leastPoints: 1 }, 'options.leastPoints is not an option of configure'],
      [{ worker: true, createWorker: () => null }, 'options.createWorker cannot be sent to a worker'],
      [3, 'options must be an object'],
    ] as const) {
      const failed = dropIn.configure(options as never);
      await expect(failed).rejects.toMatchObject({ code: 'bad-argument' });
      await expect(failed).rejects.toThrow(message);
    }
    await expect(prove()).rejects.toMatchObject({ code: 'out-of-memory' });
  });
});

describe('wtns', () => {
  test('calculates the bytes of snarkjs into memory and into files', async () => {
    const files = [memoryFile(), memoryFile()] as { data?: Uint8Array }[];
    await dropIn.wtns.calculate(input, circuit.wasm, files[0] as never);
    await snarkjs.wtns?.calculate?.(input, circuit.wasm, files[1]);
    expect(files[0]?.data).toEqual(new Uint8Array(files[1]?.data as Uint8Array));
    const path = join(folder, 'circuit.wtns');
    await dropIn.wtns.calculate(input, circuit.wasm, path);
    expect(new Uint8Array(readFileSync(path))).toEqual(files[0]?.data);
    expect(await dropIn.wtns.exportJson(path)).toEqual(await snarkjs.wtns?.exportJson?.(path));
  });

  test('checks witnesses as snarkjs does', async () => {
    const file = memoryFile() as { type: string; data?: Uint8Array };
    await dropIn.wtns.calculate(input, circuit.wasm, file);
    const logger = { info: () => undefined, warn: () => undefined };
    const verdicts = async () => [
      await dropIn.wtns.check(circuit.r1cs, file),
      await snarkjs.wtns?.check?.(memoryFile(circuit.r1cs), file, logger),
    ];
    expect(await verdicts()).toEqual([true, true]);
    const bytes = new Uint8Array(file.data as Uint8Array);
    bytes[bytes.length - 32] = (bytes.at(-32) as number) ^ 1;
    file.data = bytes;
    expect(await verdicts()).toEqual([false, false]);
  });

  test('refuses inputs that do not satisfy the circuit, with the text of circom', async () => {
    const { wasm } = await compileCircuit(source.replace('c === square * b[0]', 'c === 7 * a'));
    const failing = dropIn.wtns.calculate(input, wasm, { type: 'mem' });
    await expect(failing).rejects.toMatchObject({ code: 'unsatisfied' });
    await expect(failing).rejects.toThrow(/Assert Failed/);
  });
});
