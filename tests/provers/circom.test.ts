/** Circuits from inputs to proofs, on the calling thread. */
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  type Circuit,
  type CircuitFiles,
  type CircuitOptions,
  type CircuitProgress,
  openCircuit,
} from '../../src/circom.js';
import { openFile } from '../../src/node.js';
import { type CompiledCircuit, compileCircuit, shapes } from '../support/circom.js';
import { makeZkey, verifyBySnarkjs } from '../support/circom-keys.js';
import type { ProverCurve, SystemName } from '../support/proving.js';

const primes = { bn254: 'bn128', 'bls12-381': 'bls12381' } as const;
const input = { a: [[1, 2], [3, 4], ['5', 6n]], k: 4, turns: 2 }; // biome-ignore format: a matrix
/** The output, and the public input. */
const publicSignals = ['116', '4'];

const opened: Circuit[] = [];
const open = async (files: CircuitFiles, options: CircuitOptions = {}): Promise<Circuit> => {
  const quiet = { onWarning: () => undefined };
  const circuit = await openCircuit(files, { worker: false, backend: 'cpu', maxWorkers: 0, ...quiet, ...options });
  opened.push(circuit);
  return circuit;
};
afterEach(() => {
  for (const circuit of opened.splice(0)) circuit.destroy();
});

let compiled: CompiledCircuit;
let zkey: Uint8Array<ArrayBuffer>;
beforeAll(async () => {
  compiled = await compileCircuit(shapes);
  zkey = await makeZkey('groth16', 'bn254', compiled.r1cs);
});

const proves = async (system: SystemName, curve: ProverCurve): Promise<void> => {
  const { wasm, r1cs } = await compileCircuit(shapes, { prime: primes[curve] });
  const key = await makeZkey(system, curve, r1cs);
  const circuit = await open({ wasm, zkey: key });
  expect(circuit.key).toMatchObject({ protocol: system, curve, publicSignals: 2 });
  const result = await circuit.prove(input, { verifyProof: true });
  expect(result.publicSignals).toEqual(publicSignals);
  expect(await verifyBySnarkjs(system, key, result)).toBe(true);
  expect(await circuit.verify(result.proof, result.publicSignals)).toBe(true);
  expect(await circuit.verify(result.proof, ['117', '4'])).toBe(false);
};

test('proves by Groth16 on bn254', () => proves('groth16', 'bn254'));
// snarkjs has no FFLONK on BLS12-381
test.each([
  ['groth16', 'bls12-381'],
  ['plonk', 'bn254'],
  ['plonk', 'bls12-381'],
  ['fflonk', 'bn254'],
] as const)('proves by %s on %s', { tags: 'long' }, (system, curve) => proves(system, curve));

test('reports stages, times and lines of the log', async () => {
  const loads: CircuitProgress[] = [];
  const circuit = await open({ wasm: compiled.wasm, zkey }, { onProgress: (progress) => void loads.push(progress) });
  expect(loads.map(({ stage, done, total }) => [stage, done, total])).toEqual(
    Array.from({ length: 7 }, (_, i) => ['key', i + 1, 7]),
  );
  for (const isFirst of [true, false]) {
    const seen: CircuitProgress[] = [];
    const log: string[] = [];
    const { timings } = await circuit.prove(input, {
      verifyProof: true,
      onProgress: (progress) => void seen.push(progress),
      onLog: (line) => void log.push(line),
    });
    expect(log).toEqual(['out 116 4', 'second']);
    const names = [...new Set(seen.map(({ stage }) => stage))];
    expect(names).toEqual(['witness', 'proof', 'verification']);
    for (const stage of names) {
      const { done, total } = seen.findLast((each) => each.stage === stage) as CircuitProgress;
      expect(done).toBe(total);
    }
    expect(seen.every(({ remainingMs }) => (remainingMs === null) === isFirst)).toBe(true);
    const { witnessMs, proofMs, verificationMs, totalMs } = timings;
    expect(witnessMs + proofMs + (verificationMs as number)).toBeCloseTo(totalMs, 6);
  }
});

test('opens files in all forms', async () => {
  const { folder, wasm } = compiled;
  const path = `${folder}/circuit_js/circuit.wasm`;
  const expected = await (await open({ wasm })).witness(input);
  const forms = [
    path,
    new URL(`file://${path}`),
    new Blob([wasm]),
    new Response(wasm),
    await openFile(path),
    wasm.buffer,
  ];
  for (const form of forms) expect(await (await open({ wasm: form })).witness(input)).toEqual(expected);
  const bytes: (number | null)[] = [];
  const onProgress = ({ done }: CircuitProgress) => void bytes.push(done);
  await open({ wasm: new Response(wasm, { headers: { 'content-length': String(wasm.length) } }) }, { onProgress });
  expect(bytes.at(-1)).toBe(wasm.length);
});

