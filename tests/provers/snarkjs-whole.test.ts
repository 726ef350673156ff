/** Whole proofs that `accelerate` computes in the place of snarkjs. */
import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { openProvingKeyWith as openFflonk } from '../../src/fflonk/open-proving-key.js';
import { openProvingKeyWith as openGroth16 } from '../../src/groth16/open-proving-key.js';
import { openProvingKeyWith as openPlonk } from '../../src/plonk/open-proving-key.js';
import { noCounts, readAccelerateOptions } from '../../src/provers/accelerate-options.js';
import { ProverEngines } from '../../src/provers/prover-engines.js';
import { ProvingKeys } from '../../src/provers/proving-keys.js';
import { WholeProofs } from '../../src/provers/whole-proofs.js';
import { nextTurn } from '../../src/scheduling/time-slice.js';
import { type Accelerated, type AccelerateOptions, accelerate, type Snarkjs } from '../../src/snarkjs.js';
import { leaseGpu } from '../support/leased-gpu.js';
import {
  describeCurves,
  endCurves,
  type FfCurve,
  makeStatement,
  memoryFile,
  type ProverCurve,
  powersOf,
  type Statement,
  sameDraws,
  snarkjs,
  withSameRandomness,
} from '../support/proving.js';
import { writeSparse } from '../support/sparse-file.js';
import { sleep } from '../support/time.js';

const require = createRequire(import.meta.url);
const { wtns } = snarkjs as unknown as { readonly wtns: { calculate(...given: unknown[]): Promise<void> } };
const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-whole-'));
const systems = ['groth16', 'plonk', 'fflonk'] as const;
type System = (typeof systems)[number];

const statements = new Map<string, Promise<Statement>>();
const statementOf = (
  name: System,
  kind: 'dense' | 'sparse' = 'dense',
  curve: ProverCurve = 'bn254',
): Promise<Statement> => {
  const key = `${name} ${kind} ${curve}`;
  const statement = statements.get(key) ?? makeStatement(name, curve, 6, kind);
  statements.set(key, statement);
  return statement;
};

let restore: (() => void) | undefined;
const warnings: string[] = [];
const begin = async (options: AccelerateOptions = {}, module: Snarkjs = snarkjs): Promise<Accelerated> => {
  warnings.length = 0;
  const onWarning = (message: string) => void warnings.push(message);
  const accelerated = await accelerate(module, {
    backend: 'cpu',
    leastPoints: 8,
    measure: false,
    onWarning,
    ...options,
  });
  restore = accelerated;
  return accelerated;
};
afterEach(() => restore?.());
afterAll(async () => {
  await endCurves();
  rmSync(folder, { recursive: true, force: true });
});

/** A position of a private value in a witness. */
const AT = 76 + 5 * 32;

/** Returns a witness of another value, which does not satisfy the circuit. */
const wrongOf = ({ circuit }: Statement): Uint8Array => {
  const wrong = circuit.witness.slice();
  wrong[AT] = (wrong[AT] as number) ^ 1;
  return wrong;
};

describeCurves('proofs on %s', (curve) => {
  // snarkjs proves FFLONK on BN254 alone
  const there = systems.filter((system) => curve === 'bn254' || system !== 'fflonk');

  test.each(there)('of %s equal those of snarkjs for the same randomness', async (system) => {
    const { prove, circuit, zkey } = await statementOf(system, 'dense', curve);
    const theirs = await withSameRandomness(curve, prove);
    const options = await readAccelerateOptions({ backend: 'cpu', leastPoints: 8 });
    const counts = noCounts();
    const engines = new ProverEngines(options, counts);
    const refuse = (reason: unknown): never => {
      throw reason;
    };
    const host = {
      ...{ options, counts, hasCurves: true, engine: (of: ProverCurve) => engines.get(of, 'g1') },
      ...{ isSlower: async () => false, warnOf: refuse, warnTight: refuse },
    };
    const keys = new ProvingKeys(host, {
      groth16: (source, given) => openGroth16(source, given, sameDraws()),
      plonk: (source, given) => openPlonk(source, given, sameDraws()),
      fflonk: (source, given) => openFflonk(source, given, sameDraws()),
    });
    const proofs = new WholeProofs(host, keys);
    const original = (): never => refuse(new Error('snarkjs was called'));
    const there = { system, prove: original, verify: original };
    expect(await proofs.prove(there, [zkey, memoryFile(circuit.witness)])).toEqual(theirs);
    proofs.end();
    engines.destroy();
  });

  test.each(there)('of %s verify, one key for two witnesses', async (system) => {
    const [one, other] = [await statementOf(system, 'dense', curve), await statementOf(system, 'sparse', curve)];
    const accelerated = await begin();
    for (const { zkey, circuit, verify } of [one, other, one]) {
      const result = await accelerated[system].prove(zkey as never, circuit.witness);
      expect(await verify(result)).toBe(true);
      expect(result.publicSignals).toEqual(circuit.publicSignals.map(String));
      expect(Object.keys(result)).toEqual(['proof', 'publicSignals']);
    }
    expect(accelerate.stats).toMatchObject({ wholeProofs: 3, snarkjsProofs: 0, keyLoads: 2, calls: 0 });
    expect(accelerate.stats.keyBytes).toBe(loadedBytesOf(one) + loadedBytesOf(other));
    expect(warnings).toEqual([]);
  });
});

