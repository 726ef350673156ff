/** Loops over vectors: functions of elements for each element, and passes of a transform. */
import { range } from '../../field/straight-line.js';
import { callWith } from '../arithmetic/addresses.js';
import type { Code, Local } from '../encoder/code.js';
import { advance, i32, type LoopParts, laneLoop, walkers } from './lane-loops.js';
import { addPass, addSums } from './pass-loops.js';

/** Functions of a module of vectors. Addresses and steps are in bytes, and counts at least 1. */
export interface VectorExports {
  /** Converts numbers below p, of `wordBytes` each, and multiplies by the one at `unitIn`. */
  enter(to: number, words: number, count: number): void;
  /** Multiplies elements by the one at `unitOut`, and writes them as numbers below p. */
  leave(words: number, from: number, count: number): void;
  /**
   * Computes a·b for each element. The steps are the distances of results and operands; a step of 0
   * takes the same operand each time.
   */
  multiply(to: number, a: number, b: number, count: number, stepTo: number, stepA: number, stepB: number): void;
  /** a·b + c. */
  multiplyAdd: VectorFunction3;
  /** a·b − c. */
  multiplySubtract: VectorFunction3;
  /** a + b. */
  add: VectorExports['multiply'];
  /** a − b. */
  subtract: VectorExports['multiply'];
  /**
   * Adds products a[i]·b[j] to elements to[k], for `count` triples (k, i, j) of words; an even
   * number. Two triples in a row must not have the same k.
   */
  addProducts(list: number, count: number, to: number, a: number, b: number): void;
  /** Copies elements from[list[i]] to to[i]. */
  pick(to: number, from: number, list: number, count: number): void;
  /** Copies elements, with the one at `instead` for each that is 0. */
  replaceZeros(to: number, from: number, instead: number, count: number): void;
  /** Copies the element at `zero` to each to[i] whose from[i] is 0. */
  restoreZeros(to: number, from: number, zero: number, count: number): void;
  /**
   * Computes a part of one pass: `count` butterflies of each block, an even number or 1.
   *
   * @param x first element; `distance` further on is its partner
   * @param blocks number of blocks, `blockStep` apart
   * @param twiddles w of the first butterfly
   */
  difEven: PassFunction;
  difOdd: PassFunction;
  dit: PassFunction;
  ditLast: PassFunction;
  /** Computes butterflies without twiddles of `count` neighbours. */
  difLast(x: number, count: number): void;
  ditFirst(x: number, count: number): void;
}

type VectorFunction3 = (
  to: number,
  a: number,
  b: number,
  c: number,
  count: number,
  stepTo: number,
  stepA: number,
  stepB: number,
  stepC: number,
) => void;

type PassFunction = (
  x: number,
  distance: number,
  count: number,
  blocks: number,
  blockStep: number,
  twiddles: number,
) => void;

/** Adds a function of elements as a loop. */
const addElementLoop = (
  { module, functions: { lanes } }: LoopParts,
  name: keyof VectorExports,
  index: number,
  operands: 2 | 3,
): void => {
  module.add(name, { parameters: i32(3 + 2 * operands) }, (code) => {
    const [to, ...rest] = range(3 + 2 * operands).map((i) => code.parameter(i)) as [Local, ...Local[]];
    const count = rest[operands] as Local;
    const walks = range(operands).map((i) => [rest[i], rest[operands + 2 + i]] as [Local, Local]);
    const all = walkers(code, lanes, count, [[to, rest[operands + 1] as Local], ...walks]);
    laneLoop(code, lanes, count, () => {
      callWith(code, index, all.take().flat());
      all.advance();
    });
  });
};

const addEnter = ({ module, functions: f, wordBytes, unitIn, temporary }: LoopParts): void => {
  module.add('enter', { parameters: i32(3) }, (code) => {
    const [to, from, count] = range(3).map((i) => code.parameter(i)) as [Local, Local, Local];
    const all = walkers(code, f.lanes, count, [
      [to, f.field.bytes],
      [from, wordBytes],
    ]);
    laneLoop(code, f.lanes, count, () => {
      const [targets, sources] = all.take() as [Local[], Local[]];
      for (const [lane, source] of sources.entries()) callWith(code, f.split, [temporary[lane] as number, source]);
      callWith(code, f.multiply, [...targets, ...temporary, ...temporary.map(() => unitIn)]);
      all.advance();
    });
  });
};

