/**
 * Decodes points of a twisted Edwards curve: checks their equation, and maps them to the
 * Weierstrass curve (src/curves/edwards.ts). A list shares one inversion in each lane (Montgomery
 * 1987, section 10.3.1).
 */
import { range } from '../../field/straight-line.js';
import { integerFunctions, signedFormula } from '../arithmetic/elements.js';
import { copyElement, isInfinity } from '../arithmetic/kernel-memory.js';
import { addPlainFunctions } from '../arithmetic/numbers.js';
import { type Address, type Code, callWith, type Local } from '../encoder/code.js';
import { type DecoderParts, type Numbers, numbersPlus } from './decoder-parts.js';

/** Constants of the curve a·x² + y² = 1 + d·x²·y², and of the map (X, Y) = ((v·x + A/3)/B, v/B). */
export interface EdwardsConstants {
  readonly a: bigint;
  readonly d: bigint;
  /** A/3. */
  readonly third: bigint;
  /** 1/B. */
  readonly unit: bigint;
}

/** Locals of the function, and values in memory that both passes use. */
class EdwardsStep {
  readonly code: Code;
  readonly points: Local;
  readonly words: Local;
  readonly count: Local;
  readonly index: Local;
  /** Bytes from the first number of a list to that of the step in lane 0. */
  readonly #offset: Local;
  readonly #parts: DecoderParts;

  constructor(code: Code, parts: DecoderParts) {
    this.code = code;
    this.#parts = parts;
    [this.points, this.words, this.count] = [code.parameter(0), code.parameter(1), code.parameter(2)];
    this.index = code.local('i32');
    this.#offset = code.local('i32');
  }

