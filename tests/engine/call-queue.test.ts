/** Queue of calls: its order, its limits, and the events it reports. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bn254G1, expectedMsm, makeKnownBases, makeRandomScalars } from '../../dev/oracle/known-bases.js';
import {
  type Bases,
  createMsmEngine,
  type EngineEvent,
  type MsmEngine,
  MsmError,
  type Priority,
} from '../../src/index.js';
import type { Call } from '../../src/scheduling/call.js';
import { CallQueue, type CoalescedCall, type Coalescing, type QueuedCall } from '../../src/scheduling/call-queue.js';
import { AGEING_MS, dueTime, earliestDue, type Waiting } from '../../src/scheduling/edf.js';
import { getDevice } from '../support/gpu.js';
import { gpuRunOf } from '../support/runs.js';
import { sleep } from '../support/time.js';

const priorities = Object.keys(AGEING_MS) as Priority[];

describe('the next call', () => {
  const waiting = (priority: Priority, since: number, deadline: number | null = null): Waiting => ({
    priority,
    since,
    deadline,
  });

  test('is the more urgent one, the earlier one of a kind, or one that has waited long enough', () => {
    expect(earliestDue([waiting('background', 0), waiting('normal', 5), waiting('interactive', 9)])).toBe(2);
    expect(earliestDue([waiting('normal', 1), waiting('normal', 1), waiting('normal', 2)])).toBe(0);
    expect(earliestDue([waiting('interactive', 10_001), waiting('background', 0)])).toBe(1);
    expect(earliestDue([waiting('normal', 0), waiting('background', 500, 900)])).toBe(1);
    // a deadline makes nobody wait longer
    expect(earliestDue([waiting('normal', 0), waiting('interactive', 10, 5000)])).toBe(1);
  });

  /** Calls of a service that computes one at a time, and when each began. */
  const simulate = (calls: readonly (Waiting & { readonly ms: number })[]): number[] => {
    const begun = calls.map(() => Number.NaN);
    const arriving = calls.map((_, i) => i).sort((a, b) => (calls[a] as Waiting).since - (calls[b] as Waiting).since);
    let now = 0;
    let here: number[] = [];
    while (arriving.length > 0 || here.length > 0) {
      while (arriving.length > 0 && (calls[arriving[0] as number] as Waiting).since <= now)
        here.push(arriving.shift() as number);
      if (here.length === 0) {
        now = (calls[arriving[0] as number] as Waiting).since;
        continue;
      }
      const next = here[earliestDue(here.map((i) => calls[i] as Waiting))] as number;
      here = here.filter((i) => i !== next);
      begun[next] = now;
      now += (calls[next] as { ms: number }).ms;
    }
    return begun;
  };

  test('in 10,000 schedules no call is overtaken by one due later, all run, and the device is never idle while a call waits', () => {
    const call = fc.record({
      priority: fc.constantFrom(...priorities),
      since: fc.integer({ min: 0, max: 20_000 }),
      deadline: fc.option(fc.integer({ min: 0, max: 40_000 }), { freq: 4 }),
      // a phone's background proof, and an H200's small sum
      ms: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 100, max: 4000 })),
    });
    fc.assert(
      fc.property(fc.array(call, { minLength: 1, maxLength: 30 }), (drawn) => {
        // as an option it counts from the call
        const calls = drawn.map(({ deadline, ...rest }) => ({
          ...rest,
          deadline: deadline === null ? null : rest.since + deadline,
        }));
        const begun = simulate(calls);
        return calls.every((own, i) => {
          const start = begun[i] as number;
          let busy = 0;
          const isFair = calls.every((other, j) => {
            if (j === i) return true;
            const [from, to] = [begun[j] as number, (begun[j] as number) + other.ms];
            busy += Math.max(0, Math.min(to, start) - Math.max(from, own.since));
            const isBefore = from >= own.since && from < start;
            // nor does anybody go before it who comes when it is due already
            return !isBefore || (dueTime(other) <= dueTime(own) && other.since <= dueTime(own));
          });
          return isFair && start >= own.since && busy === start - own.since;
        });
      }),
      { numRuns: 10_000 },
    );
  });
});

