/**
 * Proofs of snarkjs whose MSMs this library computes: they verify, and equal those of snarkjs
 * alone.
 */
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { makeKeys } from '../../dev/trial-keys/keys.js';
import { openZkey } from '../../src/formats.js';
import type { MultiExpAffine } from '../../src/provers/ffjavascript.js';
import { type AccelerateOptions, accelerate } from '../../src/snarkjs.js';
import { leaseGpu } from '../support/leased-gpu.js';
import {
  endCurves,
  ffCurveOf,
  makeStatement,
  memoryFile,
  type ProverCurve,
  type Statement,
  type SystemName,
  secretsOf,
  snarkjs,
  systems,
  withSameRandomness,
} from '../support/proving.js';
import { randomCircuit } from '../support/random-circuit.js';
import { sectionsOf } from '../support/snarkjs-files.js';
import { sleep } from '../support/time.js';

const statements = new Map<string, Promise<Statement>>();
const statementOf = (
  name: SystemName,
  kind: 'dense' | 'sparse' = 'dense',
  curve: ProverCurve = 'bn254',
): Promise<Statement> => {
  const key = `${name} ${kind} ${curve}`;
  const statement = statements.get(key) ?? makeStatement(name, curve, name === 'groth16' ? 7 : 6, kind);
  statements.set(key, statement);
  return statement;
};

let large: Promise<Statement> | undefined;

/** Returns a statement with sums that workers take part in. */
const largeStatement = (): Promise<Statement> => {
  large ??= makeStatement('groth16', 'bn254', 14, 'dense');
  return large;
};

/** Knobs for a software adapter. */
const fewThreads = { walkerSlots: 4, walkerThreadsPerWorkgroup: 8 };

let restore: () => void = () => undefined;
const begin = async (options: AccelerateOptions = {}): Promise<void> => {
  restore = await accelerate(snarkjs, { backend: 'cpu', measure: false, leastPoints: 8, ...options });
};
afterEach(() => restore());
afterAll(endCurves);

const expectSame = async (statement: Statement, curve: ProverCurve = 'bn254'): Promise<void> => {
  const plain = await withSameRandomness(curve, statement.prove);
  await begin();
  const ours = await withSameRandomness(curve, statement.prove);
  const { calls, fallbacks, on, adapter } = accelerate.stats;
  expect(calls).toBeGreaterThan(3);
  expect(fallbacks).toBe(0);
  expect([on, adapter?.vendor]).toEqual([{ gpu: 0, cpu: calls, both: 0 }, 'cpu']);
  restore();
  expect(ours).toEqual(plain);
  expect(ours.publicSignals).toEqual(statement.circuit.publicSignals.map(String));
  expect(await statement.verify(ours)).toBe(true);
};

