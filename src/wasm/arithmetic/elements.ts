/** What additions of points are made of, over a prime field or over one of p² elements. */
import { range } from '../../field/straight-line.js';
import type { Code, Local } from '../encoder/code.js';
import type { WasmModule } from '../encoder/module.js';
import type { WasmField } from './field-programs.js';
import { addFormula, addIsZero, type Formula, plainProduct } from './formula.js';
import { addInverse } from './inverse.js';
import type { Lanes } from './lane-code.js';

/** Room in the module's memory, and numbers that are there from the beginning. */
export interface Room {
  take(bytes: number): number;
  /** Masks of signs, the second next to the first. */
  readonly plus: number;
  readonly minus: number;
  /** R² mod p, a number of the prime field. */
  readonly start: number;
}

/**
 * Functions by their index. Parameters are addresses: of the first group one in every lane, the result's first; of the second one. A sign is the
 * address of a mask.
 */
export interface Elements {
  /** (to, a, b): a·b. */
  readonly multiply: number;
  /** The same of numbers of the prime field. */
  readonly multiplyPrime: number;
  /** (to, a, b): a·b, where b is what `chain` kept. */
  readonly multiplyByKept: number;
  /** (to, kept, a, b, c): a·(b − c), and the difference. */
  readonly chain: number;
  /** (to, a, b, sign, c, sign): a·(±b ∓ c). */
  readonly slope: number;
  /** (to, slope, x1, x2): slope² − x1 − x2. */
  readonly abscissa: number;
  /** (to, slope, x1, x3, y1, sign): slope·(x1 − x3) ∓ y1. */
  readonly ordinate: number;

  /** (to, a, b): a·b. */
  readonly multiplyOne: number;
  /** (to, a, sign): ±a. */
  readonly signedOne: number;
  /** (to, a, b, sign): a ∓ b. */
  readonly subtractOne: number;
  /** (a): whether it is 0; of what is settled. */
  readonly isZero: number;
  /** (to, a): of what is not 0. */
  readonly invert: number;
}

/** Calls a function with addresses, some of them so many bytes further on. */
export type Address = number | Local | readonly [base: Local, offset: number];

export const pushAddress = (code: Code, address: Address): void => {
  if (typeof address === 'number') code.i32(address);
  else if ('index' in address) code.get(address);
  else code.get(address[0]).i32(address[1]).do('i32.add');
};

export const callWith = (code: Code, index: number, addresses: readonly Address[]): void => {
  for (const address of addresses) pushAddress(code, address);
  code.call(index);
};

const signedOf = (module: WasmModule, f: WasmField): number =>
  addFormula(module, f, 1, { parameters: ['to', 'a', 's'], plus: [[{ of: 'a', sign: 's' }, 1]] });
const subtractOf = (module: WasmModule, f: WasmField): number =>
  addFormula(module, f, 1, {
    parameters: ['to', 'a', 'b', 's'],
    plus: [
      [{ of: 'a' }, 1],
      [{ of: 'b', sign: 's' }, -1],
    ],
  });
const productOf = (module: WasmModule, f: WasmField, lanes: Lanes): number =>
  addFormula(module, f, lanes, plainProduct);
const inverseOf = (module: WasmModule, f: WasmField, room: Room, signed: number): number =>
  addInverse(module, f, { start: room.start, work: room.take(f.bytes), sign: room.take(4) }, (code, ...places) =>
    callWith(code, signed, places),
  );

