/** Straight-line programs and constants as WGSL, for the views of this room. */
import { carryWgsl, floorWgsl, wordWgsl } from './carry.js';
import type { Modulus } from './modulus.js';
import { type Limbs, type Operand, range, type Statement, type StraightLine, type Term } from './straight-line.js';

/** Returns WGSL of constants, separated by commas. */
export const literals = (values: readonly number[]): string => values.map(wordWgsl).join(', ');
/** Returns `count` names, separated by commas. */
export const list = (count: number, name: (i: number) => string): string => range(count).map(name).join(', ');

const termWgsl = ([x, y]: Term): string => {
  const factor = (operand: Operand): string => (typeof operand === 'number' ? wordWgsl(operand) : operand);
  return y === 1 ? factor(x) : `${factor(x)} * ${factor(y)}`;
};

const sumWgsl = (terms: readonly Term[]): string => {
  const added = terms.filter(([, y]) => y !== -1).map(termWgsl);
  const subtracted = terms.filter(([, y]) => y === -1).map(([x]) => ` - ${x}`);
  return `${added.join(' + ') || '0u'}${subtracted.join('')}`;
};

/** Returns a program as WGSL statements. */
export const statements = ({ width, statements: all }: StraightLine): { statement: string }[] => {
  const half = 2 ** (width - 1);
  const value = (statement: Statement): string => {
    switch (statement.kind) {
      case 'sum':
        return sumWgsl(statement.terms);
      case 'carry':
        return carryWgsl(statement.of, width);
      case 'low':
        return `${statement.of} - ${statement.carry} * ${2 * half}u`;
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

/** Returns a program as WGSL statements, and its results separated by commas. */
export const body = ({
  program,
  result,
}: Limbs): { readonly statements: { statement: string }[]; readonly result: string } => ({
  statements: statements(program),
  result: result.join(', '),
});

/** Returns a float literal that WGSL reads as the f32 nearest to `value`. */
export const floatLiteral = (value: number): string => `${Math.fround(value).toExponential(9)}f`;

/** Returns p / 2^bits, to the precision of a double. */
export const inUnits = ({ p }: Modulus, bits: number): number =>
  Number(p >> BigInt(Math.max(0, bits - 64))) / 2 ** Math.min(bits, 64);