describe('with verifyProof', () => {
  test.each(systems)('proofs of %s are verified before they are returned', async (system) => {
    const { zkey, circuit, verify } = await statementOf(system);
    const accelerated = await begin({ verifyProof: true });
    expect(await verify(await accelerated[system].prove(zkey as never, circuit.witness))).toBe(true);
    expect(accelerate.stats).toMatchObject({ wholeProofs: 1, snarkjsProofs: 0 });
    expect(warnings).toEqual([]);
  });

  test('no proof of a wrong witness is returned, whoever makes it', async () => {
    const statement = await statementOf('groth16');
    const { zkey, circuit, verify } = statement;
    const wrong = wrongOf(statement);
    const without = await begin();
    expect(await verify(await without.groth16.prove(zkey as never, wrong))).toBe(false);
    expect(accelerate.stats).toMatchObject({ wholeProofs: 1, snarkjsProofs: 0 });
    without();
    // by this library and then by snarkjs; by snarkjs alone, for each reason to leave a proof to it
    for (const options of [{}, { leastPoints: 2 ** 20 }]) {
      const { groth16 } = await begin({ verifyProof: true, ...options });
      await expect(groth16.prove(zkey as never, wrong)).rejects.toMatchObject({
        ...{ name: 'MsmError', code: 'bad-argument' },
        message: expect.stringMatching(/^witness: the proof that snarkjs made of it does not verify/),
      });
      expect(accelerate.stats).toMatchObject({ wholeProofs: 0, snarkjsProofs: 1 });
      expect(warnings.filter((message) => message.includes('does not verify'))).toHaveLength(
        Number(!('leastPoints' in options)),
      );
      // a key whose proof does not verify may be damaged, so it is loaded again
      expect(accelerate.stats.keyBytes).toBe(0);
      expect(await verify(await groth16.prove(zkey as never, circuit.witness))).toBe(true);
      expect(accelerate.stats.keyLoads).toBe('leastPoints' in options ? 0 : 2);
      restore?.();
    }
  });

  test('proofs of snarkjs are refused where it has no verifier', async () => {
    const { zkey, circuit } = await statementOf('groth16');
    const { curves, groth16: theirs } = snarkjs;
    const { prove } = theirs;
    const { groth16 } = await begin({ verifyProof: true, leastPoints: 2 ** 20 }, { curves, groth16: { prove } });
    await expect(groth16.prove(zkey as never, circuit.witness)).rejects.toMatchObject({
      ...{ code: 'bad-argument', message: expect.stringMatching(/^snarkjs has no groth16\.verify/) },
    });
  });

  test('null is taken for options where snarkjs takes it', async () => {
    const { zkey, circuit, verify } = await statementOf('groth16');
    expect(await verify(await snarkjs.groth16.prove(zkey, circuit.witness, undefined, null as never))).toBe(true);
    const { groth16 } = await begin();
    expect(await verify(await groth16.prove(zkey as never, circuit.witness, undefined, null))).toBe(true);
    expect(accelerate.stats).toMatchObject({ wholeProofs: 1, snarkjsProofs: 0 });
    expect(warnings).toEqual([]);
  });

  test('must be true or false', async () => {
    await expect(begin({ verifyProof: 1 as never })).rejects.toMatchObject({
      ...{ code: 'bad-argument', message: 'options.verifyProof must be true or false, got 1' },
    });
  });
});

describe('where snarkjs is faster', () => {
  test.each(systems)('proofs and MSMs of %s are left to it', async (system) => {
    const { zkey, circuit, verify, prove } = await statementOf(system);
    const isSlower = vi.spyOn(ProverEngines.prototype, 'isSlower').mockResolvedValue(true);
    try {
      const accelerated = await begin({ measure: true });
      for (let i = 1; i <= 2; i++) {
        expect(await verify(await accelerated[system].prove(zkey as never, circuit.witness))).toBe(true);
        expect(accelerate.stats).toMatchObject({ wholeProofs: 0, snarkjsProofs: i, keyLoads: 0, calls: 0 });
      }
      const { slower } = accelerate.stats;
      expect(slower).toBeGreaterThan(0);
      expect(await verify(await prove())).toBe(true);
      expect(accelerate.stats).toMatchObject({ slower: 1.5 * slower, calls: 0, fallbacks: 0 });
      expect(warnings).toEqual([]);
    } finally {
      isSlower.mockRestore();
    }
  });
});

