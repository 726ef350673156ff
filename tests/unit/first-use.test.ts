/**
 * Calibration at first use: when it measures, what ends it, and who uses the result. Engines are
 * stand-ins that compute the known answer in a time of the test.
 */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { EngineEvent } from '../../src/api/calls.js';
import type { Calibration, CalibrationStore, Tuning } from '../../src/api/device.js';
import type { MsmEngine } from '../../src/api/engine.js';
import type { AffinePoint, Coordinate } from '../../src/api/values.js';
import { FirstUse, type FirstUseSubject } from '../../src/calibrate/first-use.js';
import { rememberedName } from '../../src/calibrate/store.js';
import { openCurve } from '../../src/curves/open-curve.js';
import { subjectOf } from '../../src/engine/first-use.js';
import { assertNotAborted } from '../../src/errors.js';
import { schedulerOf } from '../../src/gpu/device-scheduler.js';
import { defaultKnobs } from '../support/default-knobs.js';
import { smallCurve } from '../support/small-curve.js';
import { TextbookCurve } from '../support/textbook-curve.js';

const SECOND = 1000;

const small = await openCurve(smallCurve, undefined);
const other = 'another';

const limits = {
  maxStorageBufferBindingSize: 2 ** 27,
  maxBufferSize: 2 ** 28,
  maxComputeInvocationsPerWorkgroup: 256,
  maxComputeWorkgroupSizeX: 256,
  maxComputeWorkgroupStorageSize: 2 ** 14,
};

const deviceOf = (): GPUDevice =>
  ({ limits, features: new Set(), lost: new Promise(() => undefined) }) as unknown as GPUDevice;

let adapters = 0;
/** Describes an adapter that no other test has. */
const adapterOf = (vendor = `vendor ${adapters++}`) =>
  ({ vendor, architecture: '', device: '', description: '', software: false }) as const;

const storeOf = (): CalibrationStore & { readonly texts: Map<string, string> } => {
  const texts = new Map<string, string>();
  return {
    texts,
    get: async (name) => texts.get(name) ?? null,
    set: async (name, text) => void texts.set(name, text),
  };
};

/** Sums of problems by their scalars, as the textbook computes them. */
const sums = new Map<string, AffinePoint<Coordinate>>();
/** Sum that is returned in place of the right one; null: none. */
let wrong: AffinePoint<Coordinate> | null = null;
const sumOf = (scalars: Uint8Array): AffinePoint<Coordinate> => {
  const key = `${scalars.length} ${scalars.subarray(0, 32)}`;
  const known = wrong ?? sums.get(key);
  if (known !== undefined) return known;
  const textbook = new TextbookCurve(smallCurve);
  const words = new BigUint64Array(scalars.buffer);
  const n = words.length / 4;
  let logarithm = 0n;
  for (let i = 0; i < n; i++) {
    const scalar = [0, 1, 2, 3].reduce((sum, at) => sum + ((words[4 * i + at] as bigint) << BigInt(64 * at)), 0n);
    logarithm += scalar * BigInt((i % (n / 16)) + 1);
  }
  const sum = textbook.multiply({ ...smallCurve.generator, infinity: false }, logarithm % smallCurve.order);
  sums.set(key, sum);
  return sum;
};

/** Stand-ins for the engines of a device: 32 slots are the fastest. */
class Machine {
  readonly device = deviceOf();
  /** Called before each MSM. */
  before: (run: number) => void = () => undefined;
  /** Holds MSMs up until it resolves. */
  gate: Promise<void> = Promise.resolve();
  runs = 0;
  alive = 0;

  readonly open = async (tuning: Partial<Tuning>): Promise<MsmEngine<Coordinate>> => {
    this.alive++;
    const ms = { ...defaultKnobs, ...tuning }.walkerSlots === 32 ? 0.5 : 1;
    let isAlive = true;
    return {
      loadBases: async () => ({}),
      msm: async (_: unknown, scalars: Uint8Array, { signal }: { signal?: AbortSignal }) => {
        this.before(this.runs++);
        await this.gate;
        assertNotAborted(signal);
        return sumOf(scalars);
      },
      lastRun: { on: 'gpu', timeline: [{ ms }], wallMs: ms, tuning: { ...defaultKnobs, ...tuning } as Tuning },
      destroy: () => {
        if (isAlive) this.alive--;
        isAlive = false;
      },
    } as unknown as MsmEngine<Coordinate>;
  };

