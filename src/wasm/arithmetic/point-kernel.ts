/**
 * WebAssembly module that adds points of a curve: lists of independent additions P + Q of affine
 * points, which share one inversion.
 *
 * A point is two coordinates, x‖y, at an address divisible by 4; infinity is zeros. As an operand
 * the address plus 1 is the negative of the point.
 */

import { range } from '../../field/straight-line.js';
import { type Address, type Code, callWith, type Local } from '../encoder/code.js';
import { WasmModule, type Written } from '../encoder/module.js';
import { addBucketFunctions, type BucketExports } from './bucket-functions.js';
import { type Elements, type FieldFunctions, primeElements, quadraticElements } from './elements.js';
import type { FieldFormat } from './field-programs.js';
import type { Lanes } from './formula.js';
import {
  call,
  copyElement,
  isInfinity,
  type KernelLayout,
  KernelMemory,
  type KernelParts,
  type ListMemory,
  type WasmCurve,
} from './kernel-memory.js';
import { addEnter } from './numbers.js';

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
      : quadraticElements(module, functions, Number(nonResidue), lanes, memory);
  const [difference, left, right] = [memory.takeElement(), memory.takeElement(), memory.takeElement()];
  const temporary = { difference, left, right };
  const step = memory.takeStep();
  const parts: KernelParts = { module, curve, lanes, elements, memory, temporary, step };
  const classify = addClassify(parts);
  const add = addAddList(parts, classify);
  addEnter(parts);
  addCheck(parts);
  // functions take memory for their constants
  yield* module.write();
  const layout = memory.layout();
  addBucketFunctions(module, add, layout);
  yield* module.write();
  return { bytes: module.bytes(), layout };
}

/*
 * Affine additions in lists that share one inversion (Montgomery 1987, section 10.3.1): a pass
 * forward multiplies the denominators up, one inversion, and a pass back computes the sums. All
 * exceptional cases are handled.
 */

/**
 * Adds the function `add` of `KernelExports`.
 *
 * @param classify index of the function that classifies a pair
 * @returns its index
 */
const addAddList = (parts: KernelParts, classify: number): number => {
  const { module, memory } = parts;
  const lists = memory.takeLists();
  const nothing = memory.take(2 * memory.element);
  return module.add('add', { parameters: ['i32', 'i32'] }, (code) => {
    const step = new ListStep(code, parts, lists);
    code
      .get(step.count)
      .do('i32.eqz')
      .if(() => code.do('return'));
    if (parts.lanes === 2) evenCount(step, nothing);
    for (const i of step.lanes) step.copy(lists.prefixes + i * memory.element, memory.one);
    code.i32(0).set(step.k);
    code.loop((again) => {
      step.open();
      classifyStep(step, classify);
      multiplyDenominators(step);
      code.get(step.k).i32(parts.lanes).do('i32.add').tee(step.k).get(step.count).do('i32.lt_s');
      again();
    });
    invertProduct(step);
    code.loop((again) => {
      code.get(step.k).i32(parts.lanes).do('i32.sub').set(step.k);
      step.open();
      computeSlopes(step);
      computeSums(step);
      code.get(step.k);
      again();
    });
  });
};

/** Adds infinity + infinity to a list of an odd number of additions. */
const evenCount = ({ code, list, count }: ListStep, nothing: number): void => {
  code.get(count).i32(1).do('i32.and');
  code.if(() => {
    for (const i of [0, 1, 2]) {
      code.get(list).get(count).i32(LIST_ITEM).do('i32.mul', 'i32.add');
      code.i32(nothing).at('i32.store', 4 * i);
    }
    code.get(count).i32(1).do('i32.add').set(count);
  });
};

/** Sets the kinds of a step. Most sums are recognised by the lowest limbs of x. */
const classifyStep = (step: ListStep, classify: number): void => {
  const { code, parts, low } = step;
  const { width, p } = parts.curve.field;
  const limb = 2 ** width;
  const lowOfP = Number(p % BigInt(limb));
  code.i32(0).set(step.any);
  for (const i of step.lanes) {
    const [P, Q] = [step.P[i] as Local, step.Q[i] as Local];
    const kind = step.kind[i] as Local;
    code.i32(KIND.sum).set(kind);
    code
      .get(Q)
      .at('i32.load', 0)
      .get(P)
      .at('i32.load', 0)
      .do('i32.sub')
      .i32(limb - 1)
      .do('i32.and');
    code.tee(low).do('i32.eqz');
    // equal x may be stored with a difference of p; infinity is zeros
    for (const other of [lowOfP, limb - lowOfP]) code.get(low).i32(other).do('i32.eq', 'i32.or');
    for (const point of [P, Q]) {
      code.get(point).at('i32.load', 0).get(point).at('i32.load', parts.memory.element);
      code.do('i32.or', 'i32.eqz', 'i32.or');
    }
    code.if(() => {
      call(code, classify, P, step.signP[i] as Local, Q, step.signQ[i] as Local);
      code.set(kind);
    });
    step.kindAt(i);
    code.get(kind).at('i32.store', 0);
    code.get(kind);
    step.collectKind();
  }
};