describe('files', () => {
  test('may be paths, bytes and objects, and a key is loaded once by its contents', async () => {
    const { zkey, circuit, verify } = await statementOf('groth16');
    const [keyPath, witnessPath] = [join(folder, 'circuit.zkey'), join(folder, 'witness.wtns')];
    writeFileSync(keyPath, zkey.data);
    writeFileSync(witnessPath, circuit.witness);
    const { groth16 } = await begin();
    const { data } = zkey;
    const keys = [
      data,
      Buffer.from(data),
      { type: 'mem', data: data.slice() },
      keyPath,
      { type: 'file', fileName: keyPath },
    ];
    const { witness } = circuit;
    const witnesses = [witness, { type: 'mem', data: witness }, witnessPath, { type: 'file', fileName: witnessPath }];
    const written = Date.now();
    const { now } = Date;
    // a file that was written just now is known by its contents, however long the proofs take
    Date.now = () => written;
    try {
      for (const key of keys) expect(await verify(await groth16.prove(key, witness))).toBe(true);
      for (const each of witnesses) expect(await verify(await groth16.prove(data, each))).toBe(true);
    } finally {
      Date.now = now;
    }
    expect(accelerate.stats).toMatchObject({ wholeProofs: 9, snarkjsProofs: 0, keyLoads: 1 });
  });

  test('are copied or compared when they change: an edited key, a replaced file, an overwritten witness', async () => {
    const [one, other] = [await statementOf('groth16', 'dense'), await statementOf('groth16', 'sparse')];
    expect(one.zkey.data.length).toBe(other.zkey.data.length);
    const { groth16 } = await begin();
    const path = join(folder, 'changing.zkey');
    for (const { zkey, circuit, verify } of [one, other, one]) {
      writeFileSync(path, zkey.data);
      expect(await verify(await groth16.prove(path, circuit.witness))).toBe(true);
    }
    expect(accelerate.stats).toMatchObject({ wholeProofs: 3, keyLoads: 2 });
    // one array with the bytes of one key and then of another one: C of two points exchanged
    const bytes = one.zkey.data.slice();
    expect(await one.verify(await groth16.prove(bytes, one.circuit.witness))).toBe(true);
    bytes.set(one.zkey.data.subarray(-64), bytes.length - 128);
    expect(await one.verify(await groth16.prove(bytes, one.circuit.witness))).toBe(false);
    expect(accelerate.stats).toMatchObject({ wholeProofs: 5, keyLoads: 3 });
    const witness = one.circuit.witness.slice();
    const proving = groth16.prove(one.zkey.data, witness);
    witness.fill(0);
    expect(await one.verify(await proving)).toBe(true);
  });

  test('on a disk may have more than 4 GiB', async () => {
    const { zkey, circuit, verify } = await statementOf('groth16');
    const path = join(folder, 'large.zkey');
    writeSparse(path, zkey.data, 2 ** 32, 4);
    const { groth16 } = await begin({ basesBudget: 2 ** 33 });
    const now = Date.now;
    Date.now = () => now() + 60_000;
    try {
      expect(await verify(await groth16.prove(path, circuit.witness))).toBe(true);
    } finally {
      Date.now = now;
    }
    expect(warnings).toEqual([]);
    expect(accelerate.stats).toMatchObject({ wholeProofs: 1, snarkjsProofs: 0, keyLoads: 1 });
  });

  test('on a disk are read in parts once they are settled, and recognised by size and times', async () => {
    const { zkey, circuit, verify } = await statementOf('plonk');
    const path = join(folder, 'settled.zkey');
    writeFileSync(path, zkey.data);
    const { plonk } = await begin();
    const now = Date.now;
    // as if the file had been written a minute ago
    Date.now = () => now() + 60_000;
    try {
      for (let i = 0; i < 2; i++) expect(await verify(await plonk.prove(path, circuit.witness))).toBe(true);
      expect(accelerate.stats).toMatchObject({ wholeProofs: 2, keyLoads: 1 });
      utimesSync(path, 1, 1);
      expect(await verify(await plonk.prove(path, circuit.witness))).toBe(true);
      expect(accelerate.stats).toMatchObject({ wholeProofs: 3, snarkjsProofs: 0, keyLoads: 2 });
    } finally {
      Date.now = now;
    }
  });
});

/** Bytes of a key in memory: the points of its sums, and 12 bytes for each of 44 of its coefficients. */
const loadedBytesOf = ({ zkey: { data } }: Statement): number => {
  const view = new DataView(data.buffer, data.byteOffset);
  const sizes = new Map<number, number>();
  for (let at = 12; at < data.length; ) {
    const size = Number(view.getBigUint64(at + 4, true));
    sizes.set(view.getUint32(at, true), size);
    at += 12 + size;
  }
  const sizeOf = (id: number): number => sizes.get(id) as number;
  // section 1 has the number of the proof system
  const isGroth16 = view.getUint32(24, true) === 1;
  if (!isGroth16) return data.length;
  return [5, 6, 7, 8, 9].reduce((sum, id) => sum + sizeOf(id), 0) + Math.ceil((sizeOf(4) * 12) / 44);
};

