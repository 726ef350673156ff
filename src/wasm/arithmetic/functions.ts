/** Functions on elements of a prime field in memory, in one lane or two. Of a parameter they take the address in each lane. */
import { digitsOf } from '../../field/modulus.js';
import { range } from '../../field/straight-line.js';
import type { Code, Local } from '../encoder/code.js';
import type { WasmModule } from '../encoder/module.js';
import { LaneCode, type Lanes, type Place, writeProgram } from './lane-code.js';
import { type Addend, type Operand, type WasmField, wideProduct, wideSum } from './product.js';

/** An operand by the names of parameters: ±`of`, or ±`of` ∓ `less`. A sign is the address of a mask, which is 0 or −1. */
export interface Expression {
  readonly of: string;
  readonly sign?: string;
  readonly less?: string;
  readonly lessSign?: string;
  /** What `of` is, if not an element: a difference that was kept. */
  readonly as?: Operand;
}

const kindOf = ({ sign, less, lessSign, as }: Expression): Operand => {
  if (as !== undefined) return as;
  if (sign !== undefined || lessSign !== undefined) return 'signed';
  return less === undefined ? 'element' : 'difference';
};

/** A function that multiplies, or adds. */
export interface Formula {
  /** Addresses that it takes, the first of which is the result's. */
  readonly parameters: readonly string[];
  /** Two factors; one that is to be squared; or none. */
  readonly factors?: readonly Expression[];
  /** What is added, and how often. */
  readonly plus?: readonly (readonly [Expression, number])[];
  /** A parameter where the last factor is left, as it was multiplied. */
  readonly keeps?: string;
}

/** (to, a, b): a·b. */
export const plainProduct: Formula = { parameters: ['to', 'a', 'b'], factors: [{ of: 'a' }, { of: 'b' }] };

/**
 * @param name under which it is exported, if it is
 * @returns its index in the module
 */
export const addFormula = (
  module: WasmModule,
  f: WasmField,
  lanes: Lanes,
  formula: Formula,
  name: string | null = null,
): number => {
  const { parameters, factors = [], plus = [], keeps } = formula;
  const count = parameters.length * lanes;
  return module.add(name, { parameters: range(count).map(() => 'i32' as const) }, (code) => {
    const wide = new LaneCode(code, lanes);
    const place = (name: string): Place =>
      range(lanes).map((lane) => code.parameter(parameters.indexOf(name) * lanes + lane));
    const masks = new Map<string, Local>();
    const maskOf = (name: string): Local => {
      const known = masks.get(name);
      if (known !== undefined) return known;
      const mask = code.local(wide.type);
      wide.load(place(name), 0);
      code.set(mask);
      masks.set(name, mask);
      return mask;
    };
    const load = ({ of, sign, less, lessSign }: Expression, offset: number): void => {
      const one = (name: string, signed: string | undefined): void => {
        const mask = signed === undefined ? null : maskOf(signed);
        wide.load(place(name), offset);
        if (mask !== null) wide.negateBy(mask);
      };
      one(of, sign);
      if (less === undefined) return;
      one(less, lessSign);
      wide.subtract();
    };
    const operands = [
      ...factors.map((expression, i) => [['a', 'b'][i] as string, expression] as const),
      ...plus.map(([expression], i) => [`z${i}_`, expression] as const),
    ];
    const inputs = new Map<string, Local>();
    for (const [name, expression] of operands) {
      for (const i of range(f.limbs)) {
        const limb = code.local(wide.type);
        load(expression, 4 * i);
        code.set(limb);
        inputs.set(`${name}${i}`, limb);
      }
    }
    const addends = plus.map(([expression, times]): Addend => ({ operand: kindOf(expression), times }));
    const program = factors.length === 0 ? wideSum(f, addends) : wideProduct(f, factors.map(kindOf), addends);
    const result = writeProgram(wide, program, inputs);
    for (const [i, limb] of result.entries()) wide.store(place(parameters[0] as string), 4 * i, limb);
    if (keeps === undefined) return;
    const kept = ['a', 'b'][factors.length - 1] as string;
    for (const i of range(f.limbs)) wide.storeNarrow(place(keeps), 4 * i, inputs.get(`${kept}${i}`) as Local);
  });
};

