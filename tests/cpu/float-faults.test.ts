/**
 * Platforms and kernels that compute wrong on floats are found: multiply-adds that round twice by a
 * probe, and wrong constants by the known answer.
 */
import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { CurveGroup } from '../../dev/oracle/curves.js';
import { openCurve } from '../../src/curves/open-curve.js';
import { kernelTest } from '../../src/msm/cpu/adder.js';
import { wasmCurve } from '../../src/wasm/arithmetic/kernel-memory.js';
import { FloatWriter } from '../../src/wasm/floats/float-functions.js';
import { type Constant, FloatLine, type FloatStatement } from '../../src/wasm/floats/float-line.js';
import { type CompiledKernel, compileKernel } from '../../src/wasm/points/kernel.js';
import { PointAdder, WrongKernelError } from '../../src/wasm/points/point-adder.js';
import { builtLibrary } from '../support/build-library.js';
import { arithmeticsHere } from '../support/kernels.js';
import { inProject, runNode } from '../support/run-script.js';

/**
 * Constants of columns, and how many of them have been written. A constant that only estimates a
 * quotient is none of them: a unit more of it moves the estimate by 2^-39, and leaves sums right.
 */
class Faults {
  readonly #ofColumns = new WeakSet<Constant>();
  readonly bits = new Set<bigint>();
  count = 0;
  /** Number of the constant that gets a unit more. */
  at = -1;

  constructor() {
    const { integerShift } = FloatLine.prototype;
    const ofColumns = this.#ofColumns;
    vi.spyOn(FloatLine.prototype, 'integerShift').mockImplementation(function (this: FloatLine, a, constant, plus) {
      if (plus === a.plus) ofColumns.add(constant);
      return integerShift.call(this, a, constant, plus);
    });
    const { write } = FloatWriter.prototype;
    const changed = (statement: FloatStatement): FloatStatement => this.#changed(statement);
    vi.spyOn(FloatWriter.prototype, 'write').mockImplementation(function (this: FloatWriter, statements, ...rest) {
      return write.call(this, statements.map(changed), ...rest);
    });
  }

  #changed(statement: FloatStatement): FloatStatement {
    if (statement.kind !== 'compute') return statement;
    const from = statement.from.map((operand) => {
      if (typeof operand === 'string' || !this.#ofColumns.has(operand)) return operand;
      this.bits.add(operand.bits);
      return this.count++ === this.at ? { bits: BigInt.asUintN(64, operand.bits + 1n) } : operand;
    });
    return { ...statement, from };
  }
}

const generate = async (of: CurveGroup): Promise<() => Promise<CompiledKernel>> => {
  const curve = await openCurve(of.curve, of.group);
  const known = kernelTest(curve);
  return async () => {
    const kernel = await compileKernel(wasmCurve(curve), 'wasm-fma', known);
    if (kernel === null) throw new Error(`${curve.name} has no kernel on floats`);
    return kernel;
  };
};

/** Changes the constant of each column in turn. @returns how many there are */
const findsColumns = async (of: CurveGroup): Promise<number> => {
  const kernelWithFault = await generate(of);
  const faults = new Faults();
  try {
    await PointAdder.open(await kernelWithFault());
    const { count } = faults;
    for (faults.at = 0; faults.at < count; faults.at++) {
      faults.count = 0;
      const kernel = await kernelWithFault();
      await expect(PointAdder.open(kernel), `column ${faults.at} of ${count}`).rejects.toThrow(WrongKernelError);
    }
    return count;
  } finally {
    vi.restoreAllMocks();
  }
};

/** Adds a unit to 64 bits of a vector. */
const plusOne = (words: readonly number[], from: number): number[] => {
  const changed = BigInt64Array.from(new BigInt64Array(Int32Array.from(words).buffer));
  changed[from / 2] = (changed[from / 2] as bigint) + 1n;
  return [...new Int32Array(changed.buffer)];
};

const hasFloats = arithmeticsHere.includes('wasm-fma');

describe.runIf(hasFloats)('the known answer finds a unit more', () => {
  test('in the constant of any column of a function', async () => {
    expect(await findsColumns({ curve: 'bn254', group: 'g1' })).toBeGreaterThan(100);
  });

  const others: readonly CurveGroup[] = [
    { curve: 'bls12-381', group: 'g1' },
    { curve: 'p256', group: 'g1' },
    { curve: 'bn254', group: 'g2' },
  ];
  test.each(others)('in that of $curve $group', { tags: 'long' }, async (of) => {
    expect(await findsColumns(of)).toBeGreaterThan(100);
  });

  test('in the second lane of such a constant alone', async () => {
    const faults = new Faults();
    const kernel = await (await generate({ curve: 'bn254', group: 'g1' }))();
    vi.restoreAllMocks();
    let changed = 0;
    for (const [at, words] of kernel.layout.constants) {
      const [low, high] = words as [number, number];
      const bits = (BigInt.asUintN(32, BigInt(high)) << 32n) + BigInt.asUintN(32, BigInt(low));
      if (words.length !== 4 || !faults.bits.has(bits)) continue;
      changed++;
      const constants = new Map(kernel.layout.constants).set(at, plusOne(words, 2));
      const layout = { ...kernel.layout, constants };
      await expect(PointAdder.open({ ...kernel, layout }), `at ${at}`).rejects.toThrow(WrongKernelError);
    }
    expect(changed).toBeGreaterThan(30);
  });
});

// the flag of V8 is that of x64
describe.runIf(hasFloats && process.arch === 'x64')('a process of its own', () => {
  let library: string;
  beforeAll(async () => {
    library = await builtLibrary({ parts: 'tests/support/float-parts.ts' });
  });

  // Node 20 has relaxed SIMD behind a flag
  const relaxed = process.versions.node.startsWith('20.') ? ['--experimental-wasm-relaxed-simd'] : [];
  test.each([
    [relaxed, { isFused: true, opening: 'none', isRight: true, usesFloats: true }],
    [
      [...relaxed, '--no-enable-fma3'],
      { isFused: false, opening: 'WrongKernelError', isRight: true, usesFloats: false },
    ],
  ])('node %j uses floats only where multiply-adds round once', async (flags, expected) => {
    const script = inProject('tests/support/float-platform.mjs');
    const options = { cwd: inProject('.'), timeout: 60_000 };
    const { code, stdout, stderr } = await runNode([...flags, script, library], options);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { arithmetic, ...found } = JSON.parse(stdout);
    // without floats the integers that were faster in the first millisecond compute
    expect(['wasm-fma', 'wasm-simd', 'wasm']).toContain(arithmetic);
    expect({ ...found, usesFloats: arithmetic === 'wasm-fma' }).toEqual(expected);
  });
});