describe('the call queue', () => {
  const asked = (more: Partial<QueuedCall> = {}): QueuedCall => ({
    ...{ kind: 'msm', priority: 'normal', deadline: null, bytes: 10, signal: undefined },
    ...more,
  });
  /** A queue, what it told, and tasks that end when they are told to. */
  const open = (calls = Number.POSITIVE_INFINITY, bytes = Number.POSITIVE_INFINITY, width = 1) => {
    const events: EngineEvent[] = [];
    const queue = new CallQueue({ calls, bytes }, (event) => events.push(event), width);
    const begun: string[] = [];
    const turns = new Map<string, { readonly call: Call; readonly coalesced: readonly CoalescedCall[] }>();
    const ends = new Map<string, (error?: unknown) => void>();
    const add = (name: string, more: Partial<QueuedCall> = {}): Promise<string> =>
      queue.run(
        (call, coalesced) =>
          new Promise((resolve, reject) => {
            begun.push(name);
            turns.set(name, { call, coalesced });
            ends.set(name, (error) => (error === undefined ? resolve(name) : reject(error)));
          }),
        asked(more),
      );
    const settle = () => sleep();
    const end = async (name: string, error?: unknown): Promise<void> => {
      ends.get(name)?.(error);
      await settle();
    };
    return { queue, events, begun, turns, add, end, settle };
  };

  test('runs one call at a time, the most urgent first, also after a failure', async () => {
    const { queue, begun, add, end, settle } = open();
    const all = [
      add('first'),
      add('background', { priority: 'background' }),
      add('normal'),
      add('interactive', { priority: 'interactive' }),
      add('soon', { priority: 'background', deadline: 1 }),
    ];
    const settled = Promise.allSettled(all);
    await settle();
    expect(begun).toEqual(['first']);
    expect(queue.stats).toMatchObject({ waiting: 4, waitingBytes: 40, running: 1, done: 0 });
    await end('first', new Error('of the first'));
    await end('interactive');
    expect(begun.slice(1)).toEqual(['interactive', 'soon']);
    await end('soon');
    await end('normal');
    await end('background');
    expect((await settled).map(({ status }) => status)).toEqual(['rejected', ...new Array(4).fill('fulfilled')]);
    const { done, failed, refused, waiting, running, waitedMs, busyMs } = queue.stats;
    expect([done, failed, refused, waiting, running]).toEqual([4, 1, 0, 0, 0]);
    expect(waitedMs).toBeGreaterThan(0);
    expect(busyMs).toBeGreaterThan(0);
  });

  test('gives the place of an aborted call to the next at once', async () => {
    const { queue, begun, add, end, settle } = open(2);
    const controller = new AbortController();
    const first = add('first');
    const aborted = add('aborted', { signal: controller.signal });
    const last = add('last');
    await settle();
    await expect(add('too many')).rejects.toMatchObject({ code: 'overloaded' });
    controller.abort(new Error('mine'));
    await expect(aborted).rejects.toMatchObject({ code: 'aborted', cause: controller.signal.reason });
    expect(queue.stats).toMatchObject({ waiting: 1, failed: 1, refused: 1 });
    const other = add('in its place');
    await end('first');
    await end('last');
    await end('in its place');
    expect(await Promise.all([first, last, other])).toEqual(['first', 'last', 'in its place']);
    expect(begun).toEqual(['first', 'last', 'in its place']);
  });

  test('starts a call at once if it is more urgent than all running ones, whatever has waited longer', async () => {
    const { begun, add, end, settle } = open(9, 999, 2);
    const background = { priority: 'background' } as const;
    const all = [
      add('first', background),
      add('second', background),
      // due as soon as it comes
      add('due', { ...background, deadline: 0 }),
      add('urgent', { priority: 'interactive' }),
      add('as urgent', { priority: 'interactive' }),
    ];
    await settle();
    expect(begun).toEqual(['first', 'second', 'urgent']);
    await end('urgent');
    // its place is for one at a time
    expect(begun.slice(3)).toEqual(['as urgent']);
    await end('as urgent');
    await end('first');
    expect(begun.slice(4)).toEqual(['due']);
    await end('second');
    await end('due');
    await Promise.all(all);
  });

  test('makes an exclusive call wait for all running ones, but lets more urgent ones go first', async () => {
    const { begun, turns, add, end, settle } = open(9, 999, 2);
    const background = { priority: 'background' } as const;
    const all = [add('first', background), add('second', background)];
    await settle();
    const log: string[] = [];
    const alone = turns.get('first')?.call.exclusive(async () => {
      log.push('alone');
      await settle();
      log.push('over');
    });
    all.push(add('third', background), add('urgent', { priority: 'interactive' }));
    await settle();
    expect(begun).toEqual(['first', 'second', 'urgent']);
    await end('second');
    expect(log).toEqual([]);
    await end('urgent');
    await alone;
    expect(log).toEqual(['alone', 'over']);
    await settle();
    expect(begun.slice(3)).toEqual(['third']);
    for (const name of ['first', 'third']) await end(name);
    await Promise.all(all);
  });

  test('rejects a call that was aborted before it came', async () => {
    const { queue, add, end } = open();
    const first = add('first');
    await expect(add('never', { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'aborted' });
    expect(queue.stats).toMatchObject({ waiting: 0, failed: 1 });
    await end('first');
    await first;
  });

  test('gives merged calls the priority of the most urgent one', async () => {
    const { turns, add, end, settle } = open();
    const request: Coalescing = { coalesced: (waiting) => waiting };
    const all = [add('first')];
    await settle();
    // due at once, so it comes first
    all.push(add('leader', { request, deadline: 0 }));
    all.push(add('urgent', { request: { ...request }, priority: 'interactive' }));
    all.push(add('less urgent', { request: { ...request }, priority: 'background' }));
    await end('first');
    const { call, coalesced } = turns.get('leader') as { call: Call; coalesced: readonly CoalescedCall[] };
    const { priority, since, deadline } = call;
    expect(coalesced).toHaveLength(1);
    expect([priority, deadline]).toEqual(['interactive', since]);
    for (const { settle } of coalesced) settle('together');
    await end('leader');
    await end('less urgent');
    expect(await Promise.all(all)).toEqual(['first', 'leader', 'together', 'less urgent']);
  });

  test('computes calls alone whose merged run failed; an aborted one rejects at once', async () => {
    const { queue, turns, begun, add, end, settle } = open();
    const request: Coalescing = { coalesced: (waiting) => waiting };
    const controller = new AbortController();
    const first = add('first');
    await settle();
    const leader = add('leader', { request, signal: controller.signal });
    const others = [add('a', { request: { ...request } }), add('b', { request: { ...request } })];
    await end('first');
    expect(begun).toEqual(['first', 'leader']);
    controller.abort();
    await expect(leader).rejects.toMatchObject({ code: 'aborted' });
    // what it began goes on for the others
    expect(queue.stats).toMatchObject({ running: 1, waiting: 0, merged: 2, failed: 1 });
    for (const { separate } of turns.get('leader')?.coalesced ?? []) separate();
    await end('leader', new Error('of the device'));
    expect(queue.stats).toMatchObject({ running: 1, waiting: 1, merged: 0 });
    await end('a');
    await end('b');
    expect(await Promise.all([first, ...others])).toEqual(['first', 'a', 'b']);
    expect(queue.stats).toMatchObject({ done: 3, failed: 1, running: 0, waiting: 0 });
  });

  test('ignores promises of event listeners, and starts no call while they run', async () => {
    let add: (() => void) | null = null;
    const refused: unknown[] = [];
    const queue = new CallQueue({ calls: 2, bytes: 999 }, (async ({ event }: EngineEvent) => {
      if (event === 'queued') add?.();
      throw new Error('of a spectator');
    }) as (event: EngineEvent) => void);
    const run = (): Promise<void> =>
      queue.run(async () => undefined, asked()).catch((error: unknown) => void refused.push(error));
    const all = [run()];
    add = () => all.push(run());
    all.push(run());
    expect(queue.stats.waiting).toBe(2);
    await Promise.all(all);
    await sleep(5);
    await Promise.all(all);
    expect(refused).toMatchObject([{ code: 'overloaded' }]);
  });

  test('suggests when to come back before any call has ended', async () => {
    const { add, end, settle } = open(0);
    const first = add('first');
    await settle();
    await expect(add('at once')).rejects.toMatchObject({ code: 'overloaded', retryAfterMs: expect.any(Number) });
    await sleep(30);
    const refusal = await add('later').catch((error: unknown) => error);
    expect((refusal as MsmError).retryAfterMs).toBeGreaterThanOrEqual(29);
    await end('first');
    await first;
  });

  test('rejects calls beyond its limit, and suggests when to come back', async () => {
    const { queue, add, end, settle } = open(Number.POSITIVE_INFINITY, 25);
    const first = add('first', { bytes: 1000 });
    await settle();
    await sleep(30);
    await end('first');
    await first;
    const calls = [add('a'), add('b'), add('c')];
    const refusal = await add('d').catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(MsmError);
    const { code, message, retryAfterMs } = refusal as MsmError;
    expect(code).toBe('overloaded');
    expect(message).toBe(
      `2 calls with 20 bytes wait already, and maxQueued allows Infinity calls with 25 bytes; call again in ${retryAfterMs} ms`,
    );
    // two wait, and what went before took 30 ms
    expect(retryAfterMs).toBeGreaterThanOrEqual(3 * 29);
    for (const name of ['a', 'b', 'c']) await end(name);
    await Promise.all(calls);
    expect(queue.stats).toMatchObject({ done: 4, refused: 1 });
  });

  test('reports its events', async () => {
    const { events, add, end, settle } = open(1);
    const first = add('first', { kind: 'loadBases' });
    await settle();
    const second = add('second', { priority: 'interactive' });
    const settled = Promise.allSettled([first, second]);
    await expect(add('third')).rejects.toThrow();
    await end('first', new TypeError('of a callback'));
    await end('second', new MsmError('device-lost', 'gone'));
    await settled;
    expect(events.map(({ event, call, kind, priority, error }) => [event, call, kind, priority, error])).toEqual([
      ['started', 0, 'loadBases', 'normal', null],
      ['queued', 1, 'msm', 'interactive', null],
      ['refused', 2, 'msm', 'normal', 'overloaded'],
      ['ended', 0, 'loadBases', 'normal', 'other'],
      ['started', 1, 'msm', 'interactive', null],
      ['ended', 1, 'msm', 'interactive', 'device-lost'],
    ]);
    for (const { event, ms, at } of events) {
      expect(at).toBeGreaterThan(0);
      expect(ms === null).toBe(event === 'queued' || event === 'refused');
    }
  });
});

describe('the queue of an engine', () => {
  const n = 300;
  const known = makeKnownBases(bn254G1, n, 51);
  const scalars = makeRandomScalars(bn254G1, n, 52);
  const sum = expectedMsm(bn254G1, known.logs, scalars);
  const events: EngineEvent[] = [];
  let engine: MsmEngine;
  let bases: Bases;
  beforeAll(async () => {
    engine = await createMsmEngine({
      // one at a time: what goes between the parts of another one is in cpu-time-slices.test.ts
      ...{ curve: 'bn254', backend: 'cpu', maxQueued: { calls: 4 }, sharing: { overlap: false } },
      onEvent: (event) => {
        events.push(event);
        throw new Error('of a spectator');
      },
    });
    bases = await engine.loadBases(known.bytes);
  });
  afterAll(() => engine.destroy());

  test('runs urgent calls first, rejects calls beyond its limit, and reports both', async () => {
    events.length = 0;
    const order: string[] = [];
    const call = (priority: Priority): Promise<unknown> =>
      engine.msm(bases, scalars, { priority }).then((result) => {
        order.push(priority);
        return result;
      });
    const calls = [call('normal'), call('background'), call('normal'), call('interactive'), call('interactive')];
    await expect(engine.msm(bases, scalars)).rejects.toMatchObject({ code: 'overloaded' });
    expect(engine.stats).toMatchObject({ waiting: 4, waitingBytes: 4 * 32 * n, running: 1, refused: 1 });
    expect(await Promise.all(calls)).toEqual(calls.map(() => sum));
    expect(order).toEqual(['normal', 'interactive', 'interactive', 'normal', 'background']);
    expect(events.filter(({ event }) => event === 'ended').map(({ priority, bytes }) => [priority, bytes])).toEqual(
      order.map((priority) => [priority, 32 * n]),
    );
    expect(engine.stats).toMatchObject({ waiting: 0, waitingBytes: 0, running: 0, failed: 0, gpuMs: 0, retries: 0 });
    // usable as before
    expect(await engine.msmBatch(bases, [scalars, []], { priority: 'background', deadline: 0 })).toEqual([
      sum,
      { x: 0n, y: 0n, infinity: true },
    ]);
    expect(events.at(-1)).toMatchObject({ event: 'ended', kind: 'msmBatch', error: null });
  });

  test('rejects a waiting call as soon as it is aborted, while another one runs', async () => {
    const controller = new AbortController();
    const [first, second] = [engine.msm(bases, scalars), engine.msm(bases, scalars, { signal: controller.signal })];
    let isFirstDone = false;
    void first.then(() => {
      isFirstDone = true;
    });
    controller.abort();
    await expect(second).rejects.toMatchObject({ code: 'aborted' });
    expect(isFirstDone).toBe(false);
    expect(await first).toEqual(sum);
  });

  test.each([
    [{ priority: 'urgent' }, "options.priority must be 'interactive' or 'normal' or 'background', got 'urgent'"],
    [{ deadline: -1 }, 'options.deadline must be a number of milliseconds from 0, got -1'],
    [{ deadline: '5' }, "options.deadline must be a number of milliseconds from 0, got '5'"],
  ])('%j is refused', async (options, message) => {
    await expect(engine.msm(bases, scalars, options as never)).rejects.toMatchObject({ code: 'bad-argument', message });
  });

  test.each([
    [{ maxQueued: 5 }, 'maxQueued must be { calls, bytes }, got 5'],
    [{ maxQueued: { calls: -1 } }, 'maxQueued.calls must be a number from 0, got -1'],
    [{ maxQueued: { bytes: '1' } }, "maxQueued.bytes must be a number from 0, got '1'"],
    [{ onEvent: 5 }, 'onEvent must be a function, got 5'],
  ])('%j is refused', async (options, message) => {
    const made = createMsmEngine({ curve: 'bn254', backend: 'cpu', ...options } as never);
    await expect(made).rejects.toMatchObject({ code: 'bad-argument', message });
  });
});

describe('the plan of a call', () => {
  test('has its memory on the GPU, and its submits', { tags: 'long' }, async () => {
    const known = makeKnownBases(bn254G1, 500, 53);
    const device = await getDevice();
    const tuning = { walkerSlots: 4, walkerThreadsPerWorkgroup: 8, cpuBelow: 0 } as const;
    for (const [lengths, more] of [
      [[500], {}],
      [[1], {}],
      [[500, 480, 30], {}],
      [[500], { memoryBudget: 340_000 }],
      [[500], { tuning: { ...tuning, additionsPerSubmit: 2 ** 12 } }],
      [[500], { verify: true }],
      [[500, 480, 30], { verify: true }],
    ] as const) {
      const engine = await createMsmEngine({ curve: 'bn254', device, tuning, selfTest: false, ...more });
      // loading has scratch of its own, which goes with the engine that loaded nothing else
      const bases = await engine.loadBases(known.bytes.subarray(0, 64 * 500));
      const plan = await engine.plan(bases, lengths);
      const vectors = lengths.map((length) => makeRandomScalars(bn254G1, length, 54));
      await engine.msmBatch(bases, vectors);
      const { peak } = engine.memory;
      expect(peak / plan.bytes, JSON.stringify([lengths, more])).toBeGreaterThan(0.98);
      expect(peak / plan.bytes, JSON.stringify([lengths, more])).toBeLessThanOrEqual(1.02);
      expect(gpuRunOf(engine).submits).toBe(plan.submits);
      expect(plan.predicted).toBeNull();
      engine.destroy();
    }
  });

  test('has the predicted times where there is a choice of backends', async () => {
    const options = { backend: 'both', device: await getDevice(), selfTest: false } as const;
    const engine = await createMsmEngine({ curve: 'bn254', ...options });
    const bases = await engine.loadBases(makeKnownBases(bn254G1, 100, 55).bytes);
    const [one, many] = [await engine.plan(bases, 1), await engine.plan(bases, [100, 100])];
    expect(one.predicted?.cpuMs).toBeGreaterThan(0);
    expect(many.predicted?.cpuMs).toBeGreaterThan(one.predicted?.cpuMs as number);
    expect(many.predicted?.gpuMs).toBeGreaterThan(one.predicted?.gpuMs as number);
    expect(await engine.plan(bases, 0)).toMatchObject({ bytes: 0, submits: 0, predicted: null });
    for (const wrong of [-1, 101, 1.5, '1', [5, 101]])
      await expect(engine.plan(bases, wrong as never)).rejects.toMatchObject({
        code: 'bad-argument',
        message: expect.stringContaining('n must be an integer from 0 to bases.length = 100'),
      });
    bases.destroy();
    await expect(engine.plan(bases, 1)).rejects.toMatchObject({ code: 'destroyed' });
    const onCpu = await createMsmEngine({ curve: 'bn254', backend: 'cpu' });
    const theirs = await onCpu.loadBases([{ x: 1n, y: 2n, infinity: false }]);
    expect(await onCpu.plan(theirs, 1)).toMatchObject({ bytes: 0, submits: 0, predicted: null });
    for (const each of [engine, onCpu]) each.destroy();
  });
});
