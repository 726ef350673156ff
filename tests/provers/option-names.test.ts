/** Every public function with options refuses names that it does not have, and names the nearest. */
import { bn254 } from '@noble/curves/bn254.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { calibrate } from '../../src/calibrate.js';
import { openCircuit } from '../../src/circom.js';
import { bn254 as constants } from '../../src/curves/bn254.js';
import * as fflonk from '../../src/fflonk.js';
import { createFieldEngine, type FieldEngine, type FieldVector } from '../../src/fields.js';
import { openFile, pointSection } from '../../src/formats/source.js';
import { openGnarkSrs, openPtau, openZkey } from '../../src/formats.js';
import * as groth16 from '../../src/groth16.js';
import { type Bases, createMsmEngine, type MsmEngine, MsmError } from '../../src/index.js';
import { type NobleMsm, nobleMsm } from '../../src/noble.js';
import { nearestName } from '../../src/option-table.js';
import * as plonk from '../../src/plonk.js';
import {
  applyBeacon,
  contribute,
  contributeToChallenge,
  exportVerificationKey,
  newKey,
  newPowers,
  preparePhase2,
  truncatePowers,
  verifyKey,
  verifyPowers,
} from '../../src/setup.js';
import { accelerate } from '../../src/snarkjs.js';
import { configure } from '../../src/snarkjs-drop-in.js';
import { ffCurveOf, makeStatement, type Statement, snarkjs, systems } from '../support/proving.js';

const engineOf = (options: object): Promise<MsmEngine> => createMsmEngine({ curve: 'bn254', ...options } as never);

let engine: MsmEngine;
let bases: Bases;
let fr: FieldEngine;
let vector: FieldVector;
let msm: NobleMsm<typeof bn254.G1.Point.BASE>;
let statement: Statement;
let key: groth16.ProvingKey;

beforeAll(async () => {
  engine = await engineOf({ backend: 'cpu', maxWorkers: 0 });
  bases = await engine.loadBases([{ x: 1n, y: 2n, infinity: false }]);
  fr = await createFieldEngine();
  vector = await fr.load([1n, 2n]);
  msm = await nobleMsm(bn254.G1.Point, { backend: 'cpu', maxWorkers: 0 });
  statement = await makeStatement('groth16', 'bn254', 5, 'dense');
  key = await groth16.openProvingKey(statement.zkey.data, { backend: 'cpu' });
});
afterAll(async () => {
  for (const each of [engine, fr, msm, key]) each.destroy();
  await (await ffCurveOf('bn254')).terminate();
});

/** A device that no call gets as far as to use. */
const device = { createBuffer: () => undefined } as unknown as GPUDevice;
const section = () =>
  pointSection(openFile('file', new Uint8Array(64)), {
    ...({ name: 'A', curve: 'bn254', group: 'g1', encoding: 'le', count: 1, pointBytes: 64, at: 0 } as const),
  });
const entries = { rows: 1, columns: 2, row: [0], column: [1], values: [1n] };
const nowhere = new Uint8Array(8);

