/**
 * snarkjs with its open request 628, which reads points in chunks: proofs, and the warning if
 * snarkjs calls a method that is not accelerated. The stand-in is tests/support/request-628.ts;
 * proofs are compared with those of snarkjs 0.7.6, and verified by it.
 */
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { type Groth16Zkey, openZkey } from '../../src/formats.js';
import { type AccelerateOptions, accelerate } from '../../src/snarkjs.js';
import { leaseGpu } from '../support/leased-gpu.js';
import {
  endCurves,
  ffCurveOf,
  makeStatement,
  type ProverCurve,
  type Statement,
  snarkjs,
  withSameRandomness,
} from '../support/proving.js';
import { addChunked, type ChunkedGroup, proveChunked, type ReadLog } from '../support/request-628.js';

const made = new Map<string, Promise<Statement>>();
const statementOf = (
  power = 7,
  kind: 'dense' | 'sparse' = 'dense',
  curve: ProverCurve = 'bn254',
): Promise<Statement> => {
  const key = `${power} ${kind} ${curve}`;
  const statement = made.get(key) ?? makeStatement('groth16', curve, power, kind);
  made.set(key, statement);
  return statement;
};

let [restore, takeAway] = [(): void => undefined, (): void => undefined];
const warnings: string[] = [];
const begin = async (options: AccelerateOptions = {}, curve: ProverCurve = 'bn254', name?: string): Promise<void> => {
  takeAway = addChunked(await ffCurveOf(curve), name);
  const onWarning = (message: string): void => void warnings.push(message);
  restore = await accelerate(
    { curves: snarkjs.curves },
    { backend: 'cpu', measure: false, leastPoints: 8, onWarning, ...options },
  );
};
afterEach(() => {
  restore();
  takeAway();
  warnings.length = 0;
});
afterAll(endCurves);

const newLog = (): ReadLog => ({ bytes: new Map(), longest: 0 });

const expectSame = async (statement: Statement, curve: ProverCurve): Promise<void> => {
  const plain = await withSameRandomness(curve, statement.prove);
  await begin({}, curve);
  const ours = await withSameRandomness(curve, () => proveChunked(curve, statement));
  expect(accelerate.stats).toMatchObject({ calls: 5, fallbacks: 0, loads: 5, hits: 0 });
  expect(ours).toEqual(plain);
  expect(await statement.verify(ours)).toBe(true);
  expect(warnings).toEqual([]);
};

