/** Decodes compressed points: x, and which one of y and −y is meant. */
import { range } from '../../field/straight-line.js';
import { isInfinity } from '../arithmetic/kernel-memory.js';
import { addPlainFunctions } from '../arithmetic/numbers.js';
import { type Address, addressPlus, type Code, callWith, pushAddress } from '../encoder/code.js';
import { type Coefficients, rootWriter } from './decoded-roots.js';
import { type DecoderParts, type Numbers, numbersPlus } from './decoder-parts.js';

/** Leaves the bits of all limbs of a number, combined. */
const leaveBits = (code: Code, at: Address, limbs: number): void => {
  for (const i of range(limbs)) {
    pushAddress(code, at);
    code.at('i32.load', 4 * i);
    if (i > 0) code.do('i32.or');
  }
};

/**
 * Adds a function (difference, y, words, by parity) that writes ±y behind x, if `difference` is 0,
 * by the mark that is there. It overwrites y.
 *
 * @param odd the mark of the odd or larger y; another mark is that of the other
 * @returns the function's index; the function returns whether the point is wrong
 */
const addLeavePoint = (parts: DecoderParts, degree: 1 | 2, odd: number): number => {
  const { field, curve } = parts;
  const plain = addPlainFunctions({ ...parts, wordBytes: parts.curve.wordBytes });
  const coordinateBytes = degree * curve.wordBytes;
  return parts.module.add(null, { parameters: ['i32', 'i32', 'i32', 'i32'], result: 'i32' }, (code) => {
    const [difference, y, words] = [code.parameter(0), code.parameter(1), code.parameter(2)];
    const byParity = code.parameter(3);
    const { isNotZero, sign } = code.named('i32', 'isNotZero', 'sign');
    isInfinity(code, words, coordinateBytes);
    code.if(() => code.i32(0).do('return'));
    for (const c of range(degree)) {
      parts.isZero(code, [difference, c * field.bytes]);
      code.do('i32.eqz').if(() => code.i32(1).do('return'));
      callWith(code, plain.reduce, [[y, c * field.bytes]]);
    }
    // of a pair c1 decides, unless it is 0
    for (const c of range(degree).reverse()) {
      code
        .get(isNotZero)
        .do('i32.eqz')
        .if(() => {
          leaveBits(code, [y, c * field.bytes], field.limbs);
          code.i32(0).do('i32.ne').set(isNotZero);
          code
            .get(y)
            .at('i32.load', c * field.bytes)
            .i32(1)
            .do('i32.and');
          callWith(code, plain.isLarger, [[y, c * field.bytes]]);
          code.get(byParity).do('select').set(sign);
        });
    }
    code.get(words).at('i32.load', coordinateBytes).i32(odd).do('i32.eq').get(sign).do('i32.ne');
    code.if(() => {
      // y = 0 has no other sign
      code
        .get(isNotZero)
        .do('i32.eqz')
        .if(() => code.i32(1).do('return'));
      for (const c of range(degree)) callWith(code, plain.negate, [[y, c * field.bytes]]);
    });
    for (const c of range(degree)) {
      callWith(code, plain.writeWords, [
        [words, coordinateBytes + c * curve.wordBytes],
        [y, c * field.bytes],
      ]);
    }
    code.i32(0);
  });
};

