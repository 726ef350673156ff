/** Loops over vectors: functions of elements for each element, and passes of a transform. */
import { range } from '../../field/straight-line.js';
import type { Code, Local } from '../encoder/code.js';
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
  /**
   * Swaps elements `first` to `first + count` of `length` with those at the indices whose bits are in
   * reverse, unless these are smaller.
   *
   * @param reversed `first` with its bits in reverse
   */
  reverse(at: number, length: number, first: number, count: number, reversed: number): void;
  /** Copies elements, with the one at `instead` for each that is 0. */
  replaceZeros(to: number, from: number, instead: number, count: number): void;
  /** Copies the element at `zero` to each to[i] whose from[i] is 0. */
  restoreZeros(to: number, from: number, zero: number, count: number): void;
  /**
   * Computes a part of one pass: `count` butterflies of each block, an even number.
   *
   * @param x first element; `distance` further on is its partner
   * @param blocks number of blocks, `blockStep` apart
   * @param twiddles w of the first butterfly
   */
  difFirst: PassFunction;
  difEven: PassFunction;
  difOdd: PassFunction;
  dit: PassFunction;
  ditLast: PassFunction;
  /** Computes `count` butterflies without twiddles, each of two neighbours; an even number. */
  difLast(x: number, count: number): void;
  ditFirst(x: number, count: number): void;
  /** The whole transform of two elements. */
  sums(x: number, count: number): void;
  /** Brings `count` elements, an even number, to the layout of pairs; where there is none, does nothing. */
  pair(x: number, count: number): void;
  /** Copies bytes. */
  copy(to: number, from: number, bytes: number): void;
  /** Sets bytes to 0. */
  clear(at: number, bytes: number): void;
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
  module.add(name, { parameters: i32(3 + 2 * operands) }, (code, ...parameters) => {
    const [to, ...rest] = parameters as [Local, ...Local[]];
    const count = rest[operands] as Local;
    const walks = range(operands).map((i) => [rest[i], rest[operands + 2 + i]] as [Local, Local]);
    walk(code, lanes, count, [[to, rest[operands + 1] as Local], ...walks], (...all) =>
      code.call(index, ...all.flat()),
    );
  });
};

const addEnter = ({ module, functions: f, wordBytes, unitIn, temporary }: LoopParts): void => {
  module.add('enter', { parameters: i32(3) }, (code, to, from, count) => {
    const walks = [
      [to, f.field.bytes],
      [from, wordBytes],
    ] as const;
    walk(code, f.lanes, count, walks, (targets = [], sources = []) => {
      for (const [lane, source] of sources.entries()) code.call(f.split, temporary[lane] as number, source);
      code.call(f.multiply, ...targets, ...temporary, ...temporary.map(() => unitIn));
    });
  });
};

const addLeave = ({ module, functions: f, wordBytes, unitOut, temporary }: LoopParts): void => {
  module.add('leave', { parameters: i32(3) }, (code, to, from, count) => {
    const walks = [
      [to, wordBytes],
      [from, f.field.bytes],
    ] as const;
    walk(code, f.lanes, count, walks, (targets = [], sources = []) => {
      code.call(f.multiply, ...temporary, ...sources, ...temporary.map(() => unitOut));
      for (const [lane, target] of targets.entries()) code.call(f.join, target, temporary[lane] as number);
    });
  });
};

const addProductList = ({ module, functions: { lanes, field, multiplyAdd } }: LoopParts): void => {
  module.add('addProducts', { parameters: i32(5) }, (code, list, count, ...bases) => {
    const addresses = bases.map(() => range(lanes).map(() => code.local('i32')));
    code.countPast(
      count,
      () => {
        for (const [k, own] of addresses.entries())
          for (const [lane, address] of own.entries()) {
            code.get(list).at('i32.load', 12 * lane + 4 * k);
            code.i32(field.bytes).do('i32.mul');
            code.get(bases[k] as Local).do('i32.add');
            code.set(address);
          }
        const [to, a, b] = addresses as [Local[], Local[], Local[]];
        code.call(multiplyAdd, ...to, ...a, ...b, ...to);
        code.increase(list, 12 * lanes);
      },
      lanes,
    );
  });
};

