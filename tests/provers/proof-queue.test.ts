/** Queue of a key's proofs: order, limits, events, ends and counts. */
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { openProvingKey as openFflonk } from '../../src/fflonk.js';
import { openProvingKey, type ProvingKey } from '../../src/groth16.js';
import type { EngineEvent } from '../../src/index.js';
import { openProvingKey as openPlonk } from '../../src/plonk.js';
import type { EngineOptions } from '../../src/proofs/api.js';
import { TurnQueue, type TurnTicket } from '../../src/scheduling/turn-queue.js';
import { leaseGpu } from '../support/leased-gpu.js';
import { ffCurveOf, makeStatement, type Statement } from '../support/proving.js';
import { sleep, stopClock } from '../support/time.js';

afterAll(async () => (await ffCurveOf('bn254')).terminate());
afterEach(() => vi.restoreAllMocks());

let made: Promise<Statement> | null = null;
const statementOf = (): Promise<Statement> => {
  made ??= makeStatement('groth16', 'bn254', 4, 'dense');
  return made;
};

/** A key on the CPU, and the events of its proofs. */
const open = async (options: EngineOptions = {}) => {
  const { zkey, circuit } = await statementOf();
  const events: EngineEvent[] = [];
  const key = await openProvingKey(zkey.data, {
    ...{ backend: 'cpu', maxWorkers: 0, onEvent: (event) => events.push(event) },
    ...options,
  });
  /** Returns the calls with an event, in its order. */
  const callsOf = (name: EngineEvent['event']) => events.filter(({ event }) => event === name).map(({ call }) => call);
  return { key, events, callsOf, witness: circuit.witness };
};

/** Expects that all vectors are computed, loaded and read with the priority of their proof. */
const expectUrgent = (calls: readonly (readonly [ticket: TurnTicket, ...unknown[]])[]): void => {
  // work of sums has a size
  const priorities = calls.flatMap(([{ size, priority }]) => (size === 0 ? [priority] : []));
  expect(priorities.length).toBeGreaterThan(2);
  expect(new Set(priorities)).toEqual(new Set(['interactive']));
};

const aborted = { code: 'aborted', cause: 'enough' };