/** Whether the element at an address is 0: i32 → i32. It is that as 0 or as p, the only multiples within a quarter of p of [0, p]. */
export const addIsZero = (module: WasmModule, f: WasmField): number =>
  module.add(null, { parameters: ['i32'], result: 'i32' }, (code) => {
    const at = code.parameter(0);
    const isEqualTo = (limbs: readonly number[]): void => {
      for (const [i, limb] of limbs.entries()) {
        code
          .get(at)
          .at('i32.load', 4 * i)
          .i32(limb)
          .do('i32.xor');
        if (i > 0) code.do('i32.or');
      }
      code.do('i32.eqz');
    };
    isEqualTo(range(f.limbs).map(() => 0));
    isEqualTo(digitsOf(f.p, f.width, f.limbs));
    code.do('i32.or');
  });

/**
 * The inverse of an element that is not 0, (to, from), in Montgomery form of Montgomery form.
 *
 * Bernstein–Yang division steps ("Fast constant-time gcd computation and modular inversion", TCHES 2019/3), a limb's worth at a time as in
 * src/field/divsteps.ts, but with as many zeros dropped at once as there are, and up to six bits cleared by one multiple, until g is 0: it takes as long as
 * the number wants.
 *
 * @param places `start`, where R² mod p is, and room for an element and a mask
 * @param signed writes `to` = ±`from`, by the mask at `sign`; of what is within 2p
 */
