/**
 * Arithmetic on floats in WebAssembly for primes of all lengths, against BigInts: products,
 * squares, sums that are settled, differences, and additions of points.
 */
import { describe, expect, test } from 'vitest';
import { Random } from '../../dev/oracle/known-bases.js';
import { type Degree, mod, writeWords } from '../../src/field/modulus.js';
import { range } from '../../src/field/straight-line.js';
import { type FloatField, floatField } from '../../src/wasm/floats/float-field.js';
import { PointPrograms, settled, uncarried } from '../../src/wasm/floats/point-programs.js';
import { compileKernel } from '../../src/wasm/points/kernel.js';
import { PointAdder } from '../../src/wasm/points/point-adder.js';
import { FloatAdditions } from '../support/float-additions.js';
import { anyCurve, fewFloatPrimes, floatPrimes } from '../support/float-curves.js';
import { ARRAY_ELEMENTS, type FloatFunction, FloatModule } from '../support/float-module.js';
import { arithmeticsHere } from '../support/kernels.js';

/** Functions with the operands that an addition of points has. */
const functionsOf = (programs: PointPrograms) => {
  const { running, slopes } = programs;
  return {
    product: {
      inputs: [running, uncarried],
      output: running,
      write: (c, [a, b]) => programs.advance(c, a!, b!),
    },
    'product and addend': {
      inputs: [slopes, uncarried, settled],
      output: settled,
      write: (c, [a, b, d]) => c.multiply(a!, b!, [[d!, -1]], true),
    },
    square: {
      inputs: [slopes, settled, settled],
      output: settled,
      write: (c, [a, b, d]) =>
        c.multiply(
          a!,
          a!,
          [
            [b!, -1],
            [d!, -1],
          ],
          true,
        ),
    },
    sum: {
      inputs: [settled, settled, settled],
      output: settled,
      write: (c, [a, b, d]) =>
        c.sum([
          [a!, 1],
          [b!, -1],
          [d!, 1],
        ]),
    },
    difference: {
      inputs: [settled, settled],
      output: uncarried,
      write: (c, [a, b]) => c.subtract(a!, b!),
    },
  } satisfies Record<string, FloatFunction>;
};

type Coefficients = readonly bigint[];
type Means = (a: Coefficients, b: Coefficients, d: Coefficients) => Coefficients;

/** Returns R times what each function means. */
const meaningsOf = (field: FloatField, nonResidue: bigint): Record<keyof ReturnType<typeof functionsOf>, Means> => {
  const R = BigInt(field.width * field.limbs);
  const product = (a: Coefficients, b: Coefficients): Coefficients =>
    a.length === 1 ? [a[0]! * b[0]!] : [a[0]! * b[0]! + nonResidue * a[1]! * b[1]!, a[0]! * b[1]! + a[1]! * b[0]!];
  return {
    product,
    'product and addend': (a, b, d) => product(a, b).map((value, c) => value - (d[c]! << R)),
    square: (a, b, d) => product(a, a).map((value, c) => value - ((b[c]! + d[c]!) << R)),
    sum: (a, b, d) => a.map((value, c) => (value - b[c]! + d[c]!) << R),
    difference: (a, b) => a.map((value, c) => (value - b[c]!) << R),
  };
};

