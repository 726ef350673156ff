/**
 * Affine additions in lists that share one inversion (Montgomery 1987, section 10.3.1), two side by
 * side: a pass forward multiplies the denominators up, and a pass back computes the sums.
 */
import { range } from '../../field/straight-line.js';
import type { Code, Local } from '../encoder/code.js';
import { centred, type FloatField, MAX_ADDITIONS } from './float-field.js';
import {
  areZero,
  call,
  copyFloats,
  type FloatParts,
  type FloatWriter,
  interleaved,
  LIST_ITEM,
  PADDING,
  signedPoint,
  step,
} from './float-functions.js';
import { lanesAt, roundingConstants, wideAt } from './float-line.js';
import { addFloatInverse } from './float-numbers.js';
import { type Coordinate, type CoordinateLine, type SignedPoint, type StoredAs, uncarried } from './point-programs.js';

/** Bounds of an inverse. */
const inverted: StoredAs = { most: 1.01, terms: 1 };

/** Functions that are not bound by their speed. */
interface SlowFunctions {
  /** (to, a, b): a·b, settled; `b` may be a difference. */
  readonly multiply: number;
  /** (to, slope, to0, to1, P0, P1, Q0, Q1): the sums, from their slopes. */
  readonly finish: number;
}

/** Adds a function that inverts the running product of each lane, by one inversion for both. */
const addInvertRunning = (parts: FloatParts, { multiply }: SlowFunctions, running: number): number => {
  const { module, memory, programs, functions } = parts;
  const { field } = programs;
  const floats = memory.coordinate / 8;
  const [first, second] = [0, 8] as const;
  const isPair = field.degree === 2;
  const norm = isPair ? functions.define(['lanes', 'lanes'], (c, to, a) => c.store(to, c.norm(c.load(a)))) : null;
  const conjugate = isPair
    ? functions.define(['lanes', 'lanes', 'lanes'], (c, to, a, n) =>
        c.store(to, c.conjugateTimes(c.load(a), c.loadNumber(n, inverted))),
      )
    : null;
  const invert = addFloatInverse(module, field, memory);
  const [swapped, both] = [memory.takeWide(), memory.takeWide()];
  const [product, number] = memory.takeLanes();
  return module.add(null, { parameters: [] }, (code) => {
    copyFloats(code, [swapped, first, 16], [running, second, 16], floats);
    copyFloats(code, [swapped, second, 16], [running, first, 16], floats);
    call(code, multiply, both, running, swapped);
    copyFloats(code, [product, 0, 8], [both, first, 16], floats);
    if (norm === null || conjugate === null) call(code, invert, product, product);
    else {
      call(code, norm, number, number, product, product);
      call(code, invert, number, number);
      call(code, conjugate, product, product, product, product, number, number);
    }
    for (const lane of [first, second]) copyFloats(code, [both, lane, 16], [product, 0, 8], floats);
    call(code, multiply, running, both, swapped);
  });
};

/** Adds the passes over doublings. */
const addDoublePasses = (parts: FloatParts, slow: SlowFunctions, at: PassMemory): Passes => {
  const { module, memory, programs, functions } = parts;
  const denominator = functions.define(['wide', 'wide', 'wide', 'lanes'], (c, now, kept, prefix, P) => {
    c.store(kept, programs.tangentDenominator(c, P), uncarried);
    c.store(prefix, c.load(now, programs.running), programs.running);
  });
  const numerator = functions.define(['wide', 'signed'], (c, to, P) => c.store(to, programs.tangentNumerator(c, P)));
  const [inverse, slope] = [memory.takeWide(), memory.takeWide()];
  return calledPasses(module, memory.coordinate, at, {
    forward: (code, [now, kept, prefix], item) => {
      call(code, denominator, now, kept, prefix, ...item.barePoints(code, 1));
      call(code, slow.multiply, now, now, kept);
    },
    backward: (code, [now, kept, prefix], item) => {
      const [to, P] = [item.addresses(code, 0), item.addresses(code, 1)];
      call(code, slow.multiply, inverse, now, prefix);
      call(code, numerator, slope, ...P);
      call(code, slow.multiply, slope, inverse, slope);
      call(code, slow.multiply, now, now, kept);
      call(code, slow.finish, slope, ...to, ...P, ...item.barePoints(code, 1));
    },
  });
};