describe('snarkjs proves', () => {
  test('with files in forms that the library does not take, and says itself how arguments are wrong', async () => {
    const [statement, plonk] = [await statementOf('groth16'), await statementOf('plonk')];
    const { zkey, circuit } = statement;
    const { groth16 } = await begin();
    const errors = async (...given: Parameters<typeof groth16.prove>): Promise<unknown[]> => {
      const [ours, theirs] = [groth16.prove, snarkjs.groth16.prove as typeof groth16.prove].map((prove) =>
        prove(...given).catch((error: unknown) => String(error)),
      );
      return [await ours, await theirs];
    };
    const wrong: Parameters<typeof groth16.prove>[] = [
      [join(folder, 'missing.zkey'), circuit.witness],
      [zkey.data, join(folder, 'missing.wtns')],
      [zkey.data, zkey.data],
      [zkey.data, circuit.witness.subarray(76)],
      [zkey.data, plonk.circuit.witness],
      [plonk.zkey.data, plonk.circuit.witness],
      [zkey.data, { type: 'odd' }],
      [{ type: 'odd' }, circuit.witness],
    ];
    for (const given of wrong) {
      const [ours, theirs] = await errors(...given);
      expect(ours).toBe(theirs);
      expect(ours).toMatch(/Error/);
    }
    expect(accelerate.stats).toMatchObject({ wholeProofs: 0, snarkjsProofs: wrong.length });
    expect(warnings).toEqual([expect.stringMatching(/^webgpu-msm: snarkjs computes this proof itself/)]);
    // a damaged key is refused by the library, and not by snarkjs
    const damaged = zkey.data.slice();
    // the first point of H becomes infinity
    damaged.fill(0, damaged.length - 64 * 64, damaged.length - 63 * 64);
    const result = await groth16.prove(damaged, circuit.witness);
    expect(await statement.verify(result)).toBe(false);
    expect(accelerate.stats.calls).toBeGreaterThan(3);
  });

  test('none of the keys with bytes behind the last section, of which one warning says so', async () => {
    const { zkey, circuit, verify } = await statementOf('groth16');
    const { groth16 } = await begin();
    const longer = new Uint8Array(zkey.data.length + 5);
    longer.set(zkey.data);
    for (let i = 0; i < 2; i++) expect(await verify(await groth16.prove(longer, circuit.witness))).toBe(true);
    expect(accelerate.stats).toMatchObject({ wholeProofs: 2, snarkjsProofs: 0, keyLoads: 1 });
    expect(warnings).toEqual(['webgpu-msm: zkey: 5 bytes follow the last section and are ignored']);
  });

  test('of a wrong witness as ever: Groth16 does not verify, PLONK and FFLONK are refused', async () => {
    const one = await statementOf('groth16');
    const accelerated = await begin();
    expect(await one.verify(await accelerated.groth16.prove(one.zkey.data, wrongOf(one)))).toBe(false);
    expect(accelerate.stats).toMatchObject({ wholeProofs: 1, snarkjsProofs: 0 });
    for (const [i, system] of (['plonk', 'fflonk'] as const).entries()) {
      const other = await statementOf(system);
      const theirs = await (snarkjs[system].prove(other.zkey, wrongOf(other)) as Promise<unknown>).catch(String);
      expect(theirs).toMatch(/Error/);
      expect(await accelerated[system].prove(other.zkey.data, wrongOf(other)).catch(String)).toBe(theirs);
      expect(accelerate.stats).toMatchObject({ wholeProofs: 1, snarkjsProofs: i + 1 });
    }
  });

  test('with small circuits, and without threads, and without the requested GPU', async () => {
    const statement = await statementOf('groth16');
    const { zkey, circuit, verify } = statement;
    const small = await begin({ leastPoints: 65 });
    expect(await verify(await small.groth16.prove(zkey.data, circuit.witness))).toBe(true);
    expect(accelerate.stats).toMatchObject({ wholeProofs: 0, snarkjsProofs: 1, keyBytes: 0 });
    expect(warnings).toEqual([]);
    small();
    const threads = await begin();
    const proof = threads.groth16.prove(zkey.data, circuit.witness, undefined, { singleThread: true });
    expect(await verify(await proof)).toBe(true);
    expect(accelerate.stats).toMatchObject({ wholeProofs: 0, snarkjsProofs: 1, calls: 0 });
    expect(warnings).toEqual([]);
    threads();
    const gpu = await begin({ backend: 'gpu' });
    for (let i = 0; i < 2; i++) expect(await verify(await gpu.groth16.prove(zkey.data, circuit.witness))).toBe(true);
    expect(accelerate.stats).toMatchObject({ wholeProofs: 0, snarkjsProofs: 2, keyBytes: 0 });
    expect(warnings).toHaveLength(2);
  });
});

