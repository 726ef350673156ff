/** Proving keys that are damaged, aborted, destroyed, or given a wrong witness. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MsmError, openProvingKey, type ProvingKey, type ProvingKeyOptions } from '../../src/groth16.js';
import { endCurves, makeStatement, type Statement, snarkjs } from '../support/proving.js';

let statement: Statement;
let zkey: Uint8Array;
let witness: Uint8Array;
/** A key that all tests use, also after failures. */
let key: ProvingKey;

beforeAll(async () => {
  statement = await makeStatement('groth16', 'bn254', 6, 'dense');
  zkey = statement.zkey.data;
  ({ witness } = statement.circuit);
  key = await open(zkey);
});
afterAll(async () => {
  key.destroy();
  await endCurves();
});

const open = (file: Uint8Array, options: ProvingKeyOptions = {}): Promise<ProvingKey> =>
  openProvingKey(file, { backend: 'cpu', ...options });

const expectUsable = async (of = key): Promise<void> =>
  expect(await statement.verify(await of.prove(witness))).toBe(true);

/** Finds the content of each section. */
const sectionsOf = (file: Uint8Array): ReadonlyMap<number, { readonly from: number; readonly to: number }> => {
  const view = new DataView(file.buffer, file.byteOffset);
  const found = new Map<number, { from: number; to: number }>();
  for (let at = 12; at < file.length; ) {
    const to = at + 12 + Number(view.getBigUint64(at + 4, true));
    found.set(view.getUint32(at, true), { from: at + 12, to });
    at = to;
  }
  return found;
};

const placeOf = (file: Uint8Array, id: number) => sectionsOf(file).get(id) as { from: number; to: number };

/** Returns a copy with other bytes at a position. */
const changed = (file: Uint8Array, at: number, bytes: ArrayLike<number>): Uint8Array => {
  const copy = file.slice();
  copy.set(bytes, at);
  return copy;
};

/** Applies a beacon, as the last contribution to a key. */
const beaconOf = (...given: readonly unknown[]): Promise<unknown> =>
  (snarkjs.zKey as unknown as { beacon(...given: readonly unknown[]): Promise<unknown> }).beacon(...given);

const refused = (message: string | RegExp, code = 'bad-argument') => ({
  code,
  message: typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message),
});

