/**
 * Queue of a device: single decisions, and 10,000 random schedules of a phone, a laptop and an
 * H200, in simulated time.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DeviceQueue } from '../../src/scheduling/device-queue.js';
import { dueTime, isMoreUrgent, type Waiting } from '../../src/scheduling/edf.js';

const priorities = ['interactive', 'normal', 'background'] as const;

interface Job extends Waiting {
  readonly name: string;
}
const job = (name: string, priority: Job['priority'] = 'normal', since = 0): Job => ({
  ...{ name, priority, since },
  deadline: null,
});
const fits = (_: Job): boolean => true;

describe('the device queue', () => {
  const open = (...jobs: readonly Job[]) => {
    const line = new DeviceQueue<Job>();
    for (const each of jobs) line.add(each, each.since);
    const next = (now = 0, has = fits): string | null => line.next(now, has)?.name ?? null;
    return { line, next };
  };

  test('has one running submit at a time, and one behind it', () => {
    const [a, b, c] = [job('a'), job('b'), job('c')];
    const { line, next } = open(a, b, c);
    expect([next(), next()]).toEqual(['a', null]);
    line.submitted(a);
    expect([next(), next()]).toEqual(['b', null]);
    line.submitted(b);
    expect(next()).toBeNull();
    expect(line.isBusyBeside(job('other'))).toBe(true);
    line.done(a);
    expect(next()).toBe('c');
    line.done(b);
    line.done(c);
    expect([next(), line.isBusyBeside(job('other')), line.waiting]).toEqual([null, false, []]);
  });

  test('lets no job pass the first one that waits for memory', () => {
    const [large, small] = [job('large'), job('small', 'normal', 1)];
    const { line, next } = open(large, small);
    const asked: string[] = [];
    const isSmall = (each: Job): boolean => {
      asked.push(each.name);
      return each === small;
    };
    expect(next(2, isSmall)).toBeNull();
    expect(asked).toEqual(['large']);
    line.remove(large);
    expect(next(2, isSmall)).toBe('small');
  });

  test('lets one more urgent job go first between two submits, and no other', () => {
    const [long, other, urgent, again] = [
      job('long', 'background'),
      job('other', 'background', 1),
      job('urgent', 'interactive', 2),
      job('again', 'interactive', 3),
    ];
    const { line, next } = open(long);
    expect(next()).toBe('long');
    for (const each of [other, urgent, again]) line.add(each, each.since);
    expect(next(4)).toBeNull();
    line.pause(long);
    expect(next(4)).toBe('urgent');
    expect(line.resume(long)).toBe(false);
    expect(next(4)).toBeNull();
    line.submitted(urgent);
    expect(line.resume(long)).toBe(true);
    expect(next(4)).toBeNull();
    line.pause(long);
    line.done(urgent);
    expect(next(4)).toBe('again');
    line.done(again);
    expect(line.resume(long)).toBe(true);
    line.pause(long);
    // of its own kind none
    expect(next(4)).toBeNull();
  });

  test('holds less urgent submits back for ten seconds after urgent work, unless they have waited as long', () => {
    const [urgent, first, second] = [
      job('urgent', 'interactive'),
      job('first', 'background', 1),
      job('second', 'background', 2),
    ];
    const { line, next } = open(urgent, first, second);
    expect(next(2)).toBe('urgent');
    line.submitted(urgent);
    expect(next(9_999)).toBeNull();
    line.done(urgent);
    expect(next(9_999)).toBe('first');
    line.submitted(first);
    expect(next(9_999)).toBeNull();
    expect(next(10_002)).toBe('second');
  });
});

/** A call of a simulated service. */
interface Call extends Waiting {
  readonly bytes: number;
  /** Time of the device for each submit, in milliseconds. */
  readonly submits: readonly number[];
  /** When its caller gives up waiting; null: never. */
  readonly abortAt: number | null;
}

interface Told {
  readonly began: number;
  readonly ended: number;
}

const abortOf = ({ abortAt }: Call): number => abortAt ?? Number.POSITIVE_INFINITY;

/**
 * A device that does one submit after the other, and calls that come to it as they are due. What a
 * job does on the host takes no time.
 *
 * @param memory in bytes, of all jobs from when they begin to when they are done
 */