describe('a key that exceeds the budget', () => {
  test('is loaded for each proof and freed, and one warning has a sufficient budget', async () => {
    const statement = await statementOf('groth16');
    const { zkey, circuit, verify } = statement;
    const bytes = loadedBytesOf(statement);
    expect(bytes).toBeLessThan(zkey.data.length);
    const tight = await begin({ basesBudget: bytes - 1 });
    for (let i = 0; i < 2; i++) expect(await verify(await tight.groth16.prove(zkey.data, circuit.witness))).toBe(true);
    expect(accelerate.stats).toMatchObject({ wholeProofs: 2, snarkjsProofs: 0, calls: 0, keyLoads: 2, keyBytes: 0 });
    expect(warnings).toEqual([expect.stringMatching(new RegExp(`set it to ${bytes} or more$`))]);
    tight();
    const enough = await begin({ basesBudget: bytes });
    expect(await verify(await enough.groth16.prove(zkey.data, circuit.witness))).toBe(true);
    expect(accelerate.stats).toMatchObject({ wholeProofs: 1, snarkjsProofs: 0, keyBytes: bytes });
  });

  test('is loaded once for proofs at a time, and not by `prepare`', async () => {
    const { zkey, circuit, verify } = await statementOf('plonk');
    const { plonk } = await begin({ basesBudget: 1 });
    await accelerate.prepare(zkey.data);
    expect(accelerate.stats).toMatchObject({ keyLoads: 0, loads: 0 });
    const proofs = await Promise.all([0, 1, 2].map(() => plonk.prove(zkey.data, circuit.witness)));
    for (const proof of proofs) expect(await verify(proof)).toBe(true);
    expect(accelerate.stats).toMatchObject({ wholeProofs: 3, keyLoads: 1, keyBytes: 0 });
    expect(await verify(await plonk.prove(zkey.data, circuit.witness))).toBe(true);
    expect(accelerate.stats).toMatchObject({ wholeProofs: 4, keyLoads: 2, keyBytes: 0 });
  });

  test('is refused as damaged, and proves when it is repaired', async () => {
    const { zkey, circuit, verify } = await statementOf('groth16');
    const { groth16 } = await begin({ basesBudget: 1 });
    const damaged = zkey.data.slice();
    damaged[damaged.length - 1] = 255;
    await groth16.prove(damaged, circuit.witness).catch(() => undefined);
    expect(accelerate.stats).toMatchObject({ wholeProofs: 0, snarkjsProofs: 1, keyBytes: 0 });
    expect(await verify(await groth16.prove(zkey.data, circuit.witness))).toBe(true);
    expect(accelerate.stats).toMatchObject({ wholeProofs: 1, keyLoads: 1 });
  });
});

test('keys of Groth16 keep to memoryLimit', async () => {
  const { zkey, circuit, verify } = await statementOf('groth16');
  const refused = await begin({ memoryLimit: 1 });
  expect(await verify(await refused.groth16.prove(zkey.data, circuit.witness))).toBe(true);
  expect(accelerate.stats).toMatchObject({ wholeProofs: 0, snarkjsProofs: 1 });
  expect(warnings).toEqual([expect.stringContaining('options.memoryLimit is 1 bytes')]);
  const floor = Number(/takes (\d+) bytes/.exec(warnings[0] as string)?.[1]);
  refused();
  const limited = await begin({ memoryLimit: floor });
  for (let i = 0; i < 2; i++) expect(await verify(await limited.groth16.prove(zkey.data, circuit.witness))).toBe(true);
  expect(accelerate.stats).toMatchObject({ wholeProofs: 2, snarkjsProofs: 0, keyLoads: 1 });
});

test('of two keys in turn that do not fit together one stays loaded, and a change of keys is followed', async () => {
  const [one, other] = [await statementOf('groth16'), await statementOf('plonk')];
  const budget = Math.max(loadedBytesOf(one), loadedBytesOf(other)) + 10;
  const accelerated = await begin({ basesBudget: budget });
  const proveOne = async () => one.verify(await accelerated.groth16.prove(one.zkey.data, one.circuit.witness));
  const proveOther = async () => other.verify(await accelerated.plonk.prove(other.zkey.data, other.circuit.witness));
  for (let i = 0; i < 3; i++) expect([await proveOne(), await proveOther()]).toEqual([true, true]);
  // the second one displaces the first, and stays; the first is loaded for each proof
  expect(accelerate.stats).toMatchObject({ keyLoads: 4, wholeProofs: 6, snarkjsProofs: 0 });
  expect(await proveOne()).toBe(true);
  expect(await proveOne()).toBe(true);
  expect(accelerate.stats).toMatchObject({ keyLoads: 6, keyBytes: loadedBytesOf(one) });
  expect(warnings.filter((message) => message.includes('basesBudget'))).toHaveLength(1);
});

test('concurrent proofs of two keys verify, and each key is loaded once', async () => {
  const [one, other] = [await statementOf('groth16'), await statementOf('plonk')];
  const { groth16, plonk } = await begin();
  const proofs = Array.from({ length: 3 }, () => [
    groth16.prove(one.zkey.data, one.circuit.witness).then(one.verify),
    plonk.prove(other.zkey.data, other.circuit.witness).then(other.verify),
  ]);
  expect(await Promise.all(proofs.flat())).toEqual(Array.from({ length: 6 }, () => true));
  expect(accelerate.stats).toMatchObject({ wholeProofs: 6, keyLoads: 2 });
});

test.each(['plonk', 'fflonk'] as const)(
  'proofs of %s stay whole after losses of the GPU',
  { tags: 'long' },
  async (system) => {
    const { zkey, circuit, verify } = await statementOf(system);
    const { gpu, devices } = await leaseGpu();
    const tuning = { walkerSlots: 4, walkerThreadsPerWorkgroup: 8 };
    const accelerated = await begin({ backend: 'gpu', gpu, tuning });
    for (let losses = 0; losses < 3; losses++) {
      expect(await verify(await accelerated[system].prove(zkey.data, circuit.witness))).toBe(true);
      devices.at(-1)?.takeAway('at once');
      await sleep();
    }
    expect(accelerate.stats).toMatchObject({ wholeProofs: 3, snarkjsProofs: 0, keyLoads: 1 });
  },
);

