/** The parts of the list adder (../arithmetic/list-adder.ts) on floats, two additions side by side. */
import {
  addListAdder,
  calledPasses,
  KIND,
  LIST_ITEM,
  ListItems,
  MAX_ADDITIONS,
  type Passes,
  type PassMemory,
} from '../arithmetic/list-adder.js';
import type { Code, Local } from '../encoder/code.js';
import { centred, type FloatField } from './float-field.js';
import {
  areZero,
  copyFloats,
  type FloatParts,
  HeldCoordinate,
  hoist,
  interleaved,
  namesOf,
  signedPoint,
} from './float-functions.js';
import { type LaneSource, lanesAt, wideAt } from './float-line.js';
import { addFloatInverse } from './float-numbers.js';
import {
  type Coordinate,
  type CoordinateLine,
  type PointPrograms,
  type SignedPoint,
  type StoredAs,
  uncarried,
} from './point-programs.js';

/** Bounds of an inverse. */
const inverted: StoredAs = { most: 1.01, terms: 1 };

/** Lists of an addition in two lanes, and the running product of each lane. */
interface FloatLists extends PassMemory {
  readonly running: number;
}

type Items = ListItems<[Local, Local]>;

/** The slopes of a pass. */
interface Slopes {
  /** Index in an item of the point that finishes the sum beside P: of Q, or of P itself. */
  readonly second: 1 | 2;
  denominator(c: CoordinateLine, P: LaneSource, Q: LaneSource): Coordinate;
  numerator(c: CoordinateLine, P: SignedPoint, Q: SignedPoint): Coordinate;
}

/** Returns the slopes (y2 − y1)/(x2 − x1) of sums. */
const chords = (programs: PointPrograms): Slopes => ({
  second: 2,
  denominator: (c, P, Q) => programs.denominator(c, P, Q),
  numerator: (c, P, Q) => programs.numerator(c, P, Q),
});

/** Returns the slopes (3·x1² + a)/(2·y1) of doublings. */
const tangents = (programs: PointPrograms): Slopes => ({
  second: 1,
  denominator: (c, P) => programs.tangentDenominator(c, P),
  numerator: (c, P) => programs.tangentNumerator(c, P),
});

/**
 * Adds a function that inverts the running product of each lane, by one inversion for both.
 *
 * @param multiply index of the function (to, a, b) that settles a·b
 */
const addInvertRunning = (parts: FloatParts, multiply: number, running: number): number => {
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
    code.call(multiply, both, running, swapped);
    copyFloats(code, [product, 0, 8], [both, first, 16], floats);
    if (norm === null || conjugate === null) code.call(invert, product, product);
    else {
      code.call(norm, number, number, product, product);
      code.call(invert, number, number);
      code.call(conjugate, product, product, product, product, number, number);
    }
    for (const lane of [first, second]) copyFloats(code, [both, lane, 16], [product, 0, 8], floats);
    code.call(multiply, running, both, swapped);
  });
};

/** Adds the function `add` of `KernelExports`. @returns its index */
export const addFloatList = (parts: FloatParts): number => {
  const { module, memory, programs, functions, zero, one } = parts;
  const floats = memory.coordinate / 8;
  const running = memory.takeWide();
  const at: FloatLists = {
    running,
    kept: memory.takeWide(MAX_ADDITIONS / 2),
    prefixes: memory.takeWide(MAX_ADDITIONS / 2),
    bytes: memory.coordinate,
  };
  const point = 2 * memory.coordinate;
  const padding = { to: memory.take(point), P: memory.take(point), Q: memory.take(point) };
  const either = { most: Math.max(inverted.most, programs.running.most), terms: 1 };
  const multiply = functions.define(['wide', 'wide', 'wide'], (c, to, a, b) =>
    c.store(to, c.multiply(c.load(a, either), c.load(b, either), [], true)),
  );
  const finish = functions.define(['wide', 'lanes', 'signed', 'lanes'], (c, slope, to, P, Q) =>
    programs.finish(c, c.load(slope, programs.slopes), to, P, Q),
  );
  // the longest functions first: engines compile in this order
  const passes = {
    sums: addPasses(parts, chords(programs), finish, at),
    doublings: addPasses(parts, tangents(programs), finish, at),
  };
  const invert = addInvertRunning(parts, multiply, running);
  return addListAdder({
    ...{ module, lanes: 2, padding },
    take: (bytes) => memory.take(bytes),
    mayBeExceptional: (code, P, Q) => mayBeExceptional(code, programs.field, [P, Q]),
    hasOrdinate: (code, P) => {
      code.get(P).i32(-2).do('i32.and').at('f64.load', memory.coordinate).f64(0);
      code.do('f64.ne');
    },
    classify: addClassify(parts),
    ...passes,
    begin: (code) => {
      for (const lane of [0, 1]) copyFloats(code, [running, 8 * lane, 16], [one, 0, 8], floats);
    },
    invert: (code) => code.call(invert),
    writePadding: (code) => {
      for (const [to, x] of [
        [padding.P, zero],
        [padding.Q, one],
      ] as const) {
        copyFloats(code, [to, 0, 8], [x, 0, 8], floats);
        copyFloats(code, [to, memory.coordinate, 8], [one, 0, 8], floats);
      }
    },
  });
};

