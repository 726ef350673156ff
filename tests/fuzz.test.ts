import { describe, expect, test } from 'vitest';
import { execute, makeInputs } from '../dev/fuzz/execute.js';
import { drawProgram, type FuzzProgram, length, vectorsOf } from '../dev/fuzz/program.js';
import { shrink } from '../dev/fuzz/shrink.js';
import { getDevice } from './support/gpu.js';

describe('the fuzzer', () => {
  test('draws the same programs from the same seed, and every call of them is valid', () => {
    const seen = new Set<string>();
    for (let index = 0; index < 200; index++) {
      const program = drawProgram(3, index);
      expect(drawProgram(3, index)).toEqual(program);
      expect(JSON.parse(JSON.stringify(program))).toEqual(program);
      for (const call of program.calls) {
        for (const { scalars, offset } of vectorsOf(call)) {
          expect(offset + length(scalars)).toBeLessThanOrEqual(length(call.points));
          for (const { from } of scalars) seen.add(`scalars ${from}`);
        }
        for (const { from } of call.points) seen.add(`points ${from}`);
        if (call.more !== undefined) seen.add('batch');
        if (call.precompute !== undefined) seen.add('tables');
      }
    }
    expect(seen.size, 'every distribution occurs, and batches and tables').toBe(11 + 14 + 2);
  });

  test('runs programs on the GPU and finds them right', async () => {
    const device = await getDevice();
    for (let index = 0; index < 2; index++) {
      expect(await execute(device, drawProgram(1, index, 200)), `program ${index}`).toBeNull();
    }
  });

  test('finds a wrong result, and shrinks it to its cause', async () => {
    const device = await getDevice();
    // a fault that only shows with at least 5 equal points among the bases
    const faulty = (program: FuzzProgram) =>
      execute(device, program, (result, call) => {
        const equal = call.points.filter(({ from }) => from === 'all-equal').reduce((sum, { n }) => sum + n, 0);
        return equal >= 5 ? { x: 1n, y: 2n, infinity: false } : result;
      });
    const program: FuzzProgram = {
      tuning: { windowBits: 6, walkerEntriesPerTask: 5 },
      memoryBudget: 8 * 2 ** 20,
      calls: [
        { points: [{ from: 'distinct', n: 9, seed: 1 }], scalars: [{ from: 'random', n: 9, seed: 2 }], offset: 0 },
        {
          points: [
            { from: 'pairs', n: 7, seed: 3 },
            { from: 'all-equal', n: 23, seed: 4 },
          ],
          scalars: [{ from: 'ascending', n: 12, seed: 5 }],
          offset: 11,
          precompute: 3,
          more: [{ scalars: [{ from: 'random', n: 4, seed: 6 }], offset: 2 }],
        },
      ],
    };
    expect(await faulty(program)).toMatchObject({ call: 1, error: expect.stringMatching(/\(0x1, 0x2\) for \(0x/) });
    const small = await shrink(program, async (candidate) => (await faulty(candidate)) !== null);
    expect(small).toEqual({
      tuning: {},
      memoryBudget: null,
      calls: [{ points: [{ from: 'all-equal', n: 5, seed: 0 }], scalars: [], offset: 0 }],
    });
  });

  test('an empty call has the answer infinity', () => {
    expect(makeInputs({ points: [], scalars: [], offset: 0 }).vectors[0]?.expected.infinity).toBe(true);
  });
});