describe('fullProve', () => {
  const circom = (name: string): string => {
    const runtime = createRequire(require.resolve('snarkjs')).resolve('circom_runtime');
    return join(dirname(dirname(runtime)), 'test/circuit', name);
  };
  const input = { a: 3, b: '11', c: 7n };

  const expectProof = async (system: System, zkey: string | { readonly type: string }): Promise<void> => {
    const accelerated = await begin();
    const wasm = circom('circuit_js/circuit.wasm');
    const { proof, publicSignals } = await accelerated[system].fullProve(input, wasm, zkey);
    expect(publicSignals.slice(1)).toEqual(['3', '11', '7']);
    const key = await snarkjs.zKey.exportVerificationKey(zkey);
    expect(await snarkjs[system].verify(key, publicSignals, proof)).toBe(true);
    expect(accelerate.stats).toMatchObject({ wholeProofs: 1, snarkjsProofs: 0 });
  };

  test('of Groth16 calculates the witness by circom and proves', async () => {
    await expectProof('groth16', circom('circuit.zkey'));
  });

  test('of PLONK does so, too', { tags: 'long' }, async () => {
    const ptau = memoryFile(await powersOf('bn254', 12, 2 ** 12 + 6, false));
    const zkey = memoryFile();
    await snarkjs.plonk.setup(memoryFile(readFileSync(circom('circuit.r1cs'))), ptau, zkey);
    await expectProof('plonk', zkey);
  });

  const pagesOf = async (wasm: unknown, options?: unknown): Promise<readonly number[]> => {
    const { groth16 } = await begin();
    const pages: number[] = [];
    const { Memory } = WebAssembly;
    // a class: the calculator calls it with `new`
    const Counted = class extends Memory {
      constructor(type: WebAssembly.MemoryDescriptor) {
        pages.push(type.initial);
        super({ ...type, initial: Math.min(type.initial, 2 ** 8) });
      }
    };
    vi.spyOn(WebAssembly, 'Memory').mockImplementation(Counted);
    try {
      await groth16.fullProve(input, wasm as never, circom('circuit.zkey'), undefined, options).catch(() => undefined);
    } finally {
      vi.restoreAllMocks();
      restore?.();
    }
    return pages.filter((each) => each >= 2 ** 12);
  };

  test('has the witness calculator reserve no 2 GiB, where the program brings its memory along', async () => {
    const program = readFileSync(circom('circuit_js/circuit.wasm'));
    expect(await pagesOf(program)).toEqual([]);
    expect(await pagesOf({ type: 'mem', data: new Uint8Array(program) }, {})).toEqual([]);
    expect(await pagesOf(circom('circuit_js/circuit.wasm'), { memorySize: 4096, sanityCheck: true })).toEqual([4096]);
  });

  test('leaves the memory of programs that import theirs as snarkjs has it', async () => {
    // an import of `env.memory` with at least one page, as programs of circom 1 have
    const imported = [1, 3, ...Buffer.from('env'), 6, ...Buffer.from('memory'), 2, 0, 1];
    const program = Uint8Array.of(0, ...Buffer.from('asm'), 1, 0, 0, 0, 2, imported.length, ...imported);
    expect(WebAssembly.Module.imports(new WebAssembly.Module(program))).toEqual([
      { module: 'env', name: 'memory', kind: 'memory' },
    ]);
    expect(await pagesOf(program)).toEqual([32767]);
  });

  test('has the witness calculated here, unless it takes options or refuses the input', async () => {
    const program = new Uint8Array(readFileSync(circom('circuit_js/circuit.wasm')));
    const calculate = vi.fn(wtns.calculate);
    const module = { ...snarkjs, wtns: { calculate } } as unknown as Snarkjs;
    const { groth16 } = await begin({}, module);
    const publics: string[][] = [];
    const compile = vi.spyOn(WebAssembly, 'compile');
    const programs = () => compile.mock.calls.filter(([bytes]) => (bytes as Uint8Array).length === program.length);
    for (const a of [3, '4', 5n]) {
      publics.push((await groth16.fullProve({ ...input, a }, program, circom('circuit.zkey'))).publicSignals);
    }
    expect(publics.map(([, a]) => a)).toEqual(['3', '4', '5']);
    expect(calculate).not.toHaveBeenCalled();
    expect(programs()).toHaveLength(1);
    const options = { sanityCheck: true };
    await groth16.fullProve(input, program, circom('circuit.zkey'), undefined, options);
    expect(calculate).toHaveBeenCalledTimes(1);
    // snarkjs reads blanks as 0
    const { publicSignals } = await groth16.fullProve({ ...input, a: ' ' }, program, circom('circuit.zkey'));
    expect(publicSignals[1]).toBe('0');
    expect(calculate).toHaveBeenCalledTimes(2);
    restore?.();
    await groth16.fullProve(input, program, circom('circuit.zkey'));
    expect(calculate).toHaveBeenCalledTimes(3);
  });

  test('passes errors of the witness calculator on', async () => {
    const { zkey } = await statementOf('groth16');
    const { groth16 } = await begin();
    await expect(groth16.fullProve({ a: 1 }, circom('circuit_js/circuit.wasm'), zkey.data)).rejects.toThrow(
      'Not all inputs have been set',
    );
  });
});