/** Adds the function `ListForm.classify`. */
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
  return module.add(null, { parameters: ['i32', 'i32', 'i32'], result: 'i32' }, (code, to, P, Q) => {
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
      code.call(negate, y, y, signOf, signOf);
      copyFloats(code, [to, 0, 8], [bare, 0, 8], floats);
    };
    areZero(code, p, 2 * floats);
    returnIf(KIND.done, () => copySigned(q, Q));
    areZero(code, q, 2 * floats);
    returnIf(KIND.done, () => copySigned(p, P));
    code.call(subtract, work, work, p, p, q, q);
    areZero(code, work, floats);
    code.do('i32.eqz');
    returnIf(KIND.sum);
    code.call(addOrdinates, work, work, P, P, Q, Q);
    areZero(code, work, floats);
    returnIf(KIND.done, () => {
      copyFloats(code, [to, 0, 8], [zero, 0, 8], floats);
      copyFloats(code, [to, memory.coordinate, 8], [zero, 0, 8], floats);
    });
    code.i32(KIND.double);
  });
};

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

/**
 * Adds the passes over sums or over doublings. On numbers they are loops without calls.
 * On pairs c0 + c1·u the code of such loops is long: sums take 0.9 of the time, but the first load of
 * a key 1.3 times as long, as an engine compiles one function on one thread (experiment
 * `cpu-pair-sums-in-loops`).
 *
 * @param finish index of the function that computes sums from their slopes
 */
const addPasses = (parts: FloatParts, slopes: Slopes, finish: number, at: FloatLists): Passes =>
  parts.programs.field.degree === 1
    ? { forward: addForward(parts, slopes, at), backward: addBackward(parts, slopes, finish, at) }
    : functionPasses(parts, slopes, finish, at);

const functionPasses = (
  { module, memory, programs, functions }: FloatParts,
  of: Slopes,
  finish: number,
  at: FloatLists,
): Passes => {
  const { running, slopes } = programs;
  const [now, slopeAt] = [wideAt(at.running), memory.takeWide()];
  const forward = functions.define(['wide', 'wide', 'lanes', 'lanes'], (c, kept, prefix, P, Q) => {
    const [denominator, product] = [of.denominator(c, P, Q), c.load(now, running)];
    c.store(kept, denominator, uncarried);
    c.store(prefix, product, running);
    c.store(now, programs.advance(c, product, denominator), running);
  });
  const start = functions.define(['wide', 'wide', 'signed', 'signed'], (c, kept, prefix, P, Q) => {
    const [slope, next] = programs.slopeAndNext(c, c.load(now, running), c.load(prefix, running), {
      kept: () => c.load(kept, uncarried),
      numerator: () => of.numerator(c, P, Q),
    });
    c.store(wideAt(slopeAt), slope, slopes);
    c.store(now, next, running);
  });
  return calledPasses<[Local, Local]>(module, 2, at, {
    forward: (code, { kept, prefix }, items) =>
      code.call(forward, kept, prefix, ...items.barePoints(1), ...items.barePoints(of.second)),
    backward: (code, { kept, prefix }, items) => {
      const [to, P] = [items.addresses(0), items.addresses(1)];
      code.call(start, kept, prefix, ...P, ...items.addresses(of.second));
      code.call(finish, slopeAt, ...to, ...P, ...items.barePoints(of.second));
    },
  });
};