/** Adds a function (list, count) that runs both passes, with the inversion between them. */
const addRun = (
  { module, memory, one }: FloatParts,
  { running }: PassMemory,
  passes: Passes,
  invert: number,
  padding: { readonly P: number; readonly Q: number; readonly junk: number },
): number => {
  const floats = memory.coordinate / 8;
  return module.add(null, { parameters: ['i32', 'i32'] }, (code) => {
    const [list, count] = [code.parameter(0), code.parameter(1)];
    const end = code.local('i32');
    code
      .get(count)
      .do('i32.eqz')
      .if(() => code.do('return'));
    code.get(list).get(count).i32(LIST_ITEM).do('i32.mul', 'i32.add').set(end);
    for (const item of range(PADDING))
      for (const [i, value] of [padding.junk, padding.P, padding.Q].entries())
        code
          .get(end)
          .i32(value)
          .at('i32.store', LIST_ITEM * item + 4 * i);
    // an even number of items
    code.get(count).i32(1).do('i32.add').i32(-2).do('i32.and').set(count);
    code.get(list).get(count).i32(LIST_ITEM).do('i32.mul', 'i32.add').set(end);
    for (const lane of [0, 1]) copyFloats(code, [running, 8 * lane, 16], [one, 0, 8], floats);
    code.get(list).get(count).call(passes.forward);
    code.call(invert);
    code.get(end).get(count).call(passes.backward);
  });
};

/** Adds the function `add` of `KernelExports`. @returns its index */
export const addFloatList = (parts: FloatParts): number => {
  const { module, memory, programs, functions, zero, one } = parts;
  const at: PassMemory = {
    running: memory.takeWide(),
    kept: memory.takeWide(MAX_ADDITIONS / 2),
    prefixes: memory.takeWide(MAX_ADDITIONS / 2),
  };
  const doubles = { list: memory.take(LIST_ITEM * (MAX_ADDITIONS + PADDING)), count: memory.take(4) };
  const point = 2 * memory.coordinate;
  // two points of no curve, whose x differ by 1, and whose y is not 0
  const [left, right, junk] = [memory.take(point), memory.take(point), memory.take(point)];
  const partition = addPartition(parts, doubles);
  const factor = { most: Math.max(uncarried.most, programs.running.most), terms: 2 };
  const either = { most: Math.max(inverted.most, programs.running.most), terms: 1 };
  const slow = {
    multiply: functions.define(['wide', 'wide', 'wide'], (c, to, a, b) =>
      c.store(to, c.multiply(c.load(a, either), c.load(b, factor), [], true)),
    ),
    finish: functions.define(['wide', 'lanes', 'signed', 'lanes'], (c, slope, to, P, Q) =>
      programs.finish(c, c.load(slope, programs.slopes), to, P, Q),
    ),
  };
  const invert = addInvertRunning(parts, slow, at.running);
  const padding = { P: left, Q: right, junk };
  const sums = addRun(parts, at, addSumPasses(parts, slow.finish, at), invert, padding);
  const doublings = addRun(parts, at, addDoublePasses(parts, slow, at), invert, padding);
  return module.add('add', { parameters: ['i32', 'i32'] }, (code) => {
    const [list, count] = [code.parameter(0), code.parameter(1)];
    code
      .get(count)
      .do('i32.eqz')
      .if(() => code.do('return'));
    // the padding is written here, where nothing is read before
    for (const [to, x] of [
      [left, zero],
      [right, one],
    ] as const) {
      copyFloats(code, [to, 0, 8], [x, 0, 8], memory.coordinate / 8);
      copyFloats(code, [to, memory.coordinate, 8], [one, 0, 8], memory.coordinate / 8);
    }
    code.get(list).get(list).get(count).call(partition).call(sums);
    code.i32(doubles.list).i32(doubles.count).at('i32.load', 0).call(doublings);
  });
};

