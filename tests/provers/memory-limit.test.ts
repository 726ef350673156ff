/** Keys of Groth16 under a limit of main memory: their proofs, what they hold, and damaged pages. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { MainMemory } from '../../src/engine/main-memory.js';
import { openProvingKeyWith, provingKeyOptions } from '../../src/groth16/open-proving-key.js';
import { openProvingKey, type ProvingKeyOptions } from '../../src/groth16.js';
import { openFile } from '../../src/node.js';
import { readOptions } from '../../src/option-table.js';
import { keySettingsOf } from '../../src/proofs/circuit-prover.js';
import { planPoints } from '../../src/proofs/key-memory.js';
import { drawRandomScalar } from '../../src/proofs/witness.js';
import { leaseGpu } from '../support/leased-gpu.js';
import { expectAborts, countedFile as fileOf, floorOf as leastLimit, placeOf } from '../support/limited-keys.js';
import {
  describeCurves,
  endCurves,
  makeStatement,
  type ProverCurve,
  type Statement,
  sameDraws,
} from '../support/proving.js';

const statements = new Map<ProverCurve, Statement>();
const statementOf = (curve: ProverCurve): Statement => statements.get(curve) as Statement;

const make = async (curve: ProverCurve): Promise<void> => {
  statements.set(curve, await makeStatement('groth16', curve, 7, 'dense'));
};
beforeAll(() => make('bn254'));
afterAll(endCurves);

/** Bytes of sums on the thread of a key, and on each worker, as the option says. */
const [CALLER, WORKER] = [80 * 2 ** 20, 32 * 2 ** 20];

const onCpu = { backend: 'cpu', maxWorkers: 0 } as const;

/** Returns the least limit of a key. */
const floorOf = (zkey: Uint8Array, options: ProvingKeyOptions = onCpu): Promise<number> =>
  leastLimit((memoryLimit) => openProvingKey(zkey, { ...options, memoryLimit }));

describeCurves('a key on %s', (curve) => {
  beforeAll(() => make(curve));

  test('makes the same proofs under any limit, and says what stays loaded', async () => {
    const { zkey, circuit, verify } = statementOf(curve);
    const open = (memoryLimit?: number) =>
      openProvingKeyWith(fileOf(zkey.data), { ...onCpu, memoryLimit }, sameDraws());
    using whole = await open();
    const expected = await whole.prove(circuit.witness);
    expect(await verify(expected)).toBe(true);
    const { points } = whole.memory;
    const floor = await floorOf(zkey.data);
    expect(whole.memory).toMatchObject({ pagedPoints: 0, leastLimit: floor });
    const seen = new Set<number>();
    for (const room of [0, 0.3, 0.7, 1]) {
      using key = await open(floor + Math.ceil(room * points));
      expect(await key.prove(circuit.witness)).toEqual(expected);
      expect(key.memory.points + key.memory.pagedPoints).toBe(points);
      expect(key.memory.points).toBeLessThanOrEqual(room * points);
      expect(key.memory.leastLimit).toBe(floor);
      // the memory of one vector serves the next proof, and no matrices stay
      expect(key.memory.vectors).toBeLessThan(2 ** 20);
      await key.trim();
      if (room < 1) expect(key.memory.vectors).toBe(0);
      expect(await verify(await key.prove(circuit.witness))).toBe(true);
      seen.add(key.memory.points);
    }
    expect(seen.size).toBe(4);
    expect(seen).toContain(0);
    expect(seen).toContain(points);
    using roomy = await open(2 ** 40);
    expect(await roomy.prove(circuit.witness)).toEqual(expected);
    expect(roomy.memory.vectors).toBeGreaterThan(0);
  });
});

