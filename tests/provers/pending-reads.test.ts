/** The ends of calls while code of the caller, which may never answer, is awaited. */
import { afterAll, describe, expect, test } from 'vitest';
import { openProvingKey as openFflonk } from '../../src/fflonk.js';
import type { RandomAccess } from '../../src/formats.js';
import { openProvingKey as openGroth16 } from '../../src/groth16.js';
import { openProvingKey as openPlonk } from '../../src/plonk.js';
import { sections } from '../support/failure-table.js';
import { leaseGpu } from '../support/leased-gpu.js';
import { ffCurveOf, makeStatement, systems } from '../support/proving.js';
import { until } from '../support/time.js';

afterAll(async () => (await ffCurveOf('bn254')).terminate());

const { aborted, destroyed } = sections.pending.rows;

const openers = { groth16: openGroth16, plonk: openPlonk, fflonk: openFflonk };

/** Returns a signal, and what aborts it. */
const abortable = (): { readonly signal: AbortSignal; abort(): void } => {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort('enough') };
};

/** A file whose read number `stuck` is answered by `answer` alone. */
class StuckFile implements RandomAccess {
  readonly byteLength: number;
  readonly #data: Uint8Array;
  readonly #stuck: number;
  readonly #onStuck: () => void;
  reads = 0;
  #answer: (how: 'bytes' | 'error') => void = () => undefined;

  constructor(data: Uint8Array, stuck: number, onStuck: () => void) {
    this.byteLength = data.length;
    this.#data = data;
    this.#stuck = stuck;
    this.#onStuck = onStuck;
  }

  read(from: number, to: number): Promise<Uint8Array> {
    const bytes = this.#data.slice(from, to);
    if (this.reads++ !== this.#stuck) return Promise.resolve(bytes);
    // the end comes when the read is awaited, in another turn
    setTimeout(this.#onStuck);
    return new Promise((resolve, reject) => {
      this.#answer = (how) => (how === 'bytes' ? resolve(bytes) : reject(new Error('late')));
    });
  }

  /** Answers the read after all. */
  answer(how: 'bytes' | 'error'): void {
    this.#answer(how);
  }
}

/** Runs work with files whose reads get stuck, one after the other, until there is no such read. */
const forEachRead = async (
  data: Uint8Array,
  work: (file: (onStuck: () => void) => StuckFile) => Promise<void>,
): Promise<number> => {
  for (let stuck = 0; ; stuck++) {
    let last: StuckFile | null = null;
    await work((onStuck) => {
      last = new StuckFile(data, stuck, onStuck);
      return last;
    });
    const file = last as unknown as StuckFile;
    file.answer(stuck % 2 === 0 ? 'bytes' : 'error');
    if (file.reads <= stuck) return stuck;
  }
};

describe.each(systems)('while a read of a source of %s is not answered', (system) => {
  const statement = makeStatement(system, 'bn254', 4, 'dense');

  test('`signal` ends `openProvingKey`', async () => {
    const { zkey, circuit, verify } = await statement;
    const reads = await forEachRead(zkey.data, async (fileOf) => {
      const { signal, abort } = abortable();
      const file = fileOf(abort);
      const key = await openers[system](file, { backend: 'cpu', signal }).catch((error: unknown) => {
        expect(error).toMatchObject({ code: aborted.code, cause: 'enough' });
        expect((error as Error).message).toContain(aborted.says);
      });
      expect(key === undefined).toBe(signal.aborted);
      if (key === undefined) return;
      expect(await verify(await key.prove(circuit.witness))).toBe(true);
      key.destroy();
    });
    expect(reads).toBeGreaterThan(10);
  });

  test.each(['signal', 'destroy'] as const)('%s ends `prove`', async (end) => {
    const { zkey, circuit, verify } = await statement;
    const open = () => openers[system](zkey.data, { backend: 'cpu' });
    let key = await open();
    const reads = await forEachRead(circuit.witness, async (fileOf) => {
      const { signal, abort } = abortable();
      let hasEnded = false;
      const file = fileOf(() => {
        hasEnded = true;
        if (end === 'signal') abort();
        else key.destroy();
      });
      const proof = await key.prove(file, { signal }).catch((error: unknown) => {
        const row = end === 'signal' ? aborted : destroyed;
        expect(error).toMatchObject({ code: row.code, message: expect.stringContaining(row.says) });
      });
      expect(proof === undefined).toBe(hasEnded);
      if (proof !== undefined) expect(await verify(proof)).toBe(true);
      if (hasEnded && end === 'destroy') {
        await expect(key.prove(circuit.witness)).rejects.toMatchObject({ code: destroyed.code });
        key = await open();
      }
    });
    expect(reads).toBeGreaterThan(3);
    expect(await verify(await key.prove(circuit.witness))).toBe(true);
    key.destroy();
  });

  test('`signal` ends the wait for a GPU, and a device that comes later is destroyed', async () => {
    const { zkey } = await statement;
    const { signal, abort } = abortable();
    const leased = await leaseGpu();
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const requestAdapter = async (options?: GPURequestAdapterOptions) => {
      setTimeout(abort);
      await gate;
      return leased.gpu.requestAdapter(options);
    };
    const opening = openers[system](zkey.data, { backend: 'gpu', gpu: { requestAdapter } as GPU, signal });
    await expect(opening).rejects.toMatchObject({ code: 'aborted' });
    release();
    await until(() => leased.devices.length === 1);
    expect(await leased.devices[0]?.device.lost).toMatchObject({ reason: 'destroyed' });
  });
});
