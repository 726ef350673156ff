/**
 * Loads and stores of limbs in one lane (i64) or two (i64x2). A CPU with SIMD of 128 bits
 * multiplies two pairs of 32 bits in about the time of one pair of 64
 * (docs/reference/performance.md).
 */
import type { Code, Local } from '../encoder/code.js';

/** Number of additions that are computed side by side. */
export type Lanes = 1 | 2;

/** The address of a value in each lane. */
export type LaneAddresses = readonly Local[];

/** Writes code that loads, stores and negates limbs. */
export class LaneCode {
  readonly code: Code;
  readonly lanes: Lanes;

  constructor(code: Code, lanes: Lanes) {
    this.code = code;
    this.lanes = lanes;
  }

  get type(): 'i64' | 'v128' {
    return this.lanes === 1 ? 'i64' : 'v128';
  }

  /**
   * Leaves 32 bits from memory: sign-extended in one lane; in two lanes those of both, as the two
   * lowest of four.
   */
  load(from: LaneAddresses, offset: number): void {
    const { code } = this;
    const [first, second] = from as [Local, Local];
    if (this.lanes === 1) {
      code.get(first).at('i64.load32_s', offset);
      return;
    }
    code.get(second).get(first).at('v128.load32_zero', offset).laneAt('v128.load32_lane', offset, 1);
  }

  /** Stores the lower 32 bits of an i64, or of each lane of an i64x2. */
  store(to: LaneAddresses, offset: number, value: Local): void {
    const { code } = this;
    for (const [lane, address] of to.entries()) {
      code.get(address).get(value);
      if (this.lanes === 1) code.at('i64.store32', offset);
      else code.laneAt('v128.store32_lane', offset, 2 * lane);
    }
  }

  /** Stores a value in the format of `load`, or a difference of two such values. */
  storeNarrow(to: LaneAddresses, offset: number, value: Local): void {
    const { code } = this;
    for (const [lane, address] of to.entries()) {
      code.get(address).get(value);
      if (this.lanes === 1) code.at('i64.store32', offset);
      else code.laneAt('v128.store32_lane', offset, lane);
    }
  }

  /** Subtracts two values in the format of `load`. */
  subtract(): void {
    this.code.do(this.lanes === 1 ? 'i64.sub' : 'i32x4.sub');
  }

  /** Negates the value on the stack in the lanes where the mask is −1. */
  negateBy(mask: Local): void {
    const { code } = this;
    code
      .get(mask)
      .do(this.lanes === 1 ? 'i64.xor' : 'v128.xor')
      .get(mask);
    this.subtract();
  }
}