describe('the least limit', () => {
  const sections = [
    { count: 2 ** 20, pointBytes: 64 },
    { count: 2 ** 20 - 2, pointBytes: 128 },
  ];
  const bytes = { whole: 700e6, least: 150e6 };
  const planAt = (limit: number, mostWorkers: number, hasFixedWorkers = false) =>
    planPoints(sections, 2 ** 20, bytes, { bytes: limit, isStrict: true, mostWorkers, hasFixedWorkers });

  test('is the same under every limit, and all limits from it on have room for the threads that they allow', () => {
    for (const [most, isFixed] of [0, 1, 2, 3, 7, 15, 63].flatMap((each) => [
      [each, false] as const,
      [each, true] as const,
    ])) {
      const { leastLimit } = planAt(2 ** 40, most, isFixed);
      expect(leastLimit).toBeLessThanOrEqual(bytes.least + 2 ** 24 + CALLER + most * WORKER);
      expect(() => planAt(leastLimit - 1, most, isFixed)).toThrow(`takes ${leastLimit} bytes`);
      for (let limit = leastLimit; limit < 3e9; limit += 7e6) {
        const plan = planAt(limit, most, isFixed);
        expect(plan.leastLimit).toBe(leastLimit);
        const points = plan.counts.reduce((sum, count, i) => sum + count * (sections[i]?.pointBytes ?? 0), 0);
        const pages = plan.counts.every((count, i) => count === sections[i]?.count) ? 0 : 2 * plan.pagePoints * 128;
        const workers = isFixed ? most : Math.max(0, Math.min(most, Math.floor((limit / 2 - CALLER) / WORKER)));
        const rest = plan.isLimited ? bytes.least : bytes.whole;
        expect(points + pages + rest + CALLER + workers * WORKER).toBeLessThanOrEqual(limit);
      }
    }
  });
});

describe('without a limit', () => {
  /** Opens a key in a process whose container has some bytes. */
  const openWithin = async (bytes: number, file: Parameters<typeof openProvingKey>[0]) => {
    const told = vi.spyOn(process, 'constrainedMemory').mockReturnValue(bytes);
    try {
      return await openProvingKeyWith(file, onCpu, sameDraws());
    } finally {
      told.mockRestore();
    }
  };

  test('a key that the platform has room for stays whole, and two proofs are under way at a time', async () => {
    const { zkey, circuit } = statementOf('bn254');
    using key = await openWithin(2 ** 34, fileOf(zkey.data));
    expect(key.memory).toMatchObject({ pagedPoints: 0, limit: Math.min(key.memory.limit, 0.75 * 2 ** 34) });
    let most = 0;
    const onProgress = (): void => {
      most = Math.max(most, key.stats.running);
    };
    await Promise.all([1, 2, 3].map(() => key.prove(circuit.witness, { onProgress })));
    expect(most).toBe(2);
  });

  test('the ceiling of the platform takes no workers from a key with a higher limit', async () => {
    const { zkey, circuit, verify } = statementOf('bn254');
    const told = vi.spyOn(process, 'constrainedMemory').mockReturnValue(1);
    const workers = vi.spyOn(MainMemory.prototype, 'workers');
    try {
      using key = await openProvingKey(zkey.data, { backend: 'cpu', maxWorkers: 1, memoryLimit: 2 ** 32 });
      expect(await verify(await key.prove(circuit.witness))).toBe(true);
      // engines of few points want no workers
      const made = workers.mock.results.filter((_, i) => workers.mock.calls[i]?.[0] !== 0).map(({ value }) => value);
      expect(new Set(made)).toEqual(new Set([1]));
    } finally {
      workers.mockRestore();
      told.mockRestore();
    }
  });

  test('a key beyond the ceiling of the platform keeps less, down to no point, and is not refused', async () => {
    const { zkey, circuit, verify } = statementOf('bn254');
    using whole = await openProvingKeyWith(zkey.data, onCpu, sameDraws());
    const expected = await whole.prove(circuit.witness);
    const { points } = whole.memory;
    const floor = await floorOf(zkey.data);
    for (const [limit, most] of [
      [1, 0],
      [floor, 0],
      [floor + points / 2, points / 2],
    ] as const) {
      using key = await openWithin(Math.ceil(limit / 0.75), fileOf(zkey.data));
      expect(key.memory.limit).toBe(Math.floor(0.75 * Math.ceil(limit / 0.75)));
      expect(key.memory.points).toBeLessThanOrEqual(most);
      expect(key.memory.points + key.memory.pagedPoints).toBe(points);
      let running = 0;
      const onProgress = (): void => {
        running = Math.max(running, key.stats.running);
      };
      const proofs = await Promise.all([1, 2].map(() => key.prove(circuit.witness, { onProgress })));
      expect(proofs[0]).toEqual(expected);
      for (const proof of proofs) expect(await verify(proof)).toBe(true);
      expect(running).toBe(1);
    }
  });
});

