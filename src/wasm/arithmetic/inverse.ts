/**
 * Inversion by Bernstein–Yang division steps ("Fast constant-time gcd computation and modular
 * inversion", TCHES 2019/3), a limb's worth at a time as in src/field/divsteps.ts. It runs in
 * variable time: it drops as many zeros at once as there are, clears up to six bits by one
 * multiple, and ends when g is 0.
 */
import { digitsOf } from '../../field/modulus.js';
import { range } from '../../field/straight-line.js';
import type { Code, Local } from '../encoder/code.js';
import type { WasmModule } from '../encoder/module.js';
import type { WasmField } from './field-programs.js';

/** Addresses that the inversion uses. */
interface InverseMemory {
  /** R² mod p. */
  readonly start: number;
  /** Space for an element. */
  readonly work: number;
  /** Space for a mask. */
  readonly sign: number;
}

/** Writes `to` = ±`from` by the mask at `sign`, for |from| ≤ 2p. */
type WriteSigned = (code: Code, to: Local, from: number, sign: number) => void;

const i32Names = ['u', 'v', 'q', 'r', 'low', 'high', 'eta', 'left', 'zeros', 'factor', 'most'] as const;
type I32Name = (typeof i32Names)[number];

const i64Names = ['carry', 'other', 'multiple', 'U', 'V', 'Q', 'R'] as const;
type I64Name = (typeof i64Names)[number];

/** Writes the function, part by part. */
class InverseWriter {
  readonly #code: Code;
  readonly #field: WasmField;
  readonly #p: readonly number[];
  readonly #mask: number;
  readonly #F: readonly Local[];
  readonly #G: readonly Local[];
  readonly #D: readonly Local[];
  readonly #E: readonly Local[];
  /** Transition matrix (u v; q r), and the state of the division steps. */
  readonly #i32: Readonly<Record<I32Name, Local>>;
  readonly #i64: Readonly<Record<I64Name, Local>>;

