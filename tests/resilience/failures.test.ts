/**
 * Calls that are given up, many at a time, several engines, a device of the caller's, no GPU at
 * all: see tests/support/failure-table.ts, from which docs/reference/failures.md is generated.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Bases, createMsmEngine, type MsmOptions } from '../../src/index.js';
import { Bench, expectOutcome, large, prove, small, strikeAt, tuning } from '../support/failure-bench.js';
import { sections } from '../support/failure-table.js';
import { type Call, type LeasedDevice, leaseDevice, leaseGpu, type Tap } from '../support/leased-gpu.js';
import { inProject } from '../support/run-script.js';
import { smallCase, smallCurve } from '../support/small-curve.js';
import { sleep } from '../support/time.js';

const honest: Tap = (call) => call.proceed();
const isSubmit = ({ method }: Call): boolean => method === 'submit';

/** Something happens just before a call of WebGPU goes out, or just after. */
const before =
  (happens: () => void) =>
  (call: Call): unknown => {
    happens();
    return call.proceed();
  };
const after =
  (happens: () => void) =>
  (call: Call): unknown => {
    const result = call.proceed();
    happens();
    return result;
  };

/** Has the next submit refused: commands can be submitted once. */
const refuseSubmit = (lease: LeasedDevice) =>
  strikeAt(lease, isSubmit, (call) => {
    call.proceed();
    return call.proceed();
  });

/** Has the next `createBuffer` throw. */
const refuseBuffer = (lease: LeasedDevice) =>
  strikeAt(
    lease,
    ({ method }) => method === 'createBuffer',
    () => {
      throw new RangeError('injected');
    },
  );

const outOfMemory = sections.memory.rows.buffers;
const refused = sections.refused.rows.other;

prove(sections.callers.title, sections.callers.rows, {
  aborted: async (stage, row) => {
    // one window a submit
    const bench = await Bench.open({ tuning: { ...tuning, additionsPerSubmit: 1024 } });
    const bases = await bench.load(large);
    const controller = new AbortController();
    const options: MsmOptions = { signal: controller.signal };
    const begin = (more: MsmOptions = {}): Promise<unknown> =>
      stage.startsWith('msm')
        ? bench.msm(bases, large, { ...options, ...more })
        : bench.load(large, { ...options, ...more });
    const when = stage.slice(stage.indexOf(': ') + 2);
    if (when === 'before the call') {
      controller.abort(new Error('changed my mind'));
      await expectOutcome(row, begin());
      await expect(begin()).rejects.toMatchObject({ cause: { message: 'changed my mind' } });
    } else if (when === 'while it waits for its turn') {
      const ahead = bench.msm(bases, large);
      const behind = begin();
      controller.abort();
      await expectOutcome(row, behind);
      expect(await ahead).toEqual(large.expected);
    } else if (when === 'between submits') {
      const seen: number[] = [];
      const onProgress: MsmOptions['onProgress'] = ({ done, total }) => {
        seen.push(done);
        expect(total).toBeGreaterThan(2);
        if (done === 2) controller.abort();
      };
      await expectOutcome(row, begin({ onProgress }));
      expect(seen).toEqual([0, 1, 2]);
    } else {
      const strikes = strikeAt(
        bench.lease,
        ({ method }) => method === 'mapAsync',
        after(() => controller.abort()),
      );
      await expectOutcome(row, begin());
      expect(strikes.count).toBe(1);
    }
    expect(bench.engine.memory.bases).toBe(bases.byteLength);
    await bench.expectNext(row, bases);
    bench.close();
  },

  abortedAfter: async (stage, row) => {
    const bench = await Bench.open();
    const controller = new AbortController();
    const { signal } = controller;
    let bases: Bases;
    if (stage === 'msm: after the call') {
      bases = await bench.load();
      await expectOutcome(row, bench.msm(bases, small, { signal }), small.expected);
    } else {
      const call = bench.load(small, { signal });
      bases = await call;
      await expectOutcome(row, call, bases);
    }
    controller.abort();
    await bench.expectNext(row, bases);
    bench.close();
  },

  basesDestroyed: async (stage, row) => {
    const bench = await Bench.open();
    const bases = await bench.load();
    if (stage === 'before the call') {
      bases.destroy();
      await expectOutcome(row, bench.msm(bases));
    } else if (stage === 'while it waits for its turn') {
      const ahead = bench.msm(await bench.load(large), large);
      const behind = bench.msm(bases);
      bases.destroy();
      await expectOutcome(row, behind);
      expect(await ahead).toEqual(large.expected);
    } else if (stage === 'before the submit') {
      const strikes = strikeAt(
        bench.lease,
        isSubmit,
        before(() => bases.destroy()),
      );
      await expectOutcome(row, bench.msm(bases));
      expect(strikes.count).toBe(1);
      expect(bench.alive).toEqual({ bases: 0, scratch: 0, buffers: 0 });
    } else {
      bench.lease.takeAway('at once');
      await bench.lease.device.lost;
      bench.gpu.onRequest = () => bases.destroy();
      await expectOutcome(row, bench.msm(bases));
      expect(bench.engine.memory.bases).toBe(0);
      bench.gpu.onRequest = () => undefined;
    }
    await bench.expectNext(row, bases);
    bench.close();
  },

  basesDestroyedLate: async (_, row) => {
    const bench = await Bench.open();
    const bases = await bench.load();
    const strikes = strikeAt(
      bench.lease,
      isSubmit,
      after(() => bases.destroy()),
    );
    await expectOutcome(row, bench.msm(bases), small.expected);
    expect(strikes.count).toBe(1);
    await bench.expectNext(row, bases);
    bench.close();
  },

  engineDestroyed: async (stage, row) => {
    const bench = await Bench.open();
    const bases = await bench.load();
    const begin = (): Promise<unknown> => (stage.startsWith('loadBases') ? bench.load() : bench.msm(bases));
    if (stage === 'while it gets a new device') {
      bench.lease.takeAway('at once');
      await bench.lease.device.lost;
      bench.gpu.onRequest = () => bench.engine.destroy();
      await expectOutcome(row, begin());
    } else if (stage.endsWith('before the call')) {
      bench.engine.destroy();
      await expectOutcome(row, begin());
    } else {
      const strikes = strikeAt(
        bench.lease,
        isSubmit,
        after(() => bench.engine.destroy()),
      );
      const ahead = stage.endsWith('waits for its turn') ? [bench.msm(bases)] : [];
      const calls = [...ahead, begin()];
      await Promise.all(calls.map((call) => expectOutcome(row, call)));
      expect(strikes.count).toBe(1);
    }
    await bench.expectNext(row, bases);
    await expectOutcome(row, bench.load());
    bench.close();
  },
});