  subject(more: Partial<FirstUseSubject> = {}): FirstUseSubject {
    return { ...subjectOf(small, { device: this.device, adapter: adapterOf() }, this.open), store: null, ...more };
  }
}

let calls = 0;
/** Has an engine make a call, and returns what ends it. */
const callOf = (use: FirstUse, kind: EngineEvent['kind'] = 'msm', onGpu = true, error: 'internal' | null = null) => {
  const call = { call: calls++, kind, priority: 'normal', bytes: 0, at: 0, ms: null } as const;
  use.note({ ...call, event: 'started', error: null });
  return (): void => {
    if (onGpu) use.note({ ...call, event: 'computed', error: null });
    use.note({ ...call, event: 'ended', error });
  };
};
const sumOnGpu = (use: FirstUse): void => callOf(use)();

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Lets a measurement that has begun complete. */
const complete = async (use: FirstUse): Promise<void> => {
  for (let i = 0; i < 100 && use.state === 'measuring'; i++) await vi.advanceTimersByTimeAsync(0);
};

describe('the device is measured', () => {
  test('once after a sum on the GPU and a second without a call, for engines that are created later', async () => {
    const machine = new Machine();
    const store = storeOf();
    const subject = machine.subject({ store });
    const first = await FirstUse.begin(subject);
    expect([first.state, first.calibration]).toEqual(['none', null]);
    sumOnGpu(first);
    await vi.advanceTimersByTimeAsync(SECOND - 1);
    expect(machine.runs).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    await complete(first);
    expect(first.state).toBe('measured');
    expect(first.calibration).toBe(null);
    expect(machine.runs).toBeGreaterThan(0);
    expect(machine.alive).toBe(0);

    const [name] = [...store.texts.keys()];
    expect(name).toBe(rememberedName(subject));
    expect((JSON.parse(store.texts.get(name as string) as string) as Calibration).tuning).toEqual({ walkerSlots: 32 });
    const { runs } = machine;
    // one knows it of the page, one of the store alone, as the next page does
    const second = await FirstUse.begin({ ...subject, store: null });
    const elsewhere = await FirstUse.begin({ ...subject, adapter: { ...subject.adapter, device: 'x' }, store: null });
    for (const use of [second, elsewhere]) sumOnGpu(use);
    expect([second.state, second.calibration?.tuning]).toEqual(['remembered', { walkerSlots: 32 }]);
    expect(elsewhere.state).toBe('none');
    elsewhere.destroy();
    await vi.advanceTimersByTimeAsync(60 * SECOND);
    expect(machine.runs).toBe(runs);
  });

  test('not after loads, failures and sums of the CPU', async () => {
    const machine = new Machine();
    const use = await FirstUse.begin(machine.subject());
    callOf(use, 'loadBases')();
    callOf(use, 'warmup')();
    callOf(use, 'msm', false)();
    callOf(use, 'msm', true, 'internal')();
    await vi.advanceTimersByTimeAsync(60 * SECOND);
    expect([use.state, machine.runs]).toEqual(['none', 0]);
    callOf(use, 'msmBatch')();
    await vi.advanceTimersByTimeAsync(SECOND);
    await complete(use);
    expect(use.state).toBe('measured');
  });

  test('not if the store has a result', async () => {
    const machine = new Machine();
    const subject = machine.subject();
    const name = rememberedName(subject);
    const text = JSON.stringify({ tuning: { walkerSlots: 5 }, trials: [{ tuning: {}, ms: 1 }] });
    const asked: string[] = [];
    const store = {
      get: async (wanted: string) => {
        asked.push(wanted);
        return wanted === name ? text : null;
      },
      set: () => expect.fail('told'),
    };
    const use = await FirstUse.begin({ ...subject, store });
    expect(asked).toEqual([name]);
    expect([use.state, use.calibration?.tuning]).toEqual(['remembered', { walkerSlots: 5 }]);
    sumOnGpu(use);
    await vi.advanceTimersByTimeAsync(60 * SECOND);
    expect(machine.runs).toBe(0);
  });

  test('by one of the engines that share it, and each curve in its turn', async () => {
    const machine = new Machine();
    const subject = machine.subject();
    const uses = [await FirstUse.begin(subject), await FirstUse.begin(subject)];
    const of2 = await FirstUse.begin({ ...subject, curve: other });
    for (const use of [...uses, of2]) sumOnGpu(use);
    await vi.advanceTimersByTimeAsync(SECOND);
    for (const use of uses) await complete(use);
    expect([...uses, of2].map(({ state }) => state)).toEqual(['measured', 'measured', 'none']);
    const { runs } = machine;
    await vi.advanceTimersByTimeAsync(SECOND);
    await complete(of2);
    expect(of2.state).toBe('measured');
    expect(machine.runs).toBe(2 * runs);
  });

  test('for one curve at a time', async () => {
    const machine = new Machine();
    const subject = machine.subject();
    const use = await FirstUse.begin(subject);
    const [of2, third] = [await FirstUse.begin({ ...subject, curve: other }), await FirstUse.begin(subject)];
    for (const each of [use, of2, third]) sumOnGpu(each);
    let open = (): void => undefined;
    machine.gate = new Promise((resolve) => {
      open = resolve;
    });
    await vi.advanceTimersByTimeAsync(SECOND);
    expect([use.state, of2.state]).toEqual(['measuring', 'none']);
    // an engine that does not measure ends
    third.destroy();
    await vi.advanceTimersByTimeAsync(10 * SECOND);
    expect([use.state, of2.state, machine.runs]).toEqual(['measuring', 'none', 1]);
    open();
    await complete(use);
    await vi.advanceTimersByTimeAsync(SECOND);
    await complete(of2);
    expect([use.state, of2.state]).toEqual(['measured', 'measured']);
  });

  test('on each device where the adapter has no name', async () => {
    const [one, two] = [new Machine(), new Machine()];
    const adapter = adapterOf('');
    const store = { get: () => expect.fail('asked'), set: () => expect.fail('told') };
    const first = await FirstUse.begin(one.subject({ adapter, store }));
    sumOnGpu(first);
    await vi.advanceTimersByTimeAsync(SECOND);
    await complete(first);
    expect(first.state).toBe('measured');
    expect((await FirstUse.begin(one.subject({ adapter, store }))).state).toBe('remembered');
    expect((await FirstUse.begin(two.subject({ adapter, store }))).state).toBe('none');
  });

  test('while nothing else computes on it', async () => {
    const machine = new Machine();
    const use = await FirstUse.begin(machine.subject());
    const busy = vi.spyOn(schedulerOf(machine.device), 'isBusyBeside').mockReturnValue(true);
    sumOnGpu(use);
    await vi.advanceTimersByTimeAsync(5 * SECOND);
    expect([use.state, machine.runs]).toEqual(['none', 0]);
    expect(busy).toHaveBeenCalledTimes(5);
    busy.mockReturnValue(false);
    await vi.advanceTimersByTimeAsync(SECOND);
    await complete(use);
    expect(use.state).toBe('measured');
  });
});

