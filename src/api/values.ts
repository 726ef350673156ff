/// <reference lib="esnext.disposable" preserve="true" />
declare global {
  // TypeScript before 6 has no WebGPU. Those who have other types of it (DOM, @webgpu/types) get nothing new by these.
  interface GPUDevice {
    label: string;
  }
  interface GPU {}
}

/** `Uint8Array<ArrayBuffer>`, which TypeScript before 5.7 has no type parameter for. */
export type OwnBytes = ReturnType<Uint8ArrayConstructor['of']>;

/** c0 + c1·u, an element of the field of p² elements that G2 has its coordinates in; u² is the curve's `nonResidue`. */
export interface Fp2 {
  /** In [0, p), not in Montgomery form. */
  readonly c0: bigint;
  /** In [0, p), not in Montgomery form. */
  readonly c1: bigint;
}

/** What a coordinate is: a number on curves over F_p, as G1 is; a pair over F_p², as G2 is. */
export type Coordinate = bigint | Fp2;

/**
 * A point of the curve in affine coordinates: `AffinePoint` of G1, `AffinePoint<Fp2>` of G2. At infinity `x` and `y` are zero and carry no meaning.
 */
export interface AffinePoint<Of extends Coordinate = bigint> {
  /** Numbers in [0, p), not in Montgomery form. */
  readonly x: Of;
  /** Numbers in [0, p), not in Montgomery form. */
  readonly y: Of;
  /** Whether this is the neutral element. */
  readonly infinity: boolean;
}

/**
 * Bytes that lie in pages, as those of ffjavascript's BigBuffer do, or anywhere else. They are read at the call, 16 MiB or less at a time, so that
 * there is never a second copy of more than that.
 */
export interface PagedBytes {
  /** How many bytes there are in all. */
  readonly byteLength: number;
  /** The bytes [from, to), as a `Uint8Array` or another view of exactly that many. */
  slice(from: number, to: number): ArrayBufferView;
}

/**
 * Bytes, wherever they are: a view of a buffer (`Uint8Array`, `DataView`, `BigUint64Array`, Node's `Buffer` …), of which those count that it sees; a
 * whole `ArrayBuffer` or `SharedArrayBuffer`; or pages. What the elements of a view are does not matter.
 */
export type BytesLike = ArrayBufferView | ArrayBufferLike | PagedBytes;

/** Encodings of points that not every curve has; README's table says which has which, and what they are. */
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
 * How bytes are points. On every curve: x‖y in as many bytes as README's table says for its field, little-endian (`le`) or big-endian (`be`), infinity as
 * zeros; `le-montgomery`: the same little-endian, numbers times 2^256 where they have 32 bytes, 2^384 where they have 48. In G2 a coordinate is two such
 * numbers, c0 before c1. The others are those of other software. Of compressed points y is computed on the GPU.
 */
export type PointEncoding = 'le' | 'be' | 'le-montgomery' | SpecialEncoding;

/** How 32 bytes are a scalar: little-endian, big-endian, or little-endian and times 2^256 modulo the order. */
export type ScalarEncoding = 'le' | 'be' | 'le-montgomery';