/**
 * MSMs of different sizes at once, each right, and answered in the order in which they were asked
 * for.
 */
const expectManyRight = async (bench: Bench, bases: Bases, count: number): Promise<number[]> => {
  const cases = Array.from({ length: 7 }, (_, n) => smallCase(3 * n));
  const answered: number[] = [];
  const calls = Array.from({ length: count }, async (_, i) => {
    const result = await bench.msm(bases, cases[i % 7]);
    answered.push(i);
    return result;
  });
  const results = await Promise.all(calls);
  results.forEach((result, i) => {
    expect(result, `call ${i}`).toEqual(cases[i % 7]?.expected);
  });
  return answered;
};

prove(sections.sharing.title, sections.sharing.rows, {
  concurrent: async (stage, row) => {
    const count = Number.parseInt(stage, 10);
    for (const merge of [true, false]) {
      const bench = await Bench.open({ sharing: { merge } });
      const bases = await bench.load(large);
      const answered = await expectManyRight(bench, bases, count);
      // two are under way at a time, and of these either may be the first to end
      for (const [at, i] of answered.entries()) if (!merge) expect(Math.abs(at - i)).toBeLessThanOrEqual(4);
      expect(bench.engine.stats.merged > 0).toBe(merge && count > 2);
      await bench.expectNext(row, bases);
      bench.close();
    }
  },

  behindFailure: async (stage, row) => {
    const bench = await Bench.open();
    const bases = await bench.load();
    const controller = new AbortController();
    const [failure, arrange] = {
      'out of memory': [outOfMemory, () => refuseBuffer(bench.lease)] as const,
      'a refused command': [refused, () => refuseSubmit(bench.lease)] as const,
      aborted: [
        sections.callers.rows.aborted,
        () =>
          strikeAt(
            bench.lease,
            isSubmit,
            after(() => controller.abort()),
          ),
      ] as const,
    }[stage];
    const strikes = arrange();
    const ahead = bench.msm(bases, small, { signal: controller.signal });
    const behind = [bench.msm(bases), bench.msm(bases)];
    await expectOutcome(failure, ahead);
    expect(strikes.count).toBe(1);
    for (const call of behind) await expectOutcome(row, call, small.expected);
    await bench.expectNext(row, bases);
    bench.close();
  },

  neighbour: async (stage, row) => {
    const lease = await leaseDevice();
    const [troubled, bench] = [await Bench.open({ device: lease.device }), await Bench.open({ device: lease.device })];
    const [theirs, bases] = [await troubled.load(large), await bench.load()];
    expect(await bench.msm(bases)).toEqual(small.expected);
    const [failure, arrange] = {
      'it is out of memory': [outOfMemory, () => refuseBuffer(lease)] as const,
      'it is refused a command': [refused, () => refuseSubmit(lease)] as const,
      'it is destroyed while it computes': [
        sections.callers.rows.engineDestroyed,
        () =>
          strikeAt(
            lease,
            isSubmit,
            after(() => troubled.engine.destroy()),
          ),
      ] as const,
    }[stage];
    const strikes = arrange();
    const failing = troubled.msm(theirs, large);
    const neighbour = sleep().then(() => bench.msm(bases));
    await expectOutcome(failure, failing);
    expect(strikes.count).toBe(1);
    await expectOutcome(row, neighbour as Promise<unknown>, small.expected);
    troubled.close();
    await bench.expectNext(row, bases);
    bench.close();
    expect(lease.live).toBe(0);
    lease.device.destroy();
  },

  ownDevice: async (stage, row) => {
    const lease = await leaseDevice();
    const { device, real } = lease;
    const told: string[] = [];
    const handler = (event: GPUUncapturedErrorEvent): void => void told.push(event.error.message);
    real.addEventListener('uncapturederror', handler);
    real.onuncapturederror = handler;
    const words = new Uint32Array([1, 2, 3, 4]);
    // COPY_SRC | COPY_DST, then COPY_DST | MAP_READ: Node has no GPUBufferUsage
    const own = device.createBuffer({ label: 'own', size: 16, usage: 0x4 | 0x8 });
    const readable = device.createBuffer({ label: 'own', size: 16, usage: 0x8 | 0x1 });
    device.queue.writeBuffer(own, 0, words);
    const features = [...device.features];

    const bench = await Bench.open({ device });
    const bases = await bench.load();
    device.pushErrorScope('validation');
    // a mistake of the caller's: no buffer may be mapped both ways
    device.createBuffer({ label: 'mistake', size: 16, usage: 0x1 | 0x2 });
    device.pushErrorScope('out-of-memory');
    device.pushErrorScope('validation');
    if (stage === 'an msm that works') {
      await expectOutcome(row, bench.msm(bases), small.expected);
    } else {
      const [failure, arrange] =
        stage === 'an msm that is out of memory' ? [outOfMemory, refuseBuffer] : [refused, refuseSubmit];
      arrange(lease);
      await expectOutcome(failure, bench.msm(bases));
      lease.tap = honest;
    }
    expect(await device.popErrorScope()).toBeNull();
    expect(await device.popErrorScope()).toBeNull();
    expect((await device.popErrorScope())?.message).toContain('mistake');
    await bench.expectNext(row, bases);
    bench.engine.destroy();
    expect(bench.engine.memory).toMatchObject({ bases: 0, scratch: 0 });

    // two of ours and the mistake
    expect(lease.live).toBe(3);
    expect(lease.openScopes).toBe(0);
    expect(await Promise.race([device.lost, 'not lost'])).toBe('not lost');
    expect([...device.features]).toEqual(features);
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(own, 0, readable, 0, 16);
    device.queue.submit([encoder.finish()]);
    await readable.mapAsync(1);
    expect(new Uint32Array(readable.getMappedRange().slice(0))).toEqual(words);
    expect(real.onuncapturederror).toBe(handler);
    expect(told).toEqual([]);
    real.onuncapturederror = null;
    real.removeEventListener('uncapturederror', handler);
    device.destroy();
  },
});