const addForward = ({ module, memory, programs, functions }: FloatParts, slopes: Slopes, at: FloatLists): number => {
  const { field, running } = programs;
  return module.add(null, { parameters: ['i32', 'i32'] }, (code, list, count) => {
    const { kept, prefix } = code.named('i32', 'kept', 'prefix');
    code.i32(at.kept).set(kept).i32(at.prefixes).set(prefix);
    const writer = functions.writer(code);
    hoist(writer, field);
    const held = new HeldCoordinate(code, 'running', field, running);
    held.load(code, at.running);
    code.countDown(
      count,
      () => {
        const item = new ListItems<[Local, Local]>(code, list, 2);
        const c = programs.begin();
        const [P, Q] = [lanesAt(...item.barePoints(1)), lanesAt(...item.barePoints(slopes.second))];
        const denominator = slopes.denominator(c, P, Q);
        c.store(wideAt(kept), denominator, uncarried);
        c.store(wideAt(prefix), held.value(c), running);
        const next = programs.advance(c, held.value(c), denominator);
        c.assertWithin(next, running);
        const locals = writer.write(c.line.statements, new Map(held.values), namesOf(next));
        held.set(code, locals);
        code.increase(list, 2 * LIST_ITEM);
        for (const pointer of [kept, prefix]) code.increase(pointer, 2 * memory.coordinate);
      },
      2,
    );
    held.store(code, at.running);
  });
};

/**
 * Adds the pass back. The slope of a pair is computed beside the coordinates of the pair before, since
 * the latency of a product bounds its speed.
 *
 * @param finish index of the function that computes sums from their slopes
 */
const addBackward = (parts: FloatParts, slopes: Slopes, finish: number, at: FloatLists): number => {
  const { module, memory, programs, functions } = parts;
  const { field, running } = programs;
  const lastSlope = memory.takeWide();
  return module.add(null, { parameters: ['i32', 'i32'] }, (code, list, count) => {
    const { kept, prefix, before } = code.named('i32', 'kept', 'prefix', 'before');
    for (const [pointer, base] of [
      [kept, at.kept],
      [prefix, at.prefixes],
    ] as const)
      code.get(count).i32(memory.coordinate).do('i32.mul').i32(base).do('i32.add').set(pointer);
    const writer = functions.writer(code);
    hoist(writer, field);
    const held = new HeldCoordinate(code, 'running', field, running);
    const slope = new HeldCoordinate(code, 'slope', field, programs.slopes);
    held.load(code, at.running);
    const given = new Map([...held.values, ...slope.values]);
    /** Writes the coordinates of the sums of two items. */
    const finishedBeside = (item: Items): CoordinateLine => {
      const c = programs.begin('f');
      const P: SignedPoint = signedPoint(code, item.addresses(1));
      programs.finish(c, slope.value(c), lanesAt(...item.addresses(0)), P, lanesAt(...item.barePoints(slopes.second)));
      return c;
    };
    code.countDown(
      count,
      () => {
        code.get(list).set(before);
        code.increase(list, -2 * LIST_ITEM);
        for (const pointer of [kept, prefix]) code.increase(pointer, -2 * memory.coordinate);
        const item = new ListItems<[Local, Local]>(code, list, 2);
        const c = programs.begin();
        const [P, Q] = [signedPoint(code, item.addresses(1)), signedPoint(code, item.addresses(slopes.second))];
        const [nextSlope, next] = programs.slopeAndNext(c, held.value(c), c.load(wideAt(prefix), running), {
          kept: () => c.load(wideAt(kept), uncarried),
          numerator: () => slopes.numerator(c, P, Q),
        });
        c.assertWithin(next, running);
        c.assertWithin(nextSlope, programs.slopes);
        const both = interleaved(
          c.line.statements,
          finishedBeside(new ListItems<[Local, Local]>(code, before, 2)).line.statements,
        );
        const locals = writer.write(both, given, [...namesOf(next), ...namesOf(nextSlope)]);
        held.set(code, locals.slice(0, field.limbs));
        slope.set(code, locals.slice(field.limbs));
      },
      2,
    );
    slope.store(code, lastSlope);
    const item = new ListItems<[Local, Local]>(code, list, 2);
    const signed = item.addresses(1);
    code.call(finish, lastSlope, ...item.addresses(0), ...signed, ...item.barePoints(slopes.second));
  });
};
