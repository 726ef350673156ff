/**
 * BLAKE2b with 64 bytes of output (RFC 7693), in WebAssembly: transcripts hash all points of a key,
 * for which words of 64 bits are needed.
 */
import { MsmError } from '../errors.js';
import { range } from '../field/straight-line.js';
import type { Code, Local } from '../wasm/encoder/code.js';
import { instantiate, WasmModule } from '../wasm/encoder/module.js';

/** Bytes of a block. */
const BLOCK = 128;

/** Bytes of a hash. */
export const HASH_BYTES = 64;

/** The state in memory: eight words, and the number of bytes so far. */
const STATE_BYTES = 72;

/** Bytes of a state that is saved. */
export const SAVED_BYTES = 216;

const BLOCKS_AT = 128;

/** Most blocks that are hashed in one call. */
const MOST_BLOCKS = 2 ** 9;

/** Words that a state begins with: fractions of the square roots of primes. */
const initial = [
  0x6a09e667f3bcc908n,
  0xbb67ae8584caa73bn,
  0x3c6ef372fe94f82bn,
  0xa54ff53a5f1d36f1n,
  0x510e527fade682d1n,
  0x9b05688c2b3e6c1fn,
  0x1f83d9abfb41bd6bn,
  0x5be0cd19137e2179n,
] as const;

/** Order of the words of a block in each of ten rounds, as hexadecimal digits. */
const orders = [
  '0123456789abcdef',
  'ea489fd61c02b753',
  'b8c052fdae367194',
  '7931dcbe265a40f8',
  '905724afe1bc683d',
  '2c6a0b834d75fe19',
  'c51fed4a0763928b',
  'db7ec13950f4862a',
  '6fe9b308c2d714a5',
  'a2847615fb9e3cd0',
] as const;

const ROUNDS = 12;

/** Places that each step of a round mixes. */
const mixed = ['048c', '159d', '26ae', '37bf', '05af', '16bc', '278d', '349e'] as const;

const digits = (text: string): number[] => [...text].map((digit) => Number.parseInt(digit, 16));

/** Writes v_a := v_a + v_b + word, then v_d := (v_d ⊕ v_a) rotated, and so on: half of a step. */
const writeHalf = (
  code: Code,
  [a, b, c, d]: readonly [Local, Local, Local, Local],
  word: Local,
  rotations: readonly [number, number],
): void => {
  code.get(a).get(b).do('i64.add').get(word).do('i64.add').set(a);
  code.get(d).get(a).do('i64.xor').i64(rotations[0]).do('i64.rotr').set(d);
  code.get(c).get(d).do('i64.add').set(c);
  code.get(b).get(c).do('i64.xor').i64(rotations[1]).do('i64.rotr').set(b);
};

/** Module with a function (state, blocks, count, bytes of a block, mask of the last block). */
const blake2bModule = (): Uint8Array<ArrayBuffer> => {
  const module = new WasmModule();
  const parameters = ['i32', 'i32', 'i32', 'i64', 'i64'] as const;
  module.add('compress', { parameters }, (code, state, blocks, count, added, last) => {
    const v = range(16).map(() => code.local('i64'));
    const m = range(16).map(() => code.local('i64'));
    const total = code.local('i64');
    code.countDown(count, () => {
      code.get(state).at('i64.load', HASH_BYTES).get(added).do('i64.add').set(total);
      code.get(state).get(total);
      code.at('i64.store', HASH_BYTES);
      for (const i of range(16)) {
        code.get(blocks).at('i64.load', 8 * i);
        code.set(m[i] as Local);
        if (i < 8) code.get(state).at('i64.load', 8 * i);
        else code.i64(initial[i - 8] as bigint);
        if (i === 12) code.get(total).do('i64.xor');
        if (i === 14) code.get(last).do('i64.xor');
        code.set(v[i] as Local);
      }
      for (const round of range(ROUNDS)) {
        const order = digits(orders[round % 10] as string);
        for (const [step, places] of mixed.entries()) {
          const four = digits(places).map((place) => v[place]) as [Local, Local, Local, Local];
          writeHalf(code, four, m[order[2 * step] as number] as Local, [32, 24]);
          writeHalf(code, four, m[order[2 * step + 1] as number] as Local, [16, 63]);
        }
      }
      for (const i of range(8)) {
        code
          .get(state)
          .get(state)
          .at('i64.load', 8 * i);
        code
          .get(v[i] as Local)
          .do('i64.xor')
          .get(v[i + 8] as Local)
          .do('i64.xor')
          .at('i64.store', 8 * i);
      }
      code.increase(blocks, BLOCK);
    });
  });
  return module.bytes();
};