/** Copies an element. */
const copyElement = (code: Code, to: Local, from: Local, bytes: number): void => {
  for (let i = 0; i < bytes; i += 4) code.get(to).get(from).at('i32.load', i).at('i32.store', i);
};

/** Adds copies and zeros of whole blocks. JavaScript takes eight times as long in shared memory. */
const addBlocks = ({ module }: LoopParts): void => {
  module.add('copy', { parameters: i32(3) }, (code, to, from, bytes) => {
    code.get(to).get(from).get(bytes).do('memory.copy');
  });
  module.add('clear', { parameters: i32(2) }, (code, at, bytes) => {
    code.get(at).i32(0).get(bytes).do('memory.fill');
  });
};

const addPick = ({ module, functions: { field } }: LoopParts): void => {
  module.add('pick', { parameters: i32(4) }, (code, to, from, list, count) => {
    const source = code.local('i32');
    code.countPast(
      count,
      () => {
        code.get(list).at('i32.load', 0).i32(field.bytes).do('i32.mul').get(from).do('i32.add').set(source);
        copyElement(code, to, source, field.bytes);
        code.increase(to, field.bytes);
        code.increase(list, 4);
      },
      1,
    );
  });
};

/** Swaps two elements. */
const swapElements = (code: Code, a: Local, b: Local, bytes: number): void => {
  const [word, rest] = [code.local('i64'), code.local('i32')];
  for (let i = 0; i < bytes; i += 8) {
    const [load, store, value] =
      i + 8 <= bytes ? (['i64.load', 'i64.store', word] as const) : (['i32.load', 'i32.store', rest] as const);
    code.get(a).at(load, i).set(value);
    code.get(a).get(b).at(load, i).at(store, i);
    code.get(b).get(value).at(store, i);
  }
};

/**
 * Adds swaps by indices in reverse. The next one in reverse follows from the number of ones at the
 * end of an index. Copies by a list of indices were rejected: they take five times as long.
 */
const addReverse = ({ module, functions: { field } }: LoopParts): void => {
  module.add('reverse', { parameters: i32(5) }, (code, at, length, first, count, reversed) => {
    const { a, b } = code.named('i32', 'a', 'b');
    const addressOf = (index: Local): void => {
      code.get(index).i32(field.bytes).do('i32.mul').get(at).do('i32.add');
    };
    code.countDown(count, () => {
      code.get(first).get(reversed).do('i32.lt_u');
      code.if(() => {
        addressOf(first);
        code.set(a);
        addressOf(reversed);
        code.set(b);
        swapElements(code, a, b, field.bytes);
      });
      code.increase(first, 1);
      // the ones at the end become zeros, and a zero before them a one
      code.get(reversed).get(length).get(length).get(first).do('i32.ctz').i32(1).do('i32.add', 'i32.shr_u', 'i32.sub');
      code.do('i32.xor').set(reversed);
    });
  });
};

