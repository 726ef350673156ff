import { describe, expect, test } from 'vitest';
import { createCheckedEngine } from '../../dev/checks/engine.js';
import {
  type AffinePoint,
  type Bases,
  type MsmEngine,
  type MsmEngineOptions,
  MsmError,
  type Tuning,
} from '../../src/index.js';
import type { Row } from './failure-table.js';
import { type Call, type LeasedDevice, type LeasedGpu, leaseGpu } from './leased-gpu.js';
import { smallCase, smallCurve } from './small-curve.js';

/**
 * Small workgroups compile fast, and nothing is left to the CPU. Two sizes of MSM, of which the
 * larger needs larger buffers.
 */
export const tuning: Partial<Tuning> = { walkerSlots: 4, walkerThreadsPerWorkgroup: 8, windowBits: 5, cpuBelow: 0 };
/** Long scalars take many windows, and so several submits. */
const long = (i: number): bigint => (BigInt(i + 3) * 0x9e3779b97f4a7c15n) ** 3n % 2n ** 200n;
export const small = smallCase(20, long);
export const large = smallCase(100, long);
export type Case = typeof small;

type Proofs<Rows extends Readonly<Record<string, Row>>> = {
  readonly [Key in keyof Rows]: (stage: Rows[Key]['stages'][number], row: Row) => Promise<unknown>;
};

/** A test for every stage of every row. @param isLong whether a test is of the second tier */
export const prove = <Rows extends Readonly<Record<string, Row>>>(
  title: string,
  rows: Rows,
  proofs: Proofs<Rows>,
  isLong: (key: keyof Rows, stage: string) => boolean = () => false,
) => {
  describe(title, () => {
    for (const [key, row] of Object.entries(rows)) {
      describe(row.fault, () => {
        for (const stage of row.stages) {
          test(stage, { tags: isLong(key, stage) ? ['long'] : [] }, async () => {
            await proofs[key as keyof Rows](stage, row);
          });
        }
      });
    }
  });
};

/**
 * The call comes to what the row says.
 *
 * @returns the message of the error
 */
export const expectOutcome = async <Value>(row: Row, call: Promise<Value>, expected?: Value): Promise<string> => {
  if (row.code === null) {
    expect(await call).toEqual(expected);
    return '';
  }
  const error = await call.then(
    (value) => expect.fail(`the call gave ${value}`),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(MsmError);
  expect(error).toMatchObject({ code: row.code, message: expect.stringContaining(row.says) });
  return (error as MsmError).message;
};

/**
 * Does something else than a call of WebGPU, at the first one that matches.
 *
 * @returns how often it has struck
 */
export const strikeAt = (
  lease: LeasedDevice,
  matches: (call: Call) => boolean,
  instead: (call: Call) => unknown,
): { count: number } => {
  const strikes = { count: 0 };
  lease.tap = (call) => {
    if (strikes.count > 0 || !matches(call)) return call.proceed();
    strikes.count++;
    return instead(call);
  };
  return strikes;
};

/**
 * Does work again and again, while the device loses one dispatch of it, each in turn, and at last
 * none.
 *
 * @param below bound of the number of dispatches
 */
export const loseEachDispatch = async (
  lease: LeasedDevice,
  below: number,
  work: () => Promise<void>,
): Promise<void> => {
  for (let index = 0; ; index++) {
    let seen = 0;
    const strikes = strikeAt(
      lease,
      ({ method }) => method.startsWith('dispatchWorkgroups') && seen++ === index,
      () => undefined,
    );
    await work();
    if (strikes.count === 0) break;
    expect(index).toBeLessThan(below);
  }
};

/** An engine on the small curve and on devices that can be tampered with. */
export class Bench {
  readonly gpu: LeasedGpu;
  readonly engine: MsmEngine;

  private constructor(gpu: LeasedGpu, engine: MsmEngine) {
    this.gpu = gpu;
    this.engine = engine;
  }

  /** @param options those of the engine; `checks` checks its stages on the GPU */
  static async open(
    options: Partial<MsmEngineOptions> & { readonly checks?: boolean } = {},
    prepare?: (device: LeasedDevice) => void,
  ): Promise<Bench> {
    const gpu = await leaseGpu(prepare);
    return new Bench(
      gpu,
      await createCheckedEngine({
        curve: smallCurve,
        gpu: gpu.gpu,
        tuning,
        selfTest: false,
        checks: false,
        ...options,
      }),
    );
  }

  /** The device that was requested last. */
  get lease(): LeasedDevice {
    return this.gpu.devices.at(-1) as LeasedDevice;
  }

  load({ points }: Case = small, options?: Parameters<MsmEngine['loadBases']>[1]): Promise<Bases> {
    return this.engine.loadBases(points, options);
  }

  msm(bases: Bases, { scalars }: Case = small, options?: Parameters<MsmEngine['msm']>[2]): Promise<AffinePoint> {
    return this.engine.msm(bases, scalars, options);
  }

  /** Live buffers, by the engine's count and at the boundary of the API. */
  get alive(): { readonly bases: number; readonly scratch: number; readonly buffers: number } {
    const { bases, scratch } = this.engine.memory;
    return { bases, scratch, buffers: this.lease.live };
  }

  /** The next call does what the row says. */
  async expectNext(row: Row, bases: Bases | null): Promise<void> {
    const { engine, gpu } = this;
    const devices = gpu.devices.length;
    if (row.next === 'same') {
      if (bases !== null) await expectOutcome(row, this.msm(bases));
      return;
    }
    if (bases === null || row.next === 'reloaded') {
      const fresh = await this.load();
      expect(await this.msm(fresh)).toEqual(small.expected);
      fresh.destroy();
    } else {
      expect(await this.msm(bases)).toEqual(small.expected);
      expect(engine.memory.bases).toBe(bases.byteLength);
    }
    const isNew = row.next === 'anew' || row.next === 'moved';
    if (row.next !== 'reloaded') expect(gpu.devices).toHaveLength(devices + (isNew ? 1 : 0));
  }

  /** Destroys the engine, of which nothing may be left. */
  close(): void {
    this.engine.destroy();
    expect(this.engine.memory).toMatchObject({ bases: 0, scratch: 0 });
    for (const device of this.gpu.devices) {
      expect(device.live).toBe(0);
      expect(device.openScopes).toBe(0);
    }
  }
}
