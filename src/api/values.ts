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

/** Encodings of points that some curves have; the README lists them for each curve. */
export type SpecialEncoding =
  | 'eip196'
  | 'eip2537'
  | 'zcash'
  | 'zcash-compressed'
  | 'ark'
  | 'ark-compressed'
  | 'gnark'
  | 'gnark-compressed'
  | 'aztec'
  | 'aztec-compressed';

/**
 * Encoding of points as bytes. All curves have `le`, `be` and `le-montgomery`: x‖y, each in the
 * bytes of the field (see the README), with infinity as zeros. `le` is little-endian and `be` is
 * big-endian. `le-montgomery` is little-endian, with numbers times 2^256 in 32 bytes, or times
 * 2^384 in 48 bytes. In G2 a coordinate is two such numbers, c0 before c1. The other encodings are
 * those of other software. For compressed points the GPU computes y.
 */
export type PointEncoding = 'le' | 'be' | 'le-montgomery' | SpecialEncoding;

/**
 * Encoding of a scalar in 32 bytes: little-endian, big-endian, or little-endian and times 2^256
 * modulo the order.
 */
export type ScalarEncoding = 'le' | 'be' | 'le-montgomery';