describe('keys of the example', () => {
  const areTheirs = async (curve: ProverCurve, kind: 'dense' | 'sparse'): Promise<void> => {
    const power = 5;
    const theirs = await makeStatement('groth16', curve, power, kind, 'snarkjs');
    const ours = await makeKeys(await ffCurveOf(curve), theirs.circuit, undefined, [
      ...secretsOf(curve, power),
      // snarkjs leaves these to the ceremony
      1n,
      1n,
    ]);
    const [wanted, made] = [sectionsOf(theirs.zkey.data), sectionsOf(ours)];
    expect([...made.keys()]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    for (const [type, content] of made) expect(content, `section ${type}`).toEqual(wanted.get(type));
  };
  const name = 'on %s for a %s witness are those that snarkjs makes of the same secrets';
  test.each([
    ['bn254', 'dense'],
    ['bn254', 'sparse'],
  ] as const)(name, areTheirs);
  test.each([['bls12-381', 'dense']] as const)(name, { tags: 'long' }, areTheirs);

  test('report progress, and end if the callback throws', async () => {
    const [curve, { circuit }] = [await ffCurveOf('bn254'), await statementOf('groth16')];
    const shares: number[] = [];
    await makeKeys(curve, circuit, (share) => void shares.push(share));
    expect(shares.length).toBeGreaterThan(1);
    expect(shares.toSorted((a, b) => a - b)).toEqual(shares);
    expect(shares.every((share) => share > 0 && share <= 1)).toBe(true);
    const enough = new Error('enough');
    const stop = (): never => {
      throw enough;
    };
    await expect(makeKeys(curve, circuit, stop)).rejects.toBe(enough);
  });
});

describe.each(systems)('%s', (name) => {
  test.each(['dense', 'sparse'] as const)(
    'has the same proof of a %s witness for the same randomness',
    async (kind) => {
      await expectSame(await statementOf(name, kind));
    },
  );

  test('loads nothing for the second proof, which also verifies', async () => {
    const statement = await statementOf(name);
    await begin();
    expect(await statement.verify(await statement.prove())).toBe(true);
    const { loads, calls, bytes } = accelerate.stats;
    expect(bytes).toBeGreaterThan(0);
    expect(await statement.verify(await statement.prove())).toBe(true);
    // with it, the verifier's few
    expect(accelerate.stats).toMatchObject({ loads, bytes, fallbacks: 0 });
    expect(accelerate.stats.calls).toBe(2 * calls);
    // B1, B2 and C have the witness that A has; for the second proof all scalars are those of the
    // first
    if (name === 'groth16') expect(accelerate.stats.sharedScalars).toBe(3 + 5);
  });

  test('finds all points loaded after `prepare`', async () => {
    const statement = await statementOf(name);
    await begin();
    await accelerate.prepare(await openZkey(statement.zkey.data));
    const { loads, hits } = accelerate.stats;
    expect([loads, hits]).toEqual([name === 'groth16' ? 5 : 1, 0]);
    expect(await statement.verify(await statement.prove())).toBe(true);
    expect(accelerate.stats.loads).toBe(loads);
    expect(accelerate.stats.hits).toBe(accelerate.stats.calls);
  });
});

test.each([
  [8, 'dense'],
  [10, 'sparse'],
  [12, 'sparse'],
] as const)('Groth16 of 2^%i constraints, a %s witness', { tags: 'long' }, async (power, kind) => {
  await expectSame(await makeStatement('groth16', 'bn254', power, kind));
});

test('Groth16 of 2^14 constraints, a dense witness', { tags: 'long' }, async () => {
  await expectSame(await largeStatement());
});

test.each(['plonk', 'fflonk'] as const)('%s of 2^10 constraints proves', { tags: 'long' }, async (name) => {
  await expectSame(await makeStatement(name, 'bn254', 10, 'dense'));
});

test('Groth16 on BLS12-381 proves', { tags: 'long' }, async () => {
  await expectSame(await statementOf('groth16', 'dense', 'bls12-381'), 'bls12-381');
});

test('several concurrent proofs are right', async () => {
  const all = await Promise.all(systems.map((name) => statementOf(name)));
  await begin();
  const proofs = await Promise.all([...all, ...all].map((statement) => statement.prove()));
  for (const [i, proof] of proofs.entries()) expect(await all[i % all.length]?.verify(proof)).toBe(true);
  expect(accelerate.stats.fallbacks).toBe(0);
});

test('several concurrent proofs on one GPU are right', { tags: 'long' }, async () => {
  const all = await Promise.all(systems.map((name) => statementOf(name)));
  const leased = await leaseGpu();
  await begin({ backend: 'gpu', gpu: leased.gpu, tuning: fewThreads });
  const proofs = await Promise.all([...all, ...all].map((statement) => statement.prove()));
  for (const [i, proof] of proofs.entries()) expect(await all[i % all.length]?.verify(proof)).toBe(true);
  const { calls, fallbacks, on } = accelerate.stats;
  expect(calls).toBeGreaterThan(20);
  expect([fallbacks, on]).toEqual([0, { gpu: calls, cpu: 0, both: 0 }]);
  expect(leased.devices).toHaveLength(1);
});

describe('acceleration of snarkjs', () => {
  test('loads own points for a key with nearly the same points', async () => {
    const [one, other] = [await statementOf('groth16', 'dense'), await statementOf('groth16', 'sparse')];
    await begin();
    for (const statement of [one, other, one]) expect(await statement.verify(await statement.prove())).toBe(true);
    expect(accelerate.stats).toMatchObject({ loads: 10, hits: 5 });
  });

  test('reloads two sections again and again if the budget fits only one', async () => {
    const statement = await statementOf('groth16');
    await begin({ basesBudget: 10_000 });
    for (let i = 0; i < 2; i++) expect(await statement.verify(await statement.prove())).toBe(true);
    expect(accelerate.stats.evictions).toBeGreaterThan(5);
    expect(accelerate.stats.bytes).toBeLessThanOrEqual(10_000);
  });

  test('keeps the sections that fit a budget a little below the key, and warns once with a sufficient one', async () => {
    const statement = await statementOf('groth16');
    await begin();
    expect(await statement.verify(await statement.prove())).toBe(true);
    const { bytes, basesBudget } = accelerate.stats;
    // by default, of the memory that there is, and no constant
    expect(basesBudget).toBeGreaterThanOrEqual(2 ** 26);
    restore();
    const warnings: string[] = [];
    await begin({ basesBudget: bytes - 1, onWarning: (message) => warnings.push(message) });
    for (let i = 0; i < 4; i++) expect(await statement.verify(await statement.prove())).toBe(true);
    expect(accelerate.stats).toMatchObject({ calls: 20, hits: 3 * 4, basesBudget: bytes - 1 });
    expect(accelerate.stats.bytes).toBeLessThan(bytes);
    // the proofs are those of the namespace, which is constant
    expect(warnings).toEqual([
      expect.stringContaining('only the MSMs'),
      expect.stringContaining(`basesBudget, ${bytes - 1} bytes; set it to ${bytes} or more`),
    ]);
    const enough = Number(/set it to (\d+) or more$/.exec(warnings[1] as string)?.[1]);
    expect(enough).toBe(bytes);
    restore();
    warnings.length = 0;
    await begin({ basesBudget: enough, onWarning: (message) => warnings.push(message) });
    for (let i = 0; i < 3; i++) expect(await statement.verify(await statement.prove())).toBe(true);
    expect(accelerate.stats).toMatchObject({ loads: 5, hits: 10, evictions: 0 });
    expect(warnings).toEqual([expect.stringContaining('only the MSMs')]);
  });

  test('compiles in `prepare`: the first proof compiles nothing, and `stats` have the time', {
    tags: 'long',
  }, async () => {
    const statement = await statementOf('groth16');
    const leased = await leaseGpu((device) => {
      device.cold = true;
    });
    await begin({ backend: 'gpu', gpu: leased.gpu, tuning: fewThreads });
    await accelerate.prepare(await openZkey(statement.zkey.data));
    const { compileMs, loads } = accelerate.stats;
    expect(compileMs).toBeGreaterThan(0);
    expect(loads).toBe(5);
    let compiled = 0;
    for (const device of leased.devices) {
      device.tap = (call) => {
        compiled += Number(call.method === 'createComputePipelineAsync');
        return call.proceed();
      };
    }
    expect(await statement.verify(await statement.prove())).toBe(true);
    expect([compiled, accelerate.stats.compileMs]).toEqual([0, compileMs]);
    expect(accelerate.stats).toMatchObject({ calls: 5, hits: 5, workers: 0, on: { gpu: 5, cpu: 0, both: 0 } });
  });

  test('reports the workers that took part in `stats`', { tags: 'long' }, async () => {
    const statement = await largeStatement();
    await begin({ maxWorkers: 1 });
    expect(await statement.verify(await statement.prove())).toBe(true);
    expect(accelerate.stats).toMatchObject({ calls: 5, workers: 1, compileMs: 0 });
  });

  test('covers curves that snarkjs makes later, and none after `restore`', async () => {
    const statement = await statementOf('groth16');
    await (await ffCurveOf('bn254')).terminate();
    await begin();
    expect(await statement.verify(await statement.prove())).toBe(true);
    const { calls } = accelerate.stats;
    expect(calls).toBe(5);
    restore();
    restore();
    expect(await statement.verify(await statement.prove())).toBe(true);
    expect(accelerate.stats.calls).toBe(calls);
    const { value, writable } = Object.getOwnPropertyDescriptor(globalThis, 'curve_bn128') ?? {};
    expect([value, writable]).toEqual([await ffCurveOf('bn254'), true]);
  });

  test('can be restored during a proof, which ends without a warning', async () => {
    const statement = await statementOf('groth16');
    const warnings: string[] = [];
    const { G1 } = await ffCurveOf('bn254');
    const original = G1.multiExpAffine;
    await begin({ onWarning: (message) => warnings.push(message) });
    const ours = G1.multiExpAffine;
    let sums = 0;
    G1.multiExpAffine = (...given) => {
      const sum = ours(...given);
      // while the second sum is computed
      if (++sums === 2) restore();
      return sum;
    };
    const proof = statement.prove();
    expect(await statement.verify(await proof)).toBe(true);
    G1.multiExpAffine = original;
    expect(accelerate.stats).toMatchObject({ fallbacks: 0 });
    expect(accelerate.stats.calls).toBeLessThan(5);
    expect(warnings).toEqual([]);
  });

  test('covers curves without threads on request, and none after `restore`', async () => {
    const statement = await statementOf('groth16');
    await begin({ singleThread: true });
    expect(await statement.verify(await statement.prove({ singleThread: true }))).toBe(true);
    const { G1 } = await ffCurveOf('bn254', { singleThread: true });
    const ours = G1.multiExpAffine;
    // with threads as ever
    expect(await statement.verify(await statement.prove())).toBe(true);
    expect(accelerate.stats).toMatchObject({ calls: 10, fallbacks: 0 });
    restore();
    expect(G1.multiExpAffine).not.toBe(ours);
    expect('multiExpAffine' in Object.getPrototypeOf(G1)).toBe(false);
  });

  test('keeps a method that others replaced later', async () => {
    const { G1 } = await ffCurveOf('bn254');
    const original = G1.multiExpAffine;
    await begin();
    const theirs: MultiExpAffine = async () => new Uint8Array();
    G1.multiExpAffine = theirs;
    restore();
    expect(G1.multiExpAffine).toBe(theirs);
    G1.multiExpAffine = original;
  });

  test('leaves small MSMs to snarkjs', async () => {
    const statement = await statementOf('groth16');
    await begin({ leastPoints: 1000 });
    expect(await statement.verify(await statement.prove())).toBe(true);
    expect(accelerate.stats).toMatchObject({ calls: 0, loads: 0 });
    expect(accelerate.stats.small).toBeGreaterThan(4);
  });

  test('without the requested GPU leaves work to snarkjs, with one warning', async () => {
    const statement = await statementOf('groth16');
    const warnings: string[] = [];
    await begin({ backend: 'gpu', onWarning: (message) => warnings.push(message) });
    expect(await statement.verify(await statement.prove())).toBe(true);
    expect(warnings).toEqual([
      expect.stringMatching(/^webgpu-msm: snarkjs computes this MSM itself.*: there is no WebGPU/),
    ]);
    expect(accelerate.stats).toMatchObject({ calls: 0, fallbacks: 5 });
  });

  test('resolves `prepare` with a warning if it fails, and without one after `restore`', async () => {
    const { zkey } = await statementOf('groth16');
    const warnings: string[] = [];
    const onWarning = (message: string) => void warnings.push(message);
    await begin({ backend: 'gpu', onWarning });
    const slow = {
      byteLength: zkey.data.length,
      read: async (from: number, to: number) => {
        await sleep();
        return zkey.data.subarray(from, to);
      },
    };
    await expect(accelerate.prepare(await openZkey(slow))).resolves.toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining('WebGPU')]);
    restore();
    await begin({ onWarning });
    const preparing = accelerate.prepare(await openZkey(zkey.data));
    restore();
    await expect(preparing).resolves.toBeUndefined();
    expect(warnings).toHaveLength(1);
  });

  test('rejects an aborted proof; after `restore` snarkjs works as before', async () => {
    const statement = await statementOf('groth16');
    const controller = new AbortController();
    await begin({ signal: controller.signal });
    const proof = statement.prove();
    controller.abort();
    await expect(proof).rejects.toMatchObject({ code: 'aborted' });
    restore();
    expect(await statement.verify(await statement.prove())).toBe(true);
  });

  test('rejects small MSMs after an abort, also behind one that snarkjs computed; `prepare` is quiet', async () => {
    const statement = await statementOf('groth16');
    const aborted = { code: 'aborted', cause: 'enough' };
    const signal = AbortSignal.abort('enough');
    const warnings: string[] = [];
    await begin({ leastPoints: 1000, signal, onWarning: (message) => warnings.push(message) });
    await expect(statement.prove()).rejects.toMatchObject(aborted);
    await expect(accelerate.prepare(await openZkey(statement.zkey.data))).resolves.toBeUndefined();
    expect(warnings).toEqual([]);
    restore();
    const controller = new AbortController();
    await begin({ backend: 'gpu', signal: controller.signal, onWarning: () => controller.abort('enough') });
    await expect(statement.prove()).rejects.toMatchObject(aborted);
    expect(accelerate.stats).toMatchObject({ calls: 0, fallbacks: 1 });
  });

  test('completes a proof during which the device is lost', { tags: 'long' }, async () => {
    const statement = await statementOf('groth16');
    const leased = await leaseGpu();
    const warnings: string[] = [];
    await begin({
      backend: 'gpu',
      gpu: leased.gpu,
      tuning: fewThreads,
      onWarning: (message) => warnings.push(message),
    });
    expect(await statement.verify(await statement.prove())).toBe(true);
    expect(accelerate.stats).toMatchObject({ calls: 5, fallbacks: 0 });
    let submits = 0;
    for (const device of leased.devices) {
      device.tap = (call) => {
        const result = call.proceed();
        if (call.method === 'submit' && ++submits === 2) device.takeAway('at once');
        return result;
      };
    }
    expect(await statement.verify(await statement.prove())).toBe(true);
    expect(accelerate.stats.fallbacks).toBe(1);
    // the other one: by the namespace sums alone are accelerated
    expect(warnings).toEqual([expect.stringContaining('only the MSMs'), expect.stringContaining('this MSM itself')]);
    // on a new device
    expect(await statement.verify(await statement.prove())).toBe(true);
    expect(accelerate.stats.fallbacks).toBe(1);
  });
});

