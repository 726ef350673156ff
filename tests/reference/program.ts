import type { Coordinate } from '../../src/api/values.js';
import type { CurveContext } from '../../src/curves/curve.js';
import { Y_ODD } from '../../src/curves/point-source.js';
import { readElement, writeElement } from '../../src/field/field.js';
import { NONE_REJECTED } from '../../src/msm/stages/import.js';
import { Kind, type Program, type ProgramConfig, REGISTERS } from '../../src/msm/stages/program.js';
import { isReduced } from './points.js';

/**
 * CPU reference of `run_program`. Changes the points in place.
 *
 * @returns the account of the first rejected point
 */
export const runProgram = (
  { coordinates: f, field, pointWords }: CurveContext,
  { begin, end, first, steps, writes }: ReturnType<typeof ProgramConfig.unpack>,
  program: Program,
  points: Uint32Array,
): number => {
  const { rInverse } = field;
  let refused = NONE_REJECTED;
  for (let i = begin; i < end; i++) {
    const at = i * pointWords;
    const stored = points.subarray(at, at + pointWords);
    const [x, y] = [readElement(f, stored, 0), readElement(f, stored, f.words)];
    if (stored.every((word) => word === 0) || !isReduced(f, x) || !isReduced(f, y)) continue;
    const registers: Coordinate[] = [x, y, ...Array.from({ length: REGISTERS - 2 }, () => f.zero)];
    const read = (register: number): Coordinate => registers[register] as Coordinate;
    const wantsOdd = f.coefficients(y)[0] === BigInt(Y_ODD);
    let passes = true;
    for (const step of program.steps.subarray(0, steps)) {
      const [kind, to, a, b] = [step & 15, (step >>> 4) & 63, (step >>> 10) & 63, (step >>> 16) & 63];
      const squared = (): Coordinate => {
        let value = read(a);
        for (let i = 0; i < step >>> 22; i++) value = f.reduced(f.multiple(f.product(value, value), rInverse));
        return value;
      };
      const set = (value: Coordinate): void => {
        registers[to] = f.reduced(value);
      };
      if (kind === Kind.CONSTANT) set(readElement(f, program.constants, (step >>> 16) * f.words));
      else if (kind === Kind.PRODUCT) set(f.multiple(f.product(squared(), read(b)), rInverse));
      else if (kind === Kind.SQUARES) set(squared());
      else if (kind === Kind.SUM) set(f.sum(read(a), read(b)));
      else if (kind === Kind.DIFFERENCE) set(f.difference(read(a), read(b)));
      else if (kind === Kind.MOVE) set(read(a));
      else if (kind === Kind.MOVE_UNLESS_ZERO) set(f.isZero(read(b)) ? read(to) : read(a));
      else if (kind === Kind.CONJUGATE) {
        const [c0, c1] = f.coefficients(read(a)) as [bigint, bigint];
        set(f.of([c0, -c1]));
      } else if (kind === Kind.CHOOSE) {
        const leading = [...f.coefficients(read(b))].reverse().find((value) => value !== 0n) ?? 0n;
        const isOdd = leading % 2n === 1n;
        set(f.multiple(read(a), isOdd === wantsOdd ? 1n : -1n));
      } else if (kind === Kind.REQUIRE_ZERO) passes &&= f.isZero(read(b));
      else passes &&= !f.isZero(read(b));
    }
    if (!passes) {
      refused = Math.min(refused, first + i);
      stored.fill(0);
    } else if (writes === 1) {
      writeElement(f, stored, 0, read(0));
      writeElement(f, stored, f.words, read(1));
    }
  }
  return refused;
};
