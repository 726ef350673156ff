/** Straight-line programs and constants as WGSL, for the views of this room. */
import type { DigitStatement, DivstepLine } from './divsteps.js';
import { digitsOf, lazyLimbs, type Modulus, toMontgomery } from './modulus.js';
import { type Operand, range, type Statement, type Term } from './straight-line.js';

/** Returns WGSL of a constant, in two's complement. */
const wordWgsl = (value: number): string => `${value >>> 0}u`;

/** Returns WGSL of constants, separated by commas. */
export const literals = (values: readonly number[]): string => values.map(wordWgsl).join(', ');

/** Returns `count` names, separated by commas. */
export const list = (count: number, name: (i: number) => string): string => range(count).map(name).join(', ');

/** Returns a float literal that WGSL reads as the f32 nearest to `value`. */
export const floatLiteral = (value: number): string => `${Math.fround(value).toExponential(9)}f`;

/** Returns the arguments of a WGSL `Words(…)`: `value` in Montgomery form. */
export const fieldLiteral = (m: Modulus, value: bigint): string =>
  literals(digitsOf(toMontgomery(m, value), 32, lazyLimbs(m, 32)));

/** Returns WGSL of ⌊x / 2^bits⌋ of a signed x. */
export const floorWgsl = (x: string, bits: number): string => `bitcast<u32>(bitcast<i32>(${x}) >> ${bits}u)`;

const termWgsl = ([x, y]: Term): string => {
  const factor = (operand: Operand): string => (typeof operand === 'number' ? wordWgsl(operand) : operand);
  return y === 1 ? factor(x) : `${factor(x)} * ${factor(y)}`;
};

const sumWgsl = (terms: readonly Term[]): string => {
  const added = terms.filter(([, y]) => y !== -1).map(termWgsl);
  const subtracted = terms.filter(([, y]) => y === -1).map(([x]) => ` - ${x}`);
  return `${added.join(' + ') || '0u'}${subtracted.join('')}`;
};

/**
 * Returns a program as WGSL statements. All values are u32 that hold signed numbers in two's
 * complement: the same code on i32 takes twice as long to compile on Dawn, which wraps every
 * operation in casts.
 */
export const statements = ({ width, statements: all }: DivstepLine): { statement: string }[] => {
  const half = 2 ** (width - 1);
  const value = (statement: Statement | DigitStatement): string => {
    switch (statement.kind) {
      case 'sum':
        return sumWgsl(statement.terms);
      case 'mask':
        return `${statement.of} & ${2 * half - 1}u`;
      case 'floor':
        return floorWgsl(statement.of, width);
      case 'digit':
        return `((${termWgsl([statement.of, statement.times])} + ${half}u) & ${2 * half - 1}u) - ${half}u`;
    }
  };
  return all.map((statement) => ({ statement: `let ${statement.name} = ${value(statement)};` }));
};