describe('a measurement ends', () => {
  test('when a call arrives, of any engine on the device, and begins again after a longer pause', async () => {
    const machine = new Machine();
    const subject = machine.subject();
    const use = await FirstUse.begin(subject);
    const beside = await FirstUse.begin({ ...subject, curve: other });
    sumOnGpu(use);
    for (const [index, caller] of [use, beside].entries()) {
      let end = (): void => undefined;
      const from = machine.runs;
      machine.before = (run) => {
        if (run === from + 5) end = callOf(caller, 'loadBases');
      };
      await vi.advanceTimersByTimeAsync(SECOND * 2 ** index);
      await complete(use);
      // the MSM under way was the last
      expect([use.state, machine.runs, machine.alive]).toEqual(['none', from + 6, 0]);
      machine.before = () => undefined;
      // a call that takes long holds it up
      await vi.advanceTimersByTimeAsync(60 * SECOND);
      expect(use.state).toBe('none');
      end();
      await vi.advanceTimersByTimeAsync(SECOND * 2 ** (index + 1) - 1);
      expect(machine.runs).toBe(from + 6);
      // the call of the next round comes before the time is over
      if (index === 0) callOf(beside, 'loadBases')();
    }
    await vi.advanceTimersByTimeAsync(1);
    await complete(use);
    expect(use.state).toBe('measured');
  });

  test('when its engine is destroyed; another one measures then', async () => {
    const machine = new Machine();
    const subject = machine.subject();
    const [use, next] = [await FirstUse.begin(subject), await FirstUse.begin(subject)];
    for (const each of [use, next]) sumOnGpu(each);
    machine.before = (run) => {
      if (run === 3) use.destroy();
    };
    await vi.advanceTimersByTimeAsync(SECOND);
    await complete(use);
    expect([next.state, machine.runs, machine.alive]).toEqual(['none', 4, 0]);
    await vi.advanceTimersByTimeAsync(2 * SECOND);
    await complete(next);
    expect(next.state).toBe('measured');
  });

  test('before it begins, when its engine is destroyed', async () => {
    const machine = new Machine();
    const use = await FirstUse.begin(machine.subject());
    sumOnGpu(use);
    use.destroy();
    await vi.advanceTimersByTimeAsync(60 * SECOND);
    expect([use.state, machine.runs]).toEqual(['none', 0]);
  });
});

