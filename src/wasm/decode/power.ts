/** Powers with a fixed exponent, by sliding windows. */
import { ODD_POWERS, type PowerStep, powerSteps } from '../../field/sliding-window.js';
import { range } from '../../field/straight-line.js';
import { copyElement } from '../arithmetic/kernel-parts.js';
import type { Local } from '../encoder/code.js';
import { type DecoderParts, type Numbers, numbersPlus } from './decoder-parts.js';

/** A function without parameters, and the addresses that it reads and writes. */
export interface Power {
  readonly index: number;
  readonly base: readonly number[];
  readonly result: readonly number[];
}

/** Adds the function that computes base^exponent in every lane, with an exponent of at least 1. */
export const addPower = (parts: DecoderParts, exponent: bigint): Power => {
  const { module, memory } = parts;
  const { bytes } = parts.field;
  const odds = parts.take(ODD_POWERS);
  const result = parts.take();
  const [first, ...steps] = powerSteps(exponent) as [PowerStep, ...PowerStep[]];
  const begin = memory.words(steps.flatMap(({ squares, odd }) => [squares, odd === null ? -1 : odd * bytes]));
  const end = memory.end;
  const index = module.add(null, { parameters: [] }, (code) => {
    const { step, squares, odd } = code.named('i32', 'step', 'squares', 'odd');
    parts.call(code, 'square', result, odds);
    for (const i of range(ODD_POWERS).slice(1)) {
      parts.call(code, 'multiply', numbersPlus(odds, i * bytes), numbersPlus(odds, (i - 1) * bytes), result);
    }
    for (const [lane, at] of odds.entries()) {
      copyElement(code, result[lane] as number, at + (first.odd as number) * bytes, bytes);
    }
    if (steps.length === 0) return;
    code.i32(begin).set(step);
    code.loop((next) => {
      code.get(step).at('i32.load', 0).set(squares);
      code.loop((again) => {
        parts.call(code, 'square', result, result);
        code.get(squares).i32(1).do('i32.sub').tee(squares);
        again();
      });
      code.get(step).at('i32.load', 4).tee(odd).i32(-1).do('i32.ne');
      code.if(() => parts.call(code, 'multiply', result, result, entryOf(odds, odd)));
      code.get(step).i32(8).do('i32.add').tee(step).i32(end).do('i32.lt_u');
      next();
    });
  });
  return { index, base: odds, result };
};

/** Returns the addresses `offset` bytes from numbers at constant addresses. */
export const entryOf = (numbers: readonly number[], offset: Local): Numbers => numbers.map((at) => [offset, at]);