describe('request 628 of snarkjs', () => {
  test('the stand-in proves as snarkjs does', async () => {
    const statement = await statementOf();
    takeAway = addChunked(await ffCurveOf('bn254'));
    const plain = await withSameRandomness('bn254', statement.prove);
    const theirs = await withSameRandomness('bn254', () => proveChunked('bn254', statement));
    expect(theirs).toEqual(plain);
    expect(await statement.verify(theirs)).toBe(true);
  });

  test.each(['dense', 'sparse'] as const)('all five MSMs of a %s witness give the same proof', async (kind) => {
    await expectSame(await statementOf(7, kind), 'bn254');
  });

  test.each([
    [12, 'dense', 'bn254'],
    [7, 'dense', 'bls12-381'],
  ] as const)(
    'of 2^%i constraints, a %s witness, on %s: the same proof',
    { tags: 'long' },
    async (power, kind, curve) => {
      await expectSame(await statementOf(power, kind, curve), curve);
    },
  );

  test('points are recognised as they are read, whichever call loaded them', async () => {
    const statement = await statementOf();
    await begin();
    const log = newLog();
    expect(await statement.verify(await proveChunked('bn254', statement, { log }))).toBe(true);
    const sizes = new Map(log.bytes);
    for (let i = 0; i < 2; i++) expect(await statement.verify(await proveChunked('bn254', statement))).toBe(true);
    expect(accelerate.stats).toMatchObject({ calls: 15, loads: 5, hits: 10, fallbacks: 0 });
    expect(await statement.verify(await statement.prove())).toBe(true);
    expect(accelerate.stats).toMatchObject({ calls: 20, loads: 5, hits: 15, fallbacks: 0 });
    // every byte of points that are there is read, once; of others the first chunk, again, by each
    // look at what is there
    const again = newLog();
    await proveChunked('bn254', statement, { log: again });
    const { sections } = (await openZkey(statement.zkey.data)) as Groth16Zkey;
    const { a, b1, b2, c, h } = sections;
    const whole = new Map([a, b1, b2, c, h].map(({ byteLength }, i) => [5 + i, byteLength]));
    expect(again.bytes).toEqual(whole);
    for (const [id, bytes] of sizes) expect(bytes).toBeLessThanOrEqual(3 * (whole.get(id) as number));
    expect(accelerate.stats.sharedScalars).toBeGreaterThan(3);
  });

  test('`prepare` loads all points', async () => {
    const statement = await statementOf();
    await begin();
    await accelerate.prepare(await openZkey(statement.zkey.data));
    expect(accelerate.stats).toMatchObject({ loads: 5, hits: 0 });
    expect(await statement.verify(await proveChunked('bn254', statement))).toBe(true);
    expect(accelerate.stats).toMatchObject({ loads: 5, hits: 5, calls: 5 });
  });

  test('a key with nearly the same points gets its own points', async () => {
    const [one, other] = [await statementOf(7, 'dense'), await statementOf(7, 'sparse')];
    await begin();
    for (const statement of [one, other, one])
      expect(await statement.verify(await proveChunked('bn254', statement))).toBe(true);
    expect(accelerate.stats).toMatchObject({ fallbacks: 0 });
  });

  test('several concurrent proofs load points once', async () => {
    const statement = await statementOf();
    await begin();
    const proofs = await Promise.all([1, 2, 3].map(() => proveChunked('bn254', statement)));
    expect(accelerate.stats).toMatchObject({ calls: 15, loads: 5, hits: 10, fallbacks: 0 });
    for (const proof of proofs) expect(await statement.verify(proof)).toBe(true);
  });

  test('proofs on the GPU are the same', { tags: 'long' }, async () => {
    const statement = await statementOf();
    const { gpu } = await leaseGpu();
    await begin({ backend: 'gpu', gpu, tuning: { walkerSlots: 4, walkerThreadsPerWorkgroup: 8 } });
    for (let i = 0; i < 2; i++) expect(await statement.verify(await proveChunked('bn254', statement))).toBe(true);
    const { on, loads, compileMs } = accelerate.stats;
    expect([on.gpu >= 10, on.cpu, on.both, loads >= 5]).toEqual([true, 0, 0, true]);
    expect(compileMs).toBeGreaterThan(0);
  });

  test('a reader that fails ends the proof with its own error, and no call remains', async () => {
    const statement = await statementOf();
    await begin();
    const broken = new Error('the disk');
    const fail = (section: number): void => {
      if (section === 6) throw broken;
    };
    await expect(proveChunked('bn254', statement, { fail })).rejects.toBe(broken);
    expect(warnings).toEqual([]);
    expect(await statement.verify(await proveChunked('bn254', statement))).toBe(true);
  });

  test('a reader that gives too little makes snarkjs compute, with one warning', async () => {
    await begin();
    const { G1 } = await ffCurveOf('bn254');
    const group = G1 as unknown as ChunkedGroup & { readonly oneAffine: Uint8Array };
    const points = new Uint8Array(64 * 20);
    for (let i = 0; i < 20; i++) points.set(group.oneAffine, 64 * i);
    const scalars = Uint8Array.from({ length: 32 * 20 }, (_, i) => Number(i % 32 === 0));
    let reads = 0;
    const reader = async (from: number, length: number) => points.slice(from, from + length - Number(reads++ === 0));
    const sum = await group.multiExpAffineChunked(reader, points.length, scalars);
    const wanted = group.timesFr(group.oneAffine, (await ffCurveOf('bn254')).Fr.e(20n));
    expect(group.toObject(group.toAffine(sum))).toEqual(group.toObject(group.toAffine(wanted)));
    expect(warnings).toEqual([expect.stringContaining('snarkjs computes this MSM itself')]);
    expect(accelerate.stats).toMatchObject({ calls: 0, fallbacks: 1 });
  });

  test('scalars are copied before the call returns; small MSMs and other arguments are left to snarkjs', async () => {
    await begin({ leastPoints: 16 });
    const { G1 } = await ffCurveOf('bn254');
    const group = G1 as unknown as ChunkedGroup & { readonly oneAffine: Uint8Array };
    const points = new Uint8Array(64 * 20);
    for (let i = 0; i < 20; i++) points.set(group.oneAffine, 64 * i);
    const reader = async (from: number, length: number) => points.slice(from, from + length);
    // shorter than 32 bytes, as ffjavascript allows
    const scalars = new Uint8Array(4 * 20).fill(1);
    const sum = group.multiExpAffineChunked(reader, points.length, scalars);
    scalars.fill(0);
    const wanted = group.timesFr(group.oneAffine, (await ffCurveOf('bn254')).Fr.e(20n * 0x01010101n));
    expect(group.toObject(group.toAffine(await sum))).toEqual(group.toObject(group.toAffine(wanted)));
    await group.multiExpAffineChunked(reader, 64 * 10, new Uint8Array(320).fill(1));
    expect(accelerate.stats).toMatchObject({ calls: 1, small: 1, fallbacks: 0 });
    await expect(group.multiExpAffineChunked(5 as never, 64 * 20, new Uint8Array(640))).rejects.toThrow(TypeError);
    expect(warnings).toEqual([]);
  });

  test('`restore` gives snarkjs its methods back', async () => {
    const { G1 } = await ffCurveOf('bn254');
    await begin();
    const group = G1 as unknown as ChunkedGroup & { ifft?: unknown };
    const ours = group.multiExpAffineChunked;
    restore();
    expect(group.multiExpAffineChunked).not.toBe(ours);
    expect(Object.hasOwn(group, 'toObject')).toBe(false);
  });

  test('curves without threads are accelerated', async () => {
    await begin({ singleThread: true });
    // ffjavascript makes the function of a curve with the others
    const { G1 } = await ffCurveOf('bn254', { singleThread: true });
    const group = G1 as unknown as ChunkedGroup;
    const theirs = async (): Promise<Uint8Array> => group.zero;
    group.multiExpAffineChunked = theirs;
    expect(group.multiExpAffineChunked).not.toBe(theirs);
    restore();
    expect(group.multiExpAffineChunked).toBe(theirs);
  });
});