  get x(): Numbers {
    return range(this.#parts.lanes).map((lane) => [this.points, 2 * lane * this.#parts.field.bytes]);
  }

  get y(): Numbers {
    return numbersPlus(this.x, this.#parts.field.bytes);
  }

  /** Returns the numbers of the step in a list. */
  of(list: number): Numbers {
    return range(this.#parts.lanes).map((lane) => [this.#offset, list + lane * this.#parts.field.bytes]);
  }

  wordsAt(lane: number): Address {
    return [this.words, 2 * lane * this.#parts.curve.wordBytes];
  }

  /** Moves on by as many points as there are lanes, or back. */
  move(direction: 1 | -1): void {
    const { lanes, field, curve } = this.#parts;
    const by = direction * lanes;
    for (const [local, step] of [
      [this.points, 2 * by * field.bytes],
      [this.words, 2 * by * curve.wordBytes],
      [this.#offset, by * field.bytes],
      [this.index, by],
    ] as const) {
      this.code.get(local).i32(step).do('i32.add').set(local);
    }
  }
}

/** Lists and temporary values. */
interface EdwardsMemory {
  readonly denominators: number;
  /** Products of all denominators before, of the same lane. */
  readonly prefixes: number;
  readonly product: readonly number[];
  readonly u: readonly number[];
  readonly v: readonly number[];
}

/** Adds a function (difference, words) that returns whether a point is wrong: not 0, and finite. */
const addIsWrong = (parts: DecoderParts): number =>
  parts.module.add(null, { parameters: ['i32', 'i32'], result: 'i32' }, (code) => {
    parts.isZero(code, code.parameter(0));
    isInfinity(code, code.parameter(1), parts.curve.wordBytes);
    code.do('i32.or', 'i32.eqz');
  });

/** Writes the pass forward: checks points, and multiplies the denominators (1 − y)·x up. */
const writeForward = (
  step: EdwardsStep,
  parts: DecoderParts,
  memory: EdwardsMemory,
  { a, d }: EdwardsConstants,
): void => {
  const { code, x, y } = step;
  const { u, v, product } = memory;
  const [denominator, prefix] = [step.of(memory.denominators), step.of(memory.prefixes)];
  const { one } = parts.memory;
  const isWrong = addIsWrong(parts);
  const [factorA, factorD] = [parts.constant(a), parts.constant(d)];
  for (const at of product) copyElement(code, at, one, parts.field.bytes);
  code.loop((next) => {
    parts.call(code, 'square', u, x);
    parts.call(code, 'square', v, y);
    parts.call(code, 'multiply', denominator, u, v);
    parts.call(code, 'multiply', denominator, denominator, factorD);
    parts.call(code, 'multiply', u, u, factorA);
    parts.call(code, 'add', u, u, v);
    parts.call(code, 'subtract', u, u, denominator);
    parts.call(code, 'subtract', u, u, parts.shared(one));
    for (const lane of range(parts.lanes)) {
      callWith(code, isWrong, [u[lane] as number, step.wordsAt(lane)]);
      code.if(() => code.get(step.index).i32(lane).do('i32.add', 'return'));
    }
    parts.call(code, 'subtract', v, parts.shared(one), y);
    parts.call(code, 'multiply', denominator, v, x);
    for (const at of denominator) {
      parts.isZero(code, at);
      code.if(() => copyElement(code, at, one, parts.field.bytes));
    }
    for (const lane of range(parts.lanes)) {
      copyElement(code, prefix[lane] as Address, product[lane] as number, parts.field.bytes);
    }
    parts.call(code, 'multiply', product, product, denominator);
    step.move(1);
    code.get(step.index).get(step.count).do('i32.lt_s');
    next();
  });
};

/** Adds a function (y − 1, u, v, words) that writes the image of a point. It overwrites u and v. */
const addLeaveImage = (parts: DecoderParts): number => {
  const { wordBytes } = parts.curve;
  const { reduce, writeWords } = addPlainFunctions({ ...parts, wordBytes: parts.curve.wordBytes });
  return parts.module.add(null, { parameters: ['i32', 'i32', 'i32', 'i32'] }, (code) => {
    const [y, u, v, words] = range(4).map((i) => code.parameter(i)) as [Local, Local, Local, Local];
    isInfinity(code, words, wordBytes);
    code.if(() => code.do('return'));
    parts.isZero(code, y);
    // the neutral point is (0, 1), and its image infinity
    code.if(
      () => {
        for (const i of range((2 * wordBytes) / 4))
          code
            .get(words)
            .i32(0)
            .at('i32.store', 4 * i);
      },
      () => {
        for (const [i, at] of [u, v].entries()) {
          callWith(code, reduce, [at]);
          callWith(code, writeWords, [[words, i * wordBytes], at]);
        }
      },
    );
  });
};

/** Writes the pass back: v = (1 + y)/((1 − y)·x), which is 0 for (0, −1), and the images. */
const writeBack = (
  step: EdwardsStep,
  parts: DecoderParts,
  memory: EdwardsMemory,
  constants: EdwardsConstants,
): void => {
  const { code, x, y } = step;
  const { u, v, product } = memory;
  const [denominator, prefix] = [step.of(memory.denominators), step.of(memory.prefixes)];
  const one = parts.shared(parts.memory.one);
  const third = parts.constant(constants.third);
  const unit = parts.shared(parts.memory.constant(constants.unit));
  const leaveImage = addLeaveImage(parts);
  code.loop((next) => {
    step.move(-1);
    parts.call(code, 'multiply', v, product, prefix);
    parts.call(code, 'multiply', product, product, denominator);
    parts.call(code, 'add', u, y, one);
    parts.call(code, 'multiply', v, v, u);
    parts.call(code, 'multiply', u, v, x);
    parts.call(code, 'add', u, u, third);
    parts.call(code, 'multiply', u, u, unit);
    parts.call(code, 'multiply', v, v, unit);
    parts.call(code, 'subtract', denominator, y, one);
    for (const lane of range(parts.lanes)) {
      callWith(code, leaveImage, [
        denominator[lane] as Address,
        u[lane] as number,
        v[lane] as number,
        step.wordsAt(lane),
      ]);
    }
    code.get(step.index);
    next();
  });
};

/** Adds the function `decode` of `DecoderExports`. @param most points of a list at most */
export const addEdwards = (parts: DecoderParts, constants: EdwardsConstants, most: number): void => {
  const { field, module } = parts;
  const listBytes = (most + parts.lanes) * field.bytes;
  const memory: EdwardsMemory = {
    denominators: parts.memory.take(listBytes),
    prefixes: parts.memory.take(listBytes),
    product: parts.take(),
    u: parts.take(),
    v: parts.take(),
  };
  const functions = integerFunctions(module, field);
  const invert = functions.inverse(parts.memory, functions.formula(1, signedFormula));
  module.add('decode', { parameters: ['i32', 'i32', 'i32', 'i32'], result: 'i32' }, (code) => {
    const step = new EdwardsStep(code, parts);
    writeForward(step, parts, memory, constants);
    for (const at of memory.product) callWith(code, invert, [at, at]);
    writeBack(step, parts, memory, constants);
    code.get(step.count);
  });
};