describe('failures are silent', () => {
  test('of a device: the state tells, and it is not measured again', async () => {
    const machine = new Machine();
    const subject = machine.subject({ open: () => Promise.reject(new Error('lost')) });
    const use = await FirstUse.begin(subject);
    sumOnGpu(use);
    await vi.advanceTimersByTimeAsync(SECOND);
    await complete(use);
    const next = await FirstUse.begin({ ...subject, open: machine.open });
    sumOnGpu(next);
    await vi.advanceTimersByTimeAsync(60 * SECOND);
    expect([use.state, next.state, machine.runs]).toEqual(['failed', 'failed', 0]);
  });

  test('of settings: if none works, nothing is remembered', async () => {
    const machine = new Machine();
    const store = storeOf();
    const use = await FirstUse.begin(machine.subject({ store }));
    wrong = { ...smallCurve.generator, infinity: false };
    sumOnGpu(use);
    await vi.advanceTimersByTimeAsync(SECOND);
    await complete(use);
    wrong = null;
    expect([use.state, store.texts.size]).toEqual(['failed', 0]);
  });

  test.each<[string, CalibrationStore]>([
    [
      'throws',
      {
        get: () => {
          throw new Error('gone');
        },
        set: () => {
          throw new Error('gone');
        },
      },
    ],
    ['rejects', { get: () => Promise.reject(new Error('gone')), set: () => Promise.reject(new Error('gone')) }],
    ['never answers', { get: () => new Promise(() => undefined), set: () => new Promise(() => undefined) }],
    ['has something else', { get: async () => 'no JSON', set: async () => undefined }],
  ])('of a store that %s: the device is measured', async (_, store) => {
    const machine = new Machine();
    const subject = machine.subject({ store });
    const opening = FirstUse.begin(subject);
    await vi.advanceTimersByTimeAsync(2 * SECOND);
    const use = await opening;
    expect(use.state).toBe('none');
    sumOnGpu(use);
    await vi.advanceTimersByTimeAsync(SECOND);
    await complete(use);
    expect(use.state).toBe('measured');
    expect((await FirstUse.begin(subject)).state).toBe('remembered');
  });
});
