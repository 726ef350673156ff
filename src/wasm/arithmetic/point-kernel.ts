/**
 * WebAssembly module that adds points of a curve: lists of independent additions P + Q of affine
 * points, which share one inversion.
 *
 * A point is two coordinates, x‖y, at an address divisible by 4; infinity is zeros. As an operand
 * the address plus 1 is the negative of the point.
 */

import { range } from '../../field/straight-line.js';
import type { Address, Code, Local } from '../encoder/code.js';
import { WasmModule, type Written } from '../encoder/module.js';
import { addBucketFunctions, type BucketExports } from './bucket-functions.js';
import { type Elements, type FieldFunctions, primeElements, quadraticElements } from './elements.js';
import type { FieldFormat } from './field-programs.js';
import type { Lanes } from './formula.js';
import {
  copyElement,
  isInfinity,
  type KernelLayout,
  KernelMemory,
  type KernelParts,
  type StepMemory,
  type WasmCurve,
} from './kernel-memory.js';
import { addListAdder, calledPasses, KIND, type ListForm, type Passes, type PassMemory } from './list-adder.js';
import { splitNumber } from './numbers.js';

/** Functions of the module. */
export interface KernelExports extends BucketExports {
  /**
   * Computes `count` additions, at most `KernelLayout.additions`. The list has three addresses for
   * each: of the result, of P and of Q. A result may overwrite its own operands, but no operand of
   * another addition. The list is overwritten, and up to three items behind it.
   */
  add(list: number, count: number): void;
  /** Converts `count` numbers below p, of `wordBytes` each, and multiplies by the one at `unit`. */
  enter(to: number, from: number, count: number): void;
  /**
   * Writes `count` elements of the prime field, times the number at `unit`, as numbers below p, of
   * `wordBytes` each. With two lanes it may write one more.
   */
  leave(to: number, from: number, count: number): void;
  /**
   * Writes `count` ≥ 1 points times those of `factors`, coordinate by coordinate. Pairs are conjugated
   * first.
   */
  images(to: number, from: number, factors: number, count: number): void;
  /** Returns how many of `count` ≥ 1 consecutive points precede the first not on the curve. */
  check(points: number, count: number): number;
}

/**
 * Generates the module of a curve, a function in a step.
 *
 * @param functionsOf adds functions of the prime field
 */
export function* kernelModule<Field extends FieldFormat>(
  curve: WasmCurve<Field>,
  lanes: Lanes,
  functionsOf: (module: WasmModule, field: Field) => FieldFunctions,
): Written<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly layout: KernelLayout }> {
  const { field, nonResidue } = curve;
  const module = new WasmModule({ deferred: true });
  const memory = new KernelMemory(curve, lanes);
  const functions = functionsOf(module, field);
  const elements =
    nonResidue === null
      ? primeElements(functions, lanes, memory)
      : quadraticElements({ module, functions, memory, nonResidue: Number(nonResidue) }, lanes);
  const [difference, left, right] = [memory.takeElement(), memory.takeElement(), memory.takeElement()];
  const temporary = { difference, left, right };
  const step = memory.takeStep();
  const parts: KernelParts = { module, curve, lanes, elements, memory, temporary, step };
  const add = addListAdder(integerList(parts));
  addEnter(parts);
  addLeave(parts, functions.join(curve.wordBytes));
  addImages(parts);
  addCheck(parts);
  // functions take memory for their constants
  yield* module.write();
  const layout = memory.layout();
  addBucketFunctions(module, add, layout);
  yield* module.write();
  return { bytes: module.bytes(), layout };
}

/** The form of the list adder on integers, in one lane or two. */
const integerList = (parts: KernelParts): ListForm => {
  const { module, lanes, elements, memory, step } = parts;
  const { element, one, zero } = memory;
  const lists = memory.takeLists();
  const [to, P, Q] = [memory.take(2 * element), memory.take(2 * element), memory.take(2 * element)];
  return {
    ...{ module, lanes, padding: { to, P, Q } },
    take: (bytes) => memory.take(bytes),
    mayBeExceptional: (code, P, Q) => mayBeExceptional(code, parts, [P, Q]),
    hasOrdinate: (code, P) => hasOrdinate(code, parts, P),
    classify: addClassify(parts),
    sums: sumPasses(parts, lists),
    doublings: doublePasses(parts, lists),
    begin: (code) => {
      for (const i of range(lanes)) copyElement(code, lists.prefixes + i * element, one, element);
    },
    invert: (code, count) => {
      const [first, second] = [code.local('i32'), code.local('i32')];
      code.get(count).i32(element).do('i32.mul').i32(lists.prefixes).do('i32.add').tee(first);
      code.i32(element).do('i32.add').set(second);
      const [product = 0] = step.junk;
      const inverses = step.inverseOfProduct;
      if (lanes === 1) code.call(elements.invert, ...inverses, first);
      else {
        // one inversion for both lanes
        code.call(elements.multiplyOne, product, first, second).call(elements.invert, product, product);
        code.call(elements.multiply, ...inverses, product, product, second, first);
      }
    },
    writePadding: (code) => {
      if (lanes === 1) return;
      for (const [at, x] of [[P, zero] as const, [Q, one] as const]) {
        copyElement(code, at, x, element);
        copyElement(code, at + element, one, element);
      }
    },
  };
};