test('computes here where no worker starts, with one warning', async () => {
  const warnings: string[] = [];
  // the sources have no file of the worker
  const circuit = await open(
    { wasm: compiled.wasm, zkey },
    { worker: true, onWarning: (each) => void warnings.push(each) },
  );
  expect(circuit.worker).toBe(false);
  expect(warnings.filter((each) => each.includes('circuits have no worker'))).toHaveLength(1);
  expect((await circuit.prove(input)).publicSignals).toEqual(publicSignals);
});

test('overwrites neither the inputs of the caller nor a witness that it returns', async () => {
  const circuit = await open({ wasm: compiled.wasm, zkey });
  const a = Float64Array.of(1, 2, 3, 4, 5, 6);
  const witness = await circuit.witness({ ...input, a });
  const copy = witness.slice();
  await circuit.prove({ ...input, a });
  expect(witness).toEqual(copy);
  expect([...a]).toEqual([1, 2, 3, 4, 5, 6]);
});

describe('refuses', () => {
  test.each([
    ['no files', () => open(null as never), 'files must be an object with wasm and zkey, got null'],
    ['no program', () => open({} as never), 'files.wasm is missing'],
    ['another name', () => open({ wasm: compiled.wasm, key: zkey } as never), 'files.key is not a file of a circuit'],
    ['a number', () => open({ wasm: 3 as never }), 'wasm: the file must be bytes'],
    ['a key as the program', () => open({ wasm: zkey }), 'wasm: the file is no module'],
    ['a program as the key', () => open({ wasm: compiled.wasm, zkey: compiled.wasm }), 'zkey'],
    [
      'an answer of a server that has no file',
      () => open({ wasm: new Response('', { status: 404 }) }),
      'wasm: the server answered 404',
    ],
    [
      'an option that no worker is sent',
      () => open({ wasm: compiled.wasm }, { worker: true, onEvent: () => undefined }),
      'options.onEvent cannot be sent to a worker',
    ],
    [
      'an unknown option',
      () => open({ wasm: compiled.wasm }, { workers: true } as never),
      'options.workers is not an option of openCircuit; did you mean worker?',
    ],
  ])('%s', async (_, work, message) => {
    const failed = work();
    await expect(failed).rejects.toMatchObject({ code: 'bad-argument' });
    await expect(failed).rejects.toThrow(message);
  });

  test('a program of another field, or of another circuit', async () => {
    const other = await compileCircuit(shapes, { prime: 'bls12381' });
    await expect(open({ wasm: other.wasm, zkey })).rejects.toThrow('wasm and zkey are of different fields');
    const five = await compileCircuit('template Five() { signal output five; five <== 5; } component main = Five();');
    await expect(open({ wasm: five.wasm, zkey })).rejects.toThrow('wasm and zkey are of different circuits');
  });

  test('inputs that lack signals, by their names in the file of symbols', async () => {
    const { wasm, sym } = compiled;
    const { a, k } = input;
    const lacking = 'input has 1 values, but the input signals of the circuit take 8';
    const plain = await open({ wasm });
    await expect(plain.witness({ k })).rejects.toThrow(`${lacking}: signals are missing`);
    const named = await open({ wasm, sym });
    await expect(named.witness({ k })).rejects.toThrow(`${lacking}: it lacks a (6), turns (1)`);
    await expect(named.witness({ a, k })).rejects.toThrow(/: it lacks turns \(1\)$/);
    // a file of another circuit names nothing
    const other = await open({ wasm, sym: new TextEncoder().encode('1,1,0,main.q[0]\n2,2,0,main.r\nodd\n') });
    await expect(other.witness({ k })).rejects.toThrow(`${lacking}: signals are missing`);
  });

  test('proofs without a key, wrong inputs, and calls after the end', async () => {
    const circuit = await open({ wasm: compiled.wasm });
    expect(circuit.key).toBeNull();
    await expect(circuit.prove(input)).rejects.toThrow('the circuit was opened without a zkey');
    await expect(circuit.verify({} as never, [])).rejects.toThrow('the circuit was opened without a zkey');
    await expect(circuit.witness({ ...input, k: 7 })).rejects.toMatchObject({ code: 'unsatisfied' });
    await expect(circuit.witness(input, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'aborted' });
    circuit.destroy();
    await expect(circuit.witness(input)).rejects.toMatchObject({ code: 'destroyed' });
  });
});

test('ends proofs by their signals, and goes on', async () => {
  const circuit = await open({ wasm: compiled.wasm, zkey });
  for (const part of ['values', 'quotient', 'assembly']) {
    const ending = new AbortController();
    const onProgress = (progress: CircuitProgress) => progress.part === part && ending.abort('enough');
    const failed = circuit.prove(input, { signal: ending.signal, onProgress });
    await expect(failed).rejects.toMatchObject({ code: 'aborted', cause: 'enough' });
  }
  const result = await circuit.prove(input);
  expect(await verifyBySnarkjs('groth16', zkey, result)).toBe(true);
});

test('rejects what is under way when it is destroyed', async () => {
  const circuit = await open({ wasm: compiled.wasm, zkey });
  const proving = circuit.prove(input);
  circuit.destroy();
  await expect(proving).rejects.toMatchObject({ code: 'destroyed' });
});
