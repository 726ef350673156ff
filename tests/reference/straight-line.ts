/** A CPU reference of straight-line programs on 32 bits. */
import type { DivstepLine } from '../../src/field/divsteps.js';
import type { Operand } from '../../src/field/straight-line.js';

const asI32 = (value: number, name: string): number => {
  if (value < -(2 ** 31) || value >= 2 ** 31) throw new RangeError(`i32 overflow in '${name}': ${value}`);
  return value;
};

/**
 * Runs a program as the shader does.
 *
 * @throws RangeError if a value would overflow
 */
export const runStraightLine = (
  { width, statements }: Pick<DivstepLine, 'width' | 'statements'>,
  inputs: Readonly<Record<string, number>>,
): Map<string, number> => {
  const values = new Map(Object.entries(inputs));
  const value = (operand: Operand): number => {
    if (typeof operand === 'number') return operand;
    const known = values.get(operand);
    if (known === undefined) throw new Error(`'${operand}' has no value`);
    return known;
  };
  const [base, half] = [2 ** width, 2 ** (width - 1)];
  for (const statement of statements) {
    const { name } = statement;
    switch (statement.kind) {
      case 'sum':
        values.set(
          name,
          asI32(
            statement.terms.reduce((sum, [x, y]) => sum + value(x) * value(y), 0),
            name,
          ),
        );
        break;
      case 'mask':
        values.set(name, value(statement.of) & (base - 1));
        break;
      case 'floor':
        values.set(name, Math.floor(value(statement.of) / base));
        break;
      case 'digit':
        values.set(name, ((Math.imul(value(statement.of), statement.times) + half) & (base - 1)) - half);
        break;
    }
  }
  return values;
};
