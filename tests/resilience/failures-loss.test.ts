/** The loss of a device, at every moment, in three ways: see tests/support/failure-table.ts. */
import { describe, expect, test } from 'vitest';
import { makeCase } from '../../dev/cases/msm-case.js';
import { type Bases, createMsmEngine } from '../../src/index.js';
import { captureGpu } from '../support/captured-gpu.js';
import { Bench, expectOutcome, prove, small, strikeAt, tuning } from '../support/failure-bench.js';
import { type Moment, type Row, sections } from '../support/failure-table.js';
import { type Call, type LeasedDevice, leaseDevice } from '../support/leased-gpu.js';

type Lose = (device: LeasedDevice) => void;
const ways = {
  destroyed: (device) => device.real.destroy(),
  takenAway: (device) => device.takeAway('at once'),
  takenAwayToldLate: (device) => device.takeAway('late'),
} satisfies Record<string, Lose>;

/** Replaces a call that is made at the moment of a loss. */
type Strike = (call: Call, lose: () => void) => unknown;
const before: Strike = (call, lose) => {
  lose();
  return call.proceed();
};
const after: Strike = (call, lose) => {
  const result = call.proceed();
  lose();
  return result;
};
const settled: Strike = async (call, lose) => {
  const result = await call.proceed();
  lose();
  return result;
};

/** The first call of a method, and on which side of it the loss comes. */
const moments: Readonly<Record<Moment, readonly [method: string, strike: Strike]>> = {
  'before compiling': ['createShaderModule', before],
  'while compiling': ['createComputePipelineAsync', after],
  'after compiling': ['createComputePipelineAsync', settled],
  'while allocating': ['createBuffer', after],
  'before the upload': ['writeBuffer', before],
  'during the upload': ['writeBuffer', after],
  'after the upload': ['createCommandEncoder', before],
  'while encoding': ['beginComputePass', after],
  'after encoding': ['finish', after],
  'right after the submit': ['submit', after],
  'before the map': ['mapAsync', before],
  'during the map': ['mapAsync', after],
  'after the map': ['mapAsync', settled],
};

/** Has a device lost at a moment of its next job. */
const loseAt = (device: LeasedDevice, moment: Moment, lose: Lose): { count: number } => {
  const [method, strike] = moments[moment];
  device.cold = moment === 'while compiling';
  return strikeAt(
    device,
    // the last kernel of either job, and all are compiled in order where the device has done so
    // before
    (call) => call.method === method && (moment !== 'after compiling' || /^(import_points|reduce)$/.test(call.label)),
    (call) => strike(call, () => lose(device)),
  );
};

/** A stage without its call. */
const momentOf = (stage: `${string}: ${Moment}`): Moment => stage.slice(stage.indexOf(': ') + 2) as Moment;

const loseInImport = async (stage: `loadBases: ${Moment}`, row: Row, lose: Lose): Promise<void> => {
  const bench = await Bench.open();
  const strikes = loseAt(bench.lease, momentOf(stage), lose);
  await expectOutcome(row, bench.load());
  expect(strikes.count).toBe(1);
  expect(bench.engine.memory.bases).toBe(0);
  await bench.expectNext(row, null);
  bench.close();
};

const loseInMsm = async (stage: `msm: ${Moment}`, row: Row, lose: Lose): Promise<void> => {
  const bench = await Bench.open();
  const bases = await bench.load();
  const strikes = loseAt(bench.lease, momentOf(stage), lose);
  await expectOutcome(row, bench.msm(bases), small.expected);
  expect(strikes.count).toBe(1);
  // where the call came through, the loss may not have been announced yet
  await bench.lease.device.lost;
  await bench.expectNext(row, bases);
  bench.close();
};

/** An engine that has computed, and whose device is lost. */
const afterLoss = async (lose: Lose, ...options: Parameters<typeof Bench.open>) => {
  const bench = await Bench.open(...options);
  const bases = await bench.load(small, { label: 'the SRS' });
  expect(await bench.msm(bases)).toEqual(small.expected);
  const { lease } = bench;
  lose(lease);
  await lease.device.lost;
  return { bench, bases };
};

