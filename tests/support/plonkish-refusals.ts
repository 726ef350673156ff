/** Tests that keys of PLONK and of FFLONK share: what they refuse, and what ends a proof early. */
import { expect, test } from 'vitest';
import type { Statement } from './proving.js';

/** A key, as far as these tests use it. */
interface Key {
  prove(
    witness: Uint8Array,
    options?: {
      readonly signal?: AbortSignal;
      readonly onProgress?: (progress: { readonly done: number }) => void;
    },
  ): Promise<Awaited<ReturnType<Statement['prove']>>>;
  destroy(): void;
  [Symbol.dispose](): void;
}

type OpenKey = (zkey: Uint8Array, options: { readonly backend: 'cpu' }) => Promise<Key>;

/** Declares the tests. */
export const refusesAndEnds = (openProvingKey: OpenKey, statement: Promise<Statement>): void => {
  test('cut-off keys, and unknown options', async () => {
    const { zkey } = await statement;
    const open = openProvingKey as (zkey: Uint8Array, options?: object) => Promise<Key>;
    await expect(open(zkey.data.subarray(0, -1))).rejects.toMatchObject({ code: 'bad-argument' });
    await expect(open(zkey.data, { speed: 1 })).rejects.toMatchObject({
      ...{
        code: 'bad-argument',
        message: expect.stringMatching(/^options\.speed is not an option of openProvingKey; there /),
      },
    });
  });

  test('witnesses of another length', async () => {
    const { zkey, circuit } = await statement;
    using key = await openProvingKey(zkey.data, { backend: 'cpu' });
    await expect(key.prove(circuit.witness.subarray(0, -1))).rejects.toMatchObject({ code: 'bad-argument' });
    await expect(key.prove(new Uint8Array(32))).rejects.toMatchObject({ code: 'bad-argument' });
  });

  test('a proof that is aborted after any round leaves the key usable', async () => {
    const { zkey, circuit, verify } = await statement;
    using key = await openProvingKey(zkey.data, { backend: 'cpu' });
    for (let round = 0; round < 5; round++) {
      const controller = new AbortController();
      if (round === 0) controller.abort();
      const onProgress = ({ done }: { readonly done: number }): void => {
        if (done === round) controller.abort();
      };
      await expect(key.prove(circuit.witness, { signal: controller.signal, onProgress })).rejects.toMatchObject({
        code: 'aborted',
      });
    }
    expect(await verify(await key.prove(circuit.witness))).toBe(true);
  });

  test('a key that is destroyed ends its proofs', async () => {
    const { zkey, circuit } = await statement;
    const key = await openProvingKey(zkey.data, { backend: 'cpu' });
    const running = key.prove(circuit.witness, { onProgress: () => key.destroy() });
    await expect(running).rejects.toMatchObject({ code: 'destroyed' });
    await expect(key.prove(circuit.witness)).rejects.toMatchObject({ code: 'destroyed' });
  });
};
