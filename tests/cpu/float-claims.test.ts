/**
 * The programs of kernels on floats in an exact interpreter, on random operands and on those at the
 * ends of their ranges: what the bounds of the generator promise is true.
 */
import { expect, test } from 'vitest';
import { Random } from '../../dev/oracle/known-bases.js';
import { type FloatField, floatField } from '../../src/wasm/floats/float-field.js';
import { PointPrograms } from '../../src/wasm/floats/point-programs.js';
import { FloatValues } from '../reference/float-line.js';
import { type WatchedProgram, watchKernel } from '../support/float-claims.js';
import { anyCurve, fewFloatPrimes, floatPrimes } from '../support/float-curves.js';
import { FloatOperands, type OperandKind, operandKinds } from '../support/float-operands.js';

/** Runs a program, and checks all that it claims. */
const run = (program: WatchedProgram, random: Random, kinds: readonly OperandKind[]): void => {
  const { field, statements, inputs, signs, claims } = program;
  const values = new FloatValues(field.width);
  for (const { number, as } of inputs) {
    const limbs = new FloatOperands(field, as, random).limbs(kinds[random.below(kinds.length)] as OperandKind);
    for (const [i, { name }] of number.limbs.entries()) values.set(name, limbs[i] as number);
  }
  for (const name of signs) values.set(name, random.below(2) === 0 ? 0n : 1n << 63n);
  values.run(statements);
  for (const claim of claims) claim(values);
};

/** Kinds of operands of one run, in turns. */
const turns: readonly (readonly OperandKind[])[] = [['corner'], ['edge'], ['tie'], operandKinds, ['random']];

/** Checks all programs of the kernel of a curve. @returns how many there are */
const check = (p: bigint, nonResidue: bigint | null, times: number): number => {
  const programs = watchKernel(anyCurve(p, nonResidue)) ?? [];
  const random = new Random(times);
  for (const [i, program] of programs.entries()) {
    try {
      for (let k = 0; k < times; k++) run(program, random, turns[k % turns.length] as readonly OperandKind[]);
    } catch (error) {
      const where = `program ${i} of ${programs.length}, u² = ${nonResidue}, p = 0x${p.toString(16)}`;
      throw new Error(`${where}: ${(error as Error).message}`, { cause: error });
    }
  }
  return programs.length;
};

/** Returns whether a kernel has products that are not settled. */
const isUnsettled = (p: bigint): boolean => {
  const { running } = new PointPrograms(floatField(p, 1) as FloatField, 0, null, false);
  return (
    watchKernel(anyCurve(p, null))?.some(({ inputs }) => inputs.some(({ as }) => as.most === running.most)) === true
  );
};

test('products of numbers are settled only where the field leaves no room', () => {
  // one has too little room in its limbs of 51 bits
  expect(floatPrimes.filter(isUnsettled).length).toBeGreaterThanOrEqual(39);
});

/** Values of u², which the library takes from −6 to 6; null for numbers. */
const nonResidues = [null, -1n, -5n, 6n] as const;

test.each(nonResidues)('programs of some kernels compute what they claim, u² = %s', (nonResidue) => {
  let programs = 0;
  for (const p of fewFloatPrimes) programs += check(p, nonResidue, 10);
  expect(programs).toBeGreaterThan(30);
});

test.each(nonResidues)('programs of 40 kernels do, u² = %s', { tags: 'long' }, (nonResidue) => {
  let programs = 0;
  for (const p of floatPrimes) programs += check(p, nonResidue, 20);
  expect(programs).toBeGreaterThan(300);
});
