/**
 * Matrices beyond one binding of the device: they are cut at rows into parts, each in a buffer of its
 * own, and products with them are those of BigInts.
 */
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { type Circuit, makeCircuit } from '../../dev/trial-keys/circuit.js';
import { makeKeys } from '../../dev/trial-keys/keys.js';
import { createFieldEngine, type FieldEngine, type FieldVector, type SparseMatrix } from '../../src/fields.js';
import { openProvingKey } from '../../src/groth16.js';
import { strikeAt } from '../support/failure-bench.js';
import { getDevice } from '../support/gpu.js';
import { type LeasedDevice, type LeasedGpu, leaseGpu } from '../support/leased-gpu.js';
import { ffCurveOf, memoryFile, snarkjs } from '../support/proving.js';
import { sleep } from '../support/time.js';

/** Bytes that the devices of these tests bind. */
const BINDING = 2 ** 14;

/** Limits of a device, of which one is shrunk. */
const limitsOf = async (of: 'maxStorageBufferBindingSize' | 'maxBufferSize', bytes: number) =>
  new Proxy((await getDevice()).limits, {
    get: (target, name) => (name === of ? bytes : Reflect.get(target, name, target)),
  });

const engines: { destroy(): void }[] = [];
afterEach(() => {
  for (const engine of engines.splice(0)) engine.destroy();
});
afterAll(async () => (await ffCurveOf('bn254')).terminate());

interface Opened {
  readonly fr: FieldEngine;
  readonly gpu: LeasedGpu;
}

const open = async (
  of: Parameters<typeof limitsOf>[0] = 'maxStorageBufferBindingSize',
  bytes = BINDING,
): Promise<Opened> => {
  const gpu = await leaseGpu(undefined, undefined, { limits: await limitsOf(of, bytes) });
  const fr = await createFieldEngine({ gpu: gpu.gpu });
  engines.push(fr);
  return { fr, gpu };
};

interface Entries {
  readonly rows: number;
  readonly columns: number;
  readonly row: number[];
  readonly column: number[];
  readonly values: bigint[];
}

const p = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;

const numberAt = (i: number): bigint => (BigInt(i) * 0x9e3779b97f4a7c15n + 1n) ** 5n % p;

/** A matrix with an entry in most rows, and many in one; of `different` values. */
const entriesOf = (rows: number, count: number, different: number, long = 0): Entries => {
  const columns = 50;
  const all = Array.from({ length: count }, (_, i) => ({
    row: i < long ? 13 : (7 * i) % rows,
    column: (i * i + 3) % columns,
    value: numberAt(i % different),
  }));
  return {
    rows,
    columns,
    row: all.map(({ row }) => row),
    column: all.map(({ column }) => column),
    values: all.map(({ value }) => value),
  };
};

const productOf = ({ rows, row, column, values }: Entries, x: readonly bigint[]): bigint[] => {
  const sums = new Array<bigint>(rows).fill(0n);
  for (const [i, value] of values.entries()) {
    const at = row[i] as number;
    sums[at] = ((sums[at] as bigint) + value * (x[column[i] as number] as bigint)) % p;
  }
  return sums;
};

const x = Array.from({ length: 50 }, (_, i) => numberAt(1000 + i));

const numbersIn = async (fr: FieldEngine, vector: FieldVector): Promise<bigint[]> => {
  const bytes = Buffer.from(await fr.read(vector, { encoding: 'be' }));
  return Array.from({ length: vector.length }, (_, i) =>
    BigInt(`0x${bytes.subarray(32 * i, 32 * i + 32).toString('hex')}`),
  );
};

const apply = (fr: FieldEngine, matrix: SparseMatrix, a: FieldVector, verify = false): Promise<FieldVector> =>
  fr.run((ops) => ops.keep(ops.apply(matrix, a)), { verify });

/** Expects the product of a matrix with `x`, and that nothing is left of it. */
const expectRight = async (fr: FieldEngine, entries: Entries, verify = false): Promise<void> => {
  const before = fr.memory.used;
  const [matrix, a] = [await fr.loadMatrix(entries), await fr.load(x)];
  const made = await apply(fr, matrix, a, verify);
  expect(await numbersIn(fr, made)).toEqual(productOf(entries, x));
  expect(fr.lastRun).toMatchObject({ on: 'gpu', verified: verify });
  for (const each of [matrix, a, made]) each.destroy();
  expect(fr.memory.used).toBe(before);
};