const addLeave = ({ module, functions: f, wordBytes, unitOut, temporary }: LoopParts): void => {
  module.add('leave', { parameters: i32(3) }, (code) => {
    const [to, from, count] = range(3).map((i) => code.parameter(i)) as [Local, Local, Local];
    const all = walkers(code, f.lanes, count, [
      [to, wordBytes],
      [from, f.field.bytes],
    ]);
    laneLoop(code, f.lanes, count, () => {
      const [targets, sources] = all.take() as [Local[], Local[]];
      callWith(code, f.multiply, [...temporary, ...sources, ...temporary.map(() => unitOut)]);
      for (const [lane, target] of targets.entries()) callWith(code, f.join, [target, temporary[lane] as number]);
      all.advance();
    });
  });
};

const addProductList = ({ module, functions: { lanes, field, multiplyAdd } }: LoopParts): void => {
  module.add('addProducts', { parameters: i32(5) }, (code) => {
    const [list, count, ...bases] = range(5).map((i) => code.parameter(i)) as [Local, Local, ...Local[]];
    const addresses = bases.map(() => range(lanes).map(() => code.local('i32')));
    laneLoop(code, lanes, count, () => {
      for (const [k, own] of addresses.entries())
        for (const [lane, address] of own.entries())
          code
            .get(list)
            .at('i32.load', 12 * lane + 4 * k)
            .i32(field.bytes)
            .do('i32.mul')
            .get(bases[k] as Local)
            .do('i32.add')
            .set(address);
      const [to, a, b] = addresses as [Local[], Local[], Local[]];
      callWith(code, multiplyAdd, [...to, ...a, ...b, ...to]);
      advance(code, list, 12 * lanes);
    });
  });
};

/** Copies an element. */
const copyElement = (code: Code, to: Local, from: Local, bytes: number): void => {
  for (let i = 0; i < bytes; i += 4) code.get(to).get(from).at('i32.load', i).at('i32.store', i);
};

const addPick = ({ module, functions: { field } }: LoopParts): void => {
  module.add('pick', { parameters: i32(4) }, (code) => {
    const [to, from, list, count] = range(4).map((i) => code.parameter(i)) as [Local, Local, Local, Local];
    const source = code.local('i32');
    laneLoop(code, 1, count, () => {
      code.get(list).at('i32.load', 0).i32(field.bytes).do('i32.mul').get(from).do('i32.add').set(source);
      copyElement(code, to, source, field.bytes);
      advance(code, to, field.bytes);
      advance(code, list, 4);
    });
  });
};

const addZeroLoops = ({ module, functions: { field, isZero } }: LoopParts): void => {
  for (const name of ['replaceZeros', 'restoreZeros'] as const) {
    module.add(name, { parameters: i32(4) }, (code) => {
      const [to, from, other, count] = range(4).map((i) => code.parameter(i)) as [Local, Local, Local, Local];
      laneLoop(code, 1, count, () => {
        code.get(from).call(isZero);
        code.if(
          () => copyElement(code, to, other, field.bytes),
          name === 'replaceZeros' ? () => copyElement(code, to, from, field.bytes) : undefined,
        );
        advance(code, to, field.bytes);
        advance(code, from, field.bytes);
      });
    });
  }
};

/** Adds the functions of `VectorExports`. */
export const addVectorLoops = (parts: LoopParts): void => {
  const { functions: f } = parts;
  addEnter(parts);
  addLeave(parts);
  addProductList(parts);
  addPick(parts);
  addZeroLoops(parts);
  for (const name of ['multiply', 'add', 'subtract'] as const) addElementLoop(parts, name, f[name], 2);
  for (const name of ['multiplyAdd', 'multiplySubtract'] as const) addElementLoop(parts, name, f[name], 3);
  addPass(parts, 'difEven', f.dif[0]);
  addPass(parts, 'difOdd', f.dif[1]);
  addPass(parts, 'dit', f.dit);
  addPass(parts, 'ditLast', f.ditLast);
  addSums(parts, 'difLast', f.difLast);
  addSums(parts, 'ditFirst', f.ditFirst);
};