export const primeElements = (module: WasmModule, f: WasmField, lanes: Lanes, room: Room): Elements => {
  const formula = (of: Formula): number => addFormula(module, f, lanes, of);
  const multiply = productOf(module, f, lanes);
  const signedOne = signedOf(module, f);
  return {
    multiply,
    multiplyPrime: multiply,
    multiplyByKept: formula({ parameters: ['to', 'a', 'b'], factors: [{ of: 'a' }, { of: 'b', as: 'difference' }] }),
    chain: formula({
      parameters: ['to', 'kept', 'a', 'b', 'c'],
      factors: [{ of: 'a' }, { of: 'b', less: 'c' }],
      keeps: 'kept',
    }),
    slope: formula({
      parameters: ['to', 'a', 'b', 'sb', 'c', 'sc'],
      factors: [{ of: 'a' }, { of: 'b', sign: 'sb', less: 'c', lessSign: 'sc' }],
    }),
    abscissa: formula({
      parameters: ['to', 'slope', 'x1', 'x2'],
      factors: [{ of: 'slope' }],
      plus: [
        [{ of: 'x1' }, -1],
        [{ of: 'x2' }, -1],
      ],
    }),
    ordinate: formula({
      parameters: ['to', 'slope', 'x1', 'x3', 'y1', 's1'],
      factors: [{ of: 'slope' }, { of: 'x1', less: 'x3' }],
      plus: [[{ of: 'y1', sign: 's1' }, -1]],
    }),
    multiplyOne: lanes === 1 ? multiply : productOf(module, f, 1),
    signedOne,
    subtractOne: subtractOf(module, f),
    isZero: addIsZero(module, f),
    invert: inverseOf(module, f, room, signedOne),
  };
};

/**
 * Pairs c0 + c1·u, c0 first. Products by Karatsuba: of three products of the prime field, that of the differences c0 − c1 gives what is crosswise, as their
 * limbs are no longer than those of elements (sums' are, and would not fit 64 bits).
 *
 * @param nonResidue u²
 */