describe('a matrix beyond one binding', () => {
  test('that fits without the value 0, which no entry has, is loaded without it', async () => {
    const { fr } = await open();
    // 392 values of 32 bytes, two lists of 392 words and one of 16: 64 times 256 bytes, all that the device binds
    await expectRight(fr, entriesOf(15, 392, 392));
  });

  test('gives right products, at sizes around the cut', async () => {
    const { fr } = await open();
    // few values: 8 bytes an entry; each of the four lists begins at a multiple of 256 bytes
    for (const count of [1, 1400, 1500, 1600, 1700, 1791, 1792, 1793, 3500, 6000]) {
      await expectRight(fr, entriesOf(120, count, 3));
    }
  });

  test('with a value for each entry, with empty rows, and with a row of several levels', async () => {
    const { fr } = await open();
    await expectRight(fr, entriesOf(500, 2000, 2000));
    // one entry in the first row and one in the last
    await expectRight(fr, { rows: 512, columns: 50, row: [0, 511], column: [0, 49], values: [3n, p - 1n] });
    // 1,100 entries are 35 sums of 32, which are two sums again
    await expectRight(fr, entriesOf(512, 4000, 5, 1100));
    await expectRight(fr, entriesOf(512, 4000, 5, 1100), true);
  });

  test('is cut by the size of buffers, too', async () => {
    const { fr } = await open('maxBufferSize');
    await expectRight(fr, entriesOf(300, 5000, 9));
  });

  test('is counted by the plan of a run', async () => {
    const { fr } = await open();
    const [matrix, a] = [await fr.loadMatrix(entriesOf(512, 6000, 7)), await fr.load(x)];
    const plan = await fr.plan((ops) => ops.keep(ops.apply(matrix, a)));
    await apply(fr, matrix, a);
    const { products, dispatches, submits } = plan;
    expect(fr.lastRun).toMatchObject({ products, dispatches, submits });
    expect(products).toBe(6000);
    expect(dispatches).toBeGreaterThan(4);
  });

  test('with a few rows longer than a binding is refused, and the next one is right', async () => {
    const { fr } = await open();
    await expect(fr.loadMatrix(entriesOf(512, 4000, 5, 2100))).rejects.toMatchObject({
      code: 'out-of-memory',
      message: expect.stringMatching(
        /^rows 8 to 15 of the matrix take \d+ bytes on the GPU, which binds 16384 at a time; compute with the matrix on the CPU$/,
      ),
    });
    expect(fr.memory.used).toBe(0);
    await expectRight(fr, entriesOf(512, 4000, 5));
  });

  test('comes to the next device after a loss, also after one between two parts', async () => {
    const { fr, gpu } = await open();
    const lose = async (): Promise<void> => {
      gpu.devices.at(-1)?.takeAway('at once');
      await sleep();
    };
    const entries = entriesOf(512, 6000, 7);
    const [matrix, a] = [await fr.loadMatrix(entries), await fr.load(x)];
    await lose();
    expect(await numbersIn(fr, await apply(fr, matrix, a))).toEqual(productOf(entries, x));
    let reads = 0;
    strikeAt(
      gpu.devices.at(-1) as LeasedDevice,
      ({ method }) => method === 'mapAsync' && ++reads === 2,
      ({ proceed }) => {
        gpu.devices.at(-1)?.takeAway('at once');
        return proceed();
      },
    );
    const { used } = fr.memory;
    await expect(fr.loadMatrix(entries)).rejects.toMatchObject({ code: 'device-lost' });
    expect(fr.memory.used).toBeLessThanOrEqual(used);
    const other = await fr.loadMatrix(entries);
    expect(gpu.devices).toHaveLength(3);
    for (const each of [other, matrix]) {
      expect(await numbersIn(fr, await apply(fr, each, a))).toEqual(productOf(entries, x));
    }
    fr.destroy();
    expect(gpu.devices.map(({ live }) => live)).toEqual([0, 0, 0]);
  });

  test('whose load is aborted between two parts leaves nothing, and the next one is right', async () => {
    const { fr, gpu } = await open();
    const entries = entriesOf(512, 6000, 7);
    const controller = new AbortController();
    let reads = 0;
    const strikes = strikeAt(
      gpu.devices.at(-1) as LeasedDevice,
      ({ method }) => method === 'mapAsync' && ++reads === 2,
      ({ proceed }) => {
        controller.abort();
        return proceed();
      },
    );
    const load = fr.loadMatrix(entries, { signal: controller.signal });
    await expect(load).rejects.toMatchObject({ code: 'aborted' });
    expect(strikes.count).toBe(1);
    expect(fr.memory.used).toBe(0);
    await expectRight(fr, entries);
  });
});

/** Returns a circuit with more terms in each row, whose sum stays the same. */
const widened = (circuit: Circuit, terms: number): Circuit => {
  const values = Buffer.from(circuit.witness.slice(-32 * circuit.wires));
  const valueAt = (wire: number): bigint =>
    BigInt(`0x${Buffer.from(values.subarray(32 * wire, 32 * wire + 32).toReversed()).toString('hex')}`);
  const constraints = circuit.constraints.map(({ a, ...others }, row) => {
    const wide = new Map(a);
    let sum = 0n;
    for (let wire = 2; wide.size < terms; wire++) {
      if (wide.has(wire)) continue;
      const factor = numberAt(1000 * row + wire);
      wide.set(wire, factor);
      sum += factor * valueAt(wire);
    }
    return { ...others, a: wide.set(0, (((a.get(0) ?? 0n) - sum) % p) + p) };
  });
  return { ...circuit, constraints };
};

test("a key with matrices beyond one binding proves with backend 'gpu'", { tags: 'long' }, async () => {
  const ff = await ffCurveOf('bn254');
  const circuit = widened(makeCircuit(BigInt(ff.r), 61, 'dense'), 60);
  const zkey = memoryFile(await makeKeys(ff, circuit));
  const binding = 2 ** 17;
  // a value for each entry
  expect(61 * 60 * (8 + 32)).toBeGreaterThan(binding);
  const gpu = await leaseGpu(undefined, undefined, {
    limits: await limitsOf('maxStorageBufferBindingSize', binding),
  });
  using key = await openProvingKey(zkey.data as Uint8Array, {
    gpu: gpu.gpu,
    backend: 'gpu',
    tuning: { walkerSlots: 4, walkerThreadsPerWorkgroup: 8 },
  });
  const { proof, publicSignals } = await key.prove(circuit.witness);
  const verifier = await snarkjs.zKey.exportVerificationKey(zkey);
  expect(await snarkjs.groth16.verify(verifier, publicSignals, proof)).toBe(true);
});
