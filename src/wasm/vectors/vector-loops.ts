/** Loops over vectors: functions of elements for each element, and passes of a transform. */
import { range } from '../../field/straight-line.js';
import { copyElement } from '../arithmetic/kernel-memory.js';
import type { Code, Local } from '../encoder/code.js';
import type { WasmModule } from '../encoder/module.js';
import type { VectorFunctions } from './vector-functions.js';

const OF_TWO = ['to', 'a', 'b', 'count', 'stepTo', 'stepA', 'stepB'] as const;
const OF_THREE = ['to', 'a', 'b', 'c', 'count', 'stepTo', 'stepA', 'stepB', 'stepC'] as const;
const OF_PASS = ['x', 'distance', 'count', 'blocks', 'blockStep', 'twiddles'] as const;
const OF_NEIGHBOURS = ['x', 'count'] as const;

/**
 * Parameters of the kernels that programs call, in their order. Addresses and steps are in bytes, and
 * counts at least 1.
 */
export const kernelParameters = {
  /**
   * Computes a·b for each element. The steps are the distances of results and operands; a step of 0
   * takes the same operand each time.
   */
  multiply: OF_TWO,
  /** a·b + c. */
  multiplyAdd: OF_THREE,
  /** a·b − c. */
  multiplySubtract: OF_THREE,
  /** a + b. */
  add: OF_TWO,
  /** a − b. */
  subtract: OF_TWO,
  /**
   * Computes a^(2^times)·b for `count` elements one behind the other, a multiple of four; `times` is at
   * least 1. `to` may be a, and is not b.
   */
  squareMultiply: ['to', 'a', 'b', 'times', 'count'],
  /**
   * Adds products a[i]·b[j] to elements to[k], for `count` triples (k, i, j) of words; an even
   * number. Two triples in a row must not have the same k.
   */
  addProducts: ['list', 'count', 'to', 'a', 'b'],
  /**
   * Swaps elements `first` to `first + count` of `length` with those at the indices whose bits are in
   * reverse, unless these are smaller. `reversed` is `first` with its bits in reverse.
   */
  reverse: ['at', 'length', 'first', 'count', 'reversed'],
  /** Copies elements, with the one at `other` for each that is 0. */
  replaceZeros: ['to', 'from', 'other', 'count'],
  /** Copies the element at `other` to each to[i] whose from[i] is 0. */
  restoreZeros: ['to', 'from', 'other', 'count'],
  /**
   * Computes a part of one pass: `count` butterflies of each block, an even number. The partner of
   * the first element x is `distance` further on, the next block `blockStep`. The first butterfly
   * has the w at `twiddles`.
   */
  difFirst: OF_PASS,
  difEven: OF_PASS,
  difOdd: OF_PASS,
  dit: OF_PASS,
  ditLast: OF_PASS,
  /** Computes `count` butterflies without twiddles, each of two neighbours; an even number. */
  difLast: OF_NEIGHBOURS,
  ditFirst: OF_NEIGHBOURS,
  /** The whole transform of two elements. */
  sums: OF_NEIGHBOURS,
  /** Brings `count` elements, an even number, to the layout of pairs; where there is none, does nothing. */
  pair: OF_NEIGHBOURS,
  /** Copies bytes. */
  copy: ['to', 'from', 'bytes'],
  /** Sets bytes to 0. */
  clear: ['at', 'bytes'],
} as const;

export type KernelName = keyof typeof kernelParameters;

type KernelFunction = (...parameters: readonly (number | undefined)[]) => void;

/** Functions of a module of vectors. */
export interface VectorExports extends Readonly<Record<KernelName, KernelFunction>> {
  /** Converts numbers below p, of `wordBytes` each, and multiplies by the one at `unitIn`. */
  enter(to: number, words: number, count: number): void;
  /** Multiplies elements by the one at `unitOut`, and writes them as numbers below p. */
  leave(words: number, from: number, count: number): void;
  /** Copies elements from[list[i]] to to[i]. */
  pick(to: number, from: number, list: number, count: number): void;
}

/** Adds a kernel. @param body takes the kernel's parameters by their names */
const addKernel = <Name extends KernelName>(
  { module }: LoopParts,
  name: Name,
  body: (code: Code, parameters: Readonly<Record<(typeof kernelParameters)[Name][number], Local>>) => void,
): void => {
  const names: readonly string[] = kernelParameters[name];
  module.add(name, { parameters: i32(names.length) }, (code, ...locals) =>
    body(code, Object.fromEntries(names.map((each, i) => [each, locals[i]])) as Parameters<typeof body>[1]),
  );
};

