/** Curves that `accelerate` leaves to snarkjs: an engine without fast arithmetic is measured once. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { MsmEngine } from '../../src/api/engine.js';
import type { Coordinate } from '../../src/api/values.js';
import { noCounts, readAccelerateOptions } from '../../src/provers/accelerate-options.js';
import type { FfGroup } from '../../src/provers/ffjavascript.js';
import { ProverEngines } from '../../src/provers/prover-engines.js';
import { stopClock } from '../support/time.js';

afterEach(() => vi.restoreAllMocks());

interface Machine {
  readonly arithmetic: string;
  readonly software: boolean;
  readonly on: string;
  /** Tells kinds of engines apart, whose results the process remembers. */
  readonly workers: number;
  readonly libraryMs: number;
  readonly snarkjsMs: number;
}

let kinds = 0;
const slow = (): Machine => ({
  ...{ arithmetic: 'wasm', software: true, on: 'cpu', workers: ++kinds },
  ...{ libraryMs: 100, snarkjsMs: 50 },
});

/** Makes the engines and the group of a machine, with a clock that its MSMs move. */
const makeSides = async (machine: Machine, measure = true) => {
  const clock = stopClock();
  const calls = { library: 0, snarkjs: 0, freed: 0 };
  const { arithmetic, software, on, workers } = machine;
  const engine = {
    adapter: { software },
    lastRun: { arithmetic, on, workers },
    loadBases: async (points: Uint8Array) => {
      expect(points).toHaveLength(1024 * 64);
      return { destroy: () => calls.freed++ };
    },
    msm: async () => {
      calls.library++;
      clock.spend(machine.libraryMs);
    },
  } as unknown as MsmEngine<Coordinate>;
  const counts = noCounts();
  const engines = new ProverEngines(await readAccelerateOptions({ measure }), counts);
  const get = vi.spyOn(engines, 'get').mockResolvedValue(engine);
  const group = {
    g: new Uint8Array(96),
    F: { n8: 32 },
    add: (left: Uint8Array) => left,
    batchToAffine: (points: Uint8Array) => points.slice(0, (points.length * 2) / 3),
  } as unknown as FfGroup;
  const multiExpAffine = async (_: unknown, scalars: unknown) => {
    const bytes = scalars as Uint8Array;
    // below the order of the group
    for (let i = 31; i < bytes.length; i += 32) expect(bytes[i]).toBe(0);
    calls.snarkjs++;
    clock.spend(machine.snarkjsMs);
    return new Uint8Array();
  };
  return { engines, counts, get, calls, original: { group, multiExpAffine } };
};

describe('a curve', () => {
  test.each([
    ['is left to snarkjs that wins each turn', {}, true, 6, 6],
    ['stays where snarkjs is hardly faster', { snarkjsMs: 75 }, false, 2, 2],
    ['stays where snarkjs is slower', { snarkjsMs: 200 }, false, 2, 2],
    ['stays with multiply-adds, which are not measured', { arithmetic: 'wasm-fma', snarkjsMs: 1 }, false, 1, 0],
    ['stays with wide arithmetic, which is not measured', { arithmetic: 'wasm-wide', snarkjsMs: 1 }, false, 1, 0],
    ['stays where a software GPU computes', { on: 'gpu', snarkjsMs: 1 }, false, 1, 0],
    ['stays where there is a GPU', { software: false, snarkjsMs: 1 }, false, 0, 0],
  ])('%s', async (_, given, isLeft, library, snarkjs) => {
    const { engines, counts, calls, original } = await makeSides({ ...slow(), ...given });
    expect(await engines.isSlower('bn254', original)).toBe(isLeft);
    expect(calls).toEqual({ library, snarkjs, freed: Number(library > 0) });
    expect(counts.leftToSnarkjs).toEqual(isLeft ? ['bn254'] : []);
  });

  test('is measured once in a process for each kind of engine, by calls at a time, too', async () => {
    const machine = slow();
    const first = await makeSides(machine);
    const asked = ['bn254', 'bn254', 'bn254'] as const;
    const isSlower = () => Promise.all(asked.map((curve) => first.engines.isSlower(curve, first.original)));
    expect([await isSlower(), await isSlower()].flat()).toEqual(new Array(6).fill(true));
    expect(first.calls).toEqual({ library: 6, snarkjs: 6, freed: 1 });
    expect(first.counts.leftToSnarkjs).toEqual(['bn254']);
    // another accelerator of the same kind: times do not matter any more
    const second = await makeSides({ ...machine, snarkjsMs: 500 });
    expect(await second.engines.isSlower('bn254', second.original)).toBe(true);
    expect(second.calls).toEqual({ library: 1, snarkjs: 0, freed: 1 });
    // another curve
    expect(await second.engines.isSlower('bls12-381', second.original)).toBe(false);
    expect(second.counts.leftToSnarkjs).toEqual(['bn254']);
  });

  test('is not measured without `measure`, nor before snarkjs has threads', async () => {
    const { engines, get, original } = await makeSides(slow(), false);
    expect(await engines.isSlower('bn254', original)).toBe(false);
    expect(get).not.toHaveBeenCalled();
    const other = await makeSides(slow());
    expect(await other.engines.isSlower('bn254', null)).toBe(false);
    expect(other.get).not.toHaveBeenCalled();
    expect(await other.engines.isSlower('bn254', other.original)).toBe(true);
  });

  test('stays where a side fails', async () => {
    const { engines, get, original } = await makeSides(slow());
    get.mockRejectedValueOnce(new Error('no engine'));
    expect(await engines.isSlower('bn254', original)).toBe(false);
    expect(await engines.isSlower('bn254', original)).toBe(false);
    expect(get).toHaveBeenCalledOnce();
  });
});
