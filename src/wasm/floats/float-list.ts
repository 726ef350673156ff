/**
 * Affine additions in lists that share one inversion (Montgomery 1987, section 10.3.1), two side by
 * side: a pass forward multiplies the denominators up, and a pass back computes the sums.
 */
import { range } from '../../field/straight-line.js';
import { calledPasses, type Passes, type PassMemory } from './called-passes.js';
import { type StoredAs, uncarried } from './coordinates.js';
import { addFloatInverse } from './float-inverse.js';
import { MAX_ADDITIONS } from './float-memory.js';
import { call, copyFloats, type FloatParts, LIST_ITEM, PADDING } from './float-parts.js';
import { addPartition } from './partition.js';
import { addSumPasses } from './sum-passes.js';

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
