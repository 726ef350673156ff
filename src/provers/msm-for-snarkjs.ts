/** MSMs that snarkjs asks for. */
import type { Bases, MsmEngine } from '../api/engine.js';
import type { Coordinate } from '../api/values.js';
import type { Group } from '../curves/more-curves.js';
import type { Work } from './contest.js';
import { copyOf, type FfBytes, type FfCurveName, type FfGroup } from './ffjavascript.js';
import type { PointFile } from './point-file.js';

/** Returns a copy of n little-endian scalars of `from` bytes each, zero-extended to `to` bytes. */
export const zeroExtended = (scalars: FfBytes, n: number, from: number, to: number): FfBytes => {
  if (from === to) return copyOf(scalars);
  const extended = new Uint8Array(n * to);
  for (let i = 0; i < n; i++) extended.set(scalars.slice(i * from, (i + 1) * from) as Uint8Array, i * to);
  return extended;
};

/**
 * Returns the number of points without trailing points at infinity, which are zeros. FFLONK's
 * prover appends many of them to the points of its key.
 */
export const filledPoints = (bases: FfBytes, pointBytes: number): number => {
  if (!(bases instanceof Uint8Array)) return bases.byteLength / pointBytes;
  let end = bases.length;
  while (end > 0 && bases[end - 1] === 0) end--;
  return Math.ceil(end / pointBytes);
};

/** Bytes of a scalar on every curve of snarkjs. */
export const SCALAR_BYTES = 32;

/** Bytes that recognise points. */
const MARK_BYTES = 16;

/** An MSM that snarkjs asked for. */
export interface MsmForSnarkjs {
  readonly curve: FfCurveName;
  readonly name: Group;
  readonly group: FfGroup;
  /** Points as snarkjs passed them. */
  readonly given: number;
  /** Points without trailing points at infinity. */
  readonly n: number;
  /** A few of the points, or their number, by which calls of the same points are recognised. */
  readonly mark: string;
  readonly scalars: FfBytes;
  /** The points, to be read again. */
  readonly file: PointFile;
  /** Calls `use` with the points loaded on an engine. */
  with(engine: Promise<MsmEngine<Coordinate>>, use: (bases: Bases) => Promise<Uint8Array>): Promise<Uint8Array>;
  /** Computes the MSM by snarkjs's own method. */
  original(scalars: FfBytes): Promise<Uint8Array>;
}

/**
 * Returns the same points, but infinity wherever the scalar is zero; null if no scalar is. snarkjs
 * multiplies bytes that are no point by zero: `zKey.verifyFromInit` reads one place past a section
 * if the `.ptau` has exactly the power of the circuit.
 *
 * @param scalars `SCALAR_BYTES` each
 */
export const withoutUnused = ({ byteLength, pointBytes, read }: PointFile, scalars: FfBytes): PointFile | null => {
  const scalar = (i: number): Uint8Array => scalars.slice(i * SCALAR_BYTES, (i + 1) * SCALAR_BYTES) as Uint8Array;
  const isUnused = (i: number): boolean => scalar(i).every((byte) => byte === 0);
  const unused = Array.from({ length: byteLength / pointBytes }, (_, i) => i).filter(isUnused);
  if (unused.length === 0) return null;
  return {
    byteLength,
    pointBytes,
    read: async (offset, length) => {
      const points = new Uint8Array(await read(offset, length));
      for (const i of unused) {
        const at = i * pointBytes - offset;
        if (at >= 0 && at < length) points.fill(0, at, at + pointBytes);
      }
      return points;
    },
  };
};

/** Returns the first bytes of some points. */
export const markOf = (bases: FfBytes): string => `${bases.slice(0, MARK_BYTES)}`;

/**
 * Returns the kind of an MSM. Scalars mostly have as many zeros as those of the same points before,
 * which take as long.
 */
export const workOf = ({ curve, name, n, mark }: MsmForSnarkjs): Work => {
  const label = `MSM of ${n} points in ${name} of ${curve}`;
  return { key: `${label} ${mark}`, label, curve };
};
