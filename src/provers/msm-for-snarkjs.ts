/** MSMs that snarkjs asks for. */
import type { MsmEngine } from '../api/engine.js';
import type { Bases } from '../api/handles.js';
import type { Coordinate } from '../api/values.js';
import type { Group } from '../curves/names.js';
import type { Work } from './contest.js';
import { copyOf, type FfBytes, type FfCurveName, type FfGroup } from './ffjavascript.js';

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
  /** Calls `use` with the points loaded on an engine. */
  with(engine: Promise<MsmEngine<Coordinate>>, use: (bases: Bases) => Promise<Uint8Array>): Promise<Uint8Array>;
  /** Computes the MSM by snarkjs's own method. */
  original(scalars: FfBytes): Promise<Uint8Array>;
}

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