/** Computes the denominators of a step, and the products up to them. */
const multiplyDenominators = (step: ListStep): void => {
  const { code, parts } = step;
  const { multiply, chain, subtractOne, signedOne } = parts.elements;
  const { one, plus, minus } = parts.memory;
  code.get(step.any).if(
    () => {
      for (const i of step.lanes) {
        const [D, P, Q] = [step.denominator[i] as Local, step.P[i] as Local, step.Q[i] as Local];
        step.copy(D, one);
        step.ifKind(i, KIND.sum, () => call(code, subtractOne, D, Q, P, plus));
        step.ifKind(i, KIND.double, () => {
          call(code, signedOne, D, [P, parts.memory.element], step.signP[i] as Local);
          call(code, subtractOne, D, D, D, minus);
        });
      }
      step.each(multiply, step.next, step.prefix, step.denominator);
    },
    () => step.each(chain, step.next, step.denominator, step.prefix, step.Q, step.P),
  );
};

/** Inverts the product of all denominators, with one inversion for both lanes. */
const invertProduct = (step: ListStep): void => {
  const { code, parts } = step;
  const { multiply, multiplyOne, invert } = parts.elements;
  const { inverseOfProduct, junk } = parts.step;
  if (parts.lanes === 1) {
    call(code, invert, inverseOfProduct[0] as number, step.next[0] as Local);
    return;
  }
  const [first, second] = step.next as [Local, Local];
  const product = junk[0] as number;
  call(code, multiplyOne, product, first, second);
  call(code, invert, product, product);
  step.each(multiply, inverseOfProduct, [product, product], [second, first]);
};

/** Computes the inverses of the denominators of a step, and the slopes. */
const computeSlopes = (step: ListStep): void => {
  const { code, parts } = step;
  const { multiply, multiplyByKept, slope } = parts.elements;
  const work = parts.step;
  step.each(multiply, work.inverse, work.inverseOfProduct, step.prefix);
  step.each(multiplyByKept, work.inverseOfProduct, work.inverseOfProduct, step.denominator);
  code.i32(0).set(step.any);
  for (const i of step.lanes) {
    step.kindAt(i);
    code.at('i32.load', 0).tee(step.kind[i] as Local);
    step.collectKind();
  }
  code.get(step.any).if(
    () => {
      for (const i of step.lanes) computeNumerator(step, i);
      step.each(multiply, work.slope, work.inverse, work.numerator);
    },
    () => {
      const { signP, signQ } = step;
      step.each(slope, work.slope, work.inverse, step.yOf(step.Q), signQ, step.yOf(step.P), signP);
    },
  );
};

/** Computes the numerator of the slope in a lane: y2 − y1, or 3·x² + a, or 0. */
const computeNumerator = (step: ListStep, i: number): void => {
  const { code, parts } = step;
  const { signedOne, subtractOne, multiplyOne } = parts.elements;
  const { element, zero, plus, minus, a } = parts.memory;
  const { difference } = parts.temporary;
  const N = parts.step.numerator[i] as number;
  const [P, Q] = [step.P[i] as Local, step.Q[i] as Local];
  step.copy(N, zero);
  step.ifKind(i, KIND.sum, () => {
    call(code, signedOne, N, [P, element], step.signP[i] as Local);
    call(code, signedOne, difference, [Q, element], step.signQ[i] as Local);
    call(code, subtractOne, N, difference, N, plus);
  });
  step.ifKind(i, KIND.double, () => {
    call(code, multiplyOne, difference, P, P);
    call(code, subtractOne, N, difference, difference, minus);
    call(code, subtractOne, N, N, difference, minus);
    call(code, subtractOne, N, N, a, minus);
  });
};

