/**
 * A WebAssembly module that adds points: lists of independent additions P + Q of affine points, which share one inversion (Montgomery 1987, section 10.3.1).
 * All exceptional cases are handled: equal points, opposite ones, points of order 2, infinity.
 *
 * A point is two elements, x‖y, at an address that 4 divides; infinity is zeros. As an operand an address plus 1 is the negative of the point there.
 */
import { digitsOf, mod } from '../../field/modulus.js';
import { range } from '../../field/straight-line.js';
import type { Code, Local } from '../encoder/code.js';
import { WasmModule } from '../encoder/module.js';
import { type Address, callWith, primeElements, pushAddress, quadraticElements } from './elements.js';
import { toMontgomery, type WasmField } from './field-programs.js';
import type { Lanes } from './lane-code.js';

/** The most additions of one call, which share an inversion. */
const MOST_ADDITIONS = 512;

/** What becomes of an addition: by the formula of two points, by that of one, or nothing is to be computed. */
const KIND = { sum: 0, double: 1, infinity: 2, left: 3, right: 4 } as const;

/** Where the module has what in its memory; everything above `end` is the caller's. */
export interface KernelLayout {
  readonly point: number;
  readonly end: number;
  /** The most additions of one call. */
  readonly additions: number;
  /** Of the constant that `enter` multiplies with. */
  readonly unit: number;
  /** Constants and their bytes, to be written before anything is computed. */
  readonly constants: ReadonlyMap<number, readonly number[]>;
}

/** What the module is made for. */
export interface WasmCurve {
  readonly field: WasmField;
  /** u² where coordinates are pairs c0 + c1·u; null where they are numbers. */
  readonly nonResidue: bigint | null;
  /** a of y² = x³ + a·x + b, and b: their coefficients. */
  readonly a: readonly bigint[];
  readonly b: readonly bigint[];
  /** Of a coefficient in the points that `enter` is given. */
  readonly wordBytes: number;
}

/** Hands out addresses. */
class Places {
  next = 16;

  take(bytes: number): number {
    const at = this.next;
    this.next += bytes;
    return at;
  }
}

/** The functions of the module. */
export interface KernelExports {
  /** Does `count` additions, at most `MOST_ADDITIONS`, a multiple of the lanes: of each the addresses of the result, of P and of Q. A result may be where its own operands were, and no other's. */
  add(list: number, count: number): void;
  /** Brings `count` numbers of `wordBytes` each, below p, to the form that is computed in, and multiplies by the constant at `unit`. */
  enter(to: number, from: number, count: number): void;
  /** How many of `count` points, one behind the other, there are before the first that is neither on the curve nor infinity; there is one at least. */
  check(points: number, count: number): number;
}