/** Makes a module of the functions; null if some value could be too large to be exact. */
const open = (field: FloatField, nonResidue: bigint, settle: boolean) => {
  const programs = new PointPrograms(field, Number(nonResidue), null, settle);
  const functions = functionsOf(programs);
  try {
    return { functions, module: new FloatModule(programs, functions, 16) };
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
};

/** Compares arrays of operands, and returns how many operands each function had. */
const compare = (p: bigint, degree: Degree, rounds: number): number => {
  const field = floatField(p, degree) as FloatField;
  const opened = (degree === 1 ? open(field, 0n, false) : null) ?? open(field, -1n, true);
  if (opened === null) return 0;
  const { functions, module } = opened;
  const means = meaningsOf(field, -1n);
  const random = new Random(rounds);
  const arrays = Object.entries(functions).map(([name, { inputs }]) => {
    const own = inputs.map((as) => ({ as, array: module.array() }));
    for (const { as, array } of own) module.fill(array, as, random);
    return [name as keyof typeof functions, own] as const;
  });
  let operands = 0;
  for (let round = 0; round < rounds; round++) {
    const shift = 2 * random.below(ARRAY_ELEMENTS / 8);
    operands += ARRAY_ELEMENTS - shift;
    for (const [name, own] of arrays) {
      // pairs of operands are new by their shift; squares have one operand
      if (round > 0 && (name === 'square' || round % 16 === 0)) module.fill(own[0]!.array, own[0]!.as, random);
      module.check(
        name,
        own.map(({ array }) => array),
        shift,
        random,
        means[name],
      );
    }
  }
  return operands;
};

/** Adds points, some lists of 512 of them. @returns how many sums were compared */
const add = async (p: bigint, nonResidue: bigint | null, lists: number): Promise<number> => {
  const additions = await FloatAdditions.open(anyCurve(p, nonResidue), new Random(lists));
  return additions === null ? 0 : range(lists).reduce((sum) => sum + additions.check(), 0);
};

/** Enters points as words, reads them back, and checks which are on the curve. */
const enter = async (p: bigint, degree: Degree): Promise<boolean> => {
  const values = [0n, 1n, p - 1n, (p - 1n) / 2n, (p + 1n) / 2n, p / 3n, p - (p >> 20n)];
  const numbers = values.flatMap((_, i) => range(2 * degree).map((k) => values[(i + k) % values.length] as bigint));
  const square = (x: readonly bigint[]): bigint[] =>
    degree === 1 ? [x[0]! ** 2n] : [x[0]! ** 2n - x[1]! ** 2n, 2n * x[0]! * x[1]!];
  // y² = x³ + b has the point (1, y)
  const y = range(degree).map((c) => p / BigInt(c + 5));
  const b = square(y).map((value, c) => mod(value - (c === 0 ? 1n : 0n), p));
  const curve = { ...anyCurve(p, degree === 1 ? null : -1n), a: range(degree).map(() => 0n), b };
  const kernel = await compileKernel(curve, 'wasm-fma', { words: new Uint32Array(0), sums: [], images: [] });
  if (kernel === null) return false;
  const adder = await PointAdder.open(kernel);
  const size = curve.wordBytes / 4;
  const entered = (all: readonly bigint[], scale: bigint): number => {
    const words = new Uint32Array(all.length * size);
    for (const [i, value] of all.entries()) writeWords(words, i * size, size, value);
    return adder.enter(words, scale);
  };
  for (const scale of [1n, 3n]) {
    const at = entered(numbers, scale);
    const read = range(values.length).flatMap((i) => adder.read(at + i * adder.pointBytes));
    expect(read.map((value) => mod(value * scale, p))).toEqual(numbers);
  }
  const one = range(degree).map((c) => (c === 0 ? 1n : 0n));
  const [P, infinity] = [[...one, ...y], range(2 * degree).map(() => 0n)];
  const negative = [...one, ...y.map((value) => mod(-value, p))];
  const points = [P, infinity, negative, P, negative];
  for (const wrong of range(points.length + 1)) {
    const changed = points.map((point, i) => (i === wrong ? point.with(-1, mod(y.at(-1)! + 1n, p)) : point));
    expect(adder.check(entered(changed.flat(), 1n), points.length)).toBe(wrong);
  }
  return true;
};

/** Returns how many of some counts are not 0. */
const some = (counts: readonly number[]): number => counts.filter((count) => count > 0).length;

/** Primes and amounts of a test, and how many primes have the form at least. */
interface Tier {
  readonly primes: readonly bigint[];
  readonly rounds: number;
  readonly lists: number;
  readonly least: number;
}

// two products of a pair leave too little room in limbs of 50 bits and more, so some primes have
// no kernel of degree 2
const tiers: readonly (readonly [Degree, Tier])[] = [
  [1, { primes: fewFloatPrimes, rounds: 1, lists: 3, least: 7 }],
  [2, { primes: fewFloatPrimes, rounds: 1, lists: 2, least: 5 }],
];

/**
 * Sizes of the second tier: 14 rounds of 5 functions on about 1,800 operands are 125,000 operands a
 * prime, and 5·10^6 over all primes; 20 lists are 10,000 additions a prime, and 400,000 over all.
 */
const longTiers: readonly (readonly [Degree, Tier])[] = [
  [1, { primes: floatPrimes, rounds: 14, lists: 20, least: 40 }],
  [2, { primes: floatPrimes, rounds: 5, lists: 5, least: 30 }],
];

const computes = async (degree: Degree, { primes, rounds, lists, least }: Tier): Promise<void> => {
  expect(some(primes.map((p) => compare(p, degree, rounds)))).toBeGreaterThanOrEqual(least);
  const counts: number[] = [];
  for (const p of primes) counts.push(await add(p, degree === 1 ? null : -1n, lists));
  expect(some(counts)).toBeGreaterThanOrEqual(least);
};

describe.runIf(arithmeticsHere.includes('wasm-fma'))('numbers and points', () => {
  test.each(tiers)('of some primes, degree %d', computes);

  test.each([1, 2] as const)('as words, for 40 primes, degree %d', async (degree) => {
    let primes = 0;
    for (const p of floatPrimes) if (await enter(p, degree)) primes++;
    expect(primes).toBeGreaterThanOrEqual(degree === 1 ? 40 : 30);
  });

  test.each(longTiers)('of 40 primes, degree %d', { tags: 'long' }, computes);
});