describe('the members of snarkjs', () => {
  const bound = (module: Snarkjs) => module as unknown as typeof snarkjs;

  test('of a namespace stay, and need functions to be proved with', async () => {
    const { groth16 } = snarkjs;
    const only = await begin({}, { curves: snarkjs.curves });
    expect(snarkjs.groth16).toBe(groth16);
    const refused = { code: 'bad-argument', message: expect.stringContaining('snarkjs has no') };
    await expect(only.groth16.prove('a', 'b')).rejects.toMatchObject(refused);
    await expect(only.plonk.fullProve({}, 'a', 'b')).rejects.toMatchObject(refused);
  });

  test.each([
    ['the CommonJS module', () => bound(require('snarkjs') as Snarkjs)],
    ['a copy of the namespace', () => bound({ ...snarkjs })],
  ])('of %s are replaced, and restored', async (_, load) => {
    const module = load();
    const { groth16, plonk } = module;
    const { zkey, circuit, verify } = await statementOf('groth16');
    const accelerated = await begin({}, module);
    expect(await verify(await module.groth16.prove(zkey, circuit.witness))).toBe(true);
    expect(accelerate.stats).toMatchObject({ wholeProofs: 1, snarkjsProofs: 0 });
    expect(module.groth16.verify).toBe(groth16.verify);
    expect(Object.keys(module.plonk).sort()).toEqual(Object.keys(plonk).sort());
    const replaced = module.groth16;
    accelerated();
    accelerated();
    expect([module.groth16, module.plonk]).toEqual([groth16, plonk]);
    expect(module.groth16).toBe(groth16);
    // functions that were taken before are snarkjs's own
    expect(await verify(await replaced.prove(zkey, circuit.witness))).toBe(true);
    expect(await verify(await accelerated.groth16.prove(zkey.data, circuit.witness))).toBe(true);
    expect(accelerate.stats).toMatchObject({ wholeProofs: 1, snarkjsProofs: 0, keyBytes: 0 });
    await ((await module.curves.getCurveFromName('bn128')) as FfCurve).terminate();
  });
});

describe('an end', () => {
  test('by `restore` during the load or the proof leaves the proof to snarkjs, without a warning', async () => {
    const { zkey, circuit, verify } = await statementOf('groth16');
    const first = await begin();
    const early = first.groth16.prove(zkey.data, circuit.witness);
    first();
    expect(await verify(await early)).toBe(true);
    const second = await begin();
    const late = second.groth16.prove(zkey.data, circuit.witness);
    await expect.poll(() => accelerate.stats.keyLoads, { interval: 0 }).toBe(1);
    second();
    expect(await verify(await late)).toBe(true);
    expect(warnings).toEqual([]);
  });

  test('by an abort rejects proofs, those of a running load too', async () => {
    const { zkey, circuit } = await statementOf('groth16');
    const controller = new AbortController();
    const { groth16 } = await begin({ signal: controller.signal });
    const proving = groth16.prove(zkey.data, circuit.witness);
    controller.abort('enough');
    await expect(proving).rejects.toMatchObject({ code: 'aborted', cause: 'enough' });
    await expect(groth16.prove(zkey.data, circuit.witness)).rejects.toMatchObject({ code: 'aborted' });
    expect(accelerate.stats).toMatchObject({ wholeProofs: 0, snarkjsProofs: 0, fallbacks: 0 });
    expect(warnings).toEqual([]);
  });
});

describe('the signal of one proof', () => {
  const aborted = { code: 'aborted', cause: 'enough' };

  test('ends it in any part, and neither the load of the key nor proofs beside it', async () => {
    const { zkey, circuit, verify } = await statementOf('groth16');
    const { groth16 } = await begin();
    const prove = (signal?: AbortSignal) => groth16.prove(zkey.data, circuit.witness, undefined, { signal });
    await expect(prove(AbortSignal.abort('enough'))).rejects.toMatchObject(aborted);
    const first = new AbortController();
    const [loading, beside] = [prove(first.signal), prove()];
    first.abort('enough');
    await expect(loading).rejects.toMatchObject(aborted);
    expect(await verify(await beside)).toBe(true);
    const late = new AbortController();
    const proving = prove(late.signal);
    // the key is loaded, so the proof computes
    await nextTurn();
    late.abort('enough');
    await expect(proving).rejects.toMatchObject(aborted);
    expect(await verify(await prove(new AbortController().signal))).toBe(true);
    expect(accelerate.stats).toMatchObject({ wholeProofs: 2, snarkjsProofs: 0, keyLoads: 1 });
    expect(warnings).toEqual([]);
    await expect(prove(5 as never)).rejects.toMatchObject({ code: 'bad-argument' });
  });

  test('ends one that snarkjs computes, and a witness that it calculates', async () => {
    const { zkey, circuit, verify } = await statementOf('groth16');
    let proves = 0;
    const module = { ...snarkjs, wtns: { calculate: () => new Promise(() => undefined) } };
    const original = module.groth16.prove;
    const controller = new AbortController();
    module.groth16 = {
      ...module.groth16,
      prove: (...given) => {
        if (++proves === 1) controller.abort('enough');
        return original(...given);
      },
    };
    const { groth16 } = await begin({ leastPoints: 1000 }, module as unknown as Snarkjs);
    const prove = (signal: AbortSignal) => groth16.prove(zkey.data, circuit.witness, undefined, { signal });
    await expect(prove(controller.signal)).rejects.toMatchObject(aborted);
    expect(await verify(await prove(new AbortController().signal))).toBe(true);
    expect(proves).toBe(2);
    const other = new AbortController();
    const full = groth16.fullProve({}, 'none', zkey.data, undefined, undefined, { signal: other.signal });
    other.abort('enough');
    await expect(full).rejects.toMatchObject(aborted);
  });
});

