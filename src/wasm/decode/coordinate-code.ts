/** Writes sums and products of coordinates, numbers or pairs, in every lane. */
import { range } from '../../field/straight-line.js';
import type { Code } from '../encoder/code.js';
import { type DecoderParts, type Numbers, numbersPlus } from './decoder-parts.js';
import type { Coefficients } from './square-root.js';

export class CoordinateCode {
  readonly degree: 1 | 2;
  readonly #parts: DecoderParts;
  readonly #work: Numbers;
  readonly #nonResidue: Numbers;

  constructor(parts: DecoderParts) {
    const { nonResidue } = parts.curve;
    this.#parts = parts;
    this.degree = nonResidue === null ? 1 : 2;
    this.#work = parts.take();
    this.#nonResidue = nonResidue === null ? [] : parts.constant(nonResidue);
  }

  /** Reserves a coordinate in each lane. */
  take(): Coefficients {
    return this.at(this.#parts.take(this.degree));
  }

  /** Returns the coefficients of coordinates, which are one behind the other. */
  at(first: Numbers): Coefficients {
    return range(this.degree).map((c) => numbersPlus(first, c * this.#parts.field.bytes));
  }

  each(code: Code, name: 'add' | 'subtract', to: Coefficients, a: Coefficients, b: Coefficients): void {
    for (const c of range(this.degree)) {
      this.#parts.call(code, name, to[c] as Numbers, a[c] as Numbers, b[c] as Numbers);
    }
  }

  /** Writes a·b. `to` is neither. By the textbook: a decoder multiplies three pairs a point. */
  multiply(code: Code, to: Coefficients, a: Coefficients, b: Coefficients): void {
    const parts = this.#parts;
    const work = this.#work;
    const [to0, to1] = to as [Numbers, Numbers];
    const [a0, a1] = a as [Numbers, Numbers];
    const [b0, b1] = b as [Numbers, Numbers];
    parts.call(code, 'multiply', to0, a0, b0);
    if (this.degree === 1) return;
    parts.call(code, 'multiply', work, a1, b1);
    parts.call(code, 'multiply', work, work, this.#nonResidue);
    parts.call(code, 'add', to0, to0, work);
    parts.call(code, 'multiply', to1, a0, b1);
    parts.call(code, 'multiply', work, a1, b0);
    parts.call(code, 'add', to1, to1, work);
  }
}
