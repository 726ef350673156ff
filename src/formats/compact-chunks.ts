/** Packs chunks of a `.zkey`, and unpacks them. */
import { openCurve } from '../curves/open-curve.js';
import {
  type ChunkKind,
  type CompactTable,
  itemBytesOf,
  joinPoints,
  mostItems,
  packEntries,
  packPoints,
  readPoints,
  unpackEntries,
} from './compact-file.js';
import { PointRoots, type RootPlaces } from './point-roots.js';

/** Packs and unpacks chunks. */
export class ChunkCodec {
  readonly #curve: CompactTable['curve'];
  readonly #roots: PointRoots;

  /** @param places where square roots are computed */
  constructor(curve: CompactTable['curve'], places: RootPlaces) {
    this.#curve = curve;
    this.#roots = new PointRoots(curve, places);
  }

  /**
   * Packs items, as bytes where that would not give them again.
   *
   * @throws MsmError `unsupported-device` without WebAssembly; `out-of-memory`
   */
  async pack(
    kind: ChunkKind,
    items: number,
    bytes: Uint8Array,
  ): Promise<{ readonly kind: ChunkKind; readonly items: number; readonly packed: Uint8Array }[]> {
    const packed = this.#packed(kind, bytes);
    if (packed !== null && packed.length < bytes.length) {
      const again = await this.unpack(kind, items, packed);
      if (again !== null && areSame(again, bytes)) return [{ kind, items, packed }];
    }
    const each = mostItems.bytes;
    return Array.from({ length: Math.ceil(bytes.length / each) }, (_, i) => {
      const part = bytes.subarray(i * each, (i + 1) * each);
      return { kind: 'bytes', items: part.length, packed: part };
    });
  }

  #packed(kind: ChunkKind, bytes: Uint8Array): Uint8Array | null {
    if (kind === 'bytes') return null;
    return kind === 'coefficients' ? packEntries(bytes) : packPoints(bytes, itemBytesOf(kind, this.#curve));
  }

  /**
   * Unpacks items.
   *
   * @returns null if they cannot be what `kind` says, or a coordinate is not below p
   * @throws MsmError as `PointRoots`
   */
  async unpack(kind: ChunkKind, items: number, packed: Uint8Array): Promise<Uint8Array | null> {
    if (kind === 'bytes') return packed;
    if (kind === 'coefficients') return unpackEntries(packed, items);
    const pointBytes = itemBytesOf(kind, this.#curve);
    const points = readPoints(packed, items, pointBytes);
    if (points === null) return null;
    const { p } = await openCurve(this.#curve, 'g1');
    const ys = await this.#roots.ysOf(points.xs, kind);
    return ys && joinPoints(points, ys, pointBytes, p);
  }
}

const areSame = (left: Uint8Array, right: Uint8Array): boolean => {
  if (left.length !== right.length) return false;
  for (let i = 0; i < left.length; i++) if (left[i] !== right[i]) return false;
  return true;
};
