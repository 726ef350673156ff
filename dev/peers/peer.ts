/** Something else that computes MSMs, timed in the same run, on the same adapter, on the same inputs. */
import type { AffinePoint, Coordinate } from '../oracle/known-bases.js';

/** What to compute, in the shapes that libraries want it in. */
export interface PeerProblem {
  readonly points: readonly AffinePoint<Coordinate>[];
  /** x‖y for each point, little-endian, in so many bytes as the field of the coordinates takes. */
  readonly pointBytes: Uint8Array<ArrayBuffer>;
  readonly scalars: readonly bigint[];
  /** 32 little-endian bytes each. */
  readonly scalarBytes: Uint8Array<ArrayBuffer>;
  /** The sum, by the oracle. */
  readonly expected: AffinePoint<Coordinate>;
  /** WebGPU as this place has it, for peers that compute on it. */
  readonly gpu: GPU | null;
}

/**
 * A peer is a module of this folder that offers a function which makes one of these; index.ts lists them. It stays in the bench: no peer is a
 * dependency of the package.
 */
export interface Peer<Result = unknown> {
  readonly name: string;
  /** The most points that it takes a second for or so: larger ones are left out unless somebody asks for the peer by name. 0: it never takes part unasked. */
  readonly quickUpTo: number;
  /** Whatever may be done before the scalars are known, and conversions. Not timed. */
  prepare(n: number, problem: PeerProblem): Promise<void>;
  /** One MSM of what was prepared. Timed. */
  run(): Promise<Result>;
  /** Whether the result is right. Not timed; a time counts only if it is. */
  check(result: Result): boolean;
  destroy?(): void;
}
