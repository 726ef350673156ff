/**
 * Bodies of WebAssembly functions, written instruction by instruction. Only the instructions that
 * this library generates are listed, with the opcodes of the core specification
 * (https://webassembly.github.io/spec/core/appendix/index-instructions.html).
 */

/** Value types. */
export const valueTypes = { i32: 0x7f, i64: 0x7e, f64: 0x7c, v128: 0x7b } as const;
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
  'i32.div_u': [0x6e],
  'i32.and': [0x71],
  'i32.or': [0x72],
  'i32.xor': [0x73],
  'i32.shl': [0x74],
  'i32.shr_s': [0x75],
  'i32.shr_u': [0x76],
  'i32.wrap_i64': [0xa7],
  'f64.eq': [0x61],
  'f64.ne': [0x62],
  'f64.abs': [0x99],
  'f64.sub': [0xa1],
  'i64.trunc_f64_s': [0xb0],
  'f64.convert_i64_s': [0xb9],
  'i64.extend_i32_s': [0xac],
  'i64.extend_i32_u': [0xad],
  'i64.eqz': [0x50],
  'i64.ne': [0x52],
  'i64.add': [0x7c],
  'i64.sub': [0x7d],
  'i64.mul': [0x7e],
  'i64.and': [0x83],
  'i64.or': [0x84],
  'i64.xor': [0x85],
  'i64.shl': [0x86],
  'i64.shr_s': [0x87],
  'i64.shr_u': [0x88],
  'i64.rotr': [0x8a],
  // https://github.com/WebAssembly/wide-arithmetic
  'i64.add128': [0xfc, 19],
  'i64.sub128': [0xfc, 20],
  'i64.mul_wide_u': [0xfc, 22],
  // with the index of the memory
  'memory.copy': [0xfc, 10, 0, 0],
  'memory.fill': [0xfc, 11, 0],
  return: [0x0f],
  drop: [0x1a],
  select: [0x1b],
  'i64x2.splat': [0xfd, 18],
  'f64x2.splat': [0xfd, 20],
  'v128.and': [0xfd, 78],
  'v128.or': [0xfd, 80],
  'v128.xor': [0xfd, 81],
  'i32x4.sub': [0xfd, 177, 1],
  'i64x2.shl': [0xfd, 203, 1],
  'i64x2.shr_s': [0xfd, 204, 1],
  'i64x2.shr_u': [0xfd, 205, 1],
  'i64x2.add': [0xfd, 206, 1],
  'i64x2.sub': [0xfd, 209, 1],
  'i64x2.extmul_low_i32x4_s': [0xfd, 220, 1],
  'f64x2.add': [0xfd, 240, 1],
  'f64x2.sub': [0xfd, 241, 1],
  // https://github.com/WebAssembly/relaxed-simd
  'f64x2.relaxed_madd': [0xfd, 0x87, 2],
} as const satisfies Record<string, readonly number[]>;

/** Loads and stores, with the logarithm of their natural alignment. */
const memory = {
  'i32.load': [[0x28], 2],
  'i64.load': [[0x29], 3],
  'i64.load32_s': [[0x34], 2],
  'f64.load': [[0x2b], 3],
  'i32.store': [[0x36], 2],
  'i64.store': [[0x37], 3],
  'f64.store': [[0x39], 3],
  'i64.store32': [[0x3e], 2],
  'v128.load': [[0xfd, 0], 4],
  'v128.store': [[0xfd, 11], 4],
  'v128.load32_zero': [[0xfd, 92], 2],
  'v128.load64_zero': [[0xfd, 93], 3],
} as const satisfies Record<string, readonly [readonly number[], number]>;

/** Loads and stores of one lane, with the logarithm of their natural alignment. */
const lanes = {
  'v128.load32_lane': [[0xfd, 86], 2],
  'v128.load64_lane': [[0xfd, 87], 3],
  'v128.store32_lane': [[0xfd, 90], 2],
  'v128.store64_lane': [[0xfd, 91], 3],
} as const satisfies Record<string, readonly [readonly number[], number]>;

/** A local of a function, parameters included. */
export interface Local {
  readonly index: number;
}

