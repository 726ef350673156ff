/** Keys of circuits that arrive as streams, and go on to the cache of a worker piece by piece. */
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Circuit, type CircuitFiles, type CircuitOptions, openCircuit } from '../../src/circom.js';
import { folderCache } from '../../src/node.js';
import { type CompiledCircuit, compileCircuit } from '../support/circom.js';
import { makeZkey, verifyBySnarkjs } from '../support/circom-keys.js';
import { ffCurveOf } from '../support/proving.js';
import { until } from '../support/time.js';
import { useNoWorkers, useWorkersHere, type WorkerHere } from '../support/worker-here.js';

const PIECE = 2 ** 18;
const root = mkdtempSync(join(tmpdir(), 'webgpu-msm-pieces-'));
let folder = '';
let count = 0;
let compiled: CompiledCircuit;
let zkey: Uint8Array<ArrayBuffer>;
let workers: readonly WorkerHere[] = [];
const warnings: string[] = [];

beforeAll(async () => {
  compiled = await compileCircuit(`pragma circom 2.0.0;
    template Chain(n) {
      signal input a; signal output out; signal s[n + 1];
      s[0] <== a;
      for (var i = 0; i < n; i++) { s[i + 1] <== s[i] * s[i] + 1; }
      out <== s[n];
    }
    component main = Chain(2000);`);
  zkey = await makeZkey('groth16', 'bn254', compiled.r1cs);
  expect(zkey.length).toBeGreaterThan(3 * PIECE);
});
afterAll(async () => {
  await (await ffCurveOf('bn254')).terminate();
  rmSync(root, { recursive: true });
});
const opened: Circuit[] = [];
beforeEach(() => {
  folder = join(root, `${++count}`);
  warnings.length = 0;
  workers = useWorkersHere();
});
afterEach(() => {
  for (const circuit of opened.splice(0)) circuit.destroy();
  vi.restoreAllMocks();
});

const open = async (key: CircuitFiles['zkey'], options: CircuitOptions = {}): Promise<Circuit> => {
  const circuit = await openCircuit(
    { wasm: compiled.wasm, zkey: key },
    {
      ...{ backend: 'cpu', maxWorkers: 0, cache: folderCache(folder), ...options },
      onWarning: (message) => void (message.includes('γ') || warnings.push(message)),
    },
  );
  expect(circuit.worker).toBe(true);
  opened.push(circuit);
  return circuit;
};

const expectProof = async (circuit: Circuit): Promise<void> => {
  const result = await circuit.prove({ a: 3 }, { verifyProof: true });
  expect(await verifyBySnarkjs('groth16', zkey, result)).toBe(true);
};

const files = (): string[] => (existsSync(folder) ? readdirSync(folder) : []);
const keys = (): string[] => files().filter((name) => name.endsWith('.key') || name.endsWith('.received'));

/** The key as a stream. @param onPull called before each chunk, with the bytes that went before */
const streamOf = (size: number, onPull: (from: number) => void = () => undefined): ReadableStream<Uint8Array> => {
  let from = 0;
  return new ReadableStream(
    {
      pull: (controller) => {
        onPull(from);
        if (from >= zkey.length) return controller.close();
        controller.enqueue(zkey.slice(from, from + size));
        from += size;
      },
    },
    { highWaterMark: 0 },
  );
};

/** The worker of the key. */
const keyWorker = (): WorkerHere =>
  workers.findLast(({ heard }) => heard.some(({ call }) => call?.name === 'key')) as WorkerHere;

// first, as workers of this thread leave it what they are told
test('the worker of a key is told what the page finds of the platform', async () => {
  const agent = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0';
  vi.stubGlobal('navigator', { userAgent: agent, maxTouchPoints: 5, hardwareConcurrency: 2 });
  await open(new Blob([zkey]), { cache: undefined });
  vi.unstubAllGlobals();
  const [call] = keyWorker().heard.flatMap(({ call }) => (call?.name === 'key' ? [call] : []));
  expect(call?.defaultLimit).toBe(2 ** 29);
});