/** Calls with one option, by the name of the function; then misspelt names and the nearest ones. */
const calls: readonly (readonly [string, (options: object) => unknown, Readonly<Record<string, string>>])[] = [
  [
    'createMsmEngine',
    engineOf,
    {
      maxWorker: 'maxWorkers',
      Backend: 'backend',
      workers: 'maxWorkers',
      tunning: 'tuning',
      powerPreferance: 'powerPreference',
    },
  ],
  [
    'sharing',
    (sharing) => engineOf({ sharing }),
    { overlapp: 'overlap', sidepool: 'sidePool', yeildWhile: 'yieldWhile' },
  ],
  ['maxQueued', (maxQueued) => engineOf({ maxQueued }), { call: 'calls', byte: 'bytes' }],
  ['tuning', (tuning) => engineOf({ tuning }), { windowbits: 'windowBits', cpuBellow: 'cpuBelow' }],
  [
    'curve',
    (curve) => engineOf({ curve: { ...constants, ...curve } }),
    { nonresidue: 'nonResidue', generater: 'generator' },
  ],
  [
    'loadBases',
    (options) => engine.loadBases([], options),
    { precomputed: 'precompute', checkSubGroup: 'checkSubgroup', lable: 'label', singal: 'signal' },
  ],
  ['loadScalars', (options) => engine.loadScalars([], options), { encoding: 'scalarEncoding', prioritiy: 'priority' }],
  ['msm', (options) => engine.msm(bases, [1n], options), { offsets: 'offset', onprogress: 'onProgress' }],
  ['msmBatch', (options) => engine.msmBatch(bases, [[1n]], options), { offset: 'offsets', results: 'result' }],
  [
    'createFieldEngine',
    createFieldEngine,
    { fields: 'field', arithmetics: 'arithmetic', memorybudget: 'memoryBudget' },
  ],
  ['field', (field) => createFieldEngine({ field: { p: 2n ** 61n - 1n, ...field } }), { generetor: 'generator' }],
  ['load, loadMatrix and read', (options) => fr.load([1n], options), { encodings: 'encoding' }],
  ['load, loadMatrix and read', (options) => fr.read(vector, options), { Signal: 'signal' }],
  ['load, loadMatrix and read', (options) => fr.loadMatrix(entries, options), { endoding: 'encoding' }],
  ['entries', (more) => fr.loadMatrix({ ...entries, ...more }), { value: 'values', colum: 'column' }],
  ['run', (options) => fr.run(() => 0, options), { verifies: 'verify', priorty: 'priority' }],
  ['transforms', (options) => fr.run((ops) => ops.ntt(vector, options)), { cosets: 'coset' }],
  ['transforms', (options) => fr.run((ops) => ops.intt(vector, options)), { form: 'from' }],
  ['scalePowers', (options) => fr.run((ops) => ops.scalePowers(vector, 2n, options)), { factors: 'factor' }],
  [
    'openProvingKey',
    (options) => groth16.openProvingKey(nowhere, options),
    { onprogress: 'onProgress', verif: 'verify', backEnd: 'backend' },
  ],
  [
    'openCircuit',
    (options) => openCircuit({ wasm: nowhere }, options),
    { workers: 'worker', onprogress: 'onProgress' },
  ],
  ['openProvingKey', (options) => plonk.openProvingKey(nowhere, options), { maxworkers: 'maxWorkers' }],
  ['openProvingKey', (options) => fflonk.openProvingKey(nowhere, options), { signals: 'signal' }],
  [
    'prove',
    (options) => key.prove(statement.circuit.witness, options),
    { verifyproof: 'verifyProof', verify: 'verifyProof', deadLine: 'deadline' },
  ],
  [
    'verify',
    (options) =>
      key.verify({ pi_a: [], pi_b: [], pi_c: [], protocol: 'groth16', curve: 'bn128' } as never, [], options),
    { abortSignal: 'signal' },
  ],
  ['calibrate', (options) => calibrate(device, options), { stores: 'store', curves: 'curve' }],
  ['configure', (options) => configure(options), { backends: 'backend', verifyproof: 'verifyProof' }],
  ['accelerate', (options) => accelerate(snarkjs, options), { verifyproof: 'verifyProof', leastpoint: 'leastPoints' }],
  [
    'prove',
    async (options) => {
      const accelerated = await accelerate(snarkjs, { backend: 'cpu', measure: false, leastPoints: 8 });
      try {
        await accelerated.groth16.prove(statement.zkey.data, statement.circuit.witness, undefined, options);
      } finally {
        accelerated();
      }
    },
    { singal: 'signal', singlethread: 'singleThread' },
  ],
  ['nobleMsm', (options) => nobleMsm(bn254.G1.Point, options), { maxworker: 'maxWorkers' }],
  ['msm', (options) => msm([], [], options), { verified: 'verify' }],
  ['openZkey and openPtau', (options) => openZkey(nowhere, options), { onwarning: 'onWarning' }],
  ['openZkey and openPtau', (options) => openPtau(nowhere, options), { onWarn: 'onWarning' }],
  [
    'functions of webgpu-msm/setup',
    (options) => contribute(nowhere, {}, options),
    { sinks: 'sink', maxWorker: 'maxWorkers' },
  ],
  ['functions of webgpu-msm/setup', (options) => preparePhase2(nowhere, options), { onprogress: 'onProgress' }],
  ['contribute and contributeToPowers', (contribution) => contribute(nowhere, contribution), { entropie: 'entropy' }],
  [
    'contributeToChallenge and contributeToPowersChallenge',
    (contribution) => contributeToChallenge({ challenge: nowhere, curve: 'bn254' }, contribution),
    { entropie: 'entropy' },
  ],
  [
    'applyBeacon and applyBeaconToPowers',
    (beacon) => applyBeacon(nowhere, { beacon: '00', iterations: 10, ...beacon }),
    { nam: 'name' },
  ],
  [
    'newKey',
    (input) => newKey({ system: 'groth16', r1cs: nowhere, ptau: nowhere, ...input }),
    { r1c: 'r1cs', systems: 'system' },
  ],
  [
    'verifyKey',
    (input) => verifyKey({ zkey: nowhere, r1cs: nowhere, ptau: nowhere, ...input }),
    { initials: 'initial', zkeys: 'zkey' },
  ],
  ['newPowers', (input) => newPowers({ curve: 'bn254', power: 2, ...input }), { powers: 'power' }],
  ['truncatePowers', (size) => truncatePowers(nowhere, { power: 2, ...size }), { powr: 'power' }],
  ['verifyPowers', (options) => verifyPowers(nowhere, options), { signals: 'signal' }],
  ['exportVerificationKey', (options) => exportVerificationKey(nowhere, options), { onwarning: 'onWarning' }],
  ['openGnarkSrs', (options) => openGnarkSrs(nowhere, options), { curves: 'curve' }],
  ['chunks', (options) => section().chunks(options), { chunkbytes: 'chunkBytes' }],
];

/** Returns the error of a call, which may throw or reject. */
const errorOf = async (call: () => unknown): Promise<unknown> => {
  try {
    await call();
  } catch (error) {
    return error;
  }
  return null;
};