/** Computes the sums of a step from the slopes, and writes the results. */
const computeSums = (step: ListStep): void => {
  const { code, parts } = step;
  const { abscissa, ordinate } = parts.elements;
  const { x, slope, junk } = parts.step;
  step.each(abscissa, x, slope, step.P, step.Q);
  // a result may overwrite its operands: where no sum is computed, the formulas write elsewhere
  for (const i of step.lanes) {
    code.i32(junk[i] as number).get(step.to[i] as Local);
    code
      .get(step.kind[i] as Local)
      .i32(KIND.double)
      .do('i32.gt_s', 'select')
      .set(step.target[i] as Local);
  }
  step.each(ordinate, step.yOf(step.target), slope, step.P, x, step.yOf(step.P), step.signP);
  for (const i of step.lanes) step.copy(step.target[i] as Local, x[i] as number);
  code.get(step.any).if(() => {
    for (const i of step.lanes) writeExceptional(step, i);
  });
};

/** Writes the result in a lane where no sum was computed: infinity, ±P or ±Q. */
const writeExceptional = (step: ListStep, i: number): void => {
  const { code, parts } = step;
  const { element, zero } = parts.memory;
  const result = step.to[i] as Local;
  step.ifKind(i, KIND.infinity, () => {
    step.copy(result, zero);
    step.copy([result, element], zero);
  });
  for (const [kind, point, sign] of [
    [KIND.left, step.P[i] as Local, step.signP[i] as Local],
    [KIND.right, step.Q[i] as Local, step.signQ[i] as Local],
  ] as const) {
    step.ifKind(i, kind, () => {
      call(code, parts.elements.signedOne, [result, element], [point, element], sign);
      step.copy(result, point);
    });
  }
};

/* One step through a list of additions: as many additions as there are lanes. */

/** Bytes of an addition in the list: the addresses of the result, of P and of Q. */
const LIST_ITEM = 12;

/** Locals of a step, and code that all passes over the list share. */
class ListStep {
  readonly code: Code;
  readonly parts: KernelParts;
  readonly lists: ListMemory;
  readonly lanes: readonly number[];
  readonly list: Local;
  readonly count: Local;
  /** Index of the addition in lane 0. */
  readonly k: Local;
  /** Address of that addition in the list. */
  readonly item: Local;
  /** Bits of the kinds of all lanes; 0 if all are sums. */
  readonly any: Local;
  readonly low: Local;
  readonly to: readonly Local[];
  readonly P: readonly Local[];
  readonly Q: readonly Local[];
  /** Addresses of the masks of the signs of P and Q. */
  readonly signP: readonly Local[];
  readonly signQ: readonly Local[];
  /** Addresses that a computed sum is written to. */
  readonly target: readonly Local[];
  readonly kind: readonly Local[];
  readonly denominator: readonly Local[];
  /** Address of the product of all denominators before. */
  readonly prefix: readonly Local[];
  /** Address of the product of all denominators up to this one. */
  readonly next: readonly Local[];

  constructor(code: Code, parts: KernelParts, lists: ListMemory) {
    this.code = code;
    this.parts = parts;
    this.lists = lists;
    this.lanes = range(parts.lanes);
    [this.list, this.count] = [code.parameter(0), code.parameter(1)];
    const local = (): Local => code.local('i32');
    const perLane = (): Local[] => this.lanes.map(local);
    [this.k, this.item, this.any, this.low] = [local(), local(), local(), local()];
    [this.to, this.P, this.Q] = [perLane(), perLane(), perLane()];
    [this.signP, this.signQ, this.target] = [perLane(), perLane(), perLane()];
    [this.kind, this.denominator] = [perLane(), perLane()];
    [this.prefix, this.next] = [perLane(), perLane()];
  }

  /** Calls a function with arguments in every lane. */
  each(index: number, ...args: readonly (readonly Address[])[]): void {
    callWith(this.code, index, args.flat());
  }

  /** Returns the addresses of the y of points. */
  yOf(points: readonly Local[]): Address[] {
    return points.map((point) => [point, this.parts.memory.element]);
  }

  copy(to: Address, from: Address): void {
    copyElement(this.code, to, from, this.parts.memory.element);
  }

  /** Sets the locals of step k: addresses, and masks of signs. */
  open(): void {
    const { code, lists } = this;
    const { element } = this.parts.memory;
    code.get(this.list).get(this.k).i32(LIST_ITEM).do('i32.mul', 'i32.add').set(this.item);
    for (const i of this.lanes) {
      code
        .get(this.item)
        .at('i32.load', LIST_ITEM * i)
        .set(this.to[i] as Local);
      this.#openOperand(this.P[i] as Local, this.signP[i] as Local, LIST_ITEM * i + 4);
      this.#openOperand(this.Q[i] as Local, this.signQ[i] as Local, LIST_ITEM * i + 8);
      const at = (base: number, local: readonly Local[]): void => {
        code.get(this.k).i32(i).do('i32.add').i32(element).do('i32.mul').i32(base).do('i32.add');
        code.set(local[i] as Local);
      };
      at(lists.denominators, this.denominator);
      at(lists.prefixes, this.prefix);
      at(lists.prefixes + this.lanes.length * element, this.next);
    }
  }