describe('a stream', () => {
  test.each([1000, 65_536, PIECE, PIECE + 1, 2 ** 24])('in chunks of %i is on the disk as it arrives', async (size) => {
    const made = vi.spyOn(globalThis, 'Blob');
    let most = 0;
    const circuit = await open(
      streamOf(size, (from) => {
        const [name] = keys();
        most = Math.max(
          most,
          Math.min(from, zkey.length) - (name === undefined ? 0 : statSync(join(folder, name)).size),
        );
      }),
    );
    expect(made).not.toHaveBeenCalled();
    // a piece that is sent, a page that is being filled, and a chunk
    expect(most).toBeLessThanOrEqual(2 * PIECE + Math.min(size, zkey.length));
    expect(keys()).toEqual([expect.stringMatching(/\.key$/)]);
    await expectProof(circuit);
    expect(warnings).toEqual([]);
  });

  test('of a response is kept, and its download is told', async () => {
    const told: (number | null)[][] = [];
    const response = new Response(streamOf(50_000), { headers: { 'content-length': String(zkey.length) } });
    const circuit = await open(response, {
      onProgress: ({ stage, part, done, total }) => {
        if (stage === 'download' && part === 'zkey') told.push([done, total]);
      },
    });
    expect(told.at(-1)).toEqual([zkey.length, zkey.length]);
    expect(keys()).toHaveLength(1);
    await expectProof(circuit);
  });

  test('is read from the cache by a worker that is started again, and refused once it is not there', async () => {
    const circuit = await open(streamOf(100_000));
    for (let turn = 0; turn < 2; turn++) {
      const worker = keyWorker();
      worker.kill();
      await expectProof(circuit);
      expect(keyWorker()).not.toBe(worker);
    }
    await folderCache(folder).delete();
    keyWorker().kill();
    await expect(circuit.prove({ a: 3 })).rejects.toMatchObject({
      code: 'bad-argument',
      message: 'zkey: it came as a stream, and the cache has it no more; open the circuit again',
    });
    // the worker that could not be opened again
    await until(() => keyWorker().isTerminated);
    await expectProof(await open(streamOf(100_000)));
  });

  test('that finds no room proves, and not with a worker that is started again', async () => {
    const circuit = await open(streamOf(100_000), { cache: folderCache(folder, { maxBytes: 3 * PIECE }) });
    expect(warnings.splice(0)).toEqual([expect.stringContaining('finds no room')]);
    expect(keys()).toEqual([]);
    await expectProof(circuit);
    keyWorker().kill();
    await expect(circuit.prove({ a: 3 })).rejects.toMatchObject({
      code: 'bad-argument',
      message: 'zkey: its worker died, and it came as a stream that no cache keeps; open the circuit again',
    });
  });

  test('without a cache is read into a Blob, which a worker that is started again reads', async () => {
    const circuit = await open(streamOf(100_000), { cache: undefined });
    await expectProof(circuit);
    keyWorker().kill();
    await expectProof(circuit);
  });

  test('where no worker starts goes to the cache all the same', async () => {
    vi.restoreAllMocks();
    useNoWorkers();
    const made = vi.spyOn(globalThis, 'Blob');
    const circuit = await openCircuit(
      { wasm: compiled.wasm, zkey: streamOf(70_000) },
      { backend: 'cpu', maxWorkers: 0, cache: folderCache(folder), onWarning: () => undefined },
    );
    opened.push(circuit);
    expect(circuit.worker).toBe(false);
    expect(made).not.toHaveBeenCalled();
    expect(keys()).toHaveLength(1);
    await expectProof(circuit);
  });
});

describe('a stream that is no whole key leaves nothing, and the next one is kept', () => {
  test('because it breaks, with the error of its source', async () => {
    const thrown = new Error('of the stream');
    const broken = streamOf(100_000, (from) => {
      if (from > zkey.length / 2) throw thrown;
    });
    await expect(open(broken)).rejects.toBe(thrown);
    await until(() => keys().length === 0);
  });

  test('because it ends early, or is another file', async () => {
    const short = new Blob([zkey.slice(0, 2 * PIECE + 5)]).stream();
    await expect(open(short)).rejects.toMatchObject({ code: 'bad-argument' });
    await expect(open(new Blob([new Uint8Array(3 * PIECE).fill(7)]).stream())).rejects.toMatchObject({
      code: 'bad-argument',
      message: 'zkey: the file must begin with the letters zkey',
    });
    await until(() => keys().length === 0);
  });

  // with 0 ms while the worker writes pages, else while it waits for a piece
  test.each([0, 100])('because it is aborted %i ms after it stalls, and its source is told', async (ms) => {
    const ending = new AbortController();
    let isCancelled = false;
    let pulls = 0;
    const stalled = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        if (pulls++ < 5) return controller.enqueue(zkey.slice(0, PIECE));
        setTimeout(() => ending.abort('enough'), ms);
        return new Promise(() => undefined);
      },
      cancel: () => {
        isCancelled = true;
      },
    });
    await expect(open(stalled, { signal: ending.signal })).rejects.toMatchObject({ code: 'aborted', cause: 'enough' });
    await until(() => isCancelled && files().every((name) => name === 'times.json'));
  });

  afterEach(async () => {
    await expectProof(await open(streamOf(100_000)));
    expect(keys()).toHaveLength(1);
  });
});

test('a circuit that is destroyed has its worker end the use of the key', async () => {
  const circuit = await open(streamOf(100_000));
  expect(files().filter((name) => name.endsWith('.use'))).toHaveLength(1);
  circuit.destroy();
  await until(() => keyWorker().isTerminated);
  expect(files().filter((name) => name.endsWith('.use'))).toEqual([]);
});

test('a worker that died is started again once, by however many calls', async () => {
  const circuit = await open(new Blob([zkey]), { cache: undefined });
  const { proof, publicSignals } = await circuit.prove({ a: 3 });
  const before = workers.length;
  keyWorker().kill();
  const verdicts = [0, 1, 2].map(() => circuit.verify(proof, publicSignals));
  expect(await Promise.all(verdicts)).toEqual([true, true, true]);
  expect(workers).toHaveLength(before + 1);
});

test('an error of the source is that of the calls that read, and of no later call', async () => {
  const thrown = new Error('of the source');
  let fails = false;
  const source = {
    byteLength: zkey.length,
    read: async (from: number, to: number) => {
      if (fails) throw thrown;
      return zkey.slice(from, to);
    },
  };
  const tooFew = await open(source, { cache: undefined, memoryLimit: 1 }).catch((error: Error) => error);
  const memoryLimit = Number(/takes (\d+) bytes/.exec((tooFew as Error).message)?.[1]);
  const circuit = await open(source, { cache: undefined, memoryLimit });
  const { proof, publicSignals } = await circuit.prove({ a: 3 });
  fails = true;
  await expect(circuit.prove({ a: 3 })).rejects.toBe(thrown);
  fails = false;
  await expect(circuit.verify({} as never, publicSignals)).rejects.toMatchObject({ code: 'bad-argument' });
  expect(await circuit.verify(proof, publicSignals)).toBe(true);
  await expectProof(circuit);
});