/*
 * Splits a list of additions by the formula that computes them. Sums of points with different x
 * stay in the list, doublings go to a list of their own, and additions that need no formula are
 * done.
 */

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
interface DoubleList {
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
const addPartition = (parts: FloatParts, doubles: DoubleList): number => {
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

/* The passes over additions of points with different x. */

/**
 * Adds the passes. On numbers they are loops without calls: the slope of a pair is computed beside
 * the coordinates of the pair before, since the latency of a product bounds its speed. On pairs
 * c0 + c1·u the products of one addition are enough side by side, and the code is long: functions.
 *
 * @param finish index of the function that computes sums from their slopes
 */
const addSumPasses = (parts: FloatParts, finish: number, at: PassMemory): Passes =>
  parts.programs.field.degree === 1 ? inlinePasses(parts, finish, at) : functionPasses(parts, finish, at);

const functionPasses = (parts: FloatParts, finish: number, at: PassMemory): Passes => {
  const { module, memory, programs, functions } = parts;
  const { running, slopes } = programs;
  const forward = functions.define(['wide', 'wide', 'wide', 'lanes', 'lanes'], (c, now, kept, prefix, P, Q) => {
    const denominator = programs.denominator(c, P, Q);
    const product = c.load(now, running);
    c.store(kept, denominator, uncarried);
    c.store(prefix, product, running);
    c.store(now, programs.advance(c, product, denominator), running);
  });
  const slopeAt = memory.takeWide();
  const start = functions.define(
    ['wide', 'wide', 'wide', 'wide', 'signed', 'signed'],
    (c, to, now, kept, prefix, P, Q) => {
      const [slope, next] = programs.slopeAndNext(c, c.load(now, running), c.load(prefix, running), {
        kept: () => c.load(kept, uncarried),
        numerator: () => programs.numerator(c, P, Q),
      });
      c.store(to, slope, slopes);
      c.store(now, next, running);
    },
  );
  return calledPasses(module, memory.coordinate, at, {
    forward: (code, places, item) =>
      call(code, forward, ...places, ...item.barePoints(code, 1), ...item.barePoints(code, 2)),
    backward: (code, places, item) => {
      call(code, start, slopeAt, ...places, ...item.addresses(code, 1), ...item.addresses(code, 2));
      call(code, finish, slopeAt, ...item.addresses(code, 0), ...item.addresses(code, 1), ...item.barePoints(code, 2));
    },
  });
};

/** A coordinate in locals, which a loop changes. */
class HeldCoordinate {
  readonly as: StoredAs;
  readonly #prefix: string;
  readonly #locals: readonly Local[];

  constructor(code: Code, prefix: string, limbs: number, as: StoredAs) {
    this.#prefix = prefix;
    this.#locals = range(limbs).map(() => code.local('v128'));
    this.as = as;
  }

  get values(): [string, Local][] {
    return this.#locals.map((local, i) => [`${this.#prefix}${i}`, local]);
  }

  /** Loads it from memory, before a loop. */
  load(code: Code, at: number): void {
    for (const [i, local] of this.#locals.entries())
      code
        .i32(at)
        .at('v128.load', 16 * i)
        .set(local);
  }

  store(code: Code, at: number): void {
    for (const [i, local] of this.#locals.entries())
      code
        .i32(at)
        .get(local)
        .at('v128.store', 16 * i);
  }

  value(c: CoordinateLine): Coordinate {
    return c.given(this.#prefix, this.as);
  }

  set(code: Code, locals: readonly Local[]): void {
    for (const [i, local] of locals.entries()) code.get(local).set(this.#locals[i] as Local);
  }
}

const namesOf = (coordinate: Coordinate): string[] => coordinate.flatMap(({ limbs }) => limbs.map(({ name }) => name));

/** Loads the constants of every product into locals. */
const hoist = (writer: FloatWriter, field: FloatField): void => {
  const { high, both } = roundingConstants(field);
  writer.hoist(high, both);
};

const inlinePasses = (parts: FloatParts, finish: number, at: PassMemory): Passes => ({
  forward: addForward(parts, at),
  backward: addBackward(parts, finish, at),
});

const addForward = ({ module, memory, programs, functions }: FloatParts, at: PassMemory): number => {
  const { field, running } = programs;
  return module.add(null, { parameters: ['i32', 'i32'] }, (code) => {
    const [list, count] = [code.parameter(0), code.parameter(1)];
    const { kept, prefix } = code.named('i32', 'kept', 'prefix');
    code.i32(at.kept).set(kept).i32(at.prefixes).set(prefix);
    const writer = functions.writer(code);
    hoist(writer, field);
    const held = new HeldCoordinate(code, 'running', field.limbs, running);
    held.load(code, at.running);
    code.loop((again) => {
      const item = new ItemPair(list);
      const c = programs.begin();
      const [P, Q] = [lanesAt(...item.barePoints(code, 1)), lanesAt(...item.barePoints(code, 2))];
      const denominator = programs.denominator(c, P, Q);
      c.store(wideAt(kept), denominator, uncarried);
      c.store(wideAt(prefix), held.value(c), running);
      const next = programs.advance(c, held.value(c), denominator);
      c.assertWithin(next, running);
      const locals = writer.write(c.line.statements, new Map(held.values), namesOf(next));
      held.set(code, locals);
      step(code, list, 2 * LIST_ITEM);
      for (const pointer of [kept, prefix]) step(code, pointer, 2 * memory.coordinate);
      code.get(count).i32(2).do('i32.sub').tee(count);
      again();
    });
    held.store(code, at.running);
  });
};

const addBackward = (parts: FloatParts, finish: number, at: PassMemory): number => {
  const { module, memory, programs, functions } = parts;
  const { field, running } = programs;
  const lastSlope = memory.takeWide();
  return module.add(null, { parameters: ['i32', 'i32'] }, (code) => {
    const [list, count] = [code.parameter(0), code.parameter(1)];
    const { kept, prefix, before } = code.named('i32', 'kept', 'prefix', 'before');
    for (const [pointer, base] of [
      [kept, at.kept],
      [prefix, at.prefixes],
    ] as const)
      code.get(count).i32(memory.coordinate).do('i32.mul').i32(base).do('i32.add').set(pointer);
    const writer = functions.writer(code);
    hoist(writer, field);
    const held = new HeldCoordinate(code, 'running', field.limbs, running);
    const slope = new HeldCoordinate(code, 'slope', field.limbs, programs.slopes);
    held.load(code, at.running);
    const given = new Map([...held.values, ...slope.values]);
    /** Writes the coordinates of the sums of two items. */
    const finishedBeside = (item: ItemPair): CoordinateLine => {
      const c = programs.begin('f');
      const P: SignedPoint = signedPoint(code, item.addresses(code, 1));
      programs.finish(c, slope.value(c), lanesAt(...item.addresses(code, 0)), P, lanesAt(...item.barePoints(code, 2)));
      return c;
    };
    code.loop((again) => {
      code.get(list).set(before);
      step(code, list, -2 * LIST_ITEM);
      for (const pointer of [kept, prefix]) step(code, pointer, -2 * memory.coordinate);
      const item = new ItemPair(list);
      const c = programs.begin();
      const [P, Q] = [signedPoint(code, item.addresses(code, 1)), signedPoint(code, item.addresses(code, 2))];
      const [nextSlope, next] = programs.slopeAndNext(c, held.value(c), c.load(wideAt(prefix), running), {
        kept: () => c.load(wideAt(kept), uncarried),
        numerator: () => programs.numerator(c, P, Q),
      });
      c.assertWithin(next, running);
      c.assertWithin(nextSlope, programs.slopes);
      const both = interleaved(c.line.statements, finishedBeside(new ItemPair(before)).line.statements);
      const locals = writer.write(both, given, [...namesOf(next), ...namesOf(nextSlope)]);
      held.set(code, locals.slice(0, field.limbs));
      slope.set(code, locals.slice(field.limbs));
      code.get(count).i32(2).do('i32.sub').tee(count);
      again();
    });
    slope.store(code, lastSlope);
    const item = new ItemPair(list);
    const signed = item.addresses(code, 1);
    call(code, finish, lastSlope, ...item.addresses(code, 0), ...signed, ...item.barePoints(code, 2));
  });
};

/* Passes over a list of additions, two items at a time. */

/** Lists with one item for each addition, and the running product of each lane. */
interface PassMemory {
  readonly running: number;
  readonly kept: number;
  readonly prefixes: number;
}

/** The passes over a list: functions (address of the first item, number of items). */
interface Passes {
  readonly forward: number;
  /** Starts at the end of the list. */
  readonly backward: number;
}

/** Addresses of two items of a list. */
class ItemPair {
  readonly #list: Local;

  constructor(list: Local) {
    this.#list = list;
  }

  /** Returns one of the three addresses of both items. */
  addresses(code: Code, which: 0 | 1 | 2): [Local, Local] {
    return range(2).map((lane) => {
      const local = code.local('i32');
      code
        .get(this.#list)
        .at('i32.load', LIST_ITEM * lane + 4 * which)
        .set(local);
      return local;
    }) as [Local, Local];
  }

  /** Returns addresses without their signs. */
  barePoints(code: Code, which: 1 | 2): [Local, Local] {
    const both = this.addresses(code, which);
    for (const local of both) code.get(local).i32(-2).do('i32.and').set(local);
    return both;
  }
}

/** Writes the call that does one step. */
type WriteStep = (code: Code, places: readonly [number, Local, Local], item: ItemPair) => void;

/** Adds passes that call a function for each two items. */
const calledPasses = (
  module: FloatParts['module'],
  coordinate: number,
  { running, kept, prefixes }: PassMemory,
  steps: { readonly forward: WriteStep; readonly backward: WriteStep },
): Passes => {
  const wide = 2 * coordinate;
  const pass = (isForward: boolean): number =>
    module.add(null, { parameters: ['i32', 'i32'] }, (code) => {
      const [list, count] = [code.parameter(0), code.parameter(1)];
      const { keptAt, prefixAt } = code.named('i32', 'keptAt', 'prefixAt');
      const places = [running, keptAt, prefixAt] as const;
      for (const [at, base] of [
        [keptAt, kept],
        [prefixAt, prefixes],
      ] as const) {
        code.i32(base);
        if (!isForward) code.get(count).i32(coordinate).do('i32.mul', 'i32.add');
        code.set(at);
      }
      const advance = (by: 1 | -1): void => {
        step(code, list, by * 2 * LIST_ITEM);
        for (const at of [keptAt, prefixAt]) step(code, at, by * wide);
      };
      code.loop((again) => {
        if (!isForward) advance(-1);
        (isForward ? steps.forward : steps.backward)(code, places, new ItemPair(list));
        if (isForward) advance(1);
        code.get(count).i32(2).do('i32.sub').tee(count);
        again();
      });
    });
  return { forward: pass(true), backward: pass(false) };
};