const simulate = (calls: readonly Call[], memory: number) => {
  const line = new DeviceQueue<Call>();
  const told = new Map<Call, { began: number; ended: number }>();
  const arriving = [...calls].sort((one, other) => one.since - other.since);
  const aborting = calls.filter(({ abortAt }) => abortAt !== null).sort((one, other) => abortOf(one) - abortOf(other));
  const made = new Map<Call, number>();
  const gone = new Set<Call>();
  /** Those that wait until what they submitted is done, to submit again. */
  const paused: Call[] = [];
  const queue: { readonly call: Call; readonly ms: number; readonly isLast: boolean }[] = [];
  let [now, freeAt, held, peak, idleMs, passed] = [0, 0, 0, 0, 0, 0];
  const advance = (): void => {
    for (;;) {
      const again = paused.findIndex((call) => line.resume(call));
      if (again !== -1) submit(paused.splice(again, 1)[0] as Call);
      else {
        const call = line.next(now, ({ bytes }) => held + bytes <= memory);
        if (call === null) return;
        held += call.bytes;
        peak = Math.max(peak, held);
        told.set(call, { began: now, ended: Number.NaN });
        if (paused.length > 0) passed++;
        submit(call);
      }
    }
  };
  const submit = (call: Call): void => {
    const index = made.get(call) ?? 0;
    made.set(call, index + 1);
    const isLast = index === call.submits.length - 1;
    if (queue.length === 0) freeAt = now + (call.submits[index] as number);
    queue.push({ call, ms: call.submits[index] as number, isLast });
    if (isLast) line.submitted(call);
  };
  for (;;) {
    const nextArrival = arriving[0]?.since ?? Number.POSITIVE_INFINITY;
    const nextDone = queue.length === 0 ? Number.POSITIVE_INFINITY : freeAt;
    const nextAbort = aborting[0] === undefined ? Number.POSITIVE_INFINITY : abortOf(aborting[0]);
    const then = Math.min(nextArrival, nextDone, nextAbort);
    if (then === Number.POSITIVE_INFINITY) break;
    if (queue.length === 0 && line.waiting.length > 0) idleMs += then - now;
    now = then;
    if (nextAbort < Math.min(nextArrival, nextDone)) {
      const call = aborting.shift() as Call;
      // its place is free, and whoever waited behind it may have it
      if (!told.has(call)) gone.add(call);
      line.remove(call);
    } else if (nextDone <= nextArrival) {
      const { call, isLast } = queue.shift() as (typeof queue)[number];
      freeAt = now + (queue[0]?.ms ?? 0);
      if (isLast) {
        held -= call.bytes;
        (told.get(call) as { ended: number }).ended = now;
        line.done(call);
      } else {
        line.pause(call);
        paused.push(call);
        // one that is more urgent goes first, before it goes on itself
        const urgent = line.next(now, ({ bytes }) => held + bytes <= memory);
        if (urgent !== null) {
          held += urgent.bytes;
          peak = Math.max(peak, held);
          told.set(urgent, { began: now, ended: Number.NaN });
          passed++;
          submit(urgent);
        }
      }
    } else {
      const call = arriving.shift() as Call;
      line.add(call, now);
    }
    advance();
  }
  return { told: told as ReadonlyMap<Call, Told>, gone: gone as ReadonlySet<Call>, peak, idleMs, passed };
};

/** Milliseconds of a submit at most, and bytes of memory: of a phone, a laptop, an H200. */
const devices = [
  { name: 'a phone', submitMs: 120, memory: 2 ** 28 },
  { name: 'a laptop', submitMs: 60, memory: 2 ** 30 },
  { name: 'an H200', submitMs: 4, memory: 2 ** 32 },
] as const;

/** In how many of its submits all calls come: from a crowd to hardly anybody. */
const spans = [10, 40, 200] as const;

const simulated = fc
  .tuple(fc.constantFrom(...devices), fc.constantFrom(...spans))
  .chain(([{ submitMs, memory }, span]) =>
    fc.record({
      submitMs: fc.constant(submitMs),
      memory: fc.constant(memory),
      calls: fc.array(
        fc
          .record({
            priority: fc.constantFrom(...priorities),
            since: fc.integer({ min: 0, max: span * submitMs }),
            /** From then on. */
            within: fc.option(fc.integer({ min: 0, max: 50 * submitMs }), { freq: 3 }),
            patience: fc.option(fc.integer({ min: 1, max: 20 * submitMs }), { freq: 5 }),
            bytes: fc.integer({ min: 2 ** 20, max: memory }),
            submits: fc.array(fc.integer({ min: 1, max: submitMs }), { minLength: 1, maxLength: 6 }),
          })
          .map(
            ({ within, patience, ...call }): Call => ({
              ...call,
              deadline: within === null ? null : call.since + within,
              abortAt: patience === null ? null : call.since + patience,
            }),
          ),
        { minLength: 1, maxLength: 24 },
      ),
    }),
  );

describe('in 10,000 random schedules', () => {
  let [overtaken, staged, aborted] = [0, 0, 0];
  test('all jobs run within the memory, the device is never idle while a job waits, and no job starves', () => {
    fc.assert(
      fc.property(simulated, ({ calls, memory }) => {
        const { told, gone, peak, idleMs, passed } = simulate(calls, memory);
        overtaken += passed;
        aborted += gone.size;
        expect(peak).toBeLessThanOrEqual(memory);
        expect(idleMs).toBe(0);
        expect(told.size + gone.size).toBe(calls.length);
        for (const [call, { began, ended }] of told) {
          const own = call.submits.reduce((sum, ms) => sum + ms, 0);
          expect(ended - began).toBeGreaterThanOrEqual(own);
          if (ended - began > own) staged++;
          // nobody begins before it who came when it was due already, but one that is more urgent
          // at each pause of those before
          const due = dueTime(call);
          for (const [other, { began: otherBegan }] of told) {
            if (other === call || otherBegan <= call.since || otherBegan >= began || other.since <= due) continue;
            expect(isMoreUrgent(other, call)).toBe(true);
          }
        }
      }),
      { numRuns: 10_000 },
    );
    // it was worth looking at
    expect(overtaken).toBeGreaterThan(100);
    expect(staged).toBeGreaterThan(1000);
    expect(aborted).toBeGreaterThan(1000);
  });

  test('interactive jobs wait for one submit and for interactive jobs, if memory allows', () => {
    fc.assert(
      fc.property(simulated, fc.integer({ min: 1, max: 20 }), ({ calls, submitMs }, ms) => {
        // the one of its kind, among others that are long
        const others = calls.map((call) => ({ ...call, priority: 'background' as const, deadline: null }));
        const urgent = { priority: 'interactive', deadline: null, abortAt: null, bytes: 1 } as const;
        const first: Call = { ...urgent, since: 0, submits: [1] };
        const own: Call = { ...urgent, since: 100 * submitMs, submits: [ms] };
        // the first one has told the line that such calls come
        const { told } = simulate([first, ...others, own], Number.POSITIVE_INFINITY);
        const { ended } = told.get(own) as Told;
        const isNear = own.since < 10_000;
        if (isNear) expect(ended - own.since).toBeLessThanOrEqual(ms + submitMs);
      }),
      { numRuns: 2000 },
    );
  });
});