const addZeroLoops = ({ module, functions: { field, isZero } }: LoopParts): void => {
  for (const name of ['replaceZeros', 'restoreZeros'] as const) {
    module.add(name, { parameters: i32(4) }, (code, to, from, other, count) => {
      code.countPast(
        count,
        () => {
          code.get(from).call(isZero);
          code.if(
            () => copyElement(code, to, other, field.bytes),
            name === 'replaceZeros' ? () => copyElement(code, to, from, field.bytes) : undefined,
          );
          code.increase(to, field.bytes);
          code.increase(from, field.bytes);
        },
        1,
      );
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
  addReverse(parts);
  addBlocks(parts);
  addZeroLoops(parts);
  for (const name of ['multiply', 'add', 'subtract'] as const) addElementLoop(parts, name, f[name], 2);
  for (const name of ['multiplyAdd', 'multiplySubtract'] as const) addElementLoop(parts, name, f[name], 3);
  for (const name of ['difFirst', 'difOdd', 'difEven', 'dit', 'ditLast'] as const) addPass(parts, name);
  for (const name of ['difLast', 'ditFirst', 'sums'] as const) addSums(parts, name);
  addPairing(parts);
};

/* Loops over the butterflies of one pass. */

/** Writes a loop that calls a function for two of `count` each time, and moves its addresses on by `step`. */
const walkPairs = (code: Code, count: Local, addresses: readonly Local[], step: number, index: number): void => {
  code.countDown(
    count,
    () => {
      code.call(index, ...addresses);
      for (const each of addresses) code.increase(each, step);
    },
    2,
  );
};

/** Adds a pass of butterflies with twiddles. */
const addPass = (
  { module, functions: { lanes, field, butterflies } }: LoopParts,
  name: 'difFirst' | 'difOdd' | 'difEven' | 'dit' | 'ditLast',
): void => {
  module.add(name, { parameters: i32(6) }, (code, x, distance, count, blocks, blockStep, twiddles) => {
    const { own, other, w, left } = code.named('i32', 'own', 'other', 'w', 'left');
    code.countDown(blocks, () => {
      code.get(x).tee(own).get(distance).do('i32.add').set(other);
      code.get(twiddles).set(w).get(count).set(left);
      const operands = [own, other, w] as const;
      if (butterflies.arePaired) {
        walkPairs(code, left, operands, 2 * field.bytes, butterflies[name]);
      } else {
        const walks = operands.map((each) => [each, field.bytes] as const);
        walk(code, lanes, left, walks, (...all) => code.call(butterflies[name], ...all.flat()));
      }
      code.increase(x, blockStep);
    });
  });
};

/** Adds butterflies without twiddles, of neighbours. */
const addSums = (
  { module, functions: { lanes, field, butterflies } }: LoopParts,
  name: 'difLast' | 'ditFirst' | 'sums',
): void => {
  module.add(name, { parameters: i32(2) }, (code, x, count) => {
    if (butterflies.arePaired && name !== 'sums') {
      walkPairs(code, count, [x], 4 * field.bytes, butterflies[name]);
      return;
    }
    const y = code.local('i32');
    code.get(x).i32(field.bytes).do('i32.add').set(y);
    const walks = [x, y].map((each) => [each, 2 * field.bytes] as const);
    walk(code, lanes, count, walks, (...all) => code.call(butterflies[name], ...all.flat()));
  });
};

/** Adds the change to the layout of pairs. */
const addPairing = ({ module, functions: { field, butterflies } }: LoopParts): void => {
  const { pair } = butterflies;
  module.add('pair', { parameters: i32(2) }, (code, x, count) => {
    if (pair !== undefined) walkPairs(code, count, [x], 2 * field.bytes, pair);
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

/**
 * Writes a loop over `count` elements of vectors, one in each lane at a time. The last element of an
 * odd number is computed in both lanes.
 *
 * @param walks first addresses, and the distances of elements
 * @param each takes the addresses in all lanes, by vector
 */
const walk = (
  code: Code,
  lanes: number,
  count: Local,
  walks: readonly (readonly [Local, number | Local])[],
  each: (...addresses: Local[][]) => void,
): void => {
  const seconds = walks.map(() => code.local('i32'));
  code.countPast(
    count,
    () => {
      each(
        ...walks.map(([first, step], i) => {
          if (lanes === 1) return [first];
          const second = seconds[i] as Local;
          code.get(first).push(step).do('i32.add').get(first).get(count).i32(1).do('i32.gt_s', 'select').set(second);
          return [first, second];
        }),
      );
      for (const [first, step] of walks) {
        if (typeof step === 'number') code.increase(first, lanes * step);
        else code.get(first).get(step).i32(lanes).do('i32.mul', 'i32.add').set(first);
      }
    },
    lanes,
  );
};
