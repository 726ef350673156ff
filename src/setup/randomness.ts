/**
 * Random numbers and points as ceremonies of snarkjs draw them: from the key stream of ChaCha20
 * (RFC 8439, with a counter and a nonce of zeros), whose key is the beginning of a hash.
 */
import { type CurveContext, cubic } from '../curves/curve.js';
import { type Affine, negated } from '../curves/jacobian.js';
import { MsmError } from '../errors.js';
import { invert } from '../field/modulus.js';
import { squareRootIn } from '../field/powers.js';
import { nodeModule } from '../threads/platform.js';
import { blake2b } from './blake2b.js';
import { multiplied, type Pause } from './groups.js';

/** Bytes of a key. */
const KEY_BYTES = 32;

/** "expand 32-byte k", as words. */
const constants = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574] as const;

/** Places that the steps of a double round mix. */
const quarters = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
] as const;

/** A stream of random numbers. */
export class RandomStream {
  readonly #state = new Uint32Array(16);
  readonly #block = new Uint32Array(16);
  #next = 16;

  /** @param hash its first 32 bytes are the key, as big-endian words */
  constructor(hash: Uint8Array) {
    this.#state.set(constants);
    const view = new DataView(hash.buffer, hash.byteOffset, KEY_BYTES);
    for (let i = 0; i < KEY_BYTES / 4; i++) this.#state[4 + i] = view.getUint32(4 * i);
  }

  /** Returns the next 32 bits. */
  u32(): number {
    if (this.#next === 16) this.#fill();
    return this.#block[this.#next++] as number;
  }

  #fill(): void {
    const x = this.#block;
    x.set(this.#state);
    const add = (a: number, b: number): number => {
      x[a] = (x[a] as number) + (x[b] as number);
      return x[a] as number;
    };
    const turn = (d: number, by: number, bits: number): void => {
      const value = (x[d] as number) ^ by;
      x[d] = (value << bits) | (value >>> (32 - bits));
    };
    for (let round = 0; round < 10; round++) {
      for (const [a, b, c, d] of quarters) {
        turn(d, add(a, b), 16);
        turn(b, add(c, d), 12);
        turn(d, add(a, b), 8);
        turn(b, add(c, d), 7);
      }
    }
    for (let i = 0; i < 16; i++) x[i] = (x[i] as number) + (this.#state[i] as number);
    this.#state[12] = (this.#state[12] as number) + 1;
    this.#next = 0;
  }

  /**
   * Returns an element of a prime field. Its Montgomery form is drawn: words of 64 bits, the lowest
   * first, cut to the length of the prime, until they are below it.
   */
  element(prime: bigint): bigint {
    const bits = prime.toString(2).length;
    const words = Math.ceil(bits / 64);
    for (;;) {
      let value = 0n;
      for (let i = 0; i < words; i++) {
        const high = BigInt(this.u32());
        value |= ((high << 32n) | BigInt(this.u32())) << BigInt(64 * i);
      }
      value = BigInt.asUintN(bits, value);
      if (value < prime) return (value * invert(1n << BigInt(64 * words), prime)) % prime;
    }
  }

  /** Returns a point of the group of order r: x and the sign of y are drawn until there is a y. */
  async point(curve: CurveContext, pause: Pause): Promise<NonNullable<Affine>> {
    const { coordinates: f, p } = curve;
    for (;;) {
      const x = f.of(Array.from({ length: f.degree }, () => this.element(p)));
      const isGreater = this.u32() % 2 === 1;
      const root = squareRootIn(f, cubic(curve, x));
      await pause();
      if (root === null) continue;
      const y = f.reduced(root);
      const leading = [...f.coefficients(y)].reverse().find((value) => value !== 0n) ?? 0n;
      const point = { x, y };
      const signed = 2n * leading > p === isGreater ? point : negated(curve, point);
      return (await multiplied(curve, cofactorOf(curve), signed, pause)) as NonNullable<Affine>;
    }
  }

  /** Overwrites the key and the stream. */
  wipe(): void {
    this.#state.fill(0);
    this.#block.fill(0);
  }
}

/** Cofactors of the seeds of the families: of G1 of BLS12 curves (s − 1)²/3, of G2 by Hasse's bound. */
const cofactorOf = ({ name, p, order }: CurveContext): bigint => {
  if (name === 'bn254') return 1n;
  // of the order 2p − r of the twist's group: p + 1 − t points on the curve have p − 1 + t on a twist
  if (name === 'bn254 G2') return 2n * p - order;
  const s = -0xd201000000010000n;
  if (name === 'bls12-381') return (s - 1n) ** 2n / 3n;
  return (s ** 8n - 4n * s ** 7n + 5n * s ** 6n - 4n * s ** 4n + 6n * s ** 3n - 4n * s ** 2n - 4n * s + 13n) / 9n;
};

/** Bytes from the operating system that entropy is mixed with. */
const SYSTEM_BYTES = 64;

/**
 * Returns the stream of a contribution: of a hash of bytes from the operating system and of the
 * entropy of the caller.
 */
export const secretStream = async (entropy: string | Uint8Array): Promise<RandomStream> => {
  const system = crypto.getRandomValues(new Uint8Array(SYSTEM_BYTES));
  const text = typeof entropy === 'string' ? new TextEncoder().encode(entropy) : entropy.slice();
  const hash = await blake2b(system, text);
  const stream = new RandomStream(hash);
  for (const bytes of [system, text, hash]) bytes.fill(0);
  return stream;
};

/** Returns the stream of a beacon: of its bytes, hashed 2^`iterations` times by SHA-256. */
export const beaconStream = async (beacon: Uint8Array, iterations: number, pause: Pause): Promise<RandomStream> => {
  const sha256 = sha256Here();
  let hash = beacon;
  for (let i = 0; i < 2 ** iterations; i++) {
    hash = await sha256(hash);
    if (i % 256 === 0) await pause();
  }
  return new RandomStream(hash);
};

/** Returns the fastest SHA-256 of the platform: Node's takes 1 µs where a promise takes 10. */
const sha256Here = (): ((bytes: Uint8Array) => Uint8Array | Promise<Uint8Array>) => {
  const node = nodeModule('node:crypto');
  if (node !== null) return (bytes) => node.createHash('sha256').update(bytes).digest();
  const { subtle } = globalThis.crypto;
  if (subtle === undefined) {
    throw new MsmError('unsupported-device', 'a beacon needs crypto.subtle, which pages have over https alone');
  }
  return async (bytes) => new Uint8Array(await subtle.digest('SHA-256', bytes.slice()));
};