describe('under a limit', () => {
  test('a proof reads each section once, in pages, the next while one is added up', async () => {
    const { zkey, circuit, verify } = statementOf('bn254');
    const file = fileOf(zkey.data);
    using key = await openProvingKey(file, { ...onCpu, memoryLimit: await floorOf(zkey.data) });
    file.reads.length = 0;
    for (let i = 0; i < 2; i++) expect(await verify(await key.prove(circuit.witness))).toBe(true);
    for (const id of [5, 6, 7, 8, 9]) {
      const { from, to } = placeOf(zkey.data, id);
      const own = file.reads.filter(([first, end]) => first >= from && end <= to);
      expect(own.length).toBeGreaterThan(8);
      expect(own.reduce((sum, [first, end]) => sum + end - first, 0)).toBe(2 * (to - from));
      expect(Math.max(...own.map(([first, end]) => end - first))).toBe((id === 7 ? 128 : 64) * 8);
    }
  });

  test('a proof reads the matrices twice; entries in any order make the same proof, with a higher floor', async () => {
    const { zkey, circuit } = statementOf('bn254');
    using whole = await openProvingKeyWith(zkey.data, onCpu, sameDraws());
    const expected = await whole.prove(circuit.witness);
    const { from, to } = placeOf(zkey.data, 4);
    const prove = async (bytes: Uint8Array, memoryLimit: number) => {
      const file = fileOf(bytes);
      using key = await openProvingKeyWith(file, { ...onCpu, memoryLimit }, sameDraws());
      file.reads.length = 0;
      expect(await key.prove(circuit.witness)).toEqual(expected);
      return file.reads.filter(([first, end]) => first >= from && end <= to);
    };
    const floor = await floorOf(zkey.data);
    expect(await prove(zkey.data, floor)).toEqual([
      [from + 4, to],
      [from + 4, to],
    ]);
    const other = zkey.data.slice();
    const entries = zkey.data.subarray(from + 4, to);
    for (let at = 0; at < entries.length; at += 44) other.set(entries.subarray(at, at + 44), to - 44 - at);
    const otherFloor = await floorOf(other);
    expect(otherFloor).toBe(floor + 32 * 128);
    await prove(other, otherFloor);
  });

  test('pages are taken over of Blobs and files, and copied of a source that keeps its memory', async () => {
    const { zkey, circuit } = statementOf('bn254');
    const memoryLimit = await floorOf(zkey.data);
    using whole = await openProvingKeyWith(zkey.data, onCpu, sameDraws());
    const expected = await whole.prove(circuit.witness);
    const folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-limit-'));
    const path = join(folder, 'circuit.zkey');
    writeFileSync(path, zkey.data);
    const kept = zkey.data.slice();
    const keeper = { byteLength: kept.length, read: (from: number, to: number) => kept.subarray(from, to) };
    try {
      for (const source of [new Blob([zkey.data as never]), await openFile(path), path, keeper, kept]) {
        using key = await openProvingKeyWith(source, { ...onCpu, memoryLimit }, sameDraws());
        expect(await key.prove(circuit.witness)).toEqual(expected);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
    expect(kept).toEqual(zkey.data);
  });

  test('one proof is computed at a time, and others wait', async () => {
    const { zkey, circuit, verify } = statementOf('bn254');
    using key = await openProvingKey(zkey.data, { ...onCpu, memoryLimit: await floorOf(zkey.data) });
    const parts: number[] = [];
    const onProgress = (): void => void parts.push(key.stats.done);
    const all = await Promise.all(Array.from({ length: 3 }, () => key.prove(circuit.witness, { onProgress })));
    for (const each of all) expect(await verify(each)).toBe(true);
    expect(parts).toEqual(Array.from({ length: 21 }, (_, i) => Math.floor(i / 7)));
  });

  test('workers add up pages', async () => {
    const { zkey, circuit, verify } = statementOf('bn254');
    const options = { backend: 'cpu', maxWorkers: 1 } as const;
    using key = await openProvingKey(fileOf(zkey.data), {
      ...options,
      memoryLimit: await floorOf(zkey.data, options),
    });
    expect(await verify(await key.prove(circuit.witness))).toBe(true);
  });

  test('there are as many workers as fit half of it, unless the caller says how many', async () => {
    const { zkey, circuit, verify } = statementOf('bn254');
    vi.spyOn(process.getBuiltinModule('node:os'), 'availableParallelism').mockReturnValue(64);
    const floorWith = (maxWorkers?: number) => floorOf(zkey.data, { backend: 'cpu', maxWorkers });
    expect(await floorWith()).toBe(await floorWith(0));
    expect(await floorWith(2)).toBe((await floorWith(0)) + 2 * WORKER);
    const workersUnder = (memoryLimit: number, maxWorkers?: number) => {
      const options: ProvingKeyOptions = { memoryLimit, maxWorkers };
      return keySettingsOf(readOptions(provingKeyOptions, options)).ofEngines.maxWorkers;
    };
    expect(workersUnder(2 * CALLER + 2 * WORKER - 1)).toBe(0);
    expect(workersUnder(2 * CALLER + 2 * WORKER)).toBe(1);
    expect(workersUnder(2 * CALLER + 20 * WORKER + 1)).toBe(10);
    expect(workersUnder(2 ** 40)).toBeUndefined();
    expect(workersUnder(1, 5)).toBe(5);
    vi.restoreAllMocks();
    using key = await openProvingKey(fileOf(zkey.data), { backend: 'cpu', memoryLimit: await floorWith() });
    expect(await verify(await key.prove(circuit.witness))).toBe(true);
  });

  test('a GPU adds up pages, and has the quotient', { tags: 'long' }, async () => {
    const { zkey, circuit } = statementOf('bn254');
    const { gpu } = await leaseGpu();
    const tuning = { cpuBelow: 0, walkerSlots: 4, walkerThreadsPerWorkgroup: 8 };
    const options = { backend: 'gpu', gpu, tuning, maxWorkers: 0 } as const;
    const memoryLimit = await floorOf(zkey.data, options);
    using key = await openProvingKeyWith(fileOf(zkey.data), { ...options, memoryLimit }, sameDraws());
    using whole = await openProvingKeyWith(zkey.data, onCpu, sameDraws());
    expect(await key.prove(circuit.witness)).toEqual(await whole.prove(circuit.witness));
    expect(key.memory.points).toBe(0);
  });

  test('a damaged page is refused by name when it is read, and the key stays usable', async () => {
    const { zkey, circuit, verify } = statementOf('bn254');
    const file = fileOf(zkey.data.slice());
    const bytes = zkey.data.slice();
    file.read = async (from, to) => bytes.slice(from, to);
    using key = await openProvingKey(file, { ...onCpu, memoryLimit: await floorOf(zkey.data) });
    for (const [id, name] of Object.entries({ 5: 'A', 6: 'B1', 7: 'B2', 8: 'C', 9: 'H' })) {
      const { from } = placeOf(bytes, Number(id));
      const at = from + (id === '7' ? 128 : 64) * 10 + 3;
      bytes[at] = (bytes[at] as number) ^ 1;
      await expect(key.prove(circuit.witness)).rejects.toMatchObject({
        code: expect.stringMatching(/not-on-curve|bad-argument/),
        message: expect.stringContaining(`zkey: section ${name} from point 8 on: points[2]`),
      });
      bytes[at] = (bytes[at] as number) ^ 1;
    }
    const { from } = placeOf(bytes, 9);
    const point = bytes.slice(from + 64 * 20, from + 64 * 21);
    bytes.fill(0, from + 64 * 20, from + 64 * 21);
    await expect(key.prove(circuit.witness)).rejects.toThrow('section H: points[20] is infinity');
    bytes.set(point, from + 64 * 20);
    expect(await verify(await key.prove(circuit.witness))).toBe(true);
  });

  test('proofs end by an abort in any part and by destroy, and an error of the source is passed on', async () => {
    const { zkey, circuit, verify } = statementOf('bn254');
    const file = fileOf(zkey.data);
    const key = await openProvingKey(file, { ...onCpu, memoryLimit: await floorOf(zkey.data) });
    await expectAborts(key, circuit.witness, 7);
    const read = file.read;
    const mine = new Error('mine');
    file.read = async (from, to) => {
      if (from >= placeOf(zkey.data, 8).from) throw mine;
      return read(from, to);
    };
    await expect(key.prove(circuit.witness)).rejects.toBe(mine);
    file.read = read;
    expect(await verify(await key.prove(circuit.witness))).toBe(true);
    const proving = key.prove(circuit.witness, { onProgress: () => key.destroy() });
    await expect(proving).rejects.toMatchObject({ code: 'destroyed' });
  });

  test('an abort ends a proof whose file does not answer, in matrices and in points, and the next one has its turn', async () => {
    const { zkey, circuit, verify } = statementOf('bn254');
    const file = fileOf(zkey.data);
    using key = await openProvingKey(file, { ...onCpu, memoryLimit: await floorOf(zkey.data) });
    const { read } = file;
    for (const id of [4, 9]) {
      const { from } = placeOf(zkey.data, id);
      let isAsked = (): void => undefined;
      const asked = new Promise<void>((resolve) => {
        isAsked = resolve;
      });
      file.read = (first, end) => {
        if (first < from) return read(first, end);
        isAsked();
        return new Promise(() => undefined);
      };
      const controller = new AbortController();
      const proving = key.prove(circuit.witness, { signal: controller.signal });
      const ended = expect(proving).rejects.toMatchObject({ code: 'aborted' });
      await asked;
      controller.abort();
      await ended;
      file.read = read;
      expect(await verify(await key.prove(circuit.witness))).toBe(true);
    }
  });

  test('secrets are overwritten after a proof', async () => {
    const { zkey, circuit } = statementOf('bn254');
    using key = await openProvingKeyWith(
      zkey.data,
      { ...onCpu, memoryLimit: await floorOf(zkey.data) },
      drawRandomScalar,
    );
    const allocated: Uint8Array[] = [];
    const fill = vi.spyOn(Uint8Array.prototype, 'fill');
    await key.prove(circuit.witness);
    for (const [i, [value]] of fill.mock.calls.entries()) {
      if (value === 0) allocated.push(fill.mock.contexts[i] as Uint8Array);
    }
    fill.mockRestore();
    // the quotient has one number for each of 128 elements
    expect(allocated.filter(({ length }) => length === 32 * 128).length).toBeGreaterThan(0);
  });

  test.each([0, -1, 1.5, '5', Number.NaN])('a limit of %o is refused', async (memoryLimit) => {
    const { zkey } = statementOf('bn254');
    await expect(openProvingKey(zkey.data, { ...onCpu, memoryLimit: memoryLimit as never })).rejects.toMatchObject({
      code: 'bad-argument',
      message: expect.stringContaining('options.memoryLimit must be a positive integer of bytes'),
    });
  });
});
