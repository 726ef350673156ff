/** Loops over vectors: functions of elements for each element, and passes of a transform. */
import { range } from '../../field/straight-line.js';
import { type Code, callWith, type Local } from '../encoder/code.js';
import type { WasmModule } from '../encoder/module.js';
import type { VectorFunctions } from './vector-functions.js';

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

/* Loops over the butterflies of one pass. */

/** Adds a pass of butterflies with twiddles. */
const addPass = ({ module, functions: { lanes, field } }: LoopParts, name: string, index: number): void => {
  module.add(name, { parameters: i32(6) }, (code) => {
    const [x, distance, count, blocks, blockStep, twiddles] = range(6).map((i) => code.parameter(i)) as [
      ...[Local, Local, Local, Local, Local, Local],
    ];
    const { own, other, w, left } = code.named('i32', 'own', 'other', 'w', 'left');
    code.loop((nextBlock) => {
      code.get(x).tee(own).get(distance).do('i32.add').set(other);
      code.get(twiddles).set(w).get(count).set(left);
      const all = walkers(
        code,
        lanes,
        left,
        [own, other, w].map((each) => [each, field.bytes]),
      );
      laneLoop(code, lanes, left, () => {
        callWith(code, index, all.take().flat());
        all.advance();
      });
      advance(code, x, blockStep);
      code.get(blocks).i32(1).do('i32.sub').tee(blocks);
      nextBlock();
    });
  });
};

/** Adds butterflies without twiddles, of neighbours. */
const addSums = ({ module, functions: { lanes, field } }: LoopParts, name: string, index: number): void => {
  module.add(name, { parameters: i32(2) }, (code) => {
    const [x, count] = [code.parameter(0), code.parameter(1)];
    const y = code.local('i32');
    code.get(x).i32(field.bytes).do('i32.add').set(y);
    const all = walkers(code, lanes, count, [
      [x, 2 * field.bytes],
      [y, 2 * field.bytes],
    ]);
    laneLoop(code, lanes, count, () => {
      callWith(code, index, all.take().flat());
      all.advance();
    });
  });
};

/* Loops over vectors, one element in each lane at a time. */

/** Values that the loops are written with. */
interface LoopParts {
  readonly module: WasmModule;
  readonly functions: VectorFunctions;
  readonly wordBytes: number;
  readonly unitIn: number;
  readonly unitOut: number;
  /** Address of an element in each lane, for temporary values. */
  readonly temporary: readonly number[];
}

/** Returns types of parameters. */
const i32 = (count: number): 'i32'[] => range(count).map(() => 'i32' as const);

/** Adds a constant or a local to an address. */
const advance = (code: Code, address: Local, by: number | Local, times = 1): void => {
  code.get(address);
  if (typeof by === 'number') code.i32(times * by);
  else code.get(by).i32(times).do('i32.mul');
  code.do('i32.add').set(address);
};

/**
 * Leaves in `second` the address of the element after `first`, or `first` again where `count` is 1:
 * the last element of an odd number is computed in both lanes.
 */
const nextAddress = (code: Code, second: Local, first: Local, step: number | Local, count: Local): void => {
  code.get(first);
  if (typeof step === 'number') code.i32(step);
  else code.get(step);
  code.do('i32.add').get(first).get(count).i32(1).do('i32.gt_s', 'select').set(second);
};

/** Writes a loop that counts `count` down by the number of lanes. */
const laneLoop = (code: Code, lanes: number, count: Local, body: () => void): void => {
  code.loop((again) => {
    body();
    code.get(count).i32(lanes).do('i32.sub').tee(count).i32(0).do('i32.gt_s');
    again();
  });
};

/** Addresses that walk through vectors, one in each lane. */
const walkers = (code: Code, lanes: number, count: Local, walks: readonly (readonly [Local, number | Local])[]) => {
  const seconds = walks.map(() => code.local('i32'));
  return {
    /** Sets the second addresses. @returns the addresses in all lanes, by vector */
    take: (): Local[][] =>
      walks.map(([first, step], i) => {
        if (lanes === 1) return [first];
        const second = seconds[i] as Local;
        nextAddress(code, second, first, step, count);
        return [first, second];
      }),
    advance: (): void => {
      for (const [first, step] of walks) advance(code, first, step, lanes);
    },
  };
};
