/**
 * Errors that callbacks, getters and stores of the caller throw reach the caller unchanged, and
 * leave the engine usable.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { calibrate } from '../../src/calibrate.js';
import {
  type Bases,
  createMsmEngine,
  type LoadBasesOptions,
  type MsmEngine,
  MsmError,
  type MsmOptions,
  type Progress,
} from '../../src/index.js';
import { getDevice } from '../support/gpu.js';
import { gpuRunOf } from '../support/runs.js';
import { smallCase, smallCurve } from '../support/small-curve.js';

/** In several submits of long scalars. */
const tuning = {
  walkerSlots: 4,
  walkerThreadsPerWorkgroup: 8,
  windowBits: 8,
  additionsPerSubmit: 1024,
  cpuBelow: 0,
} as const;
const n = 40;
const { points, scalars, expected } = smallCase(n, (i) => (BigInt(i + 3) * 0x9e3779b97f4a7c15n) ** 3n % 2n ** 200n);

/** Also what looks as if the library had thrown it. */
const thrown: readonly [string, unknown][] = [
  ['an error', new Error('mine')],
  ['an error like ours', new MsmError('internal', 'mine')],
  ['no error at all', 'mine'],
];

let device: GPUDevice;
let engine: MsmEngine;
let onCpu: MsmEngine;
let bases: Bases;
let basesOnCpu: Bases;
beforeAll(async () => {
  device = await getDevice();
  engine = await createMsmEngine({ curve: smallCurve, device, tuning });
  bases = await engine.loadBases(points);
  onCpu = await createMsmEngine({ curve: smallCurve, device, tuning: { ...tuning, cpuBelow: 1000 } });
  basesOnCpu = await onCpu.loadBases(points);
});
afterAll(() => {
  engine?.destroy();
  onCpu?.destroy();
});

describe.each(thrown)('%s', (_, mine) => {
  const boom = (): never => {
    throw mine;
  };
  /** An object one of whose fields is a getter that throws. */
  const trap = <Type extends object>(fields: Type, name: string): Type =>
    Object.defineProperty((Array.isArray(fields) ? [...fields] : { ...fields }) as Type, name, {
      get: boom,
      enumerable: true,
    });
  const at = (moment: number) => ({
    onProgress: ({ done }: Progress) => {
      if (done === moment) boom();
    },
  });
  /** A signal that throws when it is looked at after so many times. */
  const signal = (looks: number): AbortSignal => {
    let left = looks;
    return {
      get aborted() {
        return left-- === 0 ? boom() : false;
      },
    } as unknown as AbortSignal;
  };
  const paged = { byteLength: 32 * n, slice: boom };

  const expectMine = async (call: () => Promise<unknown>, what: string): Promise<void> => {
    const outcome = await call().then(
      () => expect.fail(`${what}: it went well`),
      (error: unknown) => error,
    );
    expect(outcome, what).toBe(mine);
  };
  const expectUsable = async (): Promise<void> => {
    expect(await engine.msm(bases, scalars)).toEqual(expected);
    expect(await onCpu.msm(basesOnCpu, scalars)).toEqual(expected);
    expect(engine.memory.bases).toBe(bases.byteLength);
  };

  test('thrown in onProgress at any moment reaches the caller', async () => {
    await engine.msm(bases, scalars);
    const submits = gpuRunOf(engine).submits;
    expect(submits).toBeGreaterThan(2);
    for (let moment = 0; moment <= submits; moment++) {
      await expectMine(() => engine.msm(bases, scalars, at(moment)), `msm, ${moment}`);
      await expectMine(() => engine.msmBatch(bases, [scalars, [1n]], at(moment)), `msmBatch, ${moment}`);
    }
    for (const moment of [0, 1]) {
      await expectMine(() => engine.loadBases(points, at(moment)), `loadBases, ${moment}`);
      await expectMine(() => engine.loadBases(points, { precompute: 3, ...at(moment) }), `tables, ${moment}`);
      await expectMine(() => onCpu.msm(basesOnCpu, scalars, at(moment)), `on the CPU, ${moment}`);
    }
    await expectUsable();
  });

  test('as the reason of a signal reaches the caller', async () => {
    for (const looks of [0, 1, 2, 3, 4, 5]) {
      await expectMine(() => engine.msm(bases, scalars, { signal: signal(looks) }), `msm, ${looks}`);
    }
    for (const looks of [0, 1, 2]) {
      await expectMine(() => engine.loadBases(points, { signal: signal(looks) }), `loadBases, ${looks}`);
      await expectMine(() => onCpu.msm(basesOnCpu, scalars, { signal: signal(looks) }), `on the CPU, ${looks}`);
    }
    await expectUsable();
  });

  test('thrown in getters and pages reaches the caller', async () => {
    const options = { curve: smallCurve, device, tuning };
    for (const name of [
      ...Object.keys(options),
      'memoryBudget',
      'calibration',
      'calibrate',
      'calibrationStore',
      'retainBases',
    ]) {
      await expectMine(() => createMsmEngine(trap(options, name)), `options.${name}`);
    }
    for (const name of Object.keys(smallCurve)) {
      await expectMine(() => createMsmEngine({ ...options, curve: trap(smallCurve, name) }), `curve.${name}`);
    }
    const generator = trap(smallCurve.generator, 'y');
    await expectMine(() => createMsmEngine({ ...options, curve: { ...smallCurve, generator } }), 'generator.y');
    await expectMine(() => createMsmEngine({ ...options, tuning: trap(tuning, 'walkerSlots') }), 'tuning.walkerSlots');
    for (const name of ['label', 'precompute', 'signal', 'onProgress']) {
      await expectMine(() => engine.loadBases(points, trap<LoadBasesOptions>({}, name)), `loadBases: ${name}`);
    }
    for (const name of ['offset', 'signal', 'onProgress']) {
      await expectMine(() => engine.msm(bases, scalars, trap<MsmOptions>({}, name)), `msm: ${name}`);
    }
    await expectMine(() => engine.msmBatch(bases, [scalars], trap({}, 'offsets')), 'msmBatch: offsets');
    await expectMine(() => engine.msmBatch(bases, [scalars], { offsets: trap([0], '0') }), 'msmBatch: offsets[0]');
    for (const name of ['x', 'y', 'infinity']) {
      const given = points.map((point, i) => (i === 7 ? trap(point, name) : point));
      await expectMine(() => engine.loadBases(given), `points[7].${name}`);
    }
    await expectMine(() => engine.msm(bases, trap([1n, 2n], '1')), 'scalars[1]');
    for (const name of ['byteLength', 'slice']) {
      await expectMine(() => engine.msm(bases, trap(paged, name) as never), `pages: ${name}`);
    }
    await expectMine(() => engine.msm(bases, paged), 'pages of scalars');
    await expectMine(() => engine.loadBases(paged), 'pages of points');
    await expectUsable();
  });

  test('thrown in arguments of calibrate reaches the caller', async () => {
    for (const name of ['curve', 'store', 'again', 'signal', 'onProgress']) {
      await expectMine(() => calibrate(device, trap({ store: null }, name)), name);
    }
    await expectMine(() => calibrate(device, { store: null, curve: smallCurve, onProgress: boom }), 'onProgress');
    await expectUsable();
  });
});