export const quadraticElements = (
  module: WasmModule,
  f: WasmField,
  nonResidue: number,
  lanes: Lanes,
  room: Room,
): Elements => {
  const bytes = f.bytes;
  /** Functions on pairs, in so many lanes. */
  const inLanes = (count: Lanes) => {
    const lane = range(count);
    const formula = (of: Formula): number => addFormula(module, f, count, of);
    const scratch = (): number[] => lane.map(() => room.take(2 * bytes));
    const multiplyPrime = productOf(module, f, count);
    const multiplyDifferences = formula({
      parameters: ['to', 'a', 'b', 'c', 'd'],
      factors: [
        { of: 'a', less: 'b' },
        { of: 'c', less: 'd' },
      ],
    });
    const addMultiple = formula({
      parameters: ['to', 'a', 'b'],
      plus: [
        [{ of: 'a' }, 1],
        [{ of: 'b' }, nonResidue],
      ],
    });
    const addLess = formula({
      parameters: ['to', 'a', 'b', 'c'],
      plus: [
        [{ of: 'a' }, 1],
        [{ of: 'b' }, 1],
        [{ of: 'c' }, -1],
      ],
    });
    type Places = readonly Address[];
    /** The places of c0, or of c1. */
    const half = (places: Places, c: number): Address[] =>
      places.map((place) => {
        if (typeof place === 'number') return place + c * bytes;
        return 'index' in place ? [place, c * bytes] : [place[0], place[1] + c * bytes];
      });
    const define = (
      parameters: number,
      write: (call: (index: number, ...args: Places[]) => void, of: Local[][]) => void,
    ) =>
      module.add(null, { parameters: range(parameters * count).map(() => 'i32' as const) }, (code) => {
        const of = range(parameters).map((i) => lane.map((l) => code.parameter(i * count + l)));
        write((index, ...args) => callWith(code, index, args.flat()), of);
      });
    /** The same of c0 and of c1; signs are of the whole. */
    const both = (
      call: (index: number, ...args: Places[]) => void,
      index: number,
      ...args: readonly (Places | { readonly sign: Places })[]
    ): void => {
      for (const c of [0, 1]) call(index, ...args.map((arg) => ('sign' in arg ? arg.sign : half(arg, c))));
    };
    const [low, high, cross] = [scratch(), scratch(), scratch()] as [number[], number[], number[]];
    const multiply = define(3, (call, [to, a, b]) => {
      const [A, B] = [a as Local[], b as Local[]];
      call(multiplyPrime, low, half(A, 0), half(B, 0));
      call(multiplyPrime, high, half(A, 1), half(B, 1));
      call(multiplyDifferences, cross, half(A, 0), half(A, 1), half(B, 0), half(B, 1));
      call(addMultiple, half(to as Local[], 0), low, high);
      call(addLess, half(to as Local[], 1), low, high, cross);
    });
    return { define, both, half, scratch, formula, multiply, multiplyPrime };
  };
  const many = inLanes(lanes);
  const one = lanes === 1 ? many : inLanes(1);
  const { define, both, formula, multiply } = many;
  const [work, zero] = [many.scratch(), many.scratch()];
  const plus = range(lanes).map(() => room.plus);
  const less = formula({
    parameters: ['to', 'a', 'b', 'c'],
    plus: [
      [{ of: 'a' }, 1],
      [{ of: 'b' }, -1],
      [{ of: 'c' }, -1],
    ],
  });
  const signedDifference = formula({
    parameters: ['to', 'b', 'sb', 'c', 'sc'],
    plus: [[{ of: 'b', sign: 'sb', less: 'c', lessSign: 'sc' }, 1]],
  });

  const signedPrime = signedOf(module, f);
  const subtractPrime = subtractOf(module, f);
  const invertPrime = inverseOf(module, f, room, signedPrime);
  const isZeroPrime = addIsZero(module, f);
  const addMinus = one.formula({
    parameters: ['to', 'a', 'b'],
    plus: [
      [{ of: 'a' }, 1],
      [{ of: 'b' }, -nonResidue],
    ],
  });
  const [norm, square] = [room.take(bytes), room.take(bytes)];
  return {
    multiply,
    multiplyPrime: many.multiplyPrime,
    multiplyByKept: multiply,
    chain: define(5, (call, [to, kept, a, b, c]) => {
      both(call, less, kept as Local[], b as Local[], c as Local[], zero);
      call(multiply, to as Local[], a as Local[], kept as Local[]);
    }),
    slope: define(6, (call, [to, a, b, sb, c, sc]) => {
      both(call, signedDifference, work, b as Local[], { sign: sb as Local[] }, c as Local[], {
        sign: sc as Local[],
      });
      call(multiply, to as Local[], a as Local[], work);
    }),
    abscissa: define(4, (call, [to, slope, x1, x2]) => {
      call(multiply, work, slope as Local[], slope as Local[]);
      both(call, less, to as Local[], work, x1 as Local[], x2 as Local[]);
    }),
    ordinate: define(6, (call, [to, slope, x1, x3, y1, s1]) => {
      both(call, less, work, x1 as Local[], x3 as Local[], zero);
      call(multiply, work, slope as Local[], work);
      const signs = [{ sign: plus }, y1 as Local[], { sign: s1 as Local[] }] as const;
      both(call, signedDifference, to as Local[], work, ...signs);
    }),
    multiplyOne: one.multiply,
    signedOne: one.define(3, (call, [to, a, s]) =>
      one.both(call, signedPrime, to as Local[], a as Local[], { sign: s as Local[] }),
    ),
    subtractOne: one.define(4, (call, [to, a, b, s]) =>
      one.both(call, subtractPrime, to as Local[], a as Local[], b as Local[], { sign: s as Local[] }),
    ),
    isZero: module.add(null, { parameters: ['i32'], result: 'i32' }, (code) => {
      for (const c of [0, bytes]) callWith(code, isZeroPrime, [[code.parameter(0), c]]);
      code.do('i32.and');
    }),
    // 1 / (c0 + c1·u) = (c0 − c1·u) / (c0² − u²·c1²)
    invert: one.define(2, (call, [to, a]) => {
      const [to0, to1, c0, c1] = [
        ...[0, 1].map((c) => one.half(to as Local[], c)),
        ...[0, 1].map((c) => one.half(a as Local[], c)),
      ];
      call(one.multiplyPrime, [norm], c0 as Address[], c0 as Address[]);
      call(one.multiplyPrime, [square], c1 as Address[], c1 as Address[]);
      call(addMinus, [norm], [norm], [square]);
      call(invertPrime, [norm], [norm]);
      call(one.multiplyPrime, to0 as Address[], c0 as Address[], [norm]);
      call(one.multiplyPrime, [square], c1 as Address[], [norm]);
      call(signedPrime, to1 as Address[], [square], [room.minus]);
    }),
  };
};
