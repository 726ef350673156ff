/// <reference lib="esnext.disposable" preserve="true" />
declare global {
  // TypeScript before 6 has no types for WebGPU. With other types of it (DOM, @webgpu/types) these
  // declarations add nothing.
  interface GPUDevice {
    label: string;
  }
  interface GPU {}
}

/** `Uint8Array<ArrayBuffer>`; TypeScript before 5.7 has no such type parameter. */
export type OwnBytes = ReturnType<Uint8ArrayConstructor['of']>;

/**
 * c0 + c1·u, an element of the field of p² elements, which has the coordinates of G2; u² is the
 * curve's `nonResidue`.
 */
export interface Fp2 {
  /** In [0, p), not in Montgomery form. */
  readonly c0: bigint;
  /** In [0, p), not in Montgomery form. */
  readonly c1: bigint;
}

/**
 * Coordinate of a point: a number on curves over F_p, such as G1; a pair on curves over F_p², such
 * as G2.
 */
export type Coordinate = bigint | Fp2;

/**
 * Point of the curve in affine coordinates: `AffinePoint` in G1, `AffinePoint<Fp2>` in G2. At
 * infinity `x` and `y` are zero and have no meaning.
 */
export interface AffinePoint<Of extends Coordinate = bigint> {
  /** Numbers in [0, p), not in Montgomery form. */
  readonly x: Of;
  /** Numbers in [0, p), not in Montgomery form. */
  readonly y: Of;
  /** True for the neutral element. */
  readonly infinity: boolean;
}

/**
 * Bytes in pages, such as those of ffjavascript's BigBuffer, or from any other source. They are
 * read at the call, at most 16 MiB at a time, so no second copy is larger than that.
 */
export interface PagedBytes {
  /** Number of bytes. */
  readonly byteLength: number;
  /** Returns the bytes [from, to), as a `Uint8Array` or another view of exactly that length. */
  slice(from: number, to: number): ArrayBufferView;
}

/**
 * Bytes in any form: a view of a buffer (`Uint8Array`, `DataView`, `BigUint64Array`, Node's
 * `Buffer` …), of which the viewed bytes count; a whole `ArrayBuffer` or `SharedArrayBuffer`; or
 * pages. The element type of a view does not matter.
 */
export type BytesLike = ArrayBufferView | ArrayBufferLike | PagedBytes;

/**
 * Encodings of points that some curves have. y and −y are compared as numbers, pairs by c1, and by
 * c0 where c1 is 0.
 */
export type SpecialEncoding =
  /** Ethereum's precompiles of BN254: big-endian, in G2 c1 before c0. Infinity is zeros. */
  | 'eip196'
  /**
   * Ethereum's precompiles of BLS12-381: big-endian numbers in 64 bytes, of which the first 16 are
   * 0; in G2 c0 before c1. Infinity is zeros.
   */
  | 'eip2537'
  /** Zcash: big-endian, in G2 c1 before c0. Infinity has 0x40 in the first byte. */
  | 'zcash'
  /**
   * Zcash: x alone, as in `zcash`. The first byte has 0x80, 0x20 where y is the larger one, and
   * 0x40 at infinity.
   */
  | 'zcash-compressed'
  /**
   * arkworks, uncompressed: little-endian, in G2 c0 before c1. The last byte has 0x80 where y is
   * the larger one, and 0x40 at infinity. On BLS12-381 it is `zcash`.
   */
  | 'ark'
  /** arkworks: x alone, with the flags of `ark`. On BLS12-381 it is `zcash-compressed`. */
  | 'ark-compressed'
  /**
   * gnark-crypto, raw: big-endian, in G2 c1 before c0. Infinity is zeros. On BLS12 curves it is
   * `zcash`.
   */
  | 'gnark'
  /**
   * gnark-crypto: x alone, as in `gnark`. The first byte has 0x80 where y is the smaller one, 0xc0
   * where it is the larger one, and 0x40 at infinity. On BLS12 curves it is `zcash-compressed`.
   */
  | 'gnark-compressed'
  /** Aztec's barretenberg: big-endian, in G2 c0 before c1. Infinity has 0xff in every byte. */
  | 'aztec'
  /**
   * Aztec's barretenberg: x alone, big-endian. The first byte has 0x80 where y is odd. There is no
   * infinity, so no result comes in it.
   */
  | 'aztec-compressed';

/** Encoding of points as bytes, x‖y or x alone. For compressed points the GPU computes y. */
export type PointEncoding =
  /** Little-endian, in G2 c0 before c1. Infinity is zeros. */
  | 'le'
  /** Big-endian, in G2 c0 before c1. Infinity is zeros. */
  | 'be'
  /**
   * As `le`, with numbers in Montgomery form: times 2^256 modulo p in 32 bytes, times 2^384 in 48
   * bytes. Most provers hold points so, in memory and in files.
   */
  | 'le-montgomery'
  | SpecialEncoding;

/** Encoding of a scalar in 32 bytes. */
export type ScalarEncoding =
  /** Little-endian, any 256-bit value. */
  | 'le'
  /** Big-endian, any 256-bit value. */
  | 'be'
  /** Little-endian, times 2^256 modulo the order r. */
  | 'le-montgomery';
