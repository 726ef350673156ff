/** The library as a developer sees it: printed handles, stacks of errors, warnings. */
import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createFieldEngine, type FieldEngine } from '../../src/fields.js';
import { openProvingKey, type ProvingKey } from '../../src/groth16.js';
import { type Bases, createMsmEngine, type MsmEngine, type MsmError } from '../../src/index.js';
import { CpuThreads } from '../../src/msm/cpu/cpu-threads.js';
import { ffCurveOf, makeStatement, type Statement } from '../support/proving.js';
import { inProject } from '../support/run-script.js';

let engine: MsmEngine;
let bases: Bases;
let fr: FieldEngine;
let statement: Statement;
let key: ProvingKey;

beforeAll(async () => {
  engine = await createMsmEngine({ curve: 'bn254', backend: 'cpu', maxWorkers: 0 });
  bases = await engine.loadBases([{ x: 1n, y: 2n, infinity: false }], { label: 'generator' });
  fr = await createFieldEngine();
  statement = await makeStatement('groth16', 'bn254', 5, 'dense');
  key = await openProvingKey(statement.zkey.data, { backend: 'cpu' });
});
afterAll(async () => {
  for (const each of [engine, fr, key]) each.destroy();
  await (await ffCurveOf('bn254')).terminate();
});

describe('a console prints', () => {
  const secret = 0x1234_5678_9abc_def0n;

  test.each<[string, () => object | Promise<object>, RegExp]>([
    ['MsmEngine', () => engine, /curve: 'bn254',\s+backends: \[ 'cpu' \]/],
    ['Bases', () => bases, /label: 'generator', length: 1, byteLength: 0/],
    ['Scalars', () => engine.loadScalars([secret]), /label: 'scalars', length: 1, byteLength: 0/],
    ['FieldEngine', () => fr, /field: 'bn254-fr'/],
    ['FieldVector', () => fr.load([secret]), /length: 1, state: 'resident'/],
    [
      'SparseMatrix',
      () => fr.loadMatrix({ rows: 1, columns: 2, row: [0], column: [1], values: [secret] }),
      /rows: 1, columns: 2, entries: 1/,
    ],
    ['ProvingKey', () => key, /curve: 'bn254',\s+variables: \d+/],
  ])('%s by its name with facts about it, and no secret', async (name, make, facts) => {
    const handle = await make();
    const text = inspect(handle, { depth: 9, showHidden: false });
    expect(text.startsWith(`${name} {`)).toBe(true);
    expect(text).toMatch(facts);
    // the scalar as a number, and the bytes of it
    for (const form of [secret.toString(), secret.toString(16), '240, 222', 'f0 de', '2596069104'])
      expect(text).not.toContain(form);
    expect(Object.prototype.toString.call(handle)).toBe(`[object ${name}]`);
  });
});

describe('the stack of an error that is found in a queue has the frame of the call', () => {
  const stackOf = async (call: () => Promise<unknown>): Promise<string> => {
    const error = await call().then(
      () => null,
      (reason: MsmError) => reason,
    );
    expect(error).toMatchObject({ name: 'MsmError' });
    return error?.stack ?? '';
  };
  const framesNamed = (stack: string, name: string): number => stack.split(`at ${name} `).length - 1;

  test('of sums and loads', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    function callerOfMsm() {
      return engine.msm(bases, [1n], { signal, onProgress: () => controller.abort() });
    }
    expect(framesNamed(await stackOf(callerOfMsm), 'callerOfMsm')).toBe(1);
    function callerOfLoad() {
      // not on the curve, which the load finds when it has its turn
      return engine.loadBases([{ x: 1n, y: 3n, infinity: false }]);
    }
    expect(framesNamed(await stackOf(callerOfLoad), 'callerOfLoad')).toBe(1);
  });

  test('of vectors and proofs', async () => {
    const controller = new AbortController();
    function callerOfRun() {
      const running = fr.run(() => 0, { signal: controller.signal });
      controller.abort();
      return running;
    }
    expect(framesNamed(await stackOf(callerOfRun), 'callerOfRun')).toBe(1);
    function callerOfProve() {
      return key.prove(statement.circuit.witness, { onProgress: () => key.destroy() });
    }
    expect(framesNamed(await stackOf(callerOfProve), 'callerOfProve')).toBe(1);
  });

  test('of calls that one error ends, each its own', async () => {
    const other = await createMsmEngine({ curve: 'bn254', backend: 'cpu', maxWorkers: 0 });
    const loaded = await other.loadBases([{ x: 1n, y: 2n, infinity: false }]);
    function firstCaller() {
      return other.msm(loaded, [1n], { onProgress: () => other.destroy() });
    }
    function secondCaller() {
      return other.msm(loaded, [2n]);
    }
    const [first, second] = await Promise.all([stackOf(firstCaller), stackOf(secondCaller)]);
    expect([framesNamed(first, 'firstCaller'), framesNamed(first, 'secondCaller')]).toEqual([1, 0]);
    expect([framesNamed(second, 'firstCaller'), framesNamed(second, 'secondCaller')]).toEqual([0, 1]);
  });

  test('no frame twice, where the error is found at once', async () => {
    async function caller() {
      return await engine.msm(bases, [1n], { offset: 7 });
    }
    expect(framesNamed(await stackOf(caller), 'caller')).toBe(1);
  });
});

test('a warning names no page that the package lacks', () => {
  const { files } = JSON.parse(readFileSync(inProject('package.json'), 'utf8')) as { readonly files: string[] };
  const warnings: string[] = [];
  new CpuThreads({ onWarning: (message) => void warnings.push(message) }).warn('a test');
  expect(warnings).toHaveLength(1);
  const paths = warnings[0]?.match(/\b[\w-]+(?:\/[\w.-]+)+/g) ?? [];
  for (const path of paths) expect(files.some((file) => path.startsWith(`${file}/`))).toBe(true);
  expect(warnings[0]).toMatch(/webgpu-msm-worker\.js .* createWorker/);
});