describe('proofs of a key', () => {
  test('at once: two at a time, in the order of their calls', async () => {
    const { key, events, callsOf, witness } = await open();
    using _ = key;
    const statement = await statementOf();
    stopClock();
    const proofs = await Promise.all(Array.from({ length: 12 }, () => key.prove(witness)));
    expect(callsOf('started')).toEqual(Array.from({ length: 12 }, (_, i) => i));
    let underWay = 0;
    for (const { event } of events) {
      if (event === 'started') underWay++;
      if (event === 'ended') underWay--;
      expect(underWay).toBeLessThanOrEqual(2);
    }
    // the first has ended before the third begins
    const names = events.map(({ event, call }) => `${event} ${call}`);
    expect(names.indexOf('ended 0')).toBeLessThan(names.indexOf('started 2'));
    expect(await statement.verify(proofs[11] as (typeof proofs)[number])).toBe(true);
  });

  test('with a higher priority do not wait for others', async () => {
    const { key, callsOf, witness } = await open();
    using _ = key;
    stopClock();
    const background = Array.from({ length: 12 }, () => key.prove(witness, { priority: 'background' }));
    const proof = await key.prove(witness, { priority: 'interactive' });
    // it began beside the two that had begun, and its sums and vectors overtook theirs
    expect(callsOf('started')).toEqual([0, 1, 12]);
    expect(callsOf('ended')).toEqual([12]);
    expect(await (await statementOf()).verify(proof)).toBe(true);
    await Promise.all(background);
  });

  test('have their priority in the queue of vectors', async () => {
    const { key, witness } = await open();
    using _ = key;
    const turns = vi.spyOn(TurnQueue.prototype, 'inTurn');
    await key.prove(witness, { priority: 'interactive' });
    expectUrgent(turns.mock.calls);
  });

  test('begin by due time', async () => {
    const { key, callsOf, witness } = await open();
    using _ = key;
    stopClock();
    const options = [
      {},
      {},
      { priority: 'background' },
      {},
      { priority: 'background', deadline: 5 },
      { deadline: 3 },
    ] as const;
    const proofs = options.map((each) => key.prove(witness, each));
    await Promise.all(proofs);
    expect(callsOf('started')).toEqual([0, 1, 5, 4, 3, 2]);
  });

  test('beyond maxQueued are refused, and say when to call again', async () => {
    const { key, events, callsOf, witness } = await open({ maxQueued: { calls: 1 } });
    using _ = key;
    const proofs = [key.prove(witness), key.prove(witness), key.prove(witness)];
    await expect(key.prove(witness)).rejects.toMatchObject({
      code: 'overloaded',
      retryAfterMs: expect.any(Number),
      message: expect.stringContaining('maxQueued allows 1 calls'),
    });
    expect(callsOf('refused')).toEqual([3]);
    await Promise.all(proofs);
    expect(key.stats).toMatchObject({ done: 3, failed: 0, refused: 1, waiting: 0, running: 0 });
    await key.prove(witness);
    const told = events.map(({ kind, priority, bytes }) => ({ kind, priority, bytes }));
    for (const each of told) expect(each).toEqual({ kind: 'proof', priority: 'normal', bytes: witness.length });
  });

  test('that wait hold the bytes of their witnesses, if those are in memory', async () => {
    const { key, witness } = await open({ maxQueued: { bytes: 16 } });
    using _ = key;
    const inParts = new Blob([witness as Uint8Array<ArrayBuffer>]);
    const proofs = [key.prove(inParts), key.prove(inParts), key.prove(inParts)];
    expect(key.stats).toMatchObject({ waiting: 1, waitingBytes: 0, running: 2 });
    await expect(key.prove(witness)).rejects.toMatchObject({ code: 'overloaded' });
    await Promise.all(proofs);
  });

  test('that wait end at once by an abort, and their witness is overwritten', async () => {
    const { key, callsOf, witness } = await open();
    using _ = key;
    const controller = new AbortController();
    const inParts = new Blob([witness as Uint8Array<ArrayBuffer>]);
    const proofs = [key.prove(inParts), key.prove(inParts)];
    const filled = vi.spyOn(Uint8Array.prototype, 'fill');
    const waiting = key.prove(witness, { signal: controller.signal });
    expect(key.stats).toMatchObject({ waiting: 1, waitingBytes: witness.length, running: 2 });
    controller.abort('enough');
    await expect(waiting).rejects.toMatchObject(aborted);
    expect(callsOf('ended')).toEqual([2]);
    const copies = filled.mock.contexts.filter((each) => (each as Uint8Array).length === witness.length);
    expect(copies.length).toBe(1);
    expect((copies[0] as Uint8Array).every((byte) => byte === 0)).toBe(true);
    expect(key.stats).toMatchObject({ waiting: 0, running: 2, failed: 1 });
    await Promise.all(proofs);
    // one that is aborted in the turn in which it begins ends, too
    const late = new AbortController();
    const beginning = key.prove(witness, { signal: late.signal });
    late.abort('enough');
    await expect(beginning).rejects.toMatchObject(aborted);
  });

  test('end at once with their key, also those that wait', async () => {
    const { key, callsOf, witness } = await open();
    const proofs = Array.from({ length: 5 }, () => key.prove(witness));
    const all = Promise.allSettled(proofs);
    await sleep();
    key.destroy();
    for (const each of await all) expect(each).toMatchObject({ status: 'rejected', reason: { code: 'destroyed' } });
    expect(callsOf('started')).toEqual([0, 1]);
    await expect(key.trim()).rejects.toMatchObject({ code: 'destroyed' });
  });

  test('one at a time without overlap', async () => {
    const { key, callsOf, witness } = await open({ sharing: { overlap: false } });
    using _ = key;
    const proofs = [key.prove(witness), key.prove(witness, { priority: 'interactive' })];
    expect(key.stats).toMatchObject({ running: 1, waiting: 1 });
    await Promise.all(proofs);
    expect(callsOf('ended')).toEqual([0, 1]);
  });

  test('are counted, and so is memory', async () => {
    const { key, witness } = await open();
    using _ = key;
    const before = key.memory;
    expect(before).toMatchObject({ bases: 0, scalars: 0, scratch: 0 });
    expect(before.vectors).toBeGreaterThan(0);
    expect(key.stats).toMatchObject({ done: 0, failed: 0, waiting: 0, running: 0, busyMs: 0, retries: 0 });
    const clock = stopClock();
    const failing = key.prove(new Uint8Array(3)).catch(({ code }) => code);
    const proving = Promise.all([key.prove(witness), key.prove(witness)]);
    clock.spend(7);
    expect(await failing).toBe('bad-argument');
    await proving;
    expect(key.stats).toMatchObject({ done: 2, failed: 1, refused: 0, merged: 0, gpuMs: 0 });
    expect(key.stats.busyMs).toBe(7);
    // tables stay for later proofs
    expect(key.memory.vectors).toBeGreaterThan(before.vectors);
    await key.trim();
    expect(key.memory.vectors).toBe(before.vectors);
    const proof = await key.prove(witness);
    expect(await (await statementOf()).verify(proof)).toBe(true);
  });
});

