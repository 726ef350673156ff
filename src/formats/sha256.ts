/** SHA-256 (FIPS 180-4): by the platform, and of bytes that come in parts, as those of large files do. */

/** Bytes of a digest. */
export const DIGEST_BYTES = 32;

/** Returns whether this realm computes SHA-256. A page that is not a secure context does not. */
export const hasSha256 = (): boolean => (crypto as { readonly subtle?: SubtleCrypto }).subtle !== undefined;

/** Returns the digest of bytes. */
export const digestOf = async (bytes: Uint8Array): Promise<Uint8Array> =>
  hasSha256()
    ? new Uint8Array(await crypto.subtle.digest('SHA-256', unshared(bytes)))
    : new Sha256().update(bytes).digest();

/** Returns bytes as `crypto.subtle` takes them: a copy of those in shared memory. */
const unshared = (bytes: Uint8Array): Uint8Array<ArrayBuffer> =>
  bytes.buffer[Symbol.toStringTag] === 'SharedArrayBuffer' ? new Uint8Array(bytes) : (bytes as Uint8Array<ArrayBuffer>);

/** Returns bytes as hexadecimal digits. */
export const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** Returns the bytes of hexadecimal digits. */
export const bytesOfHex = (hex: string): Uint8Array =>
  Uint8Array.from({ length: hex.length / 2 }, (_, i) => Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16));

/** Returns the digest of bytes, in hexadecimal digits. */
export const sha256 = async (bytes: Uint8Array): Promise<string> => hexOf(await digestOf(bytes));

/* Parts. */

/** Returns the first 32 bits of the fractional parts of roots of the first `count` primes. */
const fractions = (count: number, root: (prime: number) => number): Int32Array<ArrayBuffer> => {
  const words: number[] = [];
  for (let n = 2; words.length < count; n++) {
    if (words.length > 0 && [...Array(n).keys()].some((d) => d > 1 && n % d === 0)) continue;
    words.push(Math.floor((root(n) % 1) * 2 ** 32));
  }
  return Int32Array.from(words, (word) => word | 0);
};

const BLOCK_BYTES = 64;
const ROUNDS = 64;

const rotated = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

/** The digest of bytes that come in parts. `crypto.subtle` takes whole ones alone. */
export class Sha256 {
  readonly #constants = fractions(ROUNDS, Math.cbrt);
  readonly #state = fractions(8, Math.sqrt);
  readonly #words = new Int32Array(ROUNDS);
  readonly #rest = new Uint8Array(BLOCK_BYTES);
  /** Bytes of all parts. */
  #length = 0;

  /** Adds bytes. */
  update(bytes: Uint8Array): this {
    let at = 0;
    const filled = this.#length % BLOCK_BYTES;
    this.#length += bytes.length;
    if (filled > 0) {
      at = Math.min(bytes.length, BLOCK_BYTES - filled);
      this.#rest.set(bytes.subarray(0, at), filled);
      if (filled + at < BLOCK_BYTES) return this;
      this.#block(this.#rest, 0);
    }
    for (; at + BLOCK_BYTES <= bytes.length; at += BLOCK_BYTES) this.#block(bytes, at);
    this.#rest.set(bytes.subarray(at));
    return this;
  }

  /** Returns the digest. No bytes can be added afterwards. */
  digest(): Uint8Array {
    const length = this.#length;
    const end = new Uint8Array(((119 - (length % BLOCK_BYTES)) % BLOCK_BYTES) + 9);
    end[0] = 0x80;
    new DataView(end.buffer).setBigUint64(end.length - 8, 8n * BigInt(length));
    this.update(end);
    const digest = new Uint8Array(DIGEST_BYTES);
    const view = new DataView(digest.buffer);
    for (const [i, word] of this.#state.entries()) view.setInt32(4 * i, word);
    return digest;
  }

  #block(bytes: Uint8Array, at: number): void {
    const [w, k, s] = [this.#words, this.#constants, this.#state];
    for (let i = 0, from = at; i < 16; i++, from += 4) {
      w[i] =
        ((bytes[from] as number) << 24) |
        ((bytes[from + 1] as number) << 16) |
        ((bytes[from + 2] as number) << 8) |
        (bytes[from + 3] as number);
    }
    for (let i = 16; i < ROUNDS; i++) {
      const x = w[i - 15] as number;
      const y = w[i - 2] as number;
      const s0 = rotated(x, 7) ^ rotated(x, 18) ^ (x >>> 3);
      const s1 = rotated(y, 17) ^ rotated(y, 19) ^ (y >>> 10);
      w[i] = (w[i - 16] as number) + s0 + (w[i - 7] as number) + s1;
    }
    // destructuring them takes longer than the rounds
    let a = s[0] as number;
    let b = s[1] as number;
    let c = s[2] as number;
    let d = s[3] as number;
    let e = s[4] as number;
    let f = s[5] as number;
    let g = s[6] as number;
    let h = s[7] as number;
    for (let i = 0; i < ROUNDS; i++) {
      const s1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
      const first = (h + s1 + ((e & f) ^ (~e & g)) + (k[i] as number) + (w[i] as number)) | 0;
      const s0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
      const second = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + first) | 0;
      d = c;
      c = b;
      b = a;
      a = (first + second) | 0;
    }
    s[0] = (s[0] as number) + a;
    s[1] = (s[1] as number) + b;
    s[2] = (s[2] as number) + c;
    s[3] = (s[3] as number) + d;
    s[4] = (s[4] as number) + e;
    s[5] = (s[5] as number) + f;
    s[6] = (s[6] as number) + g;
    s[7] = (s[7] as number) + h;
  }
}