  constructor(code: Code, field: WasmField) {
    this.#code = code;
    this.#field = field;
    this.#p = digitsOf(field.p, field.width, field.limbs);
    this.#mask = 2 ** field.width - 1;
    [this.#F, this.#G, this.#D, this.#E] = [this.#number(), this.#number(), this.#number(), this.#number()];
    this.#i32 = code.named('i32', ...i32Names);
    this.#i64 = code.named('i64', ...i64Names);
  }

  #number(): Local[] {
    return range(this.#field.limbs).map(() => this.#code.local('i64'));
  }

  /** Writes f = p, g = the element at `from`, d = 0, e = R² and eta = −1. */
  begin(from: Local, start: number): void {
    const code = this.#code;
    for (const i of range(this.#field.limbs)) {
      code.i64(this.#p[i] as number).set(this.#F[i] as Local);
      code.get(from).at('i64.load32_s', 4 * i);
      code.set(this.#G[i] as Local);
      code.i64(0).set(this.#D[i] as Local);
      code.i32(start).at('i64.load32_s', 4 * i);
      code.set(this.#E[i] as Local);
    }
    code.i32(-1).set(this.#i32.eta);
  }

  /** Writes the loop, until g is 0. */
  loop(): void {
    this.#code.loop((again) => {
      this.#divisionSteps();
      this.#extendMatrix();
      this.#updateDE();
      this.#updateFG();
      for (const [i, limb] of this.#G.entries()) {
        this.#code.get(limb);
        if (i > 0) this.#code.do('i64.or');
      }
      this.#code.i64(0).do('i64.ne');
      again();
    });
  }

  /** Writes a limb's worth of division steps on the lowest limbs of f and g. */
  #divisionSteps(): void {
    const code = this.#code;
    const { u, v, q, r, low, high, eta, left, zeros } = this.#i32;
    code.i32(1).tee(u).set(r).i32(0).tee(v).set(q).i32(this.#field.width).set(left);
    code.get(this.#F[0] as Local).do('i32.wrap_i64');
    code.set(low).get(this.#G[0] as Local);
    code.do('i32.wrap_i64').set(high);
    code.block((leave) => {
      code.loop((next) => {
        code.get(high).i32(-1).get(left).do('i32.shl', 'i32.or', 'i32.ctz').set(zeros);
        code.get(high).get(zeros).do('i32.shr_u').set(high);
        for (const x of [u, v]) code.get(x).get(zeros).do('i32.shl').set(x);
        for (const x of [eta, left]) code.get(x).get(zeros).do('i32.sub').set(x);
        code.get(left).do('i32.eqz');
        leave();
        code.get(eta).i32(0).do('i32.lt_s');
        code.if(() => {
          code.i32(0).get(eta).do('i32.sub').set(eta);
          this.#exchange(low, high);
          this.#exchange(u, q);
          this.#exchange(v, r);
        });
        this.#clearBits();
        code.i32(1);
        next();
      });
    });
  }

  /** Writes x, y = y, −x. */
  #exchange(x: Local, y: Local): void {
    this.#code.get(y).i32(0).get(x).do('i32.sub').set(y).set(x);
  }

  /** Writes g − f·g/f modulo 2^min(eta + 1, left, 6), with −1/f = f·(f² − 2) modulo 2^6. */
  #clearBits(): void {
    const code = this.#code;
    const { u, v, q, r, low, high, eta, left, factor, most } = this.#i32;
    code.get(eta).i32(1).do('i32.add').tee(most).get(left).get(most).get(left);
    code.do('i32.lt_s', 'select').set(most);
    code.get(most).i32(6).get(most).i32(6).do('i32.lt_s', 'select').set(most);
    code.get(high).get(low).do('i32.mul').get(low).get(low).do('i32.mul').i32(2);
    code.do('i32.sub', 'i32.mul');
    code.i32(1).get(most).do('i32.shl').i32(1).do('i32.sub', 'i32.and').set(factor);
    for (const [x, y] of [
      [high, low],
      [q, u],
      [r, v],
    ] as const) {
      code.get(x).get(y).get(factor).do('i32.mul', 'i32.add').set(x);
    }
  }

  #extendMatrix(): void {
    const { u, v, q, r } = this.#i32;
    const { U, V, Q, R } = this.#i64;
    for (const [long, short] of [
      [U, u],
      [V, v],
      [Q, q],
      [R, r],
    ] as const) {
      this.#code.get(short).do('i64.extend_i32_s').set(long);
    }
  }

  /** Leaves a·x + b·y on the stack. */
  #combined(a: Local, x: Local, b: Local, y: Local): void {
    this.#code.get(a).get(x).do('i64.mul').get(b).get(y).do('i64.mul', 'i64.add');
  }

  /** Writes (d, e) = matrix · (d, e) / 2^width modulo p. Both stay between −2p and p. */
  #updateDE(): void {
    const { U, V, Q, R } = this.#i64;
    const updated = [this.#rowDE(U, V), this.#rowDE(Q, R)];
    for (const [k, X] of [this.#D, this.#E].entries()) {
      for (const [i, limb] of X.entries()) this.#code.get(updated[k]?.[i] as Local).set(limb);
    }
  }

  /** Writes a·d + b·e plus the multiple of p that makes it divisible, divided by 2^width. */
  #rowDE(a: Local, b: Local): readonly Local[] {
    const code = this.#code;
    const { width, limbs } = this.#field;
    const { carry, multiple } = this.#i64;
    const [D, E] = [this.#D, this.#E];
    const row = this.#number();
    this.#multipleOfP(a, b);
    for (const i of range(limbs)) {
      if (i > 0) {
        this.#combined(a, D[i] as Local, b, E[i] as Local);
        code.get(carry).do('i64.add').set(carry);
      }
      code.get(carry).get(multiple);
      code.i64(this.#p[i] as number).do('i64.mul', 'i64.add');
      code.set(carry);
      if (i > 0) {
        code.get(carry).i64(this.#mask);
        code.do('i64.and').set(row[i - 1] as Local);
      }
      code.get(carry).i64(width).do('i64.shr_s').set(carry);
    }
    code.get(carry).set(row[limbs - 1] as Local);
    return row;
  }

  /** Writes the multiple of p to be added to a·d + b·e, and the lowest column of that sum. */
  #multipleOfP(a: Local, b: Local): void {
    const code = this.#code;
    const { width, limbs, n0 } = this.#field;
    const { carry, multiple } = this.#i64;
    const [D, E] = [this.#D, this.#E];
    // n0 is −p⁻¹, and this needs p⁻¹
    const inverseOfP = (2 ** width - n0) % 2 ** width;
    const isNegative = (x: Local): void => {
      code.get(x).i64(63).do('i64.shr_s');
    };
    isNegative(D[limbs - 1] as Local);
    code.get(a).do('i64.and');
    isNegative(E[limbs - 1] as Local);
    code.get(b).do('i64.and', 'i64.add').set(multiple);
    this.#combined(a, D[0] as Local, b, E[0] as Local);
    code.set(carry);
    code.get(multiple).get(carry).i64(inverseOfP).do('i64.mul').get(multiple).do('i64.add');
    code.i64(this.#mask).do('i64.and', 'i64.sub').set(multiple);
  }

  /** Writes (f, g) = matrix · (f, g) / 2^width; the division is exact. */
  #updateFG(): void {
    const code = this.#code;
    const { width, limbs } = this.#field;
    const { carry, other, U, V, Q, R } = this.#i64;
    const [F, G] = [this.#F, this.#G];
    this.#combined(U, F[0] as Local, V, G[0] as Local);
    code.i64(width).do('i64.shr_s').set(carry);
    this.#combined(Q, F[0] as Local, R, G[0] as Local);
    code.i64(width).do('i64.shr_s').set(other);
    for (const i of range(limbs).slice(1)) {
      this.#combined(U, F[i] as Local, V, G[i] as Local);
      code.get(carry).do('i64.add').set(carry);
      this.#combined(Q, F[i] as Local, R, G[i] as Local);
      code.get(other).do('i64.add').set(other);
      for (const [sum, X] of [
        [carry, F],
        [other, G],
      ] as const) {
        code.get(sum).i64(this.#mask);
        code.do('i64.and').set(X[i - 1] as Local);
        code.get(sum).i64(width).do('i64.shr_s').set(sum);
      }
    }
    code.get(carry).set(F[limbs - 1] as Local);
    code.get(other).set(G[limbs - 1] as Local);
  }

  /** Stores d at `work`, and at `sign` the mask of f. Now f is ±1, and d is f times the inverse. */
  end({ work, sign }: InverseMemory): void {
    const code = this.#code;
    for (const [i, limb] of this.#D.entries()) {
      code.i32(work).get(limb);
      code.at('i64.store32', 4 * i);
    }
    code.i32(sign).get(this.#F.at(-1) as Local);
    code.i64(63).do('i64.shr_s').at('i64.store32', 0);
  }
}

/**
 * Adds a function (to, from) that inverts an element in Montgomery form. It takes 0 to 0.
 *
 * @returns its index in the module
 */
export const addInverse = (module: WasmModule, f: WasmField, memory: InverseMemory, signed: WriteSigned): number =>
  module.add(null, { parameters: ['i32', 'i32'] }, (code, to, from) => {
    const writer = new InverseWriter(code, f);
    writer.begin(from, memory.start);
    writer.loop();
    writer.end(memory);
    signed(code, to, memory.work, memory.sign);
  });
