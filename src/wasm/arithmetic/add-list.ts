/**
 * Affine additions in lists that share one inversion (Montgomery 1987, section 10.3.1): a pass
 * forward multiplies the denominators up, one inversion, and a pass back computes the sums. All
 * exceptional cases are handled.
 */
import type { Local } from '../encoder/code.js';
import { KIND } from './classify.js';
import { call, type KernelParts } from './kernel-parts.js';
import { LIST_ITEM, ListStep } from './list-step.js';

/**
 * Adds the function `add` of `KernelExports`.
 *
 * @param classify index of the function of classify.ts
 * @returns its index
 */
export const addAddList = (parts: KernelParts, classify: number): number => {
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