export const kernelModule = (
  { field: f, nonResidue, a, b, wordBytes }: WasmCurve,
  lanes: Lanes,
): { readonly bytes: Uint8Array<ArrayBuffer>; readonly layout: KernelLayout } => {
  const module = new WasmModule();
  const places = new Places();
  const constants = new Map<number, number[]>();
  const degree = nonResidue === null ? 1 : 2;
  const element = degree * f.bytes;
  const y = element;
  const constant = (...numbers: readonly bigint[]): number => {
    const at = places.take(numbers.length * f.bytes);
    constants.set(
      at,
      numbers.flatMap((value) => digitsOf(value, f.width, f.limbs)),
    );
    return at;
  };
  const masks = { plus: places.take(4), minus: places.take(4) };
  constants.set(masks.plus, [0]);
  constants.set(masks.minus, [-1]);
  const coefficients = (...values: bigint[]): number =>
    constant(...range(degree).map((i) => toMontgomery(f, mod(values[i] ?? 0n, f.p))));
  const one = coefficients(1n);
  const zero = coefficients(0n);
  const curveA = coefficients(...a);
  const curveB = coefficients(...b);
  const lowMask = 2 ** f.width - 1;
  const lowOfP = Number(f.p % BigInt(2 ** f.width));
  const start = constant(mod(f.r * f.r, f.p));
  // written by the caller
  const unit = constant(0n);
  const scratch = (): number => places.take(element);
  const inLanes = (make: () => number): number[] => range(lanes).map(make);
  const room = { take: (bytes: number) => places.take(bytes), ...masks, start };
  const elements =
    degree === 1
      ? primeElements(module, f, lanes, room)
      : quadraticElements(module, f, Number(nonResidue), lanes, room);
  const { multiply, multiplyPrime, multiplyByKept, chain, slope, abscissa, ordinate } = elements;
  const { multiplyOne, signedOne, subtractOne, isZero, invert } = elements;
  const call = (code: Code, index: number, ...addresses: Address[]): void => callWith(code, index, addresses);

  const difference = scratch();
  const left = scratch();
  const right = scratch();
  const isInfinity = (code: Code, point: Local): void => {
    for (const i of range((2 * element) / 4)) {
      code.get(point).at('i32.load', 4 * i);
      if (i > 0) code.do('i32.or');
    }
    code.do('i32.eqz');
  };
  /** (P, its sign's mask, Q, its sign's mask) → what becomes of P + Q, where x tells nothing, or one is infinity. */
  const classify = module.add(null, { parameters: ['i32', 'i32', 'i32', 'i32'], result: 'i32' }, (code) => {
    const [P, p, Q, q] = range(4).map((i) => code.parameter(i)) as [Local, Local, Local, Local];
    const becomes = (kind: number): void => {
      code.if(() => code.i32(kind).do('return'));
    };
    isInfinity(code, P);
    becomes(KIND.right);
    isInfinity(code, Q);
    becomes(KIND.left);
    call(code, subtractOne, difference, Q, P, masks.plus);
    call(code, isZero, difference);
    code.do('i32.eqz');
    becomes(KIND.sum);
    for (const [to, point, sign] of [
      [left, P, p],
      [right, Q, q],
    ] as const) {
      code.i32(to).get(point).i32(y).do('i32.add').get(sign).call(signedOne);
    }
    call(code, isZero, left);
    becomes(KIND.infinity);
    call(code, subtractOne, difference, left, right, masks.plus);
    call(code, isZero, difference);
    becomes(KIND.double);
    code.i32(KIND.infinity);
  });

  const work = { x: inLanes(scratch), slope: inLanes(scratch), inverse: inLanes(scratch), numerator: inLanes(scratch) };
  const inverseOfOne = inLanes(scratch);
  const junk = inLanes(() => places.take(2 * element));
  const kinds = places.take(4 * MOST_ADDITIONS);
  const denominators = places.take(element * MOST_ADDITIONS);
  const prefixes = places.take(element * (MOST_ADDITIONS + lanes));
  const lane = range(lanes);

  module.add('add', { parameters: ['i32', 'i32'] }, (code) => {
    const [list, count] = [code.parameter(0), code.parameter(1)];
    const local = (): Local => code.local('i32');
    const k = local();
    const entry = local();
    const any = local();
    const low = local();
    const perLane = <Name extends string>(...names: readonly Name[]) =>
      Object.fromEntries(names.map((name) => [name, lane.map(local)])) as Record<Name, Local[]>;
    const { to, P, Q, p, q, target } = perLane('to', 'P', 'Q', 'p', 'q', 'target');
    const { kind, denominator, prefix, next } = perLane('kind', 'denominator', 'prefix', 'next');
    /** In every lane. */
    const each = (index: number, ...args: readonly (readonly Address[])[]): void => callWith(code, index, args.flat());
    const same = (at: number): number[] => lane.map(() => at);
    const yOf = (points: readonly Local[]): Address[] => points.map((point) => [point, y]);
    /** Sets the locals of step k: addresses, and masks of signs. */
    const open = (): void => {
      code.get(list).get(k).i32(12).do('i32.mul', 'i32.add').set(entry);
      for (const i of lane) {
        code
          .get(entry)
          .at('i32.load', 12 * i)
          .set(to[i] as Local);
        for (const [point, sign, offset] of [
          [P, p, 4],
          [Q, q, 8],
        ] as const) {
          code
            .get(entry)
            .at('i32.load', 12 * i + offset)
            .tee(point[i] as Local);
          code
            .i32(1)
            .do('i32.and')
            .i32(2)
            .do('i32.shl')
            .i32(masks.plus)
            .do('i32.add')
            .set(sign[i] as Local);
          code
            .get(point[i] as Local)
            .i32(-2)
            .do('i32.and')
            .set(point[i] as Local);
        }
        const of = (base: number, step: number, local: Local): void => {
          code.get(k).i32(i).do('i32.add').i32(step).do('i32.mul').i32(base).do('i32.add').set(local);
        };
        of(denominators, element, denominator[i] as Local);
        of(prefixes, element, prefix[i] as Local);
        of(prefixes + lanes * element, element, next[i] as Local);
      }
    };
    const kindAt = (i: number): void => {
      code
        .get(k)
        .i32(2)
        .do('i32.shl')
        .i32(kinds + 4 * i)
        .do('i32.add');
    };
    const isKind = (i: number, is: number, then: () => void): void => {
      code
        .get(kind[i] as Local)
        .i32(is)
        .do('i32.eq')
        .if(then);
    };
    const copy = (to: Address, from: Address): void => {
      for (const i of range(element / 4)) {
        pushAddress(code, to);
        pushAddress(code, from);
        code.at('i32.load', 4 * i).at('i32.store', 4 * i);
      }
    };

    code
      .get(count)
      .do('i32.eqz')
      .if(() => code.do('return'));
    for (const i of lane) copy(prefixes + i * element, one);
    // denominators, and their products
    code.i32(0).set(k);
    code.loop((again) => {
      open();
      code.i32(0).set(any);
      for (const i of lane) {
        const [left, right] = [P[i] as Local, Q[i] as Local];
        code.i32(KIND.sum).set(kind[i] as Local);
        code.get(right).at('i32.load', 0).get(left).at('i32.load', 0).do('i32.sub').i32(lowMask).do('i32.and').tee(low);
        // x that are equal differ by nothing, or by p; infinity has zeros
        code.do('i32.eqz');
        for (const other of [lowOfP, 2 ** f.width - lowOfP]) code.get(low).i32(other).do('i32.eq', 'i32.or');
        for (const point of [left, right]) {
          code.get(point).at('i32.load', 0).get(point).at('i32.load', y).do('i32.or', 'i32.eqz', 'i32.or');
        }
        code.if(() => {
          call(code, classify, left, p[i] as Local, right, q[i] as Local);
          code.set(kind[i] as Local);
        });
        kindAt(i);
        code.get(kind[i] as Local).at('i32.store', 0);
        code
          .get(kind[i] as Local)
          .get(any)
          .do('i32.or')
          .set(any);
      }
      code.get(any).if(
        () => {
          for (const i of lane) {
            const [D, left] = [denominator[i] as Local, P[i] as Local];
            copy(D, one);
            isKind(i, KIND.sum, () => call(code, subtractOne, D, Q[i] as Local, left, masks.plus));
            isKind(i, KIND.double, () => {
              call(code, signedOne, D, [left, y], p[i] as Local);
              call(code, subtractOne, D, D, D, masks.minus);
            });
          }
          each(multiply, next, prefix, denominator);
        },
        () => each(chain, next, denominator, prefix, Q, P),
      );
      code.get(k).i32(lanes).do('i32.add').tee(k).get(count).do('i32.lt_s');
      again();
    });
    // one inversion
    if (lanes === 1) {
      call(code, invert, inverseOfOne[0] as number, next[0] as Local);
    } else {
      const [first, second] = next as [Local, Local];
      call(code, multiplyOne, junk[0] as number, first, second);
      call(code, invert, junk[0] as number, junk[0] as number);
      each(multiply, inverseOfOne, same(junk[0] as number), [second, first]);
    }
    // and back
    code.loop((again) => {
      code.get(k).i32(lanes).do('i32.sub').set(k);
      open();
      each(multiply, work.inverse, inverseOfOne, prefix);
      each(multiplyByKept, inverseOfOne, inverseOfOne, denominator);
      code.i32(0).set(any);
      for (const i of lane) {
        kindAt(i);
        code
          .at('i32.load', 0)
          .tee(kind[i] as Local)
          .get(any)
          .do('i32.or')
          .set(any);
      }
      code.get(any).if(
        () => {
          for (const i of lane) {
            const [N, left] = [work.numerator[i] as number, P[i] as Local];
            copy(N, zero);
            isKind(i, KIND.sum, () => {
              call(code, signedOne, N, [left, y], p[i] as Local);
              call(code, signedOne, difference, [Q[i] as Local, y], q[i] as Local);
              call(code, subtractOne, N, difference, N, masks.plus);
            });
            isKind(i, KIND.double, () => {
              call(code, multiplyOne, difference, left, left);
              call(code, subtractOne, N, difference, difference, masks.minus);
              call(code, subtractOne, N, N, difference, masks.minus);
              call(code, subtractOne, N, N, curveA, masks.minus);
            });
          }
          each(multiply, work.slope, work.inverse, work.numerator);
        },
        () => each(slope, work.slope, work.inverse, yOf(Q), q, yOf(P), p),
      );
      each(abscissa, work.x, work.slope, P, Q);
      // what is no sum is written elsewhere, as its result may stand where its operands do
      for (const i of lane) {
        code.i32(junk[i] as number).get(to[i] as Local);
        code
          .get(kind[i] as Local)
          .i32(KIND.double)
          .do('i32.gt_s', 'select')
          .set(target[i] as Local);
      }
      each(ordinate, yOf(target), work.slope, P, work.x, yOf(P), p);
      for (const i of lane) copy(target[i] as Local, work.x[i] as number);
      code.get(any).if(() => {
        for (const i of lane) {
          const result = to[i] as Local;
          isKind(i, KIND.infinity, () => {
            copy(result, zero);
            copy([result, y], zero);
          });
          for (const [which, point, sign] of [
            [KIND.left, P[i] as Local, p[i] as Local],
            [KIND.right, Q[i] as Local, q[i] as Local],
          ] as const) {
            isKind(i, which, () => {
              call(code, signedOne, [result, y], [point, y], sign);
              copy(result, point);
            });
          }
        }
      });
      code.get(k);
      again();
    });
  });

  module.add('enter', { parameters: ['i32', 'i32', 'i32'] }, (code) => {
    const parameters = range(3).map((i) => code.parameter(i)) as [Local, Local, Local];
    const [to, from, count] = parameters;
    const raw = junk.map((at) => at);
    const targets = lane.map(() => code.local('i32'));
    code.loop((again) => {
      for (const i of lane) {
        for (const j of range(f.limbs)) {
          const bit = j * f.width;
          const bits = Math.min(f.width, 8 * wordBytes - bit);
          code.i32((raw[i] as number) + 4 * j);
          if (bits <= 0) code.i64(0);
          else {
            code
              .get(from)
              .at('i64.load', i * wordBytes + Math.floor(bit / 8))
              .i64(bit % 8)
              .do('i64.shr_u');
            code.i64(2 ** bits - 1).do('i64.and');
          }
          code.at('i64.store32', 0);
        }
        code
          .get(to)
          .i32(i * f.bytes)
          .do('i32.add')
          .set(targets[i] as Local);
      }
      for (const target of targets) code.get(target);
      for (const at of raw) code.i32(at);
      for (const _ of raw) code.i32(unit);
      code.call(multiplyPrime);
      code
        .get(to)
        .i32(lanes * f.bytes)
        .do('i32.add')
        .set(to);
      code
        .get(from)
        .i32(lanes * wordBytes)
        .do('i32.add')
        .set(from);
      code.get(count).i32(lanes).do('i32.sub').tee(count).i32(0).do('i32.gt_s');
      again();
    });
  });
  module.add('check', { parameters: ['i32', 'i32'], result: 'i32' }, (code) => {
    const [points, count] = [code.parameter(0), code.parameter(1)];
    const index = code.local('i32');
    const wrong = code.local('i32');
    code.i32(0).set(index);
    code.loop((again) => {
      code.i32(0).set(wrong);
      isInfinity(code, points);
      code.do('i32.eqz').if(() => {
        // x³ + a·x + b − y²
        call(code, multiplyOne, left, points, points);
        call(code, multiplyOne, left, left, points);
        if (a.some((value) => value !== 0n)) {
          call(code, multiplyOne, right, curveA, points);
          call(code, subtractOne, left, left, right, masks.minus);
        }
        call(code, subtractOne, left, left, curveB, masks.minus);
        call(code, multiplyOne, right, [points, y], [points, y]);
        call(code, subtractOne, difference, left, right, masks.plus);
        call(code, isZero, difference);
        code.do('i32.eqz').set(wrong);
      });
      code.get(wrong).if(() => code.get(index).do('return'));
      code
        .get(points)
        .i32(2 * element)
        .do('i32.add')
        .set(points);
      code.get(index).i32(1).do('i32.add').tee(index).get(count).do('i32.lt_s');
      again();
    });
    code.get(index);
  });
  return {
    bytes: module.bytes(),
    layout: { point: 2 * element, end: places.next, additions: MOST_ADDITIONS, constants, unit },
  };
};