/** Values of the steps of a pass, in every lane. */
class StepCode {
  readonly #code: Code;
  readonly #parts: KernelParts;

  constructor(code: Code, parts: KernelParts) {
    this.#code = code;
    this.#parts = parts;
  }

  /** Returns the addresses of a list's values of this step, or of the step `steps` further on. */
  values(list: Local, steps = 0): Address[] {
    const { lanes, memory } = this.#parts;
    return range(lanes).map((lane) => [list, (steps * lanes + lane) * memory.element]);
  }

  yOf(points: readonly Local[]): Address[] {
    return points.map((point) => [point, this.#parts.memory.element]);
  }

  /** Removes the signs of points from their addresses. @returns the addresses of the masks of the signs */
  signsOf(points: readonly Local[]): Local[] {
    const code = this.#code;
    return points.map((point) => {
      const sign = code.local('i32');
      // the masks are neighbours
      code.get(point).i32(1).do('i32.and').i32(2).do('i32.shl').i32(this.#parts.memory.plus).do('i32.add').set(sign);
      code.get(point).i32(-2).do('i32.and').set(point);
      return sign;
    });
  }

  /** Computes the inverse of the denominators of this step. @param multiply by a denominator */
  inverse({ kept, prefix }: { readonly kept: Local; readonly prefix: Local }, multiply: number): void {
    const { inverse, inverseOfProduct } = this.#parts.step;
    this.#code.call(this.#parts.elements.multiply, ...inverse, ...inverseOfProduct, ...this.values(prefix));
    this.#code.call(multiply, ...inverseOfProduct, ...inverseOfProduct, ...this.values(kept));
  }

  /** Computes the sums from their slopes. A result may overwrite its operands. */
  finish(to: readonly Local[], P: readonly Local[], signP: readonly Local[], Q: readonly Local[]): void {
    const { elements, step, memory } = this.#parts;
    const { x, slope } = step;
    this.#code.call(elements.abscissa, ...x, ...slope, ...P, ...Q);
    this.#code.call(elements.ordinate, ...this.yOf(to), ...slope, ...P, ...x, ...this.yOf(P), ...signP);
    for (const [i, at] of to.entries()) copyElement(this.#code, at, x[i] as number, memory.element);
  }
}

/** Adds the passes over sums of points with different x. */
const sumPasses = (parts: KernelParts, lists: PassMemory): Passes => {
  const { module, lanes, elements, step } = parts;
  return calledPasses<readonly Local[]>(module, lanes, lists, {
    forward: (code, { kept, prefix }, items) => {
      const c = new StepCode(code, parts);
      const [P, Q] = [items.barePoints(1), items.barePoints(2)];
      code.call(elements.chain, ...c.values(prefix, 1), ...c.values(kept), ...c.values(prefix), ...Q, ...P);
    },
    backward: (code, at, items) => {
      const c = new StepCode(code, parts);
      const [to, P, Q] = [items.addresses(0), items.addresses(1), items.addresses(2)];
      const [signP, signQ] = [c.signsOf(P), c.signsOf(Q)];
      c.inverse(at, elements.multiplyByKept);
      code.call(elements.slope, ...step.slope, ...step.inverse, ...c.yOf(Q), ...signQ, ...c.yOf(P), ...signP);
      c.finish(to, P, signP, Q);
    },
  });
};

/** Adds the passes over doublings. */
const doublePasses = (parts: KernelParts, lists: PassMemory): Passes => {
  const { module, lanes, elements, memory, step, temporary } = parts;
  const { signedOne, subtractOne, multiplyOne, multiply } = elements;
  const { minus } = memory;
  return calledPasses<readonly Local[]>(module, lanes, lists, {
    forward: (code, { kept, prefix }, items) => {
      const c = new StepCode(code, parts);
      const P = items.addresses(1);
      const signs = c.signsOf(P);
      const denominators = c.values(kept);
      for (const [i, y] of c.yOf(P).entries()) {
        const to = denominators[i] as Address;
        // ±2·y
        code.call(signedOne, to, y, signs[i] as Local).call(subtractOne, to, to, to, minus);
      }
      code.call(multiply, ...c.values(prefix, 1), ...c.values(prefix), ...denominators);
    },
    backward: (code, at, items) => {
      const c = new StepCode(code, parts);
      const [to, P] = [items.addresses(0), items.addresses(1)];
      const signs = c.signsOf(P);
      c.inverse(at, multiply);
      for (const [i, x] of P.entries()) {
        const [N, square] = [step.numerator[i] as number, temporary.difference];
        // 3·x² + a
        code.call(multiplyOne, square, x, x).call(subtractOne, N, square, square, minus);
        code.call(subtractOne, N, N, square, minus).call(subtractOne, N, N, memory.a, minus);
      }
      code.call(multiply, ...step.slope, ...step.inverse, ...step.numerator);
      c.finish(to, P, signs, P);
    },
  });
};

/** Leaves whether two points may have equal x, or one may be infinity, by the lowest limbs of x. */
const mayBeExceptional = (code: Code, { curve, memory }: KernelParts, points: readonly Local[]): void => {
  const { width, p } = curve.field;
  const limb = 2 ** width;
  const lowOfP = Number(p % BigInt(limb));
  const { P, Q, low } = code.named('i32', 'P', 'Q', 'low');
  for (const [i, bare] of [P, Q].entries()) {
    code.get(points[i] as Local).i32(-2);
    code.do('i32.and').set(bare);
  }
  code.get(Q).at('i32.load', 0).get(P).at('i32.load', 0).do('i32.sub');
  code.i32(limb - 1).do('i32.and');
  code.tee(low).do('i32.eqz');
  // equal x may be stored with a difference of p
  for (const other of [lowOfP, limb - lowOfP]) code.get(low).i32(other).do('i32.eq', 'i32.or');
  // infinity is zeros
  for (const point of [P, Q]) {
    code.get(point).at('i32.load', 0).get(point).at('i32.load', memory.element);
    code.do('i32.or', 'i32.eqz', 'i32.or');
  }
};

/** Leaves whether y of a point is neither 0 nor p, by its lowest limb. */
const hasOrdinate = (code: Code, { curve, memory }: KernelParts, P: Local): void => {
  const { width, p } = curve.field;
  const low = code.local('i32');
  code.get(P).i32(-2).do('i32.and').at('i32.load', memory.element).tee(low).i32(0).do('i32.ne');
  code
    .get(low)
    .i32(Number(BigInt.asIntN(32, p % 2n ** BigInt(width))))
    .do('i32.ne', 'i32.and');
};

/** Adds the function `ListForm.classify`. */
const addClassify = ({ module, elements, memory, temporary }: KernelParts): number => {
  const { subtractOne, signedOne, isZero } = elements;
  const { difference, left, right } = temporary;
  const { element, plus, minus, zero } = memory;
  return module.add(null, { parameters: ['i32', 'i32', 'i32'], result: 'i32' }, (code, to, P, Q) => {
    const { p, q, sign } = code.named('i32', 'p', 'q', 'sign');
    const setSign = (point: Local) =>
      code.get(point).i32(1).do('i32.and').i32(2).do('i32.shl').i32(plus).do('i32.add').set(sign);
    const returnIf = (kind: number, before = () => {}): void => {
      code.if(() => {
        before();
        code.i32(kind).do('return');
      });
    };
    const copySigned = (bare: Local, point: Local): void => {
      setSign(point);
      code.call(signedOne, [to, element], [bare, element], sign);
      copyElement(code, to, bare, element);
    };
    for (const [bare, point] of [[p, P] as const, [q, Q] as const]) code.get(point).i32(-2).do('i32.and').set(bare);
    isInfinity(code, p, element);
    returnIf(KIND.done, () => copySigned(q, Q));
    isInfinity(code, q, element);
    returnIf(KIND.done, () => copySigned(p, P));
    code.call(subtractOne, difference, q, p, plus).call(isZero, difference).do('i32.eqz');
    returnIf(KIND.sum);
    setSign(P);
    code.call(signedOne, left, [p, element], sign);
    setSign(Q);
    code.call(signedOne, right, [q, element], sign);
    // ±y1 ± y2
    code.call(subtractOne, difference, left, right, minus).call(isZero, difference);
    returnIf(KIND.done, () => {
      copyElement(code, to, zero, element);
      copyElement(code, [to, element], zero, element);
    });
    code.i32(KIND.double);
  });
};

/* Points between the words of the public format and the elements of a kernel. */

/** Values of a kernel that the functions are written with. */
interface EnterParts extends Pick<KernelParts, 'module' | 'curve' | 'lanes' | 'memory'> {
  readonly elements: Pick<Elements, 'multiplyPrime'>;
  /** Space for a number in each lane. */
  readonly step: Pick<StepMemory, 'junk'>;
}

/** Adds the function `enter` of `KernelExports`. */
export const addEnter = (parts: EnterParts): void => {
  const { module, curve, lanes, elements, memory } = parts;
  const { bytes } = curve.field;
  const raw = parts.step.junk;
  module.add('enter', { parameters: ['i32', 'i32', 'i32'] }, (code, to, from, count) => {
    const targets = range(lanes).map(() => code.local('i32'));
    code.countPast(
      count,
      () => {
        for (const [i, target] of targets.entries()) {
          const words = [from, i * curve.wordBytes] as const;
          splitNumber(code, { ...curve.field, wordBytes: curve.wordBytes }, words, raw[i] as number);
          code.push([to, i * bytes]).set(target);
        }
        for (const target of targets) code.get(target);
        for (const at of raw) code.i32(at);
        for (const _ of raw) code.i32(memory.unit);
        code.call(elements.multiplyPrime);
        code.increase(to, lanes * bytes);
        code.increase(from, lanes * curve.wordBytes);
      },
      lanes,
    );
  });
};

/** Adds the function `leave` of `KernelExports`. @param join index of `FieldFunctions.join` */
const addLeave = ({ module, curve, lanes, elements, memory, step }: EnterParts, join: number): void => {
  const { bytes } = curve.field;
  const products = step.junk;
  module.add('leave', { parameters: ['i32', 'i32', 'i32'] }, (code, to, from, count) => {
    const lane = (i: number): Address => [from, i * bytes];
    code.countPast(
      count,
      () => {
        code.call(elements.multiplyPrime, ...products, ...range(lanes).map(lane), ...products.map(() => memory.unit));
        for (const [i, product] of products.entries()) code.call(join, [to, i * curve.wordBytes], product);
        code.increase(to, lanes * curve.wordBytes);
        code.increase(from, lanes * bytes);
      },
      lanes,
    );
  });
};

/** Adds the function `images` of `KernelExports`. */
const addImages = ({ module, elements, memory, temporary }: KernelParts): void => {
  const { conjugateOne, multiplyOne } = elements;
  const { left } = temporary;
  module.add('images', { parameters: ['i32', 'i32', 'i32', 'i32'] }, (code, to, from, factors, count) => {
    code.countDown(count, () => {
      for (const at of [0, memory.element]) {
        if (conjugateOne !== null) code.call(conjugateOne, left, [from, at]);
        code.call(multiplyOne, [to, at], conjugateOne === null ? [from, at] : left, [factors, at]);
      }
      for (const pointer of [to, from]) code.increase(pointer, 2 * memory.element);
    });
  });
};

/* Checks that points are on the curve. */

/** Values of a module that the function is written with. */
interface CheckParts extends Pick<KernelParts, 'module' | 'curve' | 'memory' | 'temporary'> {
  readonly elements: Pick<Elements, 'multiplyOne' | 'subtractOne' | 'isZero'>;
}

/** Adds the function `check` of `KernelExports`. */
export const addCheck = (parts: CheckParts): void => {
  const { module, memory } = parts;
  module.add('check', { parameters: ['i32', 'i32'], result: 'i32' }, (code, points, count) => {
    const index = code.local('i32');
    const wrong = code.local('i32');
    code.i32(0).set(index);
    code.loop((again) => {
      code.i32(0).set(wrong);
      isInfinity(code, points, memory.element);
      code.do('i32.eqz').if(() => {
        isOnCurve(code, parts, points);
        code.do('i32.eqz').set(wrong);
      });
      code.get(wrong).if(() => code.get(index).do('return'));
      code.increase(points, 2 * memory.element);
      code.get(index).i32(1).do('i32.add').tee(index).get(count).do('i32.lt_s');
      again();
    });
    code.get(index);
  });
};

/** Leaves whether x³ + a·x + b − y² is 0. */
const isOnCurve = (code: Code, { curve, elements, memory, temporary }: CheckParts, point: Local): void => {
  const { multiplyOne, subtractOne, isZero } = elements;
  const { difference, left, right } = temporary;
  const { element, a, b, plus, minus } = memory;
  code.call(multiplyOne, left, point, point);
  code.call(multiplyOne, left, left, point);
  if (curve.a.some((value) => value !== 0n)) {
    code.call(multiplyOne, right, a, point);
    code.call(subtractOne, left, left, right, minus);
  }
  code.call(subtractOne, left, left, b, minus);
  code.call(multiplyOne, right, [point, element], [point, element]);
  code.call(subtractOne, difference, left, right, plus);
  code.call(isZero, difference);
};
