/**
 * Failures in the middle of calls that the GPU and the CPU compute together: see
 * tests/support/failure-table.ts.
 */
import { expect, test } from 'vitest';
import { inWasm } from '../support/arithmetic.js';
import { Bench, type Case, expectOutcome, large, prove, strikeAt, tuning } from '../support/failure-bench.js';
import { sections } from '../support/failure-table.js';
import type { Call } from '../support/leased-gpu.js';
import { smallCurve } from '../support/small-curve.js';
import { TextbookCurve } from '../support/textbook-curve.js';

const TIMES = 800;

/** Case of which the GPU and the CPU each take a part: the same points many times. */
const huge: Case = {
  points: Array.from({ length: TIMES }, () => large.points).flat(),
  scalars: Array.from({ length: TIMES }, () => large.scalars).flat(),
  expected: new TextbookCurve(smallCurve).multiply(large.expected, BigInt(TIMES)),
};

/** No workers: what is looked at is the two halves. */
const open = (): Promise<Bench> => Bench.open({ backend: 'both', maxWorkers: 0, tuning: { ...tuning, windowBits: 8 } });

/** Something happens at the first call of a method, before it goes out. */
const strike = (bench: Bench, method: string, happens: () => void, label?: string): { count: number } =>
  strikeAt(
    bench.lease,
    (call) => call.method === method && (label === undefined || call.label === label),
    (call) => {
      happens();
      return call.proceed();
    },
  );

const nameOf = (stage: string): string => stage.slice(stage.indexOf(': ') + 2);

test('the GPU and the CPU each have a part of the calls in these tests', async () => {
  const bench = await open();
  const bases = await bench.load(huge);
  expect(await bench.msm(bases, huge)).toEqual(huge.expected);
  expect(bench.engine.lastRun).toMatchObject({ on: 'both', cpu: { arithmetic: inWasm } });
  bench.close();
});

prove(sections.both.title, sections.both.rows, {
  lost: async (stage, row) => {
    const bench = await open();
    const bases = await bench.load(huge);
    const method = {
      'while allocating': 'createBuffer',
      'right after the submit': 'submit',
      'during the map': 'mapAsync',
    }[nameOf(stage)] as string;
    const { lease } = bench;
    const strikes = strikeAt(
      lease,
      (call) => call.method === method,
      (call) => {
        const result = call.proceed();
        lease.takeAway('at once');
        return result;
      },
    );
    await expectOutcome(row, bench.msm(bases, huge));
    expect(strikes.count).toBe(1);
    expect(await bench.msm(bases, huge)).toEqual(huge.expected);
    expect(bench.engine.lastRun?.on).toBe('both');
    expect(bench.gpu.devices).toHaveLength(2);
    bench.close();
  },

  memory: async (stage, row) => {
    const bench = await open();
    const bases = await bench.load(huge);
    const strikes = strikeAt(
      bench.lease,
      (call) => call.method === 'createBuffer' && call.label === nameOf(stage),
      (call) => {
        bench.lease.report('out-of-memory', 'injected');
        return call.proceed();
      },
    );
    await expectOutcome(row, bench.msm(bases, huge));
    expect(strikes.count).toBe(1);
    await bench.expectNext(row, bases);
    bench.close();
  },

  refused: async (stage, row) => {
    const bench = await open();
    const bases = await bench.load(huge);
    const method = nameOf(stage);
    // commands can be submitted once, and nothing can be written far behind the end of a buffer
    const spoil = (call: Call): unknown => {
      if (method === 'submit') call.proceed();
      return method === 'submit' ? call.proceed() : call.proceed([call.args[0], 2 ** 40, ...call.args.slice(2)]);
    };
    const strikes = strikeAt(bench.lease, (call) => call.method === method, spoil);
    await expectOutcome(row, bench.msm(bases, huge));
    expect(strikes.count).toBe(1);
    await bench.expectNext(row, bases);
    bench.close();
  },

  aborted: async (stage, row) => {
    const bench = await open();
    const bases = await bench.load(huge);
    const controller = new AbortController();
    const when = nameOf(stage);
    if (when === 'before the call') controller.abort();
    if (when === 'at the first submit') strike(bench, 'submit', () => controller.abort());
    const onProgress = ({ done }: { readonly done: number }) => {
      if (when === 'when a part is done' && done > 0) controller.abort();
    };
    await expectOutcome(row, bench.msm(bases, huge, { signal: controller.signal, onProgress }));
    expect(controller.signal.aborted).toBe(true);
    await bench.expectNext(row, bases);
    bench.close();
  },

  basesDestroyed: async (_, row) => {
    const bench = await open();
    const bases = await bench.load(huge);
    const strikes = strike(bench, 'submit', () => bases.destroy());
    await expectOutcome(row, bench.msm(bases, huge));
    expect(strikes.count).toBe(1);
    expect(bench.alive).toEqual({ bases: 0, scratch: 0, buffers: 0 });
    await bench.expectNext(row, bases);
    bench.close();
  },

  engineDestroyed: async (stage, row) => {
    const bench = await open();
    const bases = await bench.load(huge);
    const atSubmit = nameOf(stage) === 'at the first submit';
    if (atSubmit) strike(bench, 'submit', () => bench.engine.destroy());
    const onProgress = ({ done }: { readonly done: number }) => {
      if (!atSubmit && done > 0) bench.engine.destroy();
    };
    await expectOutcome(row, bench.msm(bases, huge, { onProgress }));
    await bench.expectNext(row, bases);
    bench.close();
  },
});