describe('keys', () => {
  test('of other protocols and other files are refused', async () => {
    const { zkey: plonk } = await makeStatement('plonk', 'bn254', 6, 'dense');
    await expect(open(plonk.data)).rejects.toMatchObject(refused('zkey is a key of plonk'));
    await expect(open(witness)).rejects.toMatchObject(refused('must begin with the letters zkey'));
    for (const wrong of [undefined, null, 5, {}])
      await expect(open(wrong as never)).rejects.toMatchObject(refused('zkey: the file must be'));
    await expect(open('no/circuit.zkey' as never)).rejects.toMatchObject(refused(/zkey: .*circuit\.zkey/));
  });

  test('that are cut off anywhere are refused', async () => {
    const cuts = fc.integer({ min: 0, max: zkey.length - 1 });
    await fc.assert(
      fc.asyncProperty(cuts, async (end) => {
        await expect(open(zkey.subarray(0, end))).rejects.toMatchObject({ code: 'bad-argument' });
      }),
      { numRuns: 100, seed: 37 },
    );
  });

  test('with a flipped bit in a point are refused by the name of the section', async () => {
    const names = new Map(Object.entries({ 5: 'A', 6: 'B1', 7: 'B2', 8: 'C', 9: 'H' }));
    for (const [id, name] of names) {
      const { from, to } = placeOf(zkey, Number(id));
      const at = from + Math.floor((to - from) / 3);
      const flipped = open(changed(zkey, at, [(zkey[at] as number) ^ 16]));
      await expect(flipped).rejects.toMatchObject(refused(`zkey: section ${name}: `, 'not-on-curve'));
      const large = open(changed(zkey, to - 1, [255]));
      await expect(large).rejects.toMatchObject(refused(`zkey: section ${name}: `));
    }
    // α·G1 follows the primes and three numbers
    const alpha = placeOf(zkey, 2).from + 84;
    const flipped = open(changed(zkey, alpha, [(zkey[alpha] as number) ^ 1]));
    await expect(flipped).rejects.toMatchObject(refused('zkey: section alpha1: ', 'not-on-curve'));
  });

  test('with infinity where no setup has it are refused by the index of the point', async () => {
    const { from, to } = placeOf(zkey, 9);
    for (let at = from; at < to; at += 64) {
      const infinite = open(changed(zkey, at, new Uint8Array(64)));
      await expect(infinite).rejects.toMatchObject(refused(`section H: points[${(at - from) / 64}] is infinity`));
    }
    // α, β, γ and δ in G1 and G2
    let at = placeOf(zkey, 2).from + 84;
    for (const [name, bytes] of Object.entries({
      alpha1: 64,
      beta1: 64,
      beta2: 128,
      gamma2: 128,
      delta1: 64,
      delta2: 128,
    })) {
      const infinite = open(changed(zkey, at, new Uint8Array(bytes)));
      await expect(infinite).rejects.toMatchObject(refused(`section ${name}: points[0] is infinity`));
      at += bytes;
    }
  });

  test('without a contribution to phase 2 are taken with one warning', async () => {
    const made = await makeStatement('groth16', 'bn254', 5, 'dense', 'snarkjs');
    const first = { data: made.zkey.data };
    const contributed: { type: string; data?: Uint8Array } = { type: 'mem' };
    await beaconOf({ type: 'mem', ...first }, contributed, 'only', '01'.repeat(32), 10);
    const warned = async (file: Uint8Array, values: Uint8Array): Promise<readonly string[]> => {
      const warnings: string[] = [];
      using own = await open(file, { onWarning: (message) => void warnings.push(message) });
      for (let i = 0; i < 2; i++) await own.prove(values);
      return warnings;
    };
    expect(await warned(first.data, made.circuit.witness)).toEqual([
      expect.stringMatching(/^webgpu-msm: zkey: γ equals δ/),
    ]);
    expect(await warned(contributed.data as Uint8Array, made.circuit.witness)).toEqual([]);
    expect(await warned(zkey, witness)).toEqual([]);
  });

  test('and witnesses with bytes behind the last section are taken with one warning each, as by snarkjs', async () => {
    const behind = (file: Uint8Array): Uint8Array => changed(new Uint8Array(file.length + 7), 0, file);
    const warnings: string[] = [];
    using own = await open(behind(zkey), { onWarning: (message) => void warnings.push(message) });
    expect(warnings).toEqual(['webgpu-msm: zkey: 7 bytes follow the last section and are ignored']);
    for (let i = 0; i < 2; i++) expect(await statement.verify(await own.prove(behind(witness)))).toBe(true);
    expect(warnings.slice(1)).toEqual(['webgpu-msm: witness: 7 bytes follow the last section and are ignored']);
    const files = [behind(zkey), behind(witness)].map((data) => ({ type: 'mem', data }));
    expect(await statement.verify(await snarkjs.groth16.prove(files[0], files[1]))).toBe(true);
  });

  test('with a coefficient outside of the circuit are refused', async () => {
    const { from } = placeOf(zkey, 4);
    const entry = from + 4 + 44;
    await expect(open(changed(zkey, from, [1]))).rejects.toMatchObject(refused(/section 4 .* says \d+ entries/));
    for (const [offset, name] of [
      [0, 'matrix 255'],
      [6, 'row 16'],
      [10, 'column 16'],
    ] as const) {
      const wrong = open(changed(zkey, entry + offset, [255]));
      await expect(wrong).rejects.toMatchObject(refused(new RegExp(`section 4 .*entry 1 is in .*${name}`)));
    }
    const large = open(changed(zkey, entry + 43, [255]));
    await expect(large).rejects.toMatchObject(refused('is not below the prime'));
  });

  test('with any bit flipped are refused by a typed error, or prove', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 8 * zkey.length - 1 }), async (bit) => {
        const at = bit >> 3;
        const flipped = changed(zkey, at, [(zkey[at] as number) ^ (1 << (bit & 7))]);
        const error = await open(flipped).then(
          async (own) => {
            await own.prove(witness).finally(() => own.destroy());
            return null;
          },
          (cause: unknown) => cause,
        );
        expect(error === null || error instanceof MsmError).toBe(true);
      }),
      { numRuns: 60, seed: 37 },
    );
  });

  test('are refused for options that do not exist or are wrong', async () => {
    await expect(open(zkey, { group: 'g2' } as never)).rejects.toMatchObject(refused('options.group is not an option'));
    await expect(open(zkey, { backend: 'cpus' as never })).rejects.toMatchObject(refused('backend must'));
    await expect(open(zkey, { signal: {} as never })).rejects.toMatchObject(refused('options.signal must'));
    await expect(open(zkey, { backend: 'gpu' })).rejects.toMatchObject({ code: 'no-webgpu' });
  });

  test('are not loaded further after an abort in any part, or an error of onProgress', async () => {
    await expect(open(zkey, { signal: AbortSignal.abort('enough') })).rejects.toMatchObject({ code: 'aborted' });
    for (let part = 1; part <= 7; part++) {
      const controller = new AbortController();
      const onProgress = ({ done }: { done: number }) => done === part && controller.abort('enough');
      const aborted = open(zkey, { signal: controller.signal, onProgress: onProgress as never });
      await expect(aborted).rejects.toMatchObject({ code: 'aborted', cause: 'enough' });
    }
    const mine = new Error('mine');
    const onProgress = (): never => {
      throw mine;
    };
    await expect(open(zkey, { onProgress })).rejects.toBe(mine);
  });

  test('report their parts', async () => {
    const seen: unknown[] = [];
    using own = await open(zkey, { onProgress: (progress) => seen.push(progress) });
    const { curve, variables, publicSignals, domainSize } = own;
    expect(seen).toEqual(Array.from({ length: 7 }, (_, i) => ({ phase: 'load', done: i + 1, total: 7 })));
    expect([curve, variables, publicSignals, domainSize]).toEqual(['bn254', statement.circuit.wires, 1, 64]);
    seen.length = 0;
    await own.prove(witness, { onProgress: (progress) => seen.push(progress) });
    expect(seen).toMatchObject(Array.from({ length: 7 }, (_, i) => ({ phase: 'prove', done: i + 1, total: 7 })));
  });
});

