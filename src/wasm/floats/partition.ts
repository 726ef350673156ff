/**
 * Splits a list of additions by the formula that computes them. Sums of points with different x
 * stay in the list, doublings go to a list of their own, and additions that need no formula are
 * done.
 */

import type { Code, Local } from '../encoder/code.js';
import { centred, type FloatField } from './float-field.js';
import { areZero, call, copyFloats, type FloatParts, LIST_ITEM, step } from './float-parts.js';

/** Kinds of additions: `done` has been computed. */
const KIND = { sum: 0, double: 1, done: 2 } as const;

/**
 * Adds a function (to, P, Q) of signed points that returns the kind of an addition, and computes it
 * where the sum is P, Q or infinity.
 */
const addClassify = ({ module, memory, programs, functions, zero }: FloatParts): number => {
  const floats = memory.coordinate / 8;
  const work = memory.take(memory.coordinate);
  const negate = functions.define(['lanes', 'signed'], (c, to, a) =>
    c.store(to, c.sum([[c.signed(c.load(a.at), a.sign), 1]])),
  );
  const subtract = functions.define(['lanes', 'lanes', 'lanes'], (c, to, a, b) =>
    c.store(
      to,
      c.sum([
        [c.load(a), 1],
        [c.load(b), -1],
      ]),
    ),
  );
  /** ±y1 ± y2, by the signs of the points. */
  const addOrdinates = functions.define(['lanes', 'signed', 'signed'], (c, to, P, Q) =>
    c.store(
      to,
      c.sum([
        [programs.ordinate(c, P), 1],
        [programs.ordinate(c, Q), 1],
      ]),
    ),
  );
  return module.add(null, { parameters: ['i32', 'i32', 'i32'], result: 'i32' }, (code) => {
    const [to, P, Q] = [code.parameter(0), code.parameter(1), code.parameter(2)];
    const [p, q] = [code.local('i32'), code.local('i32')];
    const signOf = code.local('i32');
    code.get(P).i32(-2).do('i32.and').set(p).get(Q).i32(-2).do('i32.and').set(q);
    const returnIf = (kind: number, before?: () => void): void => {
      code.if(() => {
        before?.();
        code.i32(kind).do('return');
      });
    };
    const copySigned = (bare: Local, point: Local): void => {
      // the sign of the y is that of the point
      code.get(bare).i32(memory.coordinate).do('i32.add').get(point).i32(1).do('i32.and', 'i32.or').set(signOf);
      const y = [to, memory.coordinate] as const;
      call(code, negate, y, y, signOf, signOf);
      copyFloats(code, [to, 0, 8], [bare, 0, 8], floats);
    };
    areZero(code, p, 2 * floats);
    returnIf(KIND.done, () => copySigned(q, Q));
    areZero(code, q, 2 * floats);
    returnIf(KIND.done, () => copySigned(p, P));
    call(code, subtract, work, work, p, p, q, q);
    areZero(code, work, floats);
    code.do('i32.eqz');
    returnIf(KIND.sum);
    call(code, addOrdinates, work, work, P, P, Q, Q);
    areZero(code, work, floats);
    returnIf(KIND.done, () => {
      copyFloats(code, [to, 0, 8], [zero, 0, 8], floats);
      copyFloats(code, [to, memory.coordinate, 8], [zero, 0, 8], floats);
    });
    code.i32(KIND.double);
  });
};

/** Where the list of doublings is. */
export interface DoubleList {
  readonly list: number;
  /** Address of the number of its items. */
  readonly count: number;
}

/** Leaves whether two points may have equal x, or one may be infinity, by the lowest limbs of x. */
const mayBeExceptional = (code: Code, { width, p }: FloatField, [P, Q]: readonly [Local, Local]): void => {
  const low = Number(centred(p, 1n << BigInt(width)));
  const { x1, x2, apart } = code.named('f64', 'x1', 'x2', 'apart');
  for (const [point, x] of [
    [P, x1],
    [Q, x2],
  ] as const)
    code.get(point).i32(-2).do('i32.and').at('f64.load', 0).set(x);
  code.get(x2).get(x1).do('f64.sub', 'f64.abs').set(apart);
  // equal x may be stored with a difference of p
  for (const [i, difference] of [0, Math.abs(low), 2 ** width - Math.abs(low)].entries()) {
    code.get(apart).f64(difference).do('f64.eq');
    if (i > 0) code.do('i32.or');
  }
  // infinity is zeros
  for (const x of [x1, x2]) code.get(x).f64(0).do('f64.eq', 'i32.or');
};

/** Adds a function (list, count) that returns the number of sums that stay in the list. */
export const addPartition = (parts: FloatParts, doubles: DoubleList): number => {
  const { module, programs } = parts;
  const classify = addClassify(parts);
  return module.add(null, { parameters: ['i32', 'i32'], result: 'i32' }, (code) => {
    const [list, count] = [code.parameter(0), code.parameter(1)];
    const { to, P, Q, next, nextDouble } = code.named('i32', 'to', 'P', 'Q', 'next', 'nextDouble');
    const { kept, kind } = code.named('i32', 'kept', 'kind');
    code.get(list).set(next).i32(doubles.list).set(nextDouble);
    const put = (at: Local): void => {
      for (const [i, value] of [to, P, Q].entries())
        code
          .get(at)
          .get(value)
          .at('i32.store', 4 * i);
      step(code, at, LIST_ITEM);
    };
    code.loop((again) => {
      for (const [i, value] of [to, P, Q].entries())
        code
          .get(list)
          .at('i32.load', 4 * i)
          .set(value);
      mayBeExceptional(code, programs.field, [P, Q]);
      code.if(
        () => code.get(to).get(P).get(Q).call(classify).set(kind),
        () => code.i32(KIND.sum).set(kind),
      );
      code.get(kind).i32(KIND.double).do('i32.eq');
      code.if(() => put(nextDouble));
      code.get(kind).do('i32.eqz');
      code.if(() => {
        put(next);
        step(code, kept, 1);
      });
      step(code, list, LIST_ITEM);
      code.get(count).i32(1).do('i32.sub').tee(count);
      again();
    });
    code.i32(doubles.count).get(nextDouble).i32(doubles.list).do('i32.sub').i32(LIST_ITEM).do('i32.div_u');
    code.at('i32.store', 0);
    code.get(kept);
  });
};