interface Compression {
  readonly memory: WebAssembly.Memory;
  compress(state: number, blocks: number, count: number, added: bigint, last: bigint): void;
}

let opened: Promise<Compression> | null = null;

const open = async (): Promise<Compression> => {
  try {
    const { memory, instance } = await instantiate(blake2bModule(), BLOCKS_AT + MOST_BLOCKS * BLOCK);
    return { memory, compress: instance.exports.compress as Compression['compress'] };
  } catch (cause) {
    opened = null;
    throw new MsmError('unsupported-device', 'a setup needs WebAssembly, which a page must allow', { cause });
  }
};

/** A hash of bytes that come in parts. */
export class Blake2b {
  readonly #compression: Compression;
  readonly #state: Uint8Array;
  readonly #pending = new Uint8Array(BLOCK);
  #count = 0;

  private constructor(compression: Compression, state: Uint8Array) {
    this.#compression = compression;
    this.#state = state;
  }

  /** Begins a hash. @throws MsmError `unsupported-device` without WebAssembly */
  static async begin(): Promise<Blake2b> {
    opened ??= open();
    const state = new Uint8Array(STATE_BYTES);
    const words = new BigUint64Array(state.buffer);
    words.set(initial);
    // no key, and the length of the hash
    words[0] = initial[0] ^ 0x01010000n ^ BigInt(HASH_BYTES);
    return new Blake2b(await opened, state);
  }

  /** Returns a hash that goes on from here on its own. */
  clone(): Blake2b {
    const copy = new Blake2b(this.#compression, this.#state.slice());
    copy.#pending.set(this.#pending);
    copy.#count = this.#count;
    return copy;
  }

  /**
   * Goes on with a hash that was saved by `save`.
   *
   * @throws MsmError `unsupported-device` without WebAssembly
   */
  static async resume(saved: Uint8Array): Promise<Blake2b> {
    const hash = await Blake2b.begin();
    hash.#pending.set(saved.subarray(0, BLOCK));
    hash.#state.set(saved.subarray(BLOCK, BLOCK + STATE_BYTES));
    hash.#count = Math.min(BLOCK, saved[BLOCK + STATE_BYTES] as number);
    return hash;
  }

  /**
   * Returns the state as files of powers of tau have it: the last block with what it had before, the
   * eight words, u64 number of bytes before the block, and u64 number of bytes in it.
   */
  save(): Uint8Array<ArrayBuffer> {
    const saved = new Uint8Array(SAVED_BYTES);
    saved.set(this.#pending);
    saved.set(this.#state, BLOCK);
    saved[BLOCK + STATE_BYTES] = this.#count;
    return saved;
  }

  /** Adds bytes. */
  update(bytes: Uint8Array): this {
    let at = 0;
    while (at < bytes.length) {
      // the last block, full or not, is left for the end
      if (this.#count === BLOCK) {
        this.#compress(this.#pending, 1, BLOCK, 0n);
        this.#count = 0;
      }
      const blocks = this.#count > 0 ? 0 : Math.floor((bytes.length - at - 1) / BLOCK);
      if (blocks > 0) {
        const some = Math.min(blocks, MOST_BLOCKS);
        this.#compress(bytes.subarray(at, at + some * BLOCK), some, BLOCK, 0n);
        at += some * BLOCK;
        continue;
      }
      const taken = Math.min(BLOCK - this.#count, bytes.length - at);
      this.#pending.set(bytes.subarray(at, at + taken), this.#count);
      this.#count += taken;
      at += taken;
    }
    return this;
  }

  /** Ends the hash, and overwrites what it kept. */
  digest(): Uint8Array<ArrayBuffer> {
    this.#pending.fill(0, this.#count);
    this.#compress(this.#pending, 1, this.#count, -1n);
    const hash = new Uint8Array(this.#state.subarray(0, HASH_BYTES));
    this.#state.fill(0);
    this.#pending.fill(0);
    return hash;
  }

  #compress(blocks: Uint8Array, count: number, added: number, last: bigint): void {
    const { memory, compress } = this.#compression;
    const bytes = new Uint8Array(memory.buffer);
    bytes.set(this.#state);
    bytes.set(blocks, BLOCKS_AT);
    compress(0, BLOCKS_AT, count, BigInt(added), last);
    this.#state.set(bytes.subarray(0, STATE_BYTES));
    // hashes of entropy leave nothing behind
    bytes.fill(0, 0, BLOCKS_AT + blocks.length);
  }
}

/** Returns the hash of some bytes. */
export const blake2b = async (...parts: readonly Uint8Array[]): Promise<Uint8Array<ArrayBuffer>> => {
  const hash = await Blake2b.begin();
  for (const part of parts) hash.update(part);
  return hash.digest();
};