export const addInverse = (
  module: WasmModule,
  f: WasmField,
  places: { readonly start: number; readonly work: number; readonly sign: number },
  signed: (code: Code, to: Local, from: number, sign: number) => void,
): number =>
  module.add(null, { parameters: ['i32', 'i32'] }, (code) => {
    const { width, limbs } = f;
    const mask = 2 ** width - 1;
    const p = digitsOf(f.p, width, limbs);
    // p⁻¹ where the product's constant is −p⁻¹
    const inverseOfP = (2 ** width - f.n0) % 2 ** width;
    const [to, from] = [code.parameter(0), code.parameter(1)];
    const number = (): Local[] => range(limbs).map(() => code.local('i64'));
    const [F, G, D, E] = [number(), number(), number(), number()];
    const narrow = code.named('i32', 'u', 'v', 'q', 'r', 'low', 'high', 'eta', 'left', 'zeros', 'factor', 'most');
    const { u, v, q, r, low, high, eta, left, zeros, factor, most } = narrow;
    const { carry, other, multiple, U, V, Q, R } = code.named('i64', 'carry', 'other', 'multiple', 'U', 'V', 'Q', 'R');
    for (const i of range(limbs)) {
      code.i64(p[i] as number).set(F[i] as Local);
      code
        .get(from)
        .at('i64.load32_s', 4 * i)
        .set(G[i] as Local);
      code.i64(0).set(D[i] as Local);
      code
        .i32(places.start)
        .at('i64.load32_s', 4 * i)
        .set(E[i] as Local);
    }
    code.i32(-1).set(eta);
    /** Leaves a·x + b·y. */
    const combined = (a: Local, x: Local, b: Local, y: Local): void => {
      code.get(a).get(x).do('i64.mul').get(b).get(y).do('i64.mul', 'i64.add');
    };
    /** x, y = y, −x. */
    const exchange = (x: Local, y: Local): void => {
      code.get(y).i32(0).get(x).do('i32.sub').set(y).set(x);
    };
    code.loop((again) => {
      // a limb's worth of division steps on the lowest limbs
      code.i32(1).tee(u).set(r).i32(0).tee(v).set(q).i32(width).set(left);
      code
        .get(F[0] as Local)
        .do('i32.wrap_i64')
        .set(low)
        .get(G[0] as Local)
        .do('i32.wrap_i64')
        .set(high);
      code.block((leave) => {
        code.loop((next) => {
          code.get(high).i32(-1).get(left).do('i32.shl', 'i32.or', 'i32.ctz').set(zeros);
          code.get(high).get(zeros).do('i32.shr_u').set(high);
          for (const x of [u, v]) code.get(x).get(zeros).do('i32.shl').set(x);
          for (const x of [eta, left]) code.get(x).get(zeros).do('i32.sub').set(x);
          code.get(left).do('i32.eqz');
          leave();
          code
            .get(eta)
            .i32(0)
            .do('i32.lt_s')
            .if(() => {
              code.i32(0).get(eta).do('i32.sub').set(eta);
              exchange(low, high);
              exchange(u, q);
              exchange(v, r);
            });
          // g − f·g/f modulo 2^min(eta + 1, left, 6); −1/f is f·(f² − 2) modulo 2^6
          code.get(eta).i32(1).do('i32.add').tee(most).get(left).get(most).get(left).do('i32.lt_s', 'select').set(most);
          code.get(most).i32(6).get(most).i32(6).do('i32.lt_s', 'select').set(most);
          code.get(high).get(low).do('i32.mul').get(low).get(low).do('i32.mul').i32(2).do('i32.sub', 'i32.mul');
          code.i32(1).get(most).do('i32.shl').i32(1).do('i32.sub', 'i32.and').set(factor);
          for (const [x, y] of [
            [high, low],
            [q, u],
            [r, v],
          ] as const) {
            code.get(x).get(y).get(factor).do('i32.mul', 'i32.add').set(x);
          }
          code.i32(1);
          next();
        });
      });
      for (const [long, short] of [
        [U, u],
        [V, v],
        [Q, q],
        [R, r],
      ] as const) {
        code.get(short).do('i64.extend_i32_s').set(long);
      }
      // (d, e) times the matrix, plus the multiple of p that makes it divisible; both stay between −2p and p
      const rows = [
        [U, V, D, E],
        [Q, R, D, E],
      ] as const;
      const newLimbs = rows.map(([a, b, X, Y]) => {
        const made = number();
        const top = limbs - 1;
        const negative = (x: Local): void => {
          code.get(x).i64(63).do('i64.shr_s');
        };
        negative(X[top] as Local);
        code.get(a).do('i64.and');
        negative(Y[top] as Local);
        code.get(b).do('i64.and', 'i64.add').set(multiple);
        combined(a, X[0] as Local, b, Y[0] as Local);
        code.set(carry);
        code.get(multiple).get(carry).i64(inverseOfP).do('i64.mul').get(multiple).do('i64.add').i64(mask);
        code.do('i64.and', 'i64.sub').set(multiple);
        for (const i of range(limbs)) {
          if (i > 0) {
            combined(a, X[i] as Local, b, Y[i] as Local);
            code.get(carry).do('i64.add').set(carry);
          }
          code
            .get(carry)
            .get(multiple)
            .i64(p[i] as number)
            .do('i64.mul', 'i64.add')
            .set(carry);
          if (i > 0)
            code
              .get(carry)
              .i64(mask)
              .do('i64.and')
              .set(made[i - 1] as Local);
          code.get(carry).i64(width).do('i64.shr_s').set(carry);
        }
        code.get(carry).set(made[top] as Local);
        return made;
      });
      for (const [k, X] of [D, E].entries()) {
        for (const i of range(limbs)) code.get(newLimbs[k]?.[i] as Local).set(X[i] as Local);
      }
      // (f, g) times the matrix, which is divisible
      combined(U, F[0] as Local, V, G[0] as Local);
      code.i64(width).do('i64.shr_s').set(carry);
      combined(Q, F[0] as Local, R, G[0] as Local);
      code.i64(width).do('i64.shr_s').set(other);
      for (const i of range(limbs).slice(1)) {
        combined(U, F[i] as Local, V, G[i] as Local);
        code.get(carry).do('i64.add').set(carry);
        combined(Q, F[i] as Local, R, G[i] as Local);
        code.get(other).do('i64.add').set(other);
        for (const [sum, X] of [
          [carry, F],
          [other, G],
        ] as const) {
          code
            .get(sum)
            .i64(mask)
            .do('i64.and')
            .set(X[i - 1] as Local);
          code.get(sum).i64(width).do('i64.shr_s').set(sum);
        }
      }
      code
        .get(carry)
        .set(F[limbs - 1] as Local)
        .get(other)
        .set(G[limbs - 1] as Local);
      for (const [i, limb] of G.entries()) {
        code.get(limb);
        if (i > 0) code.do('i64.or');
      }
      code.i64(0).do('i64.ne');
      again();
    });
    // f is 1 or −1, and d so many times the inverse; of 0 it is p still, and d is 0
    for (const [i, limb] of D.entries())
      code
        .i32(places.work)
        .get(limb)
        .at('i64.store32', 4 * i);
    code
      .i32(places.sign)
      .get(F[limbs - 1] as Local)
      .i64(63)
      .do('i64.shr_s')
      .at('i64.store32', 0);
    signed(code, to, places.work, places.sign);
  });