/** Adds a function of elements as a loop. */
const addElementLoop = (
  parts: LoopParts,
  name: 'multiply' | 'multiplyAdd' | 'multiplySubtract' | 'add' | 'subtract',
): void => {
  const { lanes, [name]: index } = parts.functions;
  addKernel(parts, name, (code, { to, a, b, count, stepTo, stepA, stepB, ...third }) => {
    const walks: [Local, Local][] = [
      [to, stepTo],
      [a, stepA],
      [b, stepB],
    ];
    if ('c' in third) walks.push([third.c, third.stepC]);
    walk(code, lanes, count, walks, (...all) => code.call(index, ...all.flat()));
  });
};

const addSquareMultiplyLoop = (parts: LoopParts): void => {
  const { field, squareMultiply } = parts.functions;
  const { index, elements } = squareMultiply;
  addKernel(parts, 'squareMultiply', (code, { to, a, b, times, count }) => {
    code.countDown(
      count,
      () => {
        code.call(index, to, a, b, times);
        for (const each of [to, a, b]) code.increase(each, elements * field.bytes);
      },
      elements,
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

const addProductList = (parts: LoopParts): void => {
  const { lanes, field, multiplyAdd } = parts.functions;
  addKernel(parts, 'addProducts', (code, { list, count, to, a, b }) => {
    const bases = [to, a, b];
    const addresses = bases.map(() => range(lanes).map(() => code.local('i32')));
    code.countPast(
      count,
      () => {
        for (const [k, base] of bases.entries())
          for (const [lane, address] of (addresses[k] as Local[]).entries()) {
            code.get(list).at('i32.load', 12 * lane + 4 * k);
            code.i32(field.bytes).do('i32.mul');
            code.get(base).do('i32.add');
            code.set(address);
          }
        const [sums, ...factors] = addresses as [Local[], Local[], Local[]];
        code.call(multiplyAdd, ...sums, ...factors.flat(), ...sums);
        code.increase(list, 12 * lanes);
      },
      lanes,
    );
  });
};

/** Adds copies and zeros of whole blocks. JavaScript takes eight times as long in shared memory. */
const addBlocks = (parts: LoopParts): void => {
  addKernel(parts, 'copy', (code, { to, from, bytes }) => {
    code.get(to).get(from).get(bytes).do('memory.copy');
  });
  addKernel(parts, 'clear', (code, { at, bytes }) => {
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
const addReverse = (parts: LoopParts): void => {
  const { field } = parts.functions;
  addKernel(parts, 'reverse', (code, { at, length, first, count, reversed }) => {
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

const addZeroLoops = (parts: LoopParts): void => {
  const { field, isZero } = parts.functions;
  for (const name of ['replaceZeros', 'restoreZeros'] as const) {
    addKernel(parts, name, (code, { to, from, other, count }) => {
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
  addEnter(parts);
  addLeave(parts);
  addProductList(parts);
  addPick(parts);
  addReverse(parts);
  addBlocks(parts);
  addZeroLoops(parts);
  for (const name of ['multiply', 'add', 'subtract', 'multiplyAdd', 'multiplySubtract'] as const) {
    addElementLoop(parts, name);
  }
  for (const name of ['difFirst', 'difOdd', 'difEven', 'dit', 'ditLast'] as const) addPass(parts, name);
  for (const name of ['difLast', 'ditFirst', 'sums'] as const) addSums(parts, name);
  addPairing(parts);
  addSquareMultiplyLoop(parts);
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
const addPass = (parts: LoopParts, name: 'difFirst' | 'difOdd' | 'difEven' | 'dit' | 'ditLast'): void => {
  const { lanes, field, butterflies } = parts.functions;
  addKernel(parts, name, (code, { x, distance, count, blocks, blockStep, twiddles }) => {
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
const addSums = (parts: LoopParts, name: 'difLast' | 'ditFirst' | 'sums'): void => {
  const { lanes, field, butterflies } = parts.functions;
  addKernel(parts, name, (code, { x, count }) => {
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
const addPairing = (parts: LoopParts): void => {
  const { field, butterflies } = parts.functions;
  const { pair } = butterflies;
  addKernel(parts, 'pair', (code, { x, count }) => {
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
