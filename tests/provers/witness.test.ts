/** Witnesses in every form and from every kind of source, and values that are not below the prime. */
import { bn254 } from '@noble/curves/bn254.js';
import { numberToBytesLE } from '@noble/curves/utils.js';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { openProvingKey as openFflonk } from '../../src/fflonk.js';
import { openProvingKey as openGroth16, type ProofResult } from '../../src/groth16.js';
import { openProvingKey as openPlonk } from '../../src/plonk.js';
import { giveBack } from '../../src/proofs/witness.js';
import { ffCurveOf, makeStatement, systems } from '../support/proving.js';

const { ORDER: r } = bn254.fields.Fr;

/** Position of the values in a witness file. */
const VALUES_AT = 76;

const sources: Readonly<Record<string, (bytes: Uint8Array<ArrayBuffer>) => unknown>> = {
  bytes: (bytes) => bytes,
  'an ArrayBuffer': (bytes) => bytes.buffer,
  'a Blob': (bytes) => new Blob([bytes]),
  'a File': (bytes) => new File([bytes], 'witness'),
  'a source that reads at once': (bytes) => ({
    byteLength: bytes.length,
    read: (from: number, to: number) => bytes.slice(from, to),
  }),
  'a source that reads later': (bytes) => ({
    byteLength: bytes.length,
    read: async (from: number, to: number) => bytes.slice(from, to),
  }),
};

interface Key {
  readonly publicSignals: number;
  prove(witness: unknown): Promise<ProofResult>;
  [Symbol.dispose](): void;
}

afterAll(async () => (await ffCurveOf('bn254')).terminate());

describe.each(systems)('a witness of %s', (system) => {
  const statement = makeStatement(system, 'bn254', 4, 'dense');
  const open = async (): Promise<Key> => {
    const openKey = { groth16: openGroth16, plonk: openPlonk, fflonk: openFflonk }[system];
    return (await openKey((await statement).zkey.data, { backend: 'cpu' })) as unknown as Key;
  };

  test('is a .wtns file or values alone, in memory, in a Blob or behind read', async () => {
    const { circuit, verify } = await statement;
    using key = await open();
    const file = circuit.witness.slice();
    for (const [name, source] of Object.entries(sources)) {
      for (const bytes of [file, file.slice(VALUES_AT)]) {
        const result = await key.prove(source(bytes));
        expect(result.publicSignals, name).toEqual(circuit.publicSignals.map(String));
        expect(await verify(result), name).toBe(true);
      }
      const message = `witness must be a .wtns file or ${(file.length - VALUES_AT) / 32} numbers of 32 bytes`;
      for (const wrong of [file.slice(VALUES_AT, -32), file.slice(0, 3), new Uint8Array()]) {
        await expect(key.prove(source(wrong)), name).rejects.toMatchObject({
          ...{ code: 'bad-argument', message: expect.stringContaining(message) },
        });
      }
    }
  });

  test('leaves no values in what a Blob gave', async () => {
    const { circuit, verify } = await statement;
    using key = await open();
    const given: ArrayBuffer[] = [];
    const read = Blob.prototype.arrayBuffer;
    const spy = vi.spyOn(Blob.prototype, 'arrayBuffer').mockImplementation(async function (this: Blob) {
      const buffer = await read.call(this);
      given.push(buffer);
      return buffer;
    });
    const values = circuit.witness.slice(VALUES_AT);
    expect(await verify(await key.prove(new Blob([values])))).toBe(true);
    spy.mockRestore();
    const large = given.filter(({ byteLength }) => byteLength === values.length);
    expect(large).toHaveLength(1);
    for (const each of large) expect(new Uint8Array(each)).toEqual(new Uint8Array(values.length));
  });

  test('with a value that is not below the prime is refused, and the variable named', async () => {
    const { circuit, verify } = await statement;
    using key = await open();
    const last = (circuit.witness.length - VALUES_AT) / 32 - 1;
    for (const [variable, value] of [
      [1, r],
      [3, r + 1n],
      [last, 2n ** 256n - 1n],
      [last, r + 2n ** 224n],
    ] as const) {
      const wrong = circuit.witness.slice();
      wrong.set(numberToBytesLE(value, 32), VALUES_AT + 32 * variable);
      for (const given of [wrong, wrong.slice(VALUES_AT), new Blob([wrong])]) {
        await expect(key.prove(given)).rejects.toMatchObject({
          code: 'bad-argument',
          message: `witness: variable ${variable} must have a value below the prime of the field`,
        });
      }
    }
    expect(await verify(await key.prove(circuit.witness))).toBe(true);
  });
});

test('memory of large arrays is given back where the platform can, and that of small ones is not', () => {
  const [small, large] = [new Uint8Array(1000), new Uint8Array(2 ** 20)];
  for (let i = 0; i < 2; i++) giveBack([small, large]);
  expect(small.length).toBe(1000);
  expect(large.length).toBe('transfer' in ArrayBuffer.prototype ? 0 : 2 ** 20);
});