/** All rows, with devices that are lost in one way after the other. */
const proveLoss = (some: readonly Lose[]): void => {
  const inEveryWay = async (steps: (lose: Lose) => Promise<void>): Promise<void> => {
    for (const lose of some) await steps(lose);
  };
  prove(sections.lost.title, sections.lost.rows, {
    inImport: (stage, row) => inEveryWay((lose) => loseInImport(stage, row, lose)),
    inMsm: (stage, row) => inEveryWay((lose) => loseInMsm(stage, row, lose)),
    afterImport: async (stage, row) => {
      for (const lose of [ways.takenAway, ways.takenAwayToldLate]) {
        const bench = await Bench.open();
        const strikes = loseAt(bench.lease, momentOf(stage), lose);
        const bases = await bench.load();
        expect(strikes.count).toBe(1);
        expect(bases.length).toBe(small.points.length);
        await bench.lease.device.lost;
        await bench.expectNext(row, bases);
        bench.close();
      }
    },
    afterMsm: async (stage, row) => {
      await loseInMsm(stage, row, ways.takenAway);
      await loseInMsm(stage, row, ways.takenAwayToldLate);
    },
    destroyedAfterImport: (stage, row) => loseInImport(stage, row, ways.destroyed),
    destroyedAfterMsm: (stage, row) => loseInMsm(stage, row, ways.destroyed),

    idle: (_, row) =>
      inEveryWay(async (lose) => {
        const { bench, bases } = await afterLoss(lose);
        await expectOutcome(row, bench.msm(bases), small.expected);
        expect(bench.gpu.devices).toHaveLength(2);
        expect(bench.engine.memory.bases).toBe(bases.byteLength);
        await bench.expectNext(row, bases);
        bench.close();
      }),

    queued: (_, row) =>
      inEveryWay(async (lose) => {
        const bench = await Bench.open();
        const bases = await bench.load();
        loseAt(bench.lease, 'right after the submit', lose);
        const [ahead, ...behind] = [1, 2, 3].map(() => bench.msm(bases));
        await expectOutcome(sections.lost.rows.inMsm, ahead as Promise<unknown>);
        for (const call of behind) await expectOutcome(row, call, small.expected);
        expect(bench.gpu.devices).toHaveLength(2);
        await bench.expectNext(row, bases);
        bench.close();
      }),

    again: (_, row) =>
      inEveryWay(async (lose) => {
        let requested = 0;
        const { bench, bases } = await afterLoss(lose, {}, (device) => {
          if (++requested === 2) loseAt(device, 'before the map', lose);
        });
        await expectOutcome(row, bench.msm(bases));
        expect(bench.gpu.devices).toHaveLength(2);
        await bench.expectNext(row, bases);
        bench.close();
      }),

    noAdapter: (_, row) =>
      inEveryWay(async (lose) => {
        const { bench, bases } = await afterLoss(lose);
        bench.gpu.lacks = 'adapter';
        await expectOutcome(row, bench.msm(bases));
        bench.gpu.lacks = null;
        await bench.expectNext(row, bases);
        bench.close();
      }),

    noDevice: (_, row) =>
      inEveryWay(async (lose) => {
        const { bench, bases } = await afterLoss(lose);
        bench.gpu.lacks = 'device';
        await expectOutcome(row, bench.msm(bases));
        bench.gpu.lacks = null;
        await bench.expectNext(row, bases);
        bench.close();
      }),

    notRetained: (stage, row) =>
      inEveryWay(async (lose) => {
        const options = { retainBases: false };
        let bench: Bench;
        let bases: Bases;
        if (stage === 'between two calls') {
          ({ bench, bases } = await afterLoss(lose, options));
        } else {
          bench = await Bench.open(options);
          bases = await bench.load();
          loseAt(bench.lease, 'right after the submit', lose);
          await expectOutcome(row, bench.msm(bases));
        }
        await expectOutcome(row, bench.msm(bases));
        await bench.expectNext(row, bases);
        bench.close();
      }),

    callers: (stage, row) =>
      inEveryWay(async (lose) => {
        const lease = await leaseDevice();
        const bench = await Bench.open({ device: lease.device });
        const bases = await bench.load();
        if (stage === 'between two calls') {
          lose(lease);
          await lease.device.lost;
        } else {
          loseAt(lease, 'right after the submit', lose);
        }
        await expectOutcome<unknown>(row, stage === 'in a loadBases' ? bench.load() : bench.msm(bases));
        await bench.expectNext(row, bases);
        await expectOutcome(row, bench.load());
        expect(bench.gpu.devices).toEqual([]);
        bench.close();
        lease.device.destroy();
      }),
  });
};
proveLoss([ways.takenAway]);
describe('in the other ways', { tags: 'long' }, () => proveLoss([ways.destroyed, ways.takenAwayToldLate]));

test('BN254 survives the loss of a real device', { tags: 'long' }, async () => {
  const { points, scalars, expected } = makeCase({ points: 'distinct', scalars: 'random', n: 100, seed: 9 });
  const { gpu, devices } = await captureGpu();
  const engine = await createMsmEngine({ curve: 'bn254', gpu, tuning: { ...tuning, windowBits: 8 } });
  const bases = await engine.loadBases(points.bytes);
  expect(await engine.msm(bases, scalars.bytes)).toEqual(expected);
  const call = engine.msm(bases, scalars.bytes);
  setTimeout(() => devices[0]?.destroy(), 5);
  await expectOutcome(sections.lost.rows.inMsm, call);
  expect(await engine.msm(bases, scalars.bytes)).toEqual(expected);
  expect(devices).toHaveLength(2);
  expect(engine.memory.bases).toBe(bases.byteLength);
  engine.destroy();
  expect(engine.memory).toMatchObject({ bases: 0, scratch: 0 });
});