test.each(['plonk', 'fflonk'] as const)('proofs of %s are queued alike', async (system) => {
  const { zkey, circuit } = await makeStatement(system, 'bn254', 4, 'dense');
  const events: string[] = [];
  const turns = vi.spyOn(TurnQueue.prototype, 'inTurn');
  using key = await { plonk: openPlonk, fflonk: openFflonk }[system](zkey.data, {
    ...{ backend: 'cpu', maxWorkers: 0, maxQueued: { calls: 1 } },
    onEvent: ({ event, kind, call }) => events.push(`${kind} ${event} ${call}`),
  });
  const proofs = [key.prove(circuit.witness), key.prove(circuit.witness), key.prove(circuit.witness)];
  await expect(key.prove(circuit.witness)).rejects.toMatchObject({ code: 'overloaded' });
  await Promise.all(proofs);
  expect(events.indexOf('proof started 2')).toBeGreaterThan(events.indexOf('proof ended 0'));
  expect(key.stats).toMatchObject({ done: 3, refused: 1, waiting: 0 });
  expect(key.memory.vectors).toBeGreaterThan(0);
  turns.mockClear();
  await key.prove(circuit.witness, { priority: 'interactive' });
  expectUrgent(turns.mock.calls);
});

describe('options of keys', () => {
  test.each([
    [{ maxQueued: 3 }, 'maxQueued must be'],
    [{ maxQueued: { calls: -1 } }, 'maxQueued.calls must be'],
    [{ onEvent: true }, 'onEvent must be a function'],
    [{ deviceBudget: 0 }, 'deviceBudget must be'],
    [{ retries: -1 }, 'retries must be'],
    [{ sharing: { overlap: 1 } }, 'sharing.overlap must be'],
  ])('%o is refused', async (options, message) => {
    const { zkey } = await statementOf();
    await expect(openProvingKey(zkey.data, options as never)).rejects.toMatchObject({
      code: 'bad-argument',
      message: expect.stringContaining(message),
    });
  });

  test('deviceBudget limits the GPU memory of a key', async () => {
    const { gpu } = await leaseGpu();
    const { zkey } = await statementOf();
    const opening: Promise<ProvingKey> = openProvingKey(zkey.data, { backend: 'gpu', gpu, deviceBudget: 1000 });
    await expect(opening).rejects.toMatchObject({ code: 'out-of-memory' });
  });
});
