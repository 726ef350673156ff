import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { everyGroup } from '../../dev/cases/select.js';
import { execute, makeInputs } from '../../dev/fuzz/execute.js';
import {
  type FuzzCall,
  type FuzzProgram,
  fuzzBackends,
  length,
  movedTo,
  programs,
  vectorsOf,
} from '../../dev/fuzz/program.js';
import { curveNames, edwardsNames, oracles } from '../../dev/oracle/curves.js';
import { encodingsOf } from '../../dev/oracle/encodings.js';
import type { AffinePoint, Coordinate } from '../../dev/oracle/known-bases.js';
import { getDevice } from '../support/gpu.js';

const draw = (seed: number, numRuns: number, mostPoints?: number): FuzzProgram[] =>
  fc.sample(programs(mostPoints), { seed, numRuns });

/** Draws small programs of the first curve, whose kernels compile quickly. */
const drawQuick = (seed: number, numRuns: number): FuzzProgram[] =>
  draw(seed, numRuns, 200).map(({ curve: _, group: __, ...program }) => ({
    ...program,
    calls: program.calls.map(({ encoding: ___, result: ____, ...call }) => call),
  }));

describe('the fuzzer', () => {
  test('draws the same programs from the same seed, and every call of them is valid', () => {
    const seen = new Set<string>();
    let inG2 = 0;
    let onEdwards = 0;
    expect(draw(3, 20)).toEqual(draw(3, 20));
    for (const program of draw(3, 200)) {
      expect(JSON.parse(JSON.stringify(program))).toEqual(program);
      if (program.group === 'g2') {
        inG2++;
        expect(['bn254', 'bls12-381', 'bls12-377']).toContain(program.curve ?? 'bn254');
        // which kills SwiftShader's compiler
        expect(program.tuning.fieldProduct).not.toBe('dot4');
      }
      if (program.curve !== undefined && edwardsNames.includes(program.curve as never)) {
        onEdwards++;
        expect(program.group).toBeUndefined();
      }
      if (program.backend !== undefined) {
        seen.add(`on ${program.backend}`);
        expect(program.tuning).not.toHaveProperty('cpuBelow');
      }
      for (const call of program.calls) {
        for (const { scalars, offset } of vectorsOf(call)) {
          expect(offset + length(scalars)).toBeLessThanOrEqual(length(call.points));
          for (const { from } of scalars) seen.add(`scalars ${from}`);
        }
        for (const { from } of call.points) seen.add(`points ${from}`);
        if (call.more !== undefined) seen.add('batch');
        if (call.precompute !== undefined) seen.add('tables');
        if (call.checkSubgroup) seen.add('subgroup');
      }
    }
    expect(inG2).toBeGreaterThan(10);
    expect(inG2).toBeLessThan(60);
    expect(onEdwards).toBeGreaterThan(4);
    expect(onEdwards).toBeLessThan(30);
    expect(seen.size, 'every distribution occurs, and batches, tables and backends').toBe(11 + 14 + 3 + 3);
  });

  test('draws every curve and every encoding of its group, and no infinity where an encoding has none', () => {
    const seen = new Set<string>();
    const curves = new Set<string>();
    for (const { curve = 'bn254', group = 'g1', calls } of draw(4, 3000)) {
      curves.add(curve);
      const known = encodingsOf({ curve, group });
      for (const { encoding = 'le', result = 'le', points } of calls) {
        expect(known).toContain(encoding);
        expect(known).toContain(result);
        seen.add(`points ${encoding}`).add(`result ${result}`);
        const names: readonly string[] = points.map(({ from }) => from);
        for (const name of ['few-with-signs', 'with-infinities', 'all-infinity'])
          if (encoding === 'aztec-compressed') expect(names).not.toContain(name);
      }
    }
    expect(curves).toEqual(new Set(curveNames));
    const all = everyGroup.flatMap(encodingsOf).flatMap((encoding) => [`points ${encoding}`, `result ${encoding}`]);
    // a sum may be infinity
    expect(seen).toEqual(new Set(all.filter((each) => each !== 'result aztec-compressed')));
  });

  test('runs programs on the GPU with right results', async () => {
    const device = await getDevice();
    for (const program of drawQuick(1, 2)) expect(await execute(device, program)).toBeNull();
  });

  /** Points that are equal, opposite and infinite, and scalars with carries. */
  const fewAndChain: FuzzCall = {
    points: [
      { from: 'few-with-signs', n: 7, seed: 3 },
      { from: 'doubling-chain', n: 9, seed: 4 },
    ],
    scalars: [{ from: 'carry-patterns', n: 16, seed: 5 }],
    offset: 0,
  };

  test.each(fuzzBackends)('runs programs on %s with right results, and detects a wrong result', async (backend) => {
    const device = await getDevice();
    const [drawn] = drawQuick(1, 1) as [FuzzProgram];
    expect(await execute(device, movedTo(backend, drawn))).toBeNull();
    const program = { tuning: { windowBits: 4 }, memoryBudget: null, calls: [fewAndChain], backend };
    const spoil = (sum: unknown) => ({ ...(sum as AffinePoint<bigint>), y: 1n });
    expect(await execute(device, program)).toBeNull();
    expect(await execute(device, program, spoil)).toMatch(/^call 0: .*got .*, expected \(/);
  });

  test('runs programs in the second group, and detects a wrong result there', { tags: 'long' }, async () => {
    const device = await getDevice();
    const program: FuzzProgram = {
      curve: 'bls12-381',
      group: 'g2',
      tuning: { fieldProduct: 'unsigned', windowBits: 4, walkerEntriesPerTask: 3, cpuBelow: 0 },
      memoryBudget: null,
      calls: [
        {
          ...fewAndChain,
          scalarEncoding: 'be',
          more: [{ scalars: [{ from: 'all-equal', n: 4, seed: 6 }], offset: 2 }],
        },
      ],
    };
    expect(await execute(device, program)).toBeNull();
    const swapped = await execute(device, program, (sum) => {
      const { x, y, infinity } = sum as AffinePoint<Coordinate>;
      return { x: y, y: x, infinity };
    });
    // four numbers a point
    expect(swapped).toMatch(/^call 0: .*\((0x\w+, ){3}0x\w+\), expected \(/);
  });

  test('runs programs on an Edwards curve, and detects a wrong result there', { tags: 'long' }, async () => {
    const device = await getDevice();
    const program: FuzzProgram = {
      curve: 'bandersnatch',
      tuning: { windowBits: 4, walkerEntriesPerTask: 3, cpuBelow: 0 },
      memoryBudget: null,
      calls: [
        {
          ...fewAndChain,
          encoding: 'le-montgomery',
          checkSubgroup: true,
          more: [{ scalars: [{ from: 'all-zero', n: 4, seed: 6 }], offset: 2 }],
        },
      ],
    };
    expect(await execute(device, program)).toBeNull();
    const opposite = await execute(device, program, (sum) => {
      const { x, ...rest } = sum as AffinePoint;
      return { x: oracles.bandersnatch.Point.Fp.neg(x), ...rest };
    });
    expect(opposite).toMatch(/^call 0: .*\(0x\w+, (0x\w+)\), expected \(0x\w+, \1\)/);
  });

  test('shrinks a program to the cause of a wrong result', () => {
    // a fault that only shows with at least 5 equal points among the bases
    const equalPoints = ({ points }: FuzzCall): number =>
      points.reduce((sum, { from, n }) => (from === 'all-equal' ? sum + n : sum), 0);
    const isRight = ({ calls }: FuzzProgram): boolean => calls.every((call) => equalPoints(call) < 5);
    const { counterexample } = fc.check(fc.property(programs(), isRight), { seed: 1, numRuns: 1000 });
    const [small] = counterexample as [FuzzProgram];
    expect(small).toMatchObject({ memoryBudget: null, calls: [{ scalars: [], offset: 0 }] });
    expect(Object.keys(small)).not.toContain('group');
    const [{ points, ...call }] = small.calls as [FuzzCall];
    expect(Object.keys(call)).toEqual(['scalars', 'offset']);
    expect(points).toEqual([{ from: 'all-equal', n: expect.any(Number), seed: 0 }]);
    expect(points[0]?.n).toBeLessThan(10);
  });

  test('an empty call has the answer infinity', () => {
    expect(makeInputs({ points: [], scalars: [], offset: 0 }).vectors[0]?.expected.infinity).toBe(true);
  });
});