/** Address of a function's argument: a constant, a local, or a local plus a constant number of bytes. */
export type Address = number | Local | readonly [base: Local, offset: number];

export class Code {
  readonly bytes = new Bytes();
  readonly locals: ValueType[] = [];
  readonly #parameters: number;
  /** Number of open labels. */
  #depth = 0;

  /** @param parameters number of the function's parameters, which are its first locals */
  constructor(parameters: number) {
    this.#parameters = parameters;
  }

  /** Returns the local of a parameter. */
  parameter(index: number): Local {
    return { index };
  }

  /** Declares a local. */
  local(type: ValueType): Local {
    this.locals.push(type);
    return { index: this.#parameters + this.locals.length - 1 };
  }

  /** Declares one local for each name. */
  named<Name extends string>(type: ValueType, ...names: readonly Name[]): Readonly<Record<Name, Local>> {
    return Object.fromEntries(names.map((name) => [name, this.local(type)])) as Record<Name, Local>;
  }

  /** Writes instructions without immediates. */
  do(...names: (keyof typeof plain)[]): this {
    for (const name of names) this.bytes.append(plain[name]);
    return this;
  }

  /** Leaves the value of a local. */
  get(local: Local): this {
    this.bytes.byte(0x20).unsigned(local.index);
    return this;
  }

  /** Sets a local to the value on the stack. */
  set(local: Local): this {
    this.bytes.byte(0x21).unsigned(local.index);
    return this;
  }

  /** Sets a local to the value on the stack, and leaves the value there. */
  tee(local: Local): this {
    this.bytes.byte(0x22).unsigned(local.index);
    return this;
  }

  /** Leaves a constant. */
  i32(value: number): this {
    this.bytes.byte(0x41).signed32(value);
    return this;
  }

  /** Leaves a constant. */
  i64(value: number | bigint): this {
    this.bytes.byte(0x42).signed(BigInt.asIntN(64, BigInt(value)));
    return this;
  }

  /** Leaves a constant. */
  f64(value: number): this {
    this.bytes.byte(0x44).append(new Uint8Array(new Float64Array([value]).buffer));
    return this;
  }

  /** Replaces a lane of the vector below the value on the stack by that value. */
  replaceLane(lane: number): this {
    this.bytes.append([0xfd, 30, lane]);
    return this;
  }

  /** Leaves a lane of the vector on the stack, as f64. */
  extractLane(lane: number): this {
    this.bytes.append([0xfd, 33, lane]);
    return this;
  }

  /** Leaves a constant in both lanes. */
  i64x2(value: number | bigint): this {
    const bytes = new DataView(new ArrayBuffer(8));
    bytes.setBigInt64(0, BigInt.asIntN(64, BigInt(value)), true);
    const lane = Array.from({ length: 8 }, (_, i) => bytes.getUint8(i));
    this.bytes.append([0xfd, 12]).append(lane).append(lane);
    return this;
  }

  /** Loads or stores a value, at the address on the stack plus `offset`. */
  at(name: keyof typeof memory, offset: number): this {
    const [code, alignment] = memory[name];
    this.bytes.append(code).byte(alignment).unsigned(offset);
    return this;
  }

  /** Loads or stores one lane, at the address on the stack plus `offset`. */
  laneAt(name: keyof typeof lanes, offset: number, lane: number): this {
    const [code, alignment] = lanes[name];
    this.bytes.append(code).byte(alignment).unsigned(offset).byte(lane);
    return this;
  }

  /** Picks 16 bytes of two concatenated vectors. */
  shuffle(bytes: readonly number[]): this {
    this.bytes.append([0xfd, 13]).append(bytes);
    return this;
  }

  /** Leaves an address. */
  push(address: Address): this {
    if (typeof address === 'number') return this.i32(address);
    if ('index' in address) return this.get(address);
    return this.get(address[0]).i32(address[1]).do('i32.add');
  }

  /** Calls a function by its index in the module, with addresses behind what is on the stack. */
  call(functionIndex: number, ...addresses: readonly Address[]): this {
    for (const address of addresses) this.push(address);
    this.bytes.byte(0x10).unsigned(functionIndex);
    return this;
  }

  /** Adds a constant or another local to a local. */
  increase(local: Local, by: number | Local): this {
    return this.get(local).push(by).do('i32.add').set(local);
  }

  /** Runs a body; `again`, written at its end, repeats it if the value on the stack is not 0. */
  loop(body: (again: () => void) => void): this {
    return this.#labelled(0x03, body);
  }

  /** Runs a body until `count`, which is above 0 and is decreased by `step` each time, is 0. */
  countDown(count: Local, body: () => void, step = 1): this {
    return this.loop((again) => {
      body();
      this.get(count).i32(step).do('i32.sub').tee(count);
      again();
    });
  }

  /** As `countDown`, for a count that need not be a multiple of `step`: until it is 0 or below. */
  countPast(count: Local, body: () => void, step: number): this {
    return this.loop((again) => {
      body();
      this.get(count).i32(step).do('i32.sub').tee(count).i32(0).do('i32.gt_s');
      again();
    });
  }

  /** Runs a body; `leave` ends it if the value on the stack is not 0. */
  block(body: (leave: () => void) => void): this {
    return this.#labelled(0x02, body);
  }

  /** Writes a construct; the function that its body gets branches to its label if the stack has not 0. */
  #labelled(opcode: number, body: (branch: () => void) => void): this {
    this.bytes.append([opcode, 0x40]);
    const depth = ++this.#depth;
    body(() => this.bytes.byte(0x0d).unsigned(this.#depth - depth));
    this.#depth--;
    this.bytes.byte(0x0b);
    return this;
  }

  /** Runs `then` if the value on the stack is not 0, else `otherwise`. */
  if(then: () => void, otherwise?: () => void): this {
    this.bytes.append([0x04, 0x40]);
    this.#depth++;
    then();
    if (otherwise !== undefined) {
      this.bytes.byte(0x05);
      otherwise();
    }
    this.#depth--;
    this.bytes.byte(0x0b);
    return this;
  }
}

/** Returns an address `bytes` further on. */
export const addressPlus = (address: Address, bytes: number): Address => {
  if (typeof address === 'number') return address + bytes;
  return 'index' in address ? [address, bytes] : [address[0], address[1] + bytes];
};

/** Bytes that are appended one by one. */
const FEW_BYTES = 16;

/** Growing buffer of bytes. */
export class Bytes {
  #bytes = new Uint8Array(1024);
  #length = 0;

  get written(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#length);
  }

  get length(): number {
    return this.#length;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const larger = new Uint8Array(2 * (this.#length + more));
    larger.set(this.written);
    this.#bytes = larger;
  }

  byte(value: number): this {
    if (this.#length === this.#bytes.length) this.#reserve(1);
    this.#bytes[this.#length++] = value;
    return this;
  }

  append(bytes: ArrayLike<number>): this {
    const { length } = bytes;
    this.#reserve(length);
    // `set` takes as long for the few bytes of an instruction as for hundreds
    if (length > FEW_BYTES) this.#bytes.set(bytes, this.#length);
    else for (let i = 0; i < length; i++) this.#bytes[this.#length + i] = bytes[i] as number;
    this.#length += length;
    return this;
  }

  /** Appends an unsigned number in LEB128. */
  unsigned(value: number): this {
    let rest = value;
    while (rest > 127) {
      this.byte((rest % 128) + 128);
      rest = Math.floor(rest / 128);
    }
    return this.byte(rest);
  }

  /** Appends a signed number of 32 bits in LEB128. */
  signed32(value: number): this {
    let rest = value | 0;
    while (rest < -64 || rest > 63) {
      this.byte((rest & 127) + 128);
      rest >>= 7;
    }
    return this.byte(rest & 127);
  }

  /** Appends a signed number in LEB128. */
  signed(value: bigint): this {
    for (let rest = value; ; ) {
      const byte = Number(rest & 127n);
      rest >>= 7n;
      const last = (rest === 0n && byte < 64) || (rest === -1n && byte >= 64);
      this.byte(last ? byte : byte + 128);
      if (last) return this;
    }
  }

  /** Appends the length of `bytes`, then `bytes`. */
  sized(bytes: Bytes): this {
    return this.unsigned(bytes.length).append(bytes.written);
  }
}