prove(sections.creation.title, sections.creation.rows, {
  noWebGpu: async (_, row) => {
    expect(globalThis.navigator?.gpu).toBeUndefined();
    await expectOutcome(row, createMsmEngine({ curve: smallCurve, backend: 'gpu' }));
  },
  noAdapter: async (_, row) => {
    const gpu = await leaseGpu();
    gpu.lacks = 'adapter';
    await expectOutcome(row, createMsmEngine({ curve: smallCurve, backend: 'gpu', gpu: gpu.gpu }));
  },
  noDevice: async (_, row) => {
    const gpu = await leaseGpu();
    gpu.lacks = 'device';
    await expectOutcome(row, createMsmEngine({ curve: smallCurve, backend: 'gpu', gpu: gpu.gpu }));
    expect(gpu.devices).toEqual([]);
  },
});

test('every section of the table has its proofs in the files it names', () => {
  for (const [key, { file, rows }] of Object.entries(sections)) {
    const text = readFileSync(inProject(file), 'utf8');
    const proves = new RegExp(`prove\\(\\s*sections\\.${key}\\.title,\\s*sections\\.${key}\\.rows,\\s*\\{`);
    if (proves.test(text)) continue;
    // a file whose faults are not those of an engine takes its rows one by one
    expect(text, file).toContain(`sections.${key}.rows`);
    for (const name of Object.keys(rows)) expect(text, `${file}, ${name}`).toMatch(new RegExp(`\\b${name}\\b`));
  }
});