  /** Splits an operand into the address of its point and that of the mask of its sign. */
  #openOperand(point: Local, sign: Local, offset: number): void {
    const { code } = this;
    code.get(this.item).at('i32.load', offset).tee(point);
    // the masks are neighbours
    code.i32(1).do('i32.and').i32(2).do('i32.shl').i32(this.parts.memory.plus).do('i32.add').set(sign);
    code.get(point).i32(-2).do('i32.and').set(point);
  }

  /** Leaves the address of the kind in lane `i`. */
  kindAt(i: number): void {
    this.code
      .get(this.k)
      .i32(2)
      .do('i32.shl')
      .i32(this.lists.kinds + 4 * i)
      .do('i32.add');
  }

  ifKind(i: number, kind: number, then: () => void): void {
    this.code
      .get(this.kind[i] as Local)
      .i32(kind)
      .do('i32.eq')
      .if(then);
  }

  /** Adds the bits of the kind in lane `i`, which is on the stack, to `any`. */
  collectKind(): void {
    this.code.get(this.any).do('i32.or').set(this.any);
  }
}

/* Classifies additions P + Q by the formula that computes them. */

/**
 * `sum`: P ≠ ±Q; `double`: P = Q; `infinity`: P = −Q; `left`: the sum is P; `right`: the sum is Q.
 * Only the first two are computed.
 */
const KIND = { sum: 0, double: 1, infinity: 2, left: 3, right: 4 } as const;

/**
 * Adds a function (P, mask of its sign, Q, mask of its sign) that returns the kind of ±P ± Q. It is
 * called only where the lowest limbs of x do not rule out the exceptional cases.
 */
const addClassify = ({ module, elements, memory, temporary }: KernelParts): number =>
  module.add(null, { parameters: ['i32', 'i32', 'i32', 'i32'], result: 'i32' }, (code) => {
    const { subtractOne, signedOne, isZero } = elements;
    const { difference, left, right } = temporary;
    const { element, plus } = memory;
    const [P, p, Q, q] = range(4).map((i) => code.parameter(i)) as [Local, Local, Local, Local];
    const returnIf = (kind: number): void => {
      code.if(() => code.i32(kind).do('return'));
    };
    isInfinity(code, P, element);
    returnIf(KIND.right);
    isInfinity(code, Q, element);
    returnIf(KIND.left);
    call(code, subtractOne, difference, Q, P, plus);
    call(code, isZero, difference);
    code.do('i32.eqz');
    returnIf(KIND.sum);
    for (const [to, point, sign] of [
      [left, P, p],
      [right, Q, q],
    ] as const) {
      call(code, signedOne, to, [point, element], sign);
    }
    call(code, isZero, left);
    returnIf(KIND.infinity);
    call(code, subtractOne, difference, left, right, plus);
    call(code, isZero, difference);
    returnIf(KIND.double);
    code.i32(KIND.infinity);
  });

/* Checks that points are on the curve. */

/** Values of a module that the function is written with. */
interface CheckParts extends Pick<KernelParts, 'module' | 'curve' | 'memory' | 'temporary'> {
  readonly elements: Pick<Elements, 'multiplyOne' | 'subtractOne' | 'isZero'>;
}

/** Adds the function `check` of `KernelExports`. */
export const addCheck = (parts: CheckParts): void => {
  const { module, memory } = parts;
  module.add('check', { parameters: ['i32', 'i32'], result: 'i32' }, (code) => {
    const [points, count] = [code.parameter(0), code.parameter(1)];
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
      code
        .get(points)
        .i32(2 * memory.element)
        .do('i32.add')
        .set(points);
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
  call(code, multiplyOne, left, point, point);
  call(code, multiplyOne, left, left, point);
  if (curve.a.some((value) => value !== 0n)) {
    call(code, multiplyOne, right, a, point);
    call(code, subtractOne, left, left, right, minus);
  }
  call(code, subtractOne, left, left, b, minus);
  call(code, multiplyOne, right, [point, element], [point, element]);
  call(code, subtractOne, difference, left, right, plus);
  call(code, isZero, difference);
};
