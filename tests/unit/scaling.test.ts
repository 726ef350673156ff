/** The choice between GPU and CPU for multiples of points, with a GPU that is none. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { bn254 } from '../../src/curves/bn254.js';
import { curveContext } from '../../src/curves/curve.js';
import { MsmError } from '../../src/errors.js';
import type { Scaler } from '../../src/setup/open-scaler.js';
import { type GpuOptions, ScalingChoice } from '../../src/setup/scaling.js';

const curve = curveContext(bn254);
const COUNT = 2 ** 10;
const MANY = 2 ** 16;

/** Sums of one term each, by one scalar. */
const sumsOf = (count: number, multiplier = curve.order / 3n) => ({
  points: new Uint32Array(),
  scale: 1n,
  starts: Uint32Array.from({ length: count + 1 }, (_, i) => i),
  which: new Uint32Array(count),
  multipliers: [multiplier],
  scales: [1n],
});

const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The clock of a choice, on which a busy machine is as fast as an idle one. */
let now = 0;
beforeEach(() => {
  vi.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** Takes time by that clock. */
const takes = async (ms: number): Promise<void> => {
  now += ms;
  await after(0);
};

/** A choice, and who computed. */
const choiceOf = (
  options: GpuOptions & { readonly signal?: AbortSignal },
  total: number,
  device: Partial<Scaler> & { readonly opens?: () => Promise<void>; readonly ms?: number } = {},
) => {
  const log: string[] = [];
  const scaler: Scaler = {
    prepare: async () => {
      log.push('prepare');
    },
    multiply: async () => {
      log.push('gpu');
      await takes(device.ms ?? 0);
      return [];
    },
    destroy: async () => {
      log.push('destroy');
    },
    ...device,
  };
  const choice = new ScalingChoice(options, total, async (_, hardwareOnly) => {
    log.push(hardwareOnly ? 'open hardware' : 'open');
    await device.opens?.();
    return scaler;
  });
  const compute = async (sums: ReturnType<typeof sumsOf>, ms = 5): Promise<string> => {
    const before = log.length;
    await choice.compute(curve, sums, async () => {
      await takes(ms);
      log.push('cpu');
      return [];
    });
    return log.slice(before).join(', ');
  };
  return { log, choice, compute };
};

describe("'auto'", () => {
  test('prepares a device while the CPU computes, and then takes the faster one', async () => {
    const { compute, choice } = choiceOf({ backend: 'auto' }, MANY);
    expect(await compute(sumsOf(COUNT))).toBe('open hardware, prepare, cpu');
    for (let round = 0; round < 3; round++) expect(await compute(sumsOf(COUNT))).toBe('gpu');
    await choice.end();
  });

  test('leaves a slow device after one round', async () => {
    const { compute } = choiceOf({ backend: 'auto' }, MANY, { ms: 60 });
    await compute(sumsOf(COUNT));
    expect(await compute(sumsOf(COUNT))).toBe('gpu');
    for (let round = 0; round < 2; round++) expect(await compute(sumsOf(COUNT))).toBe('cpu');
  });

  test('computes short multiples, sums and small calls on the CPU', async () => {
    const { compute, log } = choiceOf({ backend: 'auto' }, MANY);
    for (const short of [0n, 1n, 2n ** 24n, curve.order - 1n, curve.order - 2n ** 24n]) {
      expect(await compute(sumsOf(COUNT, short))).toBe('cpu');
    }
    expect(await compute(sumsOf(COUNT - 1))).toBe('cpu');
    const pairs = { ...sumsOf(COUNT), starts: Uint32Array.from({ length: COUNT / 2 + 1 }, (_, i) => 2 * i) };
    expect(await compute(pairs)).toBe('cpu');
    const uneven = { ...sumsOf(COUNT), starts: Uint32Array.from({ length: COUNT + 1 }, (_, i) => (i === 1 ? 0 : i)) };
    expect(await compute(uneven)).toBe('cpu');
    expect(log).not.toContain('open hardware');
    const small = choiceOf({ backend: 'auto' }, MANY - 1);
    expect(await small.compute(sumsOf(COUNT))).toBe('cpu');
    expect(small.log).toEqual(['cpu']);
  });

  test('goes on without a device that fails, and never tries it again', async () => {
    const failing = choiceOf({ backend: 'auto' }, MANY, {
      multiply: async () => {
        throw new MsmError('device-lost', 'gone');
      },
    });
    await failing.compute(sumsOf(COUNT));
    for (let round = 0; round < 3; round++) expect(await failing.compute(sumsOf(COUNT))).toBe('cpu');
    const missing = choiceOf({ backend: 'auto' }, MANY, {
      opens: async () => {
        throw new MsmError('no-webgpu', 'none');
      },
    });
    for (let round = 0; round < 3; round++) await missing.compute(sumsOf(COUNT));
    expect(missing.log).toEqual(['open hardware', 'cpu', 'cpu', 'cpu']);
    await missing.choice.end();
  });

  test('has the CPU compute what the device refuses', async () => {
    const { compute } = choiceOf({ backend: 'auto' }, MANY, { multiply: async () => null });
    await compute(sumsOf(COUNT));
    expect(await compute(sumsOf(COUNT))).toBe('cpu');
  });

  test('ends with the call that is aborted', async () => {
    const { compute } = choiceOf({ backend: 'auto' }, MANY, {
      multiply: async () => {
        throw new MsmError('aborted', 'ended');
      },
    });
    await compute(sumsOf(COUNT));
    await expect(compute(sumsOf(COUNT))).rejects.toMatchObject({ code: 'aborted' });
  });

  test('ends a device that opens late, without waiting for it', async () => {
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const { compute, choice, log } = choiceOf({ backend: 'auto' }, MANY, { opens: () => opened });
    expect(await compute(sumsOf(COUNT))).toBe('open hardware, cpu');
    await choice.end();
    expect(log).not.toContain('destroy');
    open();
    await after(1);
    expect(log.at(-1)).toBe('destroy');
  });
});

test("'gpu' takes any adapter for all multiples, and tells its errors", async () => {
  const { compute, choice, log } = choiceOf({ backend: 'gpu' }, 1);
  expect(await compute(sumsOf(1, 1n))).toBe('open, gpu');
  expect(await compute(sumsOf(COUNT))).toBe('gpu');
  await choice.end();
  expect(log.at(-1)).toBe('destroy');
  const failing = choiceOf({ backend: 'gpu' }, MANY, {
    multiply: async () => {
      throw new MsmError('device-lost', 'gone');
    },
  });
  await expect(failing.compute(sumsOf(COUNT))).rejects.toMatchObject({ code: 'device-lost' });
});

test("'gpu' ends with its signal, also while a device opens", async () => {
  const abort = new AbortController();
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const options = { backend: 'gpu', signal: abort.signal } as const;
  const { compute, choice, log } = choiceOf(options, MANY, { opens: () => opened });
  const call = compute(sumsOf(COUNT));
  abort.abort();
  await expect(call).rejects.toMatchObject({ code: 'aborted' });
  await choice.end();
  open();
  await after(1);
  expect(log).toEqual(['open', 'destroy']);
});

test("'cpu' and calls without a choice open no device", async () => {
  for (const options of [{ backend: 'cpu' }, {}] as const) {
    const { compute, choice, log } = choiceOf(options, MANY);
    expect(await compute(sumsOf(COUNT))).toBe('cpu');
    await choice.end();
    expect(log).toEqual(['cpu']);
  }
});