describe('a proof without any acceleration', () => {
  const name = 'multiExpOfTomorrow';

  test('causes one warning', async () => {
    const statement = await statementOf();
    await begin({}, 'bn254', name);
    for (let i = 0; i < 3; i++) {
      const proof = await proveChunked('bn254', statement, { name });
      // the verifier has an MSM, and no proof
      await statement.verify(proof);
    }
    expect(warnings).toEqual([expect.stringMatching(/^webgpu-msm: .*methods .* does not replace/)]);
  });

  test('causes no warning if MSMs are small, if snarkjs does other work, or if proofs are accelerated', async () => {
    const statement = await statementOf();
    await begin({ leastPoints: 10_000 });
    expect(await statement.verify(await proveChunked('bn254', statement))).toBe(true);
    expect(await statement.verify(await statement.prove())).toBe(true);
    restore();
    takeAway();
    await begin();
    for (const system of ['plonk', 'fflonk'] as const) {
      const other = await makeStatement(system, 'bn254', 6, 'dense');
      expect(await other.verify(await other.prove())).toBe(true);
    }
    expect(await statement.verify(await statement.prove())).toBe(true);
    expect(warnings).toEqual([]);
  });
});

test('a read of points that is never answered ends with the signal', async () => {
  const controller = new AbortController();
  await begin({ signal: controller.signal });
  const G1 = (await ffCurveOf('bn254')).G1 as unknown as ChunkedGroup;
  const read = (): Promise<Uint8Array> => {
    setTimeout(() => controller.abort('enough'));
    return new Promise(() => undefined);
  };
  const sum = G1.multiExpAffineChunked(read, 64 * 100, new Uint8Array(32 * 100).fill(1));
  await expect(sum).rejects.toMatchObject({ code: 'aborted', cause: 'enough' });
});
