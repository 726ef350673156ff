/** Square roots in the prime field and in a field of pairs. */
import { invert, mod } from '../../field/modulus.js';
import { power, squareRoot } from '../../field/square-root.js';
import { range } from '../../field/straight-line.js';
import type { Address } from '../arithmetic/addresses.js';
import { copyElement } from '../arithmetic/kernel-parts.js';
import type { Code, Local } from '../encoder/code.js';
import type { DecoderParts, Numbers } from './decoder-parts.js';
import { addPower, type Power } from './power.js';
import { addRootDigits, type RootConstants } from './root-digits.js';

/** A coordinate in each lane: its coefficients, c0 first. */
export type Coefficients = readonly Numbers[];

/** Writes code that computes a root; if there is none, other numbers. */
export type WriteRoot = (code: Code, to: Coefficients, square: Coefficients) => void;

/** Returns a number without a square root in the prime field. */
const nonSquareOf = (p: bigint): bigint => {
  for (let candidate = 2n; ; candidate++) if (squareRoot(candidate, p) === null) return candidate;
};

const rootConstants = (p: bigint, nonResidue: bigint | null): RootConstants => {
  let [odd, twos] = [p - 1n, 0];
  for (; odd % 2n === 0n; odd /= 2n) twos++;
  return { odd, twos, nonSquare: mod(nonResidue ?? nonSquareOf(p), p) };
};

/** Functions for v to w = 1/√v. A caller writes v, and calls both. */
class InverseRoot {
  readonly v: readonly number[];
  readonly w: readonly number[];
  readonly #power: Power;
  readonly #digits: number | null;

  constructor(parts: DecoderParts, constants: RootConstants) {
    const { odd, twos } = constants;
    this.#power = addPower(parts, (odd - 1n) / 2n);
    this.v = this.#power.base;
    this.w = this.#power.result;
    this.#digits = twos === 1 ? null : addRootDigits(parts, constants, this.v, this.w);
  }

  /** Writes w = v^((odd − 1)/2). */
  begin(code: Code): void {
    code.call(this.#power.index);
  }

  /** Multiplies w, so that v·w² = 1 if v is a square. */
  end(code: Code): void {
    if (this.#digits !== null) code.call(this.#digits);
  }
}

const primeRoot = (parts: DecoderParts): WriteRoot => {
  const root = new InverseRoot(parts, rootConstants(parts.field.p, null));
  return (code, [to], [square]) => {
    for (const [lane, at] of root.v.entries()) copyElement(code, at, square?.[lane] as Address, parts.field.bytes);
    root.begin(code);
    root.end(code);
    parts.call(code, 'multiply', to as Numbers, root.v, root.w);
  };
};

/**
 * The complex method (src/field/square-root.ts) without inversions. n is a root of the norm of c0 +
 * c1·u, and t = (c0 + n) / 2. If t is a square s², a root is s + c1/(2s)·u. Otherwise b·t with b =
 * u² is a square s², and a root is c1·b/(2s) + (s/b)·u.
 */
class PairRoot {
  readonly #parts: DecoderParts;
  readonly #constants: RootConstants;
  readonly #root: InverseRoot;
  /** Function that multiplies v by u² if it is no square, and adjusts w. */
  readonly #adjust: number;
  /** Whether v was a square, in each lane. */
  readonly #isSquare: readonly number[];
  readonly #work: readonly number[];
  readonly #half: Numbers;
  readonly #nonSquare: number;
  readonly #inverse: number;

  constructor(parts: DecoderParts) {
    const { field, memory } = parts;
    const { p } = field;
    this.#parts = parts;
    this.#constants = rootConstants(p, parts.curve.nonResidue);
    const { nonSquare } = this.#constants;
    this.#root = new InverseRoot(parts, this.#constants);
    this.#isSquare = range(parts.lanes).map(() => memory.take(4));
    this.#work = parts.take();
    this.#half = parts.constant(invert(2n, p));
    this.#nonSquare = memory.montgomery(nonSquare);
    this.#inverse = memory.montgomery(invert(nonSquare, p));
    this.#adjust = this.#addAdjust();
  }

  #addAdjust(): number {
    const parts = this.#parts;
    const { p } = parts.field;
    const { odd, twos, nonSquare } = this.#constants;
    const { v, w } = this.#root;
    const work = this.#work;
    const { one } = parts.memory;
    const factor = parts.memory.montgomery(power(nonSquare, (odd - 1n) / 2n, p));
    return parts.module.add(null, { parameters: [] }, (code) => {
      parts.call(code, 'square', work, w);
      parts.call(code, 'multiply', work, work, v);
      if (twos > 1) {
        const left = code.local('i32');
        code.i32(twos - 1).set(left);
        code.loop((again) => {
          parts.call(code, 'square', work, work);
          code.get(left).i32(1).do('i32.sub').tee(left);
          again();
        });
      }
      // v to the power of (p − 1)/2 is 1 or −1, or 0 for 0
      parts.call(code, 'subtract', work, work, parts.shared(one));
      for (const [lane, at] of this.#isSquare.entries()) {
        code.i32(at);
        parts.isZero(code, work[lane] as number);
        code.at('i32.store', 0);
      }
      parts.call(code, 'multiply', v, v, this.#chosen(code, one, this.#nonSquare));
      parts.call(code, 'multiply', w, w, this.#chosen(code, one, factor));
    });
  }

  /** Sets a local in each lane to one address where v was a square, or to another. */
  #chosen(code: Code, square: number, other: number): Local[] {
    return this.#isSquare.map((at) => {
      const local = code.local('i32');
      code.i32(square).i32(other).i32(at).at('i32.load', 0).do('select').set(local);
      return local;
    });
  }