describe.each(calls)('%s', (of, call, misspelt) => {
  test.each(Object.entries(misspelt))('refuses %s and names %s', async (name, nearest) => {
    const error = await errorOf(() => call({ [name]: undefined }));
    expect(error).toBeInstanceOf(MsmError);
    expect(error).toMatchObject({ code: 'bad-argument' });
    expect((error as MsmError).message).toMatch(
      new RegExp(`[.:] ?${name} is not an option of ${of}; did you mean ${nearest}\\?$`),
    );
  });

  test('lists its names where none is near', async () => {
    const error = await errorOf(() => call({ zzzz: 1 }));
    expect((error as MsmError).message).toMatch(
      new RegExp(`zzzz is not an option of ${of}; there (is|are) \\w+(, \\w+)*$`),
    );
  });
});

test('names of a polluted Object.prototype are no options', async () => {
  Object.defineProperty(Object.prototype, 'zzzz', { value: 1, configurable: true, writable: true });
  try {
    expect(await engine.msm(bases, [1n], {})).toMatchObject({ x: 1n, y: 2n });
  } finally {
    Reflect.deleteProperty(Object.prototype, 'zzzz');
  }
});

test('members of a class count, symbols and private ones do not', async () => {
  class Options {
    readonly #secret = 1;
    readonly [Symbol.iterator] = this.#secret;
    get offset(): number {
      return 0;
    }
  }
  expect(await engine.msm(bases, [1n], new Options())).toMatchObject({ x: 1n, y: 2n });
  class Misspelt {
    get ofset(): number {
      return 0;
    }
  }
  await expect(engine.msm(bases, [1n], new Misspelt() as never)).rejects.toThrow(/did you mean offset\?$/);
});

test('no system proves a wrong witness unnoticed for a misspelt option', async () => {
  for (const system of systems) {
    const { zkey, circuit } = await makeStatement(system, 'bn254', 5, 'dense');
    const open = { groth16, plonk, fflonk }[system].openProvingKey;
    using each = await open(zkey.data, { backend: 'cpu' });
    const wrong = circuit.witness.slice();
    wrong[76 + 5 * 32] = (wrong[76 + 5 * 32] as number) ^ 1;
    await expect(each.prove(wrong, { verifyproof: true } as never)).rejects.toThrow(/did you mean verifyProof\?$/);
  }
});

// by hand: insertions, deletions, replacements, swaps
test.each([
  ['abcdef', ['abcdeg', 'zzzzzz'], 'abcdeg'],
  ['abdcef', ['abcdef', 'abdcxy'], 'abcdef'],
  ['abcde', ['abcdef'], 'abcdef'],
  ['xyzxyz', ['abcdef'], null],
  ['abc', ['abcdefghi'], null],
])('the name nearest to %s among %j is %s', (given, names, nearest) => {
  expect(nearestName(given, names)).toBe(nearest);
});

describe('arguments of odd shapes are refused with a typed error', () => {
  const odd: readonly unknown[] = [undefined, null, 5, 'x', 5n, Symbol('s'), {}, [], [null], [5], () => 0];
  const never = (given: unknown): never => given as never;

  test.each<[string, (given: unknown) => unknown]>([
    ['openZkey’s result for prepare', (sections) => accelerate.prepare(never({ sections: sections ?? {} }))],
    [
      'its sections',
      (a) =>
        accelerate.prepare(never({ protocol: 'groth16', curve: 'bn254', sections: { a, b1: a, b2: a, c: a, h: a } })),
    ],
    ['its protocol', (protocol) => accelerate.prepare(never({ protocol, curve: 'bn254', sections: {} }))],
    ['a term of linearCombination', (term) => fr.run((ops) => ops.linearCombination([never(term)]))],
    [
      'a point class of noble',
      (own) => nobleMsm(never({ fromAffine: () => 0, CURVE: () => own, BASE: own, Fp: own, Fn: own })),
    ],
    ['the key', (zkey) => groth16.openProvingKey(never(zkey))],
    ['the witness', (witness) => key.prove(never(witness))],
    ['the proof', (proof) => key.verify(never(proof), [])],
    ['scalars', (scalars) => engine.msm(bases, [never(scalars)])],
    ['bases', (own) => engine.msm(never(own), [1n])],
    ['points', (point) => engine.loadBases([never(point)])],
  ])('%s', async (_, call) => {
    const accelerated = await accelerate(snarkjs, { backend: 'cpu', measure: false });
    try {
      for (const given of odd) {
        const error = await errorOf(() => call(given));
        if (error !== null) expect(error).toBeInstanceOf(MsmError);
      }
      expect(await errorOf(() => call(5))).toMatchObject({ name: 'MsmError', code: 'bad-argument' });
    } finally {
      accelerated();
    }
  });

  test.each([Symbol('le'), {}, 5])('an encoding %o', async (encoding) => {
    await expect(engine.loadBases(new Uint8Array(64), { encoding: never(encoding) })).rejects.toMatchObject({
      ...{ name: 'MsmError', code: 'bad-argument', message: expect.stringContaining('options.encoding') },
    });
  });
});