describe('without the curves, as of snarkjs before 0.7.5', () => {
  test('whole proofs of Groth16 are computed, and the sums of PLONK, whose proofs 0.7.0 changed', async () => {
    const [one, other] = [await statementOf('groth16'), await statementOf('plonk')];
    const { curves: _, ...old } = snarkjs;
    const { groth16, plonk } = await begin({}, old as Snarkjs);
    expect(await one.verify(await groth16.prove(one.zkey.data, one.circuit.witness))).toBe(true);
    expect(accelerate.stats).toMatchObject({ wholeProofs: 1, snarkjsProofs: 0 });
    expect(warnings).toEqual([]);
    for (let i = 0; i < 2; i++)
      expect(await other.verify(await plonk.prove(other.zkey.data, other.circuit.witness))).toBe(true);
    expect(accelerate.stats).toMatchObject({ wholeProofs: 1, snarkjsProofs: 2, fallbacks: 0 });
    expect(accelerate.stats.calls).toBeGreaterThan(7);
    expect(warnings).toEqual([expect.stringContaining('snarkjs 0.7.5 or later')]);
  });

  test('what needs them says the version that has them', async () => {
    const { curves: _, ...old } = snarkjs;
    const refused = { code: 'bad-argument', message: expect.stringContaining('0.7.5 or later') };
    await expect(begin({ singleThread: true }, old as Snarkjs)).rejects.toMatchObject(refused);
    await expect(begin({}, { zKey: old.zKey } as Snarkjs)).rejects.toMatchObject(refused);
  });
});

describe('a proof by the namespace, of which sums alone are accelerated,', () => {
  test('has one warning with the way to whole proofs, which is silent', async () => {
    const { zkey, circuit, prove, verify } = await statementOf('groth16');
    const plonk = await statementOf('plonk');
    const { groth16 } = await begin();
    expect(await verify(await groth16.prove(zkey.data, circuit.witness))).toBe(true);
    expect(warnings).toEqual([]);
    for (let i = 0; i < 2; i++) expect(await verify(await prove())).toBe(true);
    expect(await plonk.verify(await plonk.prove())).toBe(true);
    expect(warnings).toEqual([expect.stringContaining('const { groth16 } = await accelerate(snarkjs)')]);
  });

  test('has none where whole proofs could not be: without provers, left to snarkjs, and at a setup', async () => {
    const { zkey, circuit, prove, verify } = await statementOf('groth16');
    const only = await begin({}, { curves: snarkjs.curves });
    expect(await verify(await prove())).toBe(true);
    only();
    const tight = await begin({ leastPoints: 65 });
    expect(await verify(await tight.groth16.prove(zkey.data, circuit.witness))).toBe(true);
    const made = memoryFile();
    const ptau = memoryFile(await powersOf('bn254', 6, 9 * 2 ** 6 + 18, false));
    await snarkjs.plonk.setup(memoryFile((await statementOf('plonk')).circuit.r1cs), ptau, made);
    await snarkjs.zKey.exportVerificationKey(made);
    expect(warnings.filter((message) => message.includes('await accelerate'))).toEqual([]);
  });
});

test('`prepare` of a file loads the key, and the points where it finds no room', async () => {
  const { zkey, circuit, verify } = await statementOf('groth16');
  const { groth16 } = await begin();
  await accelerate.prepare(zkey.data);
  expect(accelerate.stats).toMatchObject({ keyLoads: 1, loads: 0 });
  expect(await verify(await groth16.prove(zkey.data, circuit.witness))).toBe(true);
  expect(accelerate.stats).toMatchObject({ keyLoads: 1, wholeProofs: 1, calls: 0 });
  restore?.();
  await begin({ leastPoints: 65 });
  await accelerate.prepare(zkey.data);
  expect(accelerate.stats).toMatchObject({ keyLoads: 0, loads: 5 });
  await expect(accelerate.prepare(new Uint8Array(20))).rejects.toMatchObject({ code: 'bad-argument' });
});

test('concurrent proofs of two keys on one GPU verify', { tags: 'long' }, async () => {
  const [one, other] = [await statementOf('groth16'), await statementOf('plonk')];
  const leased = await leaseGpu();
  const tuning = { walkerSlots: 4, walkerThreadsPerWorkgroup: 8 };
  const { groth16, plonk } = await begin({ backend: 'gpu', gpu: leased.gpu, tuning });
  const proofs = [0, 1].flatMap(() => [
    groth16.prove(one.zkey.data, one.circuit.witness).then(one.verify),
    plonk.prove(other.zkey.data, other.circuit.witness).then(other.verify),
  ]);
  expect(await Promise.all(proofs)).toEqual([true, true, true, true]);
  expect(accelerate.stats).toMatchObject({ wholeProofs: 4, snarkjsProofs: 0, keyLoads: 2 });
  expect(leased.devices).toHaveLength(1);
});