  /** Writes v = (c0 + n) / 2; where that is 0, (c0 − n) / 2 = c0. */
  #writeHalf(code: Code, c0: Numbers): void {
    const parts = this.#parts;
    const { v, w } = this.#root;
    const work = this.#work;
    parts.call(code, 'multiply', work, v, w);
    parts.call(code, 'add', work, work, c0);
    for (const [lane, at] of work.entries()) {
      parts.isZero(code, at);
      code.if(() => {
        copyElement(code, at, c0[lane] as number, parts.field.bytes);
        parts.call(code, 'add', parts.shared(at), parts.shared(at), parts.shared(at));
      });
    }
    parts.call(code, 'multiply', v, work, this.#half);
  }

  write(code: Code, to: Coefficients, square: Coefficients): void {
    const parts = this.#parts;
    const { v, w } = this.#root;
    const work = this.#work;
    const [c0, c1] = square as [Numbers, Numbers];
    const [to0, to1] = to as [number[], number[]];
    // the norm c0² − u²·c1²
    parts.call(code, 'square', work, c1);
    parts.call(code, 'multiply', work, work, parts.shared(this.#nonSquare));
    parts.call(code, 'square', v, c0);
    parts.call(code, 'subtract', v, v, work);
    this.#root.begin(code);
    this.#root.end(code);
    this.#writeHalf(code, c0);
    this.#root.begin(code);
    code.call(this.#adjust);
    this.#root.end(code);
    const { one } = parts.memory;
    parts.call(code, 'multiply', work, c1, w);
    parts.call(code, 'multiply', work, work, this.#half);
    parts.call(code, 'multiply', v, v, w);
    const first = range(parts.lanes).map((lane) => this.#target(code, lane, to0, to1));
    const second = range(parts.lanes).map((lane) => this.#target(code, lane, to1, to0));
    parts.call(code, 'multiply', first, v, this.#chosen(code, one, this.#inverse));
    parts.call(code, 'multiply', second, work, this.#chosen(code, one, this.#nonSquare));
  }

  #target(code: Code, lane: number, square: readonly number[], other: readonly number[]): Local {
    const local = code.local('i32');
    code
      .i32(square[lane] as number)
      .i32(other[lane] as number)
      .i32(this.#isSquare[lane] as number)
      .at('i32.load', 0)
      .do('select')
      .set(local);
    return local;
  }
}

export const rootWriter = (parts: DecoderParts): WriteRoot => {
  if (parts.curve.nonResidue === null) return primeRoot(parts);
  const root = new PairRoot(parts);
  return (code, to, square) => root.write(code, to, square);
};
