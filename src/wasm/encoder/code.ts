/**
 * The body of a WebAssembly function, written instruction by instruction. Opcodes are those of the core specification, chapter "Instructions"
 * (https://webassembly.github.io/spec/core/appendix/index-instructions.html); what is listed is what the generators of this library use.
 */

import { Bytes } from './bytes.js';

/** Value types. */
export const valueTypes = { i32: 0x7f, i64: 0x7e, v128: 0x7b } as const;
export type ValueType = keyof typeof valueTypes;

/** Instructions without immediates. */
const plain = {
  'i32.eqz': [0x45],
  'i32.eq': [0x46],
  'i32.ne': [0x47],
  'i32.lt_s': [0x48],
  'i32.lt_u': [0x49],
  'i32.gt_s': [0x4a],
  'i32.ctz': [0x68],
  'i32.add': [0x6a],
  'i32.sub': [0x6b],
  'i32.mul': [0x6c],
  'i32.and': [0x71],
  'i32.or': [0x72],
  'i32.xor': [0x73],
  'i32.shl': [0x74],
  'i32.shr_s': [0x75],
  'i32.shr_u': [0x76],
  'i32.wrap_i64': [0xa7],
  'i64.extend_i32_s': [0xac],
  'i64.eqz': [0x50],
  'i64.ne': [0x52],
  'i64.lt_s': [0x53],
  'i64.add': [0x7c],
  'i64.sub': [0x7d],
  'i64.mul': [0x7e],
  'i64.and': [0x83],
  'i64.or': [0x84],
  'i64.xor': [0x85],
  'i64.shl': [0x86],
  'i64.shr_s': [0x87],
  'i64.shr_u': [0x88],
  return: [0x0f],
  select: [0x1b],
  'i32x4.splat': [0xfd, 17],
  'i64x2.splat': [0xfd, 18],
  'v128.and': [0xfd, 78],
  'v128.xor': [0xfd, 81],
  'i32x4.sub': [0xfd, 177, 1],
  'i64x2.shr_s': [0xfd, 204, 1],
  'i64x2.add': [0xfd, 206, 1],
  'i64x2.sub': [0xfd, 209, 1],
  'i64x2.extmul_low_i32x4_s': [0xfd, 220, 1],
} as const satisfies Record<string, readonly number[]>;

/** Instructions with an address, and the natural alignment of what they move, as a power of two. */
const memory = {
  'i32.load': [[0x28], 2],
  'i64.load': [[0x29], 3],
  'i64.load32_s': [[0x34], 2],
  'i64.load32_u': [[0x35], 2],
  'i32.store': [[0x36], 2],
  'i64.store32': [[0x3e], 2],
  'v128.load32_zero': [[0xfd, 92], 2],
} as const satisfies Record<string, readonly [readonly number[], number]>;

/** The same, of one lane. */
const lanes = {
  'v128.load32_lane': [[0xfd, 86], 2],
  'v128.store32_lane': [[0xfd, 90], 2],
} as const satisfies Record<string, readonly [readonly number[], number]>;

/** A local of a function, parameters included. */
export interface Local {
  readonly index: number;
}

export class Code {
  readonly bytes = new Bytes();
  readonly locals: ValueType[] = [];
  readonly #parameters: number;
  /** Labels that are open. */
  #depth = 0;

  /** @param parameters how many the function has; they are locals 0 … */
  constructor(parameters: number) {
    this.#parameters = parameters;
  }

  parameter(index: number): Local {
    return { index };
  }

  local(type: ValueType): Local {
    this.locals.push(type);
    return { index: this.#parameters + this.locals.length - 1 };
  }

  /** One of each name. */
  named<Name extends string>(type: ValueType, ...names: readonly Name[]): Readonly<Record<Name, Local>> {
    return Object.fromEntries(names.map((name) => [name, this.local(type)])) as Record<Name, Local>;
  }

  do(...names: (keyof typeof plain)[]): this {
    for (const name of names) this.bytes.push(...plain[name]);
    return this;
  }

  get(local: Local): this {
    this.bytes.push(0x20).unsigned(local.index);
    return this;
  }

  set(local: Local): this {
    this.bytes.push(0x21).unsigned(local.index);
    return this;
  }

  /** Sets, and leaves the value where it was. */
  tee(local: Local): this {
    this.bytes.push(0x22).unsigned(local.index);
    return this;
  }

  i32(value: number): this {
    this.bytes.push(0x41).signed(BigInt(value | 0));
    return this;
  }

  i64(value: number | bigint): this {
    this.bytes.push(0x42).signed(BigInt.asIntN(64, BigInt(value)));
    return this;
  }

  /** Both lanes of 64 bits the same. */
  i64x2(value: number | bigint): this {
    const bytes = new DataView(new ArrayBuffer(8));
    bytes.setBigInt64(0, BigInt.asIntN(64, BigInt(value)), true);
    const lane = Array.from({ length: 8 }, (_, i) => bytes.getUint8(i));
    this.bytes.push(0xfd, 12, ...lane, ...lane);
    return this;
  }

  /** Moves a value between the stack and memory; the address is the stack's, plus `offset`. */
  at(name: keyof typeof memory, offset: number): this {
    const [code, alignment] = memory[name];
    this.bytes.push(...code, alignment).unsigned(offset);
    return this;
  }

  laneAt(name: keyof typeof lanes, offset: number, lane: number): this {
    const [code, alignment] = lanes[name];
    this.bytes
      .push(...code, alignment)
      .unsigned(offset)
      .push(lane);
    return this;
  }

  /** Takes the 16 bytes with these indices, of two vectors one behind the other. */
  shuffle(bytes: readonly number[]): this {
    this.bytes.push(0xfd, 13, ...bytes);
    return this;
  }

  call(functionIndex: number): this {
    this.bytes.push(0x10).unsigned(functionIndex);
    return this;
  }

  /** Runs the body for as long as `again`, at its end, leaves something else than 0. */
  loop(body: (again: () => void) => void): this {
    this.bytes.push(0x03, 0x40);
    const depth = ++this.#depth;
    body(() => this.bytes.push(0x0d).unsigned(this.#depth - depth));
    this.#depth--;
    this.bytes.push(0x0b);
    return this;
  }

  /** A body that `leave` leaves if the stack has something else than 0. */
  block(body: (leave: () => void) => void): this {
    this.bytes.push(0x02, 0x40);
    const depth = ++this.#depth;
    body(() => this.bytes.push(0x0d).unsigned(this.#depth - depth));
    this.#depth--;
    this.bytes.push(0x0b);
    return this;
  }

  /** Runs the body if the stack has something else than 0. */
  if(then: () => void, otherwise?: () => void): this {
    this.bytes.push(0x04, 0x40);
    this.#depth++;
    then();
    if (otherwise !== undefined) {
      this.bytes.push(0x05);
      otherwise();
    }
    this.#depth--;
    this.bytes.push(0x0b);
    return this;
  }
}