describe('arguments of accelerate', () => {
  test('are rejected if they are not snarkjs, have wrong options, or are accelerated already', async () => {
    for (const wrong of [undefined, null, {}, { curves: {} }, 'snarkjs'])
      await expect(accelerate(wrong as never)).rejects.toMatchObject({
        code: 'bad-argument',
        message: expect.stringContaining('must be the module'),
      });
    await expect(accelerate.prepare({} as never)).rejects.toMatchObject({ code: 'bad-argument' });
    await begin();
    for (const wrong of [undefined, null, {}, 5])
      await expect(accelerate.prepare(wrong as never)).rejects.toMatchObject({
        code: 'bad-argument',
        message: expect.stringMatching(/^zkey must be/),
      });
    await expect(accelerate(snarkjs)).rejects.toMatchObject({
      code: 'bad-argument',
      message: expect.stringContaining('already'),
    });
  });

  test('may not be accelerated by a second copy of the library, and the first continues', async () => {
    await begin();
    const copy = '../../src/provers/accelerate.ts?copy';
    const other = ((await import(/* @vite-ignore */ copy)) as typeof import('../../src/snarkjs.js')).accelerate;
    expect(other).not.toBe(accelerate);
    const refused = { code: 'bad-argument', message: expect.stringContaining('already, maybe by another copy') };
    await expect(other(snarkjs)).rejects.toMatchObject(refused);
    const statement = await statementOf('groth16');
    expect(await statement.verify(await statement.prove())).toBe(true);
    expect(accelerate.stats).toMatchObject({ calls: 5, fallbacks: 0 });
    restore();
    restore = await other(snarkjs, { backend: 'cpu' });
    await expect(accelerate(snarkjs)).rejects.toMatchObject(refused);
    expect(await statement.verify(await statement.prove())).toBe(true);
    expect([accelerate.stats.calls, other.stats.calls]).toEqual([5, 5]);
  });

  test.each([
    [null, 'options must'],
    [5, 'options must'],
    [{ basesBudget: -1 }, 'options.basesBudget must'],
    [{ basesBudget: '1' }, 'options.basesBudget must'],
    [{ leastPoints: 1.5 }, 'options.leastPoints must'],
    [{ singleThread: 1 }, 'options.singleThread must'],
    [{ signal: {} }, 'options.signal must'],
    [{ onWarning: 5 }, 'options.onWarning must'],
    [{ basesBudgt: 5 }, 'options.basesBudgt is not an option'],
    [{ group: 'g2' }, 'options.group is not an option'],
    [{ backend: 'foo' }, 'backend must'],
    [{ verify: 7 }, 'verify must'],
    [{ memoryBudget: -1 }, 'memoryBudget must'],
    [{ maxWorkers: -3 }, 'maxWorkers must'],
    [{ tuning: { windowBits: 99 } }, 'tuning.windowBits must'],
    [{ tuning: null }, 'tuning must'],
  ])('wrong options, %o, are refused at once', async (options, message) => {
    const wrong = accelerate(snarkjs, options as never).then((end) => end());
    await expect(wrong).rejects.toMatchObject({ code: 'bad-argument', message: expect.stringContaining(message) });
  });

  test('may contain an invalid device, and the proof rejects when it is used', async () => {
    const statement = await statementOf('groth16');
    await begin({ backend: 'gpu', device: 5 as never });
    await expect(statement.prove()).rejects.toMatchObject({
      code: 'bad-argument',
      message: expect.stringMatching(/^device must/),
    });
  });

  test('are copied when it is called', async () => {
    const statement = await statementOf('groth16');
    const options: { signal?: AbortSignal; tuning: object } & AccelerateOptions = { backend: 'cpu', tuning: {} };
    restore = await accelerate(snarkjs, options);
    Object.assign(options, { signal: AbortSignal.abort(), leastPoints: 0 });
    Object.assign(options.tuning, { windowBits: 99 });
    expect(await statement.verify(await statement.prove())).toBe(true);
    expect(accelerate.stats).toMatchObject({ calls: 5, fallbacks: 0 });
  });

  test('give the sum where a place that is no point has the scalar zero, as `verifyFromInit` asks for', async () => {
    const { G1 } = await ffCurveOf('bn254');
    const { oneAffine } = G1 as unknown as { readonly oneAffine: Uint8Array };
    const points = new Uint8Array(20 * 64);
    for (let i = 0; i < 20; i++) points.set(oneAffine, i * 64);
    const scalars = Uint8Array.from({ length: 20 * 32 }, (_, i) => (i % 32 === 0 ? 1 + (i >> 5) : 0));
    // one off the curve, and one with coordinates that are not below p
    for (const [i, byte] of [
      [19, 1],
      [7, 255],
    ] as const) {
      points.fill(byte, i * 64, (i + 1) * 64);
      scalars.fill(0, i * 32, (i + 1) * 32);
    }
    const affine = (point: Uint8Array): string =>
      String((G1 as unknown as { toAffine(point: Uint8Array): Uint8Array }).toAffine(point));
    const wanted = affine(await G1.multiExpAffine(points, scalars));
    const paged = { byteLength: points.length, slice: (from: number, to: number) => points.slice(from, to) };
    const warnings: string[] = [];
    await begin({ onWarning: (message) => warnings.push(message) });
    for (const given of [points, paged]) expect(affine(await G1.multiExpAffine(given, scalars))).toBe(wanted);
    expect(accelerate.stats).toMatchObject({ calls: 2, fallbacks: 0 });
    expect(warnings).toEqual([]);
    // with a scalar it is snarkjs's to say
    scalars[19 * 32] = 1;
    await G1.multiExpAffine(points, scalars);
    expect(accelerate.stats).toMatchObject({ calls: 2, fallbacks: 1 });
    expect(warnings).toEqual([expect.stringContaining('points[19]')]);
  });

  test('verify a key from its circuit and from the first key, with a ptau of just that power', {
    tags: 'long',
  }, async () => {
    const power = 7;
    const curve = await ffCurveOf('bn254');
    const { powersOfTau, zKey } = snarkjs as unknown as {
      readonly powersOfTau: Readonly<Record<string, (...given: unknown[]) => Promise<unknown>>>;
      readonly zKey: Readonly<Record<string, (...given: unknown[]) => Promise<unknown>>>;
    };
    const r1cs = randomCircuit(BigInt(String((curve as unknown as { readonly r: bigint }).r)), {
      publicInputs: 1,
      privateInputs: 2,
      constraints: 100,
      seed: 3n,
    }).r1cs;
    const [fresh, powers, ptau, first, zkey] = Array.from({ length: 5 }, () => memoryFile());
    const beacon = '0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20';
    await powersOfTau.newAccumulator?.(curve, power, fresh);
    await powersOfTau.beacon?.(fresh, powers, 'x', beacon, 10);
    await powersOfTau.preparePhase2?.(powers, ptau);
    await zKey.newZKey?.(memoryFile(r1cs), ptau, first);
    await zKey.beacon?.(first, zkey, 'x', beacon, 10);
    const warnings: string[] = [];
    await begin({ onWarning: (message) => warnings.push(message) });
    expect(await zKey.verifyFromR1cs?.(memoryFile(r1cs), ptau, zkey)).toBe(true);
    expect(await zKey.verifyFromInit?.(first, ptau, zkey)).toBe(true);
    expect(accelerate.stats.calls).toBeGreaterThan(4);
    expect(accelerate.stats.fallbacks).toBe(0);
    expect(warnings).toEqual([]);
  });

  test('may have an `onWarning` that throws, without an effect', async () => {
    const statement = await statementOf('groth16');
    const warnings: string[] = [];
    const onWarning = (message: string): never => {
      warnings.push(message);
      throw new Error('mine');
    };
    await begin({ backend: 'gpu', onWarning });
    expect(await statement.verify(await statement.prove())).toBe(true);
    expect(warnings).toHaveLength(1);
  });

  test('give the sums of ffjavascript: pages, shorter scalars, infinity, no points', async () => {
    const curve = await ffCurveOf('bn254');
    for (const [group, pointBytes] of [
      [curve.G1, 64],
      [curve.G2, 128],
    ] as const) {
      const original = group.multiExpAffine;
      const { oneAffine, zero } = group as unknown as { readonly oneAffine: Uint8Array; readonly zero: Uint8Array };
      const points = new Uint8Array(20 * pointBytes);
      // one of them is infinity
      for (let i = 0; i < 20; i++) if (i !== 7) points.set(oneAffine, i * pointBytes);
      const paged = {
        byteLength: points.length,
        slice: (from: number, to: number) => points.slice(from, to),
      };
      const scalars = (bytes: number): Uint8Array =>
        Uint8Array.from({ length: 20 * bytes }, (_, i) => (i * 13 + 1) & 0xff);
      const affine = (point: Uint8Array): string =>
        String((group as unknown as { toAffine(point: Uint8Array): Uint8Array }).toAffine(point));
      const wanted = new Map<number, string>();
      // pages are in the way of its threads
      for (const bytes of [1, 4, 31, 32]) wanted.set(bytes, affine(await original.call(group, points, scalars(bytes))));
      await begin();
      for (const [bytes, expected] of wanted) {
        for (const given of [points, paged]) {
          const sum = await group.multiExpAffine(given, scalars(bytes));
          expect(sum).toHaveLength((3 * pointBytes) / 2);
          expect(affine(sum)).toBe(expected);
        }
      }
      expect(accelerate.stats).toMatchObject({ calls: 8, fallbacks: 0, loads: 1 });
      expect(affine(await group.multiExpAffine(points, new Uint8Array(640)))).toBe(affine(zero));
      expect(affine(await group.multiExpAffine(new Uint8Array(0), new Uint8Array(0)))).toBe(affine(zero));
      await expect(group.multiExpAffine(points, new Uint8Array(641))).rejects.toThrow();
      restore();
      // computed by an engine that is opened for it; by one that is there; by ffjavascript in the
      // end
      for (const options of [{}, { backend: 'gpu', onWarning: () => undefined }] as const) {
        await begin(options);
        for (const given of [Uint8Array, Buffer, Uint8Array]) {
          const [own, factors] = [given.from(points), given.from(scalars(32))];
          const sum = group.multiExpAffine(own, factors);
          // snarkjs's own has copied them by now
          factors.fill(0);
          if (options.backend === undefined) own.fill(0);
          expect(affine(await sum)).toBe(wanted.get(32));
        }
        restore();
      }
      expect(group.multiExpAffine).toBe(original);
    }
  });
});