describe('witnesses', () => {
  test('of another length, prime or circuit are refused, without a value in the message', async () => {
    const [{ circuit: other }, { circuit: larger }] = [
      await makeStatement('groth16', 'bls12-381', 6, 'dense'),
      await makeStatement('groth16', 'bn254', 7, 'dense'),
    ];
    const value = placeOf(witness, 2).from + 3 * 32;
    for (const [given, message] of [
      [other.witness, 'prime of 32 bytes that is not that of the circuit'],
      [larger.witness, 'but the circuit has 63 variables'],
      [witness.subarray(0, witness.length - 32), 'is it cut off?'],
      [witness.slice(76, -32), 'witness must be a .wtns file or 63 numbers of 32 bytes, got 1984 bytes'],
      [new Uint8Array(63 * 32), 'variable 0 must have the value 1'],
      [new Uint8Array(), 'witness must be'],
      [changed(witness, value + 31, [255]), 'witness: variable 3 must have a value below the prime of the field'],
      [zkey, 'witness must be'],
      [new Blob([]), 'witness'],
      ['1', 'witness: the file must be'],
      [undefined, 'witness: the file must be'],
    ] as const) {
      await expect(key.prove(given as never)).rejects.toMatchObject(refused(message));
    }
    await expectUsable();
  });
});

describe('proofs', () => {
  test('end at once by an abort in any part; the key stays usable', async () => {
    await expect(key.prove(witness, { signal: AbortSignal.abort('enough') })).rejects.toMatchObject({
      code: 'aborted',
    });
    for (let part = 0; part <= 7; part++) {
      const controller = new AbortController();
      const proving = key.prove(witness, {
        signal: controller.signal,
        onProgress: ({ done }) => void (done === part && controller.abort('enough')),
      });
      const beside = key.prove(witness);
      if (part === 0) controller.abort('enough');
      await expect(proving).rejects.toMatchObject({ code: 'aborted', cause: 'enough' });
      expect(await statement.verify(await beside)).toBe(true);
    }
    await expectUsable();
  });

  test('pass on errors of onProgress from any part; the key stays usable', async () => {
    for (let part = 1; part <= 7; part++) {
      const mine = new Error('mine');
      const onProgress = ({ done }: { readonly done: number }): void => {
        if (done === part) throw mine;
      };
      await expect(key.prove(witness, { onProgress })).rejects.toBe(mine);
    }
    await expectUsable();
  });

  test('reject once the key is destroyed, also those under way', async () => {
    const own = await open(zkey);
    const proving = [own.prove(witness), own.prove(witness)];
    own.destroy();
    own.destroy();
    const late = own.prove(witness);
    for (const proof of [...proving, late])
      await expect(proof).rejects.toMatchObject(refused('the proving key was destroyed', 'destroyed'));
    for (let part = 1; part < 7; part++) {
      const other = await open(zkey);
      const onProgress = ({ done }: { readonly done: number }): void => {
        if (done === part) other.destroy();
      };
      await expect(other.prove(witness, { onProgress })).rejects.toMatchObject({ code: 'destroyed' });
    }
    await expectUsable();
  });

  test('have options of calls', async () => {
    expect(await statement.verify(await key.prove(witness, { priority: 'background', deadline: 5 }))).toBe(true);
    await expect(key.prove(witness, { priority: 'none' as never })).rejects.toMatchObject(refused('options.priority'));
    await expect(key.prove(witness, null as never)).rejects.toMatchObject(refused('options must be an object'));
  });
});