/** Adds the function `decode` of `DecoderExports`. */
export const addCompressed = (parts: DecoderParts, odd: number): void => {
  const { module, memory, lanes, curve } = parts;
  const coordinates = new CoordinateCode(parts);
  const { degree } = coordinates;
  const writeRoot = rootWriter(parts);
  const leavePoint = addLeavePoint(parts, degree, odd);
  const [a, b] = [coordinates.at(parts.shared(memory.a)), coordinates.at(parts.shared(memory.b))];
  const hasA = curve.a.some((value) => value !== 0n);
  const unit = parts.shared(memory.constant(1n));
  const [square, y, difference] = [coordinates.take(), coordinates.take(), coordinates.take()];
  const pointBytes = 2 * memory.element;
  const wordBytes = 2 * degree * curve.wordBytes;
  module.add('decode', { parameters: ['i32', 'i32', 'i32', 'i32'], result: 'i32' }, (code) => {
    const [points, words, count] = [code.parameter(0), code.parameter(1), code.parameter(2)];
    const byParity = code.parameter(3);
    const index = code.local('i32');
    code.loop((next) => {
      const x = coordinates.at(range(lanes).map((lane) => [points, lane * pointBytes]));
      coordinates.multiply(code, y, x, x);
      if (hasA) coordinates.each(code, 'add', y, y, a);
      coordinates.multiply(code, square, y, x);
      coordinates.each(code, 'add', square, square, b);
      writeRoot(code, y, square);
      coordinates.multiply(code, difference, y, y);
      coordinates.each(code, 'subtract', difference, difference, square);
      for (const coefficient of y) parts.call(code, 'multiply', coefficient, coefficient, unit);
      for (const lane of range(lanes)) {
        const of = (coordinate: typeof y): Address => coordinate[0]?.[lane] as Address;
        for (const address of [of(difference), of(y), addressPlus(words, lane * wordBytes)]) pushAddress(code, address);
        code.get(byParity).call(leavePoint);
        code.if(() => code.get(index).i32(lane).do('i32.add', 'return'));
      }
      for (const [local, step] of [
        [points, lanes * pointBytes],
        [words, lanes * wordBytes],
      ] as const) {
        code.get(local).i32(step).do('i32.add').set(local);
      }
      code.get(index).i32(lanes).do('i32.add').tee(index).get(count).do('i32.lt_s');
      next();
    });
    code.get(count);
  });
};

/* Writes sums and products of coordinates, numbers or pairs, in every lane. */

class CoordinateCode {
  readonly degree: 1 | 2;
  readonly #parts: DecoderParts;
  readonly #work: Numbers;
  readonly #nonResidue: Numbers;

  constructor(parts: DecoderParts) {
    const { nonResidue } = parts.curve;
    this.#parts = parts;
    this.degree = nonResidue === null ? 1 : 2;
    this.#work = parts.take();
    this.#nonResidue = nonResidue === null ? [] : parts.constant(nonResidue);
  }

  /** Reserves a coordinate in each lane. */
  take(): Coefficients {
    return this.at(this.#parts.take(this.degree));
  }

  /** Returns the coefficients of coordinates, which are one behind the other. */
  at(first: Numbers): Coefficients {
    return range(this.degree).map((c) => numbersPlus(first, c * this.#parts.field.bytes));
  }

  each(code: Code, name: 'add' | 'subtract', to: Coefficients, a: Coefficients, b: Coefficients): void {
    for (const c of range(this.degree)) {
      this.#parts.call(code, name, to[c] as Numbers, a[c] as Numbers, b[c] as Numbers);
    }
  }

  /** Writes a·b. `to` is neither. By the textbook: a decoder multiplies three pairs a point. */
  multiply(code: Code, to: Coefficients, a: Coefficients, b: Coefficients): void {
    const parts = this.#parts;
    const work = this.#work;
    const [to0, to1] = to as [Numbers, Numbers];
    const [a0, a1] = a as [Numbers, Numbers];
    const [b0, b1] = b as [Numbers, Numbers];
    parts.call(code, 'multiply', to0, a0, b0);
    if (this.degree === 1) return;
    parts.call(code, 'multiply', work, a1, b1);
    parts.call(code, 'multiply', work, work, this.#nonResidue);
    parts.call(code, 'add', to0, to0, work);
    parts.call(code, 'multiply', to1, a0, b1);
    parts.call(code, 'multiply', work, a1, b0);
    parts.call(code, 'add', to1, to1, work);
  }
}
